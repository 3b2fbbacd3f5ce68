"""Functions of the user: what their parameters are."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from surefoot.compiler.quantities import STATE_INPUTS, input_shape
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.ops import Array
from surefoot.robot import Robot

__all__ = ["OwnFunction", "own_function"]

_GIVEN = ("tree", "robot")


@dataclass(frozen=True)
class OwnFunction:
    """A function over `ops`, ready to be traced.

    Args:
        function: function(tree, *inputs).
        inputs: Names of the inputs.
        shapes: Their shapes.
    """

    function: Callable[..., Any]
    inputs: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]


def own_function(robot: Robot, name: str, given: Any) -> OwnFunction:
    """Read the parameters of a function of the user.

    Args:
        robot: The robot, for parameters called `tree` and `robot`.
        name: The function's name, for messages.
        given: The function, or a pair of it and a dictionary of the shapes of parameters that are not known by name.

    Raises:
        ShapeError: The shape of a parameter is not known.
        NotSupportedError: The function has `*args` or `**options`, or is none.
    """
    function, shapes = given if isinstance(given, tuple) else (given, {})
    if not callable(function):
        raise NotSupportedError(f"`{name}` is no function", evidence={"given": type(function).__name__})
    parameters = inspect.signature(function).parameters
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters.values()):
        raise NotSupportedError(f"`{name}` takes any arguments", next_step="name its parameters one by one")
    inputs = tuple(p for p in parameters if p not in _GIVEN)
    found = tuple(_shape(robot, name, p, shapes) for p in inputs)
    fixed = {p: {"tree": robot.tree, "robot": robot}[p] for p in parameters if p in _GIVEN}

    def call(tree: Any, *state: Array) -> Any:
        return function(**fixed, **dict(zip(inputs, state, strict=True)))

    return OwnFunction(call, inputs, found)


def _shape(robot: Robot, name: str, parameter: str, shapes: Mapping[str, Any]) -> tuple[int, ...]:
    if parameter in shapes:
        return tuple(int(x) for x in shapes[parameter])
    if parameter in STATE_INPUTS:
        return input_shape(robot.tree, parameter)
    raise ShapeError(
        f"the shape of parameter `{parameter}` of `{name}` is not known",
        next_step=f'give functions={{"{name}": (function, {{"{parameter}": (3,)}})}}',
    )
