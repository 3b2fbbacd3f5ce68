"""The step of a rollout, compiled: what does not change is folded in, what nobody asks for is left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.compiler import Kernel, compile_robot
from surefoot.robot import Robot
from surefoot.sim.driven import DrivenJoints
from surefoot.sim.native_kernels import Settings
from surefoot.sim.native_step import Layout, step_function

__all__ = ["RolloutStep", "Variant", "compiled_step"]

_ROUNDS = 4  # sets of drives at their limits that a step tries; stiff humanoids settle in 4 in 99 of 100 steps


@dataclass(frozen=True)
class Variant:
    """What the step of a robot depends on.

    Args:
        settings: Of the native step.
        mode: "torque" or "position".
        plane: Normal and offset of the only plane; None where the ground is an input.
        dtype: "float64" or "float32".
        forces: Whether forces at contact points are computed.
    """

    settings: Settings
    mode: str
    plane: tuple[float, ...] | None
    dtype: str
    forces: bool


@dataclass(frozen=True, eq=False)
class RolloutStep:
    """A compiled step.

    Args:
        kernel: Of the state, the drives, and `friction` of the plane or `ground` under each contact point.
        layout: Of the whole step.
        state: Names of what is fed back.
        outputs: Names of the outputs.
    """

    kernel: Kernel
    layout: Layout
    state: tuple[str, ...]
    outputs: tuple[str, ...]


@lru_cache(maxsize=8)
def compiled_step(robot: Robot, variant: Variant) -> RolloutStep:
    """The step of a robot.

    Args:
        robot: The robot.
        variant: What it depends on.
    """
    settings = variant.settings
    function, layout = step_function(
        robot, settings.dt, settings.law, settings.integrator, None if settings.touches else (),
        resistance=settings.resistance(robot), rounds=_ROUNDS if variant.mode == "position" else 0,
    )  # fmt: skip
    state = ("q", "v", "memory") if layout.inputs["memory"][0] else ("q", "v")
    outputs = (*state, "force") if variant.forces else state
    shapes = _shapes(layout, variant, state)
    own = _with_parameters(_folded(robot, function, layout, variant, outputs), tuple(shapes))
    kernels = compile_robot(robot, dtype=variant.dtype, functions={"rollout_step": (own, shapes)})
    return RolloutStep(kernels.rollout_step, layout, state, outputs)


def _shapes(layout: Layout, variant: Variant, state: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """The inputs that a rollout has."""
    shapes = {name: layout.inputs[name] for name in state}
    drives = ("torque",) if variant.mode == "torque" else ("position", "kp", "kd")
    shapes |= {name: layout.inputs[name] for name in drives}
    if variant.settings.touches:
        count = len(layout.points)
        shapes |= {"ground": (count, 5)} if variant.plane is None else {"friction": (count,)}
    return shapes


def _folded(
    robot: Robot, function: Callable[..., Any], layout: Layout, variant: Variant, wanted: tuple[str, ...]
) -> Callable[..., Any]:
    """The step as a function of the inputs that a rollout has."""
    limits, order = DrivenJoints(robot).torque_limits, list(layout.outputs)
    fixed = {name: np.zeros(shape) for name, shape in layout.inputs.items()} | {"lower": -limits, "upper": limits}

    def step(**given: Any) -> tuple[Any, ...]:
        if variant.settings.touches and variant.plane is not None:
            rows = [ops.array([*variant.plane, mu]) for mu in given.pop("friction")]
            given["ground"] = ops.stack(rows)
        found = function(*({**fixed, **given}[name] for name in layout.inputs))
        return tuple(found[order.index(name)] for name in wanted)

    return step


def _with_parameters(function: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    """The function with named parameters in place of `**given`, for who looks at its signature."""

    def named(**given: Any) -> Any:
        return function(**given)

    parameters = [Parameter(name, Parameter.KEYWORD_ONLY) for name in names]
    named.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return named
