"""`rollout`: thousands of copies of a robot through time, by our own engine in SIMD lanes or by MuJoCo's rollout."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from surefoot.compiler import compile_robot
from surefoot.errors import NotSupportedError, SimulationError, one_of
from surefoot.motion import World
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.sim.incidents import FallDetector
from surefoot.sim.rollouts.mujoco import MujocoRollout
from surefoot.sim.rollouts.native import NativeRollout
from surefoot.sim.rollouts.request import Request, RolloutOptions, RolloutSettings, make_request

ENGINES = ("native", "mujoco")


@dataclass(frozen=True, eq=False)
class Rollout:
    """The motion of n copies.

    A copy that diverged stays as it was after its last good step.

    Args:
        time: (records,) [s].
        q: (n, records, nq).
        v: (n, records, nv).
        force: (n, records, points, 3) on the contact points during the recorded steps, in world [N]; None if nobody
            asked for them or there is no ground. NaN after a copy diverged.
        good: (n,) steps before a copy diverged; all of them if it did not.
        steps: Of the whole rollout.
        robot: The robot.
        world: The world; None for empty space.
    """

    time: Array
    q: Array
    v: Array
    force: Array | None
    good: Array
    steps: int
    robot: Robot = field(repr=False)
    world: World | None = field(repr=False)

    @property
    def finite(self) -> Array:
        """(n,) whether a copy went all the way."""
        return self.good == self.steps

    @cached_property
    def fallen(self) -> Array:
        """(n,) whether a copy lies at the last record, as `FallDetector` has it."""
        detector, q = FallDetector(self.robot, self.world), np.ascontiguousarray(self.q[:, -1], dtype=float)
        base = self.robot.base_joint
        if base is None:
            return np.zeros(len(q), dtype=bool)
        kernels = compile_robot(self.robot)
        return np.array(
            [detector.has_fallen(c, T[base]) for c, T in zip(kernels.com(q), kernels.placements(q), strict=True)]
        )


def rollout(
    robot: Robot,
    states: Any,
    controls: ArrayLike,
    *,
    world: World | None = None,
    dt: float = 0.001,
    engine: str = "native",
    threads: int | str = 1,
    strict: bool = False,
    out: tuple[Array, Array] | None = None,
    **options: Unpack[RolloutOptions],
) -> Rollout:
    """Move n copies of a robot, each from its own state under its own controls; the same input gives the same bits.

        found = rollout(robot, (Q, V), torques, world=World.flat(), hold=10, record_every=10, threads="all")
        found.q[found.finite]

    Drives are ideal: over a step they give clip(torque, ± limit), or in mode "position" kp (position − q⁺) − kd v⁺
    within ± limit. Which drives are at their limits `native` finds in four rounds, `NativeEngine` in any number; a step
    that needs more (stiff springs, many joints) has torques within the limits that are not quite those of the springs.
    In `native`, a world of one plane runs in machine code altogether; over other ground each step asks the world for
    the ground below every contact point.

    Args:
        robot: The robot.
        states: (n, nq + nv); a pair of q (n, nq) and v (n, nv); or a list of states.
        controls: (n, times, nu), or (times, nu) for all copies: torques [N m] or [N], or wanted positions [rad] or [m],
            of the driven dofs.
        world: Ground and gravity; None for empty space.
        dt: Step [s].
        engine: One of `ENGINES`.
        threads: Number of threads, or "all".
        strict: Raise an error if a copy diverges.
        out: Arrays for q (n, records, nq) and v (n, records, nv) (`native` over a plane or without ground).
        **options: Fields of `RolloutSettings`: `contact`, `integrator`, `mode`, `kp`, `kd`, `hold`, `record_every`,
            `forces`, `dtype`.

    Raises:
        ShapeError: Wrong shapes or numbers.
        UnknownNameError: There is no such engine, mode, law or integrator.
        NotSupportedError: The engine lacks an option.
        SimulationError: A copy diverged and `strict` is set.
    """
    if engine not in ENGINES:
        raise one_of("engine", engine, ENGINES)
    if world is not None and world.moving:
        raise NotSupportedError("rollouts take ground for resting, and some of it moves", next_step="use `simulate`")
    settings = RolloutSettings(**options)
    request = make_request(robot, states, controls, world, dt, threads, settings)
    if engine == "mujoco":
        _refuse_ours(forces=settings.forces, dtype=settings.dtype != "float64", out=out is not None)
        run = MujocoRollout(request)
        q, v, good = run.read(run.run())
        found = _found(request, q, v, None, good)
    else:
        found = _found(request, *NativeRollout(request, settings).run(out))
    if strict:
        _require_finite(found, dt)
    return found


def _refuse_ours(**options: bool) -> None:
    if wrong := [name for name, given in options.items() if given]:
        raise NotSupportedError(f"MuJoCo's rollout has no option {', '.join(wrong)}", next_step='use engine="native"')


def _found(request: Request, q: Array, v: Array, force: Array | None, good: Array) -> Rollout:
    return Rollout(request.times, q, v, force, good, request.steps, request.robot, request.world)


def _require_finite(found: Rollout, dt: float) -> None:
    wrong = np.flatnonzero(~found.finite)
    if len(wrong):
        first = int(wrong[np.argmin(found.good[wrong])])
        raise SimulationError(
            f"{len(wrong)} of {len(found.good)} copies diverged",
            evidence={"first": f"copy {first} at t = {found.good[first] * dt:.4f} s"},
            next_step="use a smaller dt, lower gains or softer contacts, or omit `strict` and look at `finite`",
        )
