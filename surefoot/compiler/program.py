"""A straight-line program: what every backend emits.

`instructions[i]` is (op, args). Arguments are instruction numbers, but for ("input", (k,)) and ("const", (value,)).
Besides the operations of `graph` there are "fma" a b + c, "fms" a b − c and "fnma" c − a b.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot.compiler.fuse import fuse
from surefoot.compiler.graph import graph_of
from surefoot.compiler.order import interleave, lightest, needed
from surefoot.errors import ShapeError
from surefoot.ops import Array, Symbol

__all__ = ["Program", "trace"]

Instruction = tuple[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Program:
    """A traced function of one state.

    Args:
        input_shapes: Shape of each input.
        output_shapes: Shape of each output.
        instructions: The operations, arguments first.
        slots: Instruction numbers whose values are stored: every distinct entry of the outputs that is not a number.
        layout: For every entry of every output (in row order) the slot, or −1 − k for number `numbers[k]`.
        numbers: Entries that are the same in every state.
    """

    input_shapes: tuple[tuple[int, ...], ...]
    output_shapes: tuple[tuple[int, ...], ...]
    instructions: tuple[Instruction, ...]
    slots: tuple[int, ...]
    layout: tuple[tuple[int, ...], ...]
    numbers: tuple[float, ...]

    @property
    def operations(self) -> int:
        """Instructions that compute something."""
        return sum(op not in ("input", "const") for op, _ in self.instructions)

    @property
    def packed(self) -> Program:
        """The same with its slots (slots,) as the only output."""
        slots = len(self.slots)
        return replace(self, output_shapes=((slots,),), layout=(tuple(range(slots)),), numbers=())


def trace(inputs: list[Array], outputs: list[Any], interleaved: bool = True) -> Program:
    """The program from arrays of free symbols to traced arrays.

    Args:
        inputs: Arrays of free symbols.
        outputs: Arrays of symbols and numbers.
        interleaved: Mix limbs so that a CPU does not wait for results; GPUs have other threads to go on with.

    Raises:
        ShapeError: An output depends on a symbol that is not an input.
    """
    arrays = [np.asarray(x) for x in outputs]
    flat_inputs = [symbol for x in inputs for symbol in x.ravel()]
    flat_outputs = [value for x in arrays for value in x.ravel()]
    wrong = [x for x in flat_outputs if not isinstance(x, Symbol | numbers.Real | np.bool_)]
    if wrong:
        raise ShapeError(
            f"an output holds a {type(wrong[0]).__name__}: {str(wrong[0])[:80]}",
            next_step="return arrays of numbers and symbols, or a tuple of them",
        )
    try:
        graph, refs = graph_of(flat_inputs, flat_outputs)
    except KeyError as error:
        raise ShapeError(
            f"an output depends on the symbol `{error.args[0]}`, which is not an input",
            next_step="pass every symbol that the function uses as an argument",
        ) from None
    distinct = list(dict.fromkeys(ref for ref in refs if graph.value(ref) is None))
    known = list(dict.fromkeys(value for ref in refs if (value := graph.value(ref)) is not None))
    instructions, slots = lightest(*needed(*fuse(graph.nodes, distinct)))
    if interleaved:
        instructions, slots = interleave(instructions, slots)
    slot_of = {ref: k for k, ref in enumerate(distinct)}
    number_of = {value: -1 - k for k, value in enumerate(known)}
    entries = iter([slot_of[ref] if (value := graph.value(ref)) is None else number_of[value] for ref in refs])
    layout = tuple(tuple(next(entries) for _ in range(x.size)) for x in arrays)
    shapes = tuple(x.shape for x in inputs), tuple(x.shape for x in arrays)
    return Program(*shapes, tuple(instructions), tuple(slots), layout, tuple(known))
