"""A swing foot that meets an obstacle its plan does not know, and gives way: reactive avoidance on a whole robot.

Buschmann 2014, section 5.4.3: steps of 1 s, a cycle of 2 ms; a block 16.1 cm high, 8 cm deep and 35 cm wide, and a
triangle 30 cm high, 9 cm deep and 13 cm wide at its base.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot import ops
from surefoot.collision.robot_volumes import robot_volumes
from surefoot.compiler import compile_robot
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.geometry import SweptVolume
from surefoot.ik.clik import closed_loop_rate, liegeois_rates
from surefoot.ik.null_space_criteria import (
    DistanceCriterion,
    LimitCriterion,
    MomentumWeight,
    PostureCriterion,
    together,
)
from surefoot.ik.reactive_avoidance import ReactiveAvoidance, avoiding_rate
from surefoot.kinematics.volume_distance import volume_distance
from surefoot.motion import Quintic
from surefoot.robot import Robot
from surefoot.robot.volumes import BodyVolume
from surefoot.spatial import so3

__all__ = ["BLOCK", "SWINGS", "TRIANGLE", "SwingHistory", "SwingStep", "shifted", "swing_over"]

Array = NDArray[np.float64]
BLOCK = SweptVolume(np.array([[0.0, -0.1645, 0.07], [0.0, 0.1645, 0.07]]), 0.10)
"""The block across x at the origin: a line of radius 10 cm, 7 cm over the floor. (Erratum: "7 cm beneath the floor"
would have its top at 3 cm; 7 cm above it contains the edges of the block, 4 cm off the middle, 0.6 mm to spare.)"""
TRIANGLE = SweptVolume(np.array([[0.0, -0.065, 0.0], [0.0, 0.065, 0.0], [0.0, 0.0, 0.30]]), 0.045)
"""The triangle across x at the origin, 4.5 cm to both sides of its middle plane."""
_BLUR = 0.005  # m over which kinks of the distance are rounded


def shifted(volume: SweptVolume, x: float, y: float) -> SweptVolume:
    """An obstacle at another place on the floor.

    Args:
        volume: At the origin.
        x: [m].
        y: [m].
    """
    return SweptVolume(volume.vertices + np.array([x, y, 0.0]), volume.radius)


@dataclass(frozen=True)
class SwingStep:
    """The plan of a step and how it gives way. The stance foot stands at x = 0.

    Args:
        swing: Link of the foot that swings; the other one is found by its side.
        behind: Where it starts, behind the stance foot [m].
        ahead: Where it lands, ahead of the stance foot [m].
        lift: Height of the plan [m].
        tilt: How far the toes hang down at this height [rad].
        travel: When the foot moves forward, shares of the duration.
        apart: Distance of the feet across [m].
        sink: How much the base is lower than at home [m].
        duration: T_s [s].
        cycle: [s].
        gives_way: Which of x, y and z of the swing foot give way.
        off: When the potentials are switched off, share of the duration.
        reach: Distance at which avoidance begins [m].
        slope: H' at contact, negative: rate of giving way [m/s].
        attraction: s_att [1/s].
        pull: Gain of the tasks [1/s].
    """

    swing: str = "left_foot"
    behind: float = 0.35
    ahead: float = 0.30
    lift: float = 0.08
    tilt: float = 0.0
    travel: tuple[float, float] = (0.1, 0.9)
    apart: float = 0.30
    sink: float = 0.05
    duration: float = 1.0
    cycle: float = 0.002
    gives_way: tuple[int, ...] = (1, 2)
    off: float = 0.8
    reach: float = 0.05
    slope: float = -2.0
    attraction: float = 4.0
    pull: float = 50.0

    def __post_init__(self) -> None:
        if not self.swing.startswith(("left_", "right_")):
            raise NotSupportedError(f"`{self.swing}` tells no side", next_step="name a link as left_… or right_…")
        if not 0.0 < self.off < 1.0 or not self.duration > self.cycle > 0.0:
            raise ShapeError("a step needs 0 < off < 1 and a cycle shorter than its duration")

    @property
    def stance(self) -> str:
        """The link of the foot that stands."""
        side, _, rest = self.swing.partition("_")
        return f"{'right' if side == 'left' else 'left'}_{rest}"


@dataclass(frozen=True, eq=False)
class SwingHistory:
    """What happened, at each of n cycles.

    Args:
        t: (n,) [s].
        q: (n, nq) configurations.
        v: (n, nv) velocities.
        plan: (n, 3) planned position of the swing foot [m].
        foot: (n, 3) where it was.
        deviation: (n, 3) from the plan, as commanded [m].
        deviation_rate: (n, 3) [m/s].
        deviation_acceleration: (n, 3) [m/s²].
        distance: (n,) of the swing leg to the nearest obstacle [m].
        legs_apart: (n,) of the swing leg to the stance leg [m].
    """

    t: Array
    q: Array
    v: Array
    plan: Array
    foot: Array
    deviation: Array
    deviation_rate: Array
    deviation_acceleration: Array
    distance: Array
    legs_apart: Array


def swing_over(robot: Robot, obstacles: Sequence[SweptVolume], step: SwingStep, avoid: bool = True) -> SwingHistory:
    """One step of a biped past obstacles, by closed-loop inverse kinematics with reactive avoidance.

    Tasks are the poses of the stance foot, of the base and of the swing foot; what they leave free keeps off joint
    limits, near home, and low in angular momentum. The position of the swing foot gives way (`ReactiveAvoidance`).

    Args:
        robot: A floating robot with links `left_…` and `right_…` of the feet, named as `step.swing`.
        obstacles: In world.
        step: The plan.
        avoid: Whether it gives way; else it runs into the obstacles, for comparison.
    """
    walker = _Walker(robot, obstacles, step)
    reactive = ReactiveAvoidance(3, step.attraction)
    ways = np.array(step.gives_way, dtype=int)
    q, rows = walker.start(), []
    for k in range(round(step.duration / step.cycle) + 1):
        t = k * step.cycle
        plan, rate = walker.plan(t)
        if t >= step.off * step.duration and not reactive.is_returning:
            reactive.begin_return(step.duration - t)
        J = walker.jacobian(q)
        away = reactive.now
        v = walker.rates(q, J, plan, rate, away.x, away.rate)
        rows.append(walker.record(t, q, v, plan[2][:3, 3], away.x, away.rate, away.acceleration))
        push = np.zeros(3)
        if avoid:
            push[ways] = avoiding_rate(J, walker.potential(q).gradient, 12 + ways)
        reactive.step(push, step.cycle)
        q = np.asarray(pin.integrate(robot.model, q, step.cycle * v))
    return SwingHistory(*(np.array(column) for column in zip(*rows, strict=True)))


class _Walker:
    """The robot with its tasks, its plan and its distances."""

    def __init__(self, robot: Robot, obstacles: Sequence[SweptVolume], step: SwingStep) -> None:
        self.robot, self.step, self.kernels = robot, step, compile_robot(robot)
        self.names = [step.stance, robot.tree.body_names[0], step.swing]
        own, other = (_leg_volumes(robot, foot) for foot in (step.swing, step.stance))
        world = [BodyVolume(-1, x, "obstacle") for x in obstacles]
        self.to_world, self.to_leg = (_distance_function(robot, own, x, None) for x in (world, other))
        near = _distance_function(robot, own, world, _BLUR)
        self.potential = together(
            DistanceCriterion(near, step.reach, step.slope),
            DistanceCriterion(self.to_leg, step.reach, step.slope),
            LimitCriterion(robot, 0.05, -0.5),
        )
        self.comfort = together(LimitCriterion(robot, 0.4, -5.0), PostureCriterion(robot, robot.home))
        self.weight = MomentumWeight(robot, 0.008, 1.0 / 0.008)
        home = self.kernels.frames(robot.home, self.names)
        self._along = Quintic.at_rest(-step.behind, step.ahead, (step.travel[1] - step.travel[0]) * step.duration)
        self._up = Quintic.at_rest(0.0, 1.0, 0.5 * step.duration)
        self._base = Quintic.at_rest(-0.5 * step.behind, 0.5 * step.ahead, step.duration)
        self._home = self._placed(home)

    def _placed(self, home: Array) -> Array:
        """Stance foot, base and swing foot at home, the feet as far apart as the plan wants."""
        placed, side = np.array(home), np.sign(home[2, 1, 3] - home[0, 1, 3])
        placed[:, 0, 3] -= home[0, 0, 3]
        placed[:, 1, 3] = np.array([-0.5, 0.0, 0.5]) * side * self.step.apart
        placed[1, 2, 3] -= self.step.sink
        return placed

    def plan(self, t: float) -> tuple[Array, Array]:
        """Placements (3, 4, 4) and twists (3, 6) of stance foot, base and swing foot."""
        T, step, rate = np.array(self._home), self.step, np.zeros((3, 6))
        x, x_rate, _ = self._along.sample(t - step.travel[0] * step.duration)
        rise, rise_rate, _ = self._up.sample(min(t, step.duration - t))
        rise_rate = rise_rate if t < 0.5 * step.duration else -rise_rate
        base, base_rate, _ = self._base.sample(t)
        T[1, 0, 3], T[2, 0, 3], T[2, 2, 3] = T[1, 0, 3] + base, x, T[2, 2, 3] + step.lift * rise
        T[2, :3, :3] = so3.exp(step.tilt * float(rise) * np.array([0.0, 1.0, 0.0])) @ T[2, :3, :3]
        rate[1, 0] = base_rate
        rate[2] = x_rate, 0.0, step.lift * rise_rate, 0.0, step.tilt * rise_rate, 0.0
        return T, rate

    def jacobian(self, q: Array) -> Array:
        return np.vstack([self.kernels.jacobian(q, name) for name in self.names])

    def errors(self, q: Array, goal: Array) -> Array:
        now = self.kernels.frames(q, self.names)
        turns = [so3.log(a[:3, :3] @ b[:3, :3].T) for a, b in zip(goal, now, strict=True)]
        return np.hstack([goal[:, :3, 3] - now[:, :3, 3], np.array(turns)]).ravel()

    def rates(self, q: Array, J: Array, plan: Array, rate: Array, x: Array, x_rate: Array) -> Array:
        """Velocities (nv,) that do the tasks, the swing foot deviated by x."""
        goal, wanted = np.array(plan), np.array(rate)
        goal[2, :3, 3] += x
        wanted[2, :3] += x_rate
        task_rate = closed_loop_rate(wanted.ravel(), self.errors(q, goal), self.step.pull)
        return liegeois_rates(J, task_rate, 2.0 * self.comfort(q).gradient, self.weight(q))

    def start(self) -> Array:
        """The posture in which the step begins: Newton steps from home, the rest of the body at its best."""
        goal, _ = self.plan(0.0)
        q, no_pull = np.array(self.robot.home), np.zeros(self.robot.nv)
        for k in range(2 * _STEPS):
            error = self.errors(q, goal)
            if k >= _STEPS and np.abs(error).max() < 1e-10:
                return q
            pull = 0.05 * self.comfort(q).gradient if k < _STEPS else no_pull
            short = error * min(1.0, 0.2 / max(np.abs(error).max(), 1e-12))
            q = np.asarray(pin.integrate(self.robot.model, q, liegeois_rates(self.jacobian(q), short, pull)))
        raise ShapeError("the step begins where the legs do not reach", evidence={"error": np.abs(error).max()})

    def record(self, t: float, q: Array, v: Array, plan: Array, *deviation: Array) -> tuple[Any, ...]:
        foot = self.kernels.frames(q, self.names)[2, :3, 3]
        return t, q, v, plan, foot, *deviation, self.to_world(q)[0].min(), self.to_leg(q)[0].min()


_STEPS = 100  # from home to where a step begins, and again to be exact

_HIGH = SwingStep(
    behind=0.30, ahead=0.20, lift=0.42, tilt=0.48, travel=(0.25, 0.85), apart=0.20, sink=-0.01, reach=0.04, slope=-1.5
)
SWINGS: dict[str, tuple[SweptVolume, SwingStep]] = {
    "block-over": (shifted(BLOCK, 0.0, 0.15), SwingStep(lift=0.15, tilt=0.25, ahead=0.25)),
    "block-around": (shifted(BLOCK, 0.0, 0.4365), SwingStep(lift=0.06, ahead=0.25)),
    "triangle-around": (shifted(TRIANGLE, 0.0, 0.279), SwingStep(lift=0.06, behind=0.30, ahead=0.25)),
    "triangle-over": (shifted(TRIANGLE, 0.0, 0.10), _HIGH),
}
"""Steps of `lola` whose plans run into an obstacle. Those "over" are too low for their
hanging toes, those "around" overlap with the foot by 3.8 cm (block) and 4.1 cm (triangle)."""


def _leg_volumes(robot: Robot, foot: str) -> list[BodyVolume]:
    """Volumes of the leg that a foot belongs to: the bodies of its side on the way to it, and beyond."""
    tree, end = robot.tree, robot.body_of(foot)
    side = foot.partition("_")[0] + "_"
    leg = {end, *(i for i in tree.ancestors(end) if tree.body_names[i].startswith(side))}
    return [x for x in robot_volumes(robot).volumes if x.body in leg or (x.body >= 0 and end in tree.ancestors(x.body))]


def _distance_function(
    robot: Robot, own: Sequence[BodyVolume], others: Sequence[BodyVolume], blur: float | None
) -> Callable[[Array], tuple[Array, Array]]:
    """Kernel from q to the distances (pairs,) of all pairs, exact or blurred, and their gradients (pairs, nv)."""

    def distances(tree: Any, q: Any) -> tuple[Any, Any]:
        found = [volume_distance(tree, q, a, b, blur) for a in own for b in others]
        return ops.array([x.distance for x in found]), ops.stack([x.gradient for x in found])

    kernel: Callable[[Array], tuple[Array, Array]] = compile_robot(robot, functions={"gaps": distances}).gaps
    return kernel
