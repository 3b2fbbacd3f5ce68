"""The arrays of a call: inputs by place or by name, converted and checked, and arrays for the outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.codegen.artifact import Recipe
from surefoot.codegen.batch import span
from surefoot.errors import ShapeError, one_of
from surefoot.ops import Array


def is_plain(array: Any, dtype: np.dtype[Any]) -> bool:
    """Whether machine code can use the memory of an array as it is: contiguous, aligned, of native byte order.

    Args:
        array: Anything.
        dtype: The type of the machine code.
    """
    is_array = isinstance(array, np.ndarray) and array.dtype == dtype
    return is_array and bool(array.flags.c_contiguous and array.flags.aligned)


def as_plain(array: Array, dtype: np.dtype[Any]) -> Array:
    """The array itself if it is plain (`is_plain`), else a copy that is.

    Args:
        array: Numbers.
        dtype: The type of the machine code.
    """
    return array if is_plain(array, dtype) else np.array(array, dtype=dtype, order="C")


def real_numbers(
    value: Any, what: str, dimensions: Sequence[int] | None = None, sizes: Mapping[int, int] | None = None
) -> Array:
    """An array of real numbers.

    Args:
        value: Anything.
        what: Its name in the message.
        dimensions: How many axes it may have; by default any number.
        sizes: How long some of them must be, by number.
    """
    try:
        found = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"`{what}` is not an array of numbers: {error}") from None
    if isinstance(value, np.ma.MaskedArray):
        raise ShapeError(f"`{what}` is a masked array", next_step="fill the masked entries, or omit these states")
    if found.dtype.kind not in "biuf":
        raise ShapeError(f"`{what}` is not an array of real numbers", evidence={"dtype": found.dtype})
    if dimensions is not None and found.ndim not in dimensions:
        raise ShapeError(f"`{what}` has shape {found.shape}", evidence={"expected axes": list(dimensions)})
    if any(found.shape[axis] != size for axis, size in (sizes or {}).items()):
        raise ShapeError(f"`{what}` has shape {found.shape}", evidence={"expected sizes of axes": dict(sizes or {})})
    return found


class Arguments:
    """Reads the arguments of calls of one kernel.

    Args:
        recipe: Names and shapes of the inputs.
        dtype: The kernel's floating-point type.
        optional: Names of the arguments after the inputs.
        options: Keywords that are not inputs, for messages.
    """

    def __init__(
        self,
        recipe: Recipe,
        dtype: np.dtype[Any],
        optional: Sequence[str] = (),
        options: Sequence[str] = ("out", "threads", "check_finite"),
    ) -> None:
        self.recipe, self.dtype = recipe, dtype
        self.names, self.options = (*recipe.inputs, *optional), options

    def plain_batch(self, args: Sequence[Any]) -> int:
        """The number of states, if all arguments are contiguous arrays of as many; else 0."""
        shapes = self.recipe.input_shapes
        if not args or len(args) != len(shapes) or not all(type(x) is np.ndarray for x in args) or not args[0].ndim:
            return 0
        n = len(args[0])
        for x, shape in zip(args, shapes, strict=True):
            if x.shape != (n, *shape) or not is_plain(x, self.dtype):
                return 0
        return n

    def by_name(self, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments by name.

        Raises:
            ShapeError: Too many of them, or one twice.
            UnknownNameError: A name that is not an argument.
        """
        if len(args) > len(self.names):
            raise ShapeError(
                f"`{self.recipe.name}` takes {', '.join(self.recipe.inputs)}; {len(args)} arguments were given",
                next_step=f"call it as {self.recipe.name}({', '.join(self.names)})",
            )
        given = dict(zip(self.names, args, strict=False))
        for name, value in named.items():
            if name not in self.names:
                raise one_of(f"argument of `{self.recipe.name}`", name, [*self.names, *self.options])
            if name in given:
                raise ShapeError(f"`{self.recipe.name}` was given `{name}` twice: by its place and by its name")
            given[name] = value
        return given

    def arrays(self, given: Mapping[str, Any], check_finite: bool) -> tuple[list[Array], int | None]:
        """Contiguous arrays of the right type, and the number of states (None for a single one).

        Args:
            given: By name; only the inputs are read.
            check_finite: Whether to refuse NaN and infinity.
        """
        names, shapes = self.recipe.inputs, self.recipe.input_shapes
        arrays = [self._array(name, given.get(name), shape) for name, shape in zip(names, shapes, strict=True)]
        sizes = {name: len(x) for name, x, shape in zip(names, arrays, shapes, strict=True) if x.ndim > len(shape)}
        if len(set(sizes.values())) > 1:
            raise ShapeError("the batches have different lengths", evidence=sizes, next_step="give as many states each")
        n = next(iter(sizes.values()), None)
        if check_finite:
            self._refuse_infinite(arrays)
        if n is not None:
            arrays = [
                x if x.ndim > len(shape) else np.ascontiguousarray(np.broadcast_to(x, (n, *shape)))
                for x, shape in zip(arrays, shapes, strict=True)
            ]
        return arrays, n

    def _array(self, name: str, value: ArrayLike | None, shape: tuple[int, ...]) -> Array:
        if value is None:
            raise ShapeError(
                f"`{self.recipe.name}` needs `{name}`", next_step=f"pass {', '.join(self.recipe.inputs)} as arrays"
            )
        array = as_plain(real_numbers(value, name), self.dtype)
        if array.shape != shape and array.shape[1:] != shape:
            raise ShapeError(
                f"`{name}` of `{self.recipe.name}` has shape {array.shape}",
                evidence={"expected": f"{shape} for one state, (n, {str(shape)[1:]} for n of them"},
                next_step="one state per row; q has nq entries, v, a and tau have nv",
            )
        return array

    def _refuse_infinite(self, arrays: Sequence[Array]) -> None:
        for name, array in zip(self.recipe.inputs, arrays, strict=True):
            wrong = np.argwhere(~np.isfinite(array))
            if len(wrong):
                place = tuple(int(x) for x in wrong[0])
                raise ShapeError(
                    f"`{name}` is not finite", evidence={"index": place, "value": array[place], "count": len(wrong)}
                )

    def outputs(self, out: Any, n: int | None, of_one: Sequence[tuple[int, ...]]) -> list[Array]:
        """Arrays for the outputs: the caller's, or new ones.

        Args:
            out: The caller's array, a list of them or a dictionary by name of the output; None for new ones.
            n: Number of states; None for a single one.
            of_one: Shapes of the outputs of one state.
        """
        shapes = [shape if n is None else (n, *shape) for shape in of_one]
        if out is None:
            return [np.empty(shape, self.dtype) for shape in shapes]
        if isinstance(out, Mapping):
            out = [out.get(name) for name in self.recipe.outputs]
        alone = len(shapes) == 1 and isinstance(out, np.ndarray)
        arrays = list(out) if isinstance(out, list | tuple) and not alone else [out]
        fits = len(arrays) == len(shapes) and all(
            self.writes_to(x, shape) for x, shape in zip(arrays, shapes, strict=True)
        )
        if not fits:
            raise ShapeError(
                f"`out` of `{self.recipe.name}` cannot take the result",
                evidence={"expected": [f"{shape} {self.dtype}" for shape in shapes],
                          "given": [f"{np.shape(x)} {getattr(x, 'dtype', type(x).__name__)}" for x in arrays]},
                next_step="give contiguous, aligned, writeable arrays of these shapes and types",
            )  # fmt: skip
        return arrays

    def reads_from(self, array: Any, shape: tuple[int, ...]) -> bool:
        """Whether an array can be an input as it is."""
        return is_plain(array, self.dtype) and array.shape == shape

    def writes_to(self, array: Any, shape: tuple[int, ...]) -> bool:
        """Whether an array can be an output."""
        return self.reads_from(array, shape) and bool(array.flags.writeable)

    def refuse_overlap(self, arrays: Sequence[Array], outputs: Sequence[Array]) -> None:
        """An output may be one of the inputs as it is, but not overlap with them or with other outputs in part.

        Args:
            arrays: Inputs.
            outputs: Arrays for the outputs, all of them plain.

        Raises:
            ShapeError: They overlap.
        """
        inputs, spans = [span(x) for x in arrays], [span(x) for x in outputs]
        for k, (start, end) in enumerate(spans):
            partly = any(a < end and start < b and (a, b) != (start, end) for a, b in inputs)
            if partly or any(a < end and start < b for a, b in spans[:k]):
                raise ShapeError(
                    f"`out` of `{self.recipe.name}` overlaps with an input or with another output",
                    next_step="give arrays of their own",
                )
