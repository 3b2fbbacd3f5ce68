"""`compile_function`: a kernel of a function that knows no robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from surefoot import ops
from surefoot.codegen import cache
from surefoot.codegen.artifact import Recipe
from surefoot.codegen.kernel import Kernel
from surefoot.codegen.program import trace


def compile_function(
    name: str,
    function: Callable[..., Any],
    shapes: Mapping[str, tuple[int, ...]],
    dtype: str = "float64",
    identity: tuple[Any, ...] | None = None,
) -> Kernel:
    """Machine code of a function over `surefoot.ops`, for one case or for a batch.

        nearest = compile_function("gap", lambda a, b: ops.norm(a - b), {"a": (3,), "b": (3,)})
        nearest(A, B)                          # (n, 3), (n, 3) -> (n,)

    Args:
        name: Its name, for people and in the cache.
        function: function(*inputs) -> an array, or a tuple of arrays; it must not branch on values.
        shapes: Shape of each input by name, in the order of the arguments.
        dtype: "float64" or "float32".
        identity: All that the function depends on beside the source text of this package, for the cache; None where
            only its trace can tell.
    """
    recipe = Recipe(
        name=name,
        owner="no robot",
        inputs=tuple(shapes),
        outputs=(),
        input_shapes=tuple(tuple(shape) for shape in shapes.values()),
        trace=lambda: _traced(function, shapes),
        reference=lambda *values: _outputs(function, values),
        identity=identity,
        depends=(function,),
    )
    return Kernel(recipe, 64 if dtype == "float64" else 32)


def trace_key(function: Callable[..., Any], shapes: Mapping[str, tuple[int, ...]]) -> str:
    """Hash of what a function of `compile_function` computes: equal for equal operations on its inputs.

    Args:
        function: As there.
        shapes: As there.
    """
    return cache.key("surefoot.trace", repr(_traced(function, shapes)))


def _outputs(function: Callable[..., Any], values: Sequence[Any]) -> tuple[Any, ...]:
    found = function(*values)
    return tuple(found) if isinstance(found, tuple | list) else (found,)


def _traced(function: Callable[..., Any], shapes: Mapping[str, tuple[int, ...]]) -> Any:
    symbols = [ops.symbols(key, shape) for key, shape in shapes.items()]
    return trace(symbols, list(_outputs(function, symbols)), interleaved=True)
