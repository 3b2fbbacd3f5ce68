"""Rollouts by our own step, one copy in every SIMD lane.

The compiled step has constants folded in, and computes only the outputs that are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.codegen import Kernel
from surefoot.codegen.repeated import Repeated
from surefoot.compiler import compile_robot
from surefoot.dynamics import minverse
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.motion import GroundPlane, World
from surefoot.motion.world import contact_planes, in_world
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.sim.drives import DrivenJoints
from surefoot.sim.native import (
    Layout,
    Rigid,
    Settings,
    centres_kernel,
    law_of,
    require_stable,
    step_function,
)
from surefoot.sim.rollouts.request import Request, RolloutSettings

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
    """The step of a robot."""
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


_DIVERGED = 1e8  # entries of q, v and the contacts' memory: beyond this a copy has no meaning


class NativeRollout:
    """n copies, ready to run.

    Args:
        request: What to do.
        settings: Contact law, integrator, type of numbers, and whether to record forces at contact points.

    Raises:
        NotSupportedError: The law is not a penalty law, the world has objects or obstacles, or gains are too stiff for
            "rk4" (seen at the first state).
    """

    def __init__(self, request: Request, settings: RolloutSettings) -> None:
        law = law_of(settings.contact)
        if isinstance(law, Rigid):
            raise NotSupportedError("rollouts do not support rigid contacts", next_step='use contact="spring_damper"')
        _require_known(request)
        self.request = request
        world = request.world
        first = world.ground[0] if world is not None and len(world.ground) == 1 else None
        self.plane = first if isinstance(first, GroundPlane) else None
        self.touches = request.world is not None and bool(request.world.ground) and bool(request.robot.contacts)
        plane = None if self.plane is None else (*map(float, self.plane.normal), _offset(self.plane))
        self._settings = Settings(request.dt, law, settings.integrator, self.touches, stops=True, friction=True)
        self._robot = in_world(request.robot, request.world)
        if settings.integrator == "rk4":
            W = np.asarray(minverse(self._robot.tree, request.q[0]))
            require_stable(self._robot, W, request.kp, request.kd, request.dt)
        variant = Variant(self._settings, request.mode, plane, settings.dtype, settings.forces and self.touches)
        self.step = compiled_step(self._robot, variant)

    def run(self, out: tuple[Array, Array] | None = None) -> tuple[Array, Array, Array | None, Array]:
        """Records of q, v and forces (or None), and good steps of each copy."""
        if self.touches and self.plane is None:
            return self._run_over_terrain(out)
        request, records = self.request, self._records(out)
        place = self.step.outputs.index
        loop = Repeated(
            self.step.kernel,
            feedback={name: place(name) for name in self.step.state},
            timed=(request.mode,),
            record=[place(name) for name in records],
        )
        found = loop(
            {**self.initial(), **self.steady(), request.mode: request.controls},
            request.steps,
            hold=request.hold,
            every=request.every,
            limit=_DIVERGED,
            threads=request.threads,
            out={place(name): array for name, array in records.items()},
        )
        return records["q"], records["v"], self._marked(records.get("force"), found.good), found.good

    # -- inputs ---------------------------------------------------------------------------------------------------

    def initial(self) -> dict[str, Array]:
        """All that is fed back, at the start: springs along the ground are at rest where the points are."""
        state = {"q": self.request.q, "v": self.request.v}
        if "memory" in self.step.state:
            point = self.points(state["q"], self._ground(state["q"])[..., :3])
            state["memory"] = np.array([self.step.layout.rest_memory(x) for x in point])
        return state

    def steady(self) -> dict[str, Array]:
        """Inputs that stay as they are: gains in mode "position", friction of the plane."""
        request = self.request
        found: dict[str, Array] = {"kp": request.kp, "kd": request.kd} if request.mode == "position" else {}
        if self.plane is not None and self.touches and request.world is not None:
            own = self.plane.friction
            friction = request.world.friction if own is None else own
            found["friction"] = np.full(len(self.step.layout.points), friction)
        return found

    def points(self, q: Array, normal: Any = (0.0, 0.0, 1.0)) -> Array:
        """(n, points, 3) in world: corners, and the lowest points of balls along a normal [m].

        Args:
            q: (n, nq).
            normal: (…, 3) of the ground; zero for the centres of balls.
        """
        centres: Array = centres_kernel(self._robot, self._settings)(
            np.ascontiguousarray(q, dtype=float), threads=self.request.threads
        )
        return centres - np.array([point.radius for point in self.step.layout.points])[:, None] * np.asarray(normal)

    # -- any ground -----------------------------------------------------------------------------------------------

    def _run_over_terrain(self, out: tuple[Array, Array] | None) -> tuple[Array, Array, Array | None, Array]:
        """Step by step: where the points are, the ground below them, the step of all copies."""
        request = self.request
        state, steady, records = self.initial(), self.steady(), self._records(out)
        good = np.zeros(request.copies, dtype=np.int64)
        for t in range(request.steps):
            control = np.ascontiguousarray(request.controls[..., t // request.hold, :])
            given = {**state, **steady, "ground": self._ground(state["q"]), request.mode: control}
            found = self.step.kernel(**given, threads=request.threads)
            after = dict(zip(self.step.outputs, found, strict=True))
            # (n,) whether all entries of each copy are numbers below the limit
            going = (good == t) & np.all(
                [np.asarray((np.abs(after[name]) < _DIVERGED).all(axis=1)) for name in state], axis=0
            )
            good += going
            state = {name: np.where(going[:, None], after[name], old) for name, old in state.items()}
            if (t + 1) % request.every == 0:
                for name, record in records.items():
                    record[:, t // request.every] = state.get(name, after[name])
        return records["q"], records["v"], self._marked(records.get("force"), good), good

    def _records(self, out: tuple[Array, Array] | None) -> dict[str, Array]:
        """Arrays for what is recorded, by name."""
        shapes = self.step.layout.outputs
        names = [name for name in ("q", "v", "force") if name in self.step.outputs]
        found: dict[str, Array] = {}
        for k, name in enumerate(names):
            shape = (self.request.copies, len(self.request.times), *shapes[name])
            dtype = self.step.kernel.dtype
            found[name] = np.empty(shape, dtype) if out is None or k > 1 else out[k]
            if not self.step.kernel.arguments.writes_to(found[name], shape):
                raise ShapeError(
                    f"`out` cannot take {name}",
                    evidence={"expected": f"{shape} {dtype}"},
                    next_step="give contiguous, aligned, writeable arrays",
                )
        return found

    def _ground(self, q: Array) -> Array:
        """(n, points, 5) the planes below the contact points."""
        points = self.points(q, np.zeros(3))
        world = self.request.world or World(ground=())
        planes: Array = contact_planes(world, points.reshape(-1, 3)).reshape(*points.shape[:2], 5)
        return planes

    def _marked(self, force: Array | None, good: Array) -> Array | None:
        """Forces (n, records, points, 3), NaN where a copy had stopped."""
        if force is not None:
            ends = self.request.every * np.arange(1, force.shape[1] + 1)
            force[ends[None] > good[:, None]] = np.nan
        return force


def _offset(plane: GroundPlane) -> float:
    return float(plane.normal @ plane.point)


def _require_known(request: Request) -> None:
    world = request.world
    if world is None:
        return
    if names := [*(item.name for item in world.objects), *(item.name for item in world.obstacles)]:
        raise NotSupportedError(
            "native rollouts support ground only", evidence={"world has": names}, next_step='use engine="mujoco"'
        )
