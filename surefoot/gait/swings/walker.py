"""`SwingWalker`: a biped on one foot with the tasks, the plan and the distances of a step.

`SwingStep`: the plan of one step of a biped, and how it gives way to obstacles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pinocchio as pin

from surefoot import ops
from surefoot.arrays import Array
from surefoot.collision import robot_volumes
from surefoot.compiler import compile_robot
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.gait.legs import bodies_beyond, foot_contacts, leg_bodies, other_foot
from surefoot.geometry import SweptVolume
from surefoot.ik.redundancy import DistanceCriterion, LimitCriterion, MomentumWeight, PostureCriterion, together
from surefoot.ik.textbook import closed_loop_rate, liegeois_rates
from surefoot.kinematics import volume_distance
from surefoot.motion import Quintic
from surefoot.robot import BodyVolume, Robot
from surefoot.spatial import so3


@dataclass(frozen=True)
class SwingStep:
    """The plan of a step and how it gives way. The stance foot stands at x = 0.

    Args:
        swing: Link of the foot that swings; the other one is found by its name.
        behind: Where it starts, behind the stance foot [m].
        ahead: Where it lands, ahead of the stance foot [m].
        lift: Height of the plan [m].
        tilt: How far the toes hang down at this height [rad].
        travel: When the foot moves forward, shares of the duration.
        apart: Distance of the feet across [m].
        sink: How much the base is lower than at home [m].
        duration: T_s [s].
        shift: How long the weight takes to the stance foot before the swing, and to the middle after it [s]. The centre
            of mass is led then, and rests over the stance sole during the swing. 0: no shift, the base is led from
            the middle of the feet to the middle of the feet; walking as in the source, which this plan cannot balance.
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
    shift: float = 0.0
    cycle: float = 0.002
    gives_way: tuple[int, ...] = (1, 2)
    off: float = 0.8
    reach: float = 0.05
    slope: float = -2.0
    attraction: float = 4.0
    pull: float = 50.0

    def __post_init__(self) -> None:
        if not 0.0 < self.off < 1.0 or not self.duration > self.cycle > 0.0 or self.shift < 0.0:
            raise ShapeError("a step needs 0 < off < 1, shift ≥ 0, and a cycle shorter than its duration")

    @property
    def end(self) -> float:
        """When all is over [s]."""
        return 2.0 * self.shift + self.duration


Pair = tuple[BodyVolume, BodyVolume]
DistanceFunction = Callable[[Array], tuple[Array, Array]]
_BLUR = 0.005  # m over which kinks of the distance are rounded
_BEYOND = 1e-3  # how far joints may be beyond their limits [rad]
_STEPS = 100  # from home to where a step begins, and again to be exact


class SwingWalker:
    """The robot with its tasks, its plan and its distances.

    There are 18 rows of tasks: poses of stance foot, base and swing foot, each as position and rotation vector in world
    axes. Where the step shifts the weight, x and y of the base are those of the centre of mass.

    Args:
        robot: A floating robot with two feet.
        obstacles: In world.
        step: The plan.
    """

    def __init__(self, robot: Robot, obstacles: Sequence[SweptVolume], step: SwingStep) -> None:
        self.robot, self.step, self.kernels = robot, step, compile_robot(robot)
        self.stance = other_foot(robot, step.swing)
        self.names = [self.stance, robot.tree.body_names[0], step.swing]
        legs = [leg_bodies(robot, foot) for foot in (step.swing, self.stance)]
        own, other = ([x for x in robot_volumes(robot).volumes if x.body in leg] for leg in legs)
        to_world = list(product(own, [BodyVolume(-1, x, "obstacle") for x in obstacles]))
        near = _distance_function(robot, to_world, _BLUR)
        self.to_world = _distance_function(robot, to_world)
        self.to_leg = _distance_function(robot, _apart_at_home(robot, list(product(own, other))))
        self.potential = together(
            DistanceCriterion(near, step.reach, step.slope),
            DistanceCriterion(self.to_leg, step.reach, step.slope),
            LimitCriterion(robot, 0.05, -0.5),
        )
        self.comfort = together(LimitCriterion(robot, 0.4, -5.0), PostureCriterion(robot, robot.home))
        self.weight = MomentumWeight(robot, 0.008, 1.0 / 0.008)
        self._free = _free_rows(robot, (step.swing, self.stance))
        self._home = self._placed(self.kernels.frames(robot.home, self.names))
        self._along = Quintic.at_rest(-step.behind, step.ahead, (step.travel[1] - step.travel[0]) * step.duration)
        self._up = Quintic.at_rest(0.0, 1.0, 0.5 * step.duration)
        self._base = self._led_base()

    def _placed(self, home: Array) -> Array:
        """Stance foot, base and swing foot at home, the feet as far apart as the plan wants."""
        placed, side = np.array(home), np.sign(home[2, 1, 3] - home[0, 1, 3])
        placed[:, 0, 3] -= home[0, 0, 3]
        placed[:, 1, 3] = np.array([-0.5, 0.0, 0.5]) * side * self.step.apart
        placed[1, 2, 3] -= self.step.sink
        return placed

    def _led_base(self) -> Callable[[float], tuple[Array, Array]]:
        """From time to x and y of the base or of the centre of mass, and their rates."""
        step, (stance, base, swing) = self.step, self._home[:, :2, 3]
        starts, lands = (np.array([x, swing[1]]) for x in (-step.behind, step.ahead))
        if step.shift == 0.0:
            middles = [np.array([0.5 * (stance + x)[0], base[1]]) for x in (starts, lands)]
            way = Quintic.at_rest(middles[0], middles[1], step.duration)
            return lambda t: way.sample(t)[:2]
        stance, starts, lands = stance + self._sole(0), starts + self._sole(2), lands + self._sole(2)
        to = Quintic.at_rest(0.5 * (stance + starts), stance, step.shift)
        back = Quintic.at_rest(stance, 0.5 * (stance + lands), step.shift)
        late = step.shift + step.duration
        return lambda t: (to.sample(t) if t < late else back.sample(t - late))[:2]

    def _sole(self, k: int) -> Array:
        """(2,) from the frame of the stance foot (0) or swing foot (2) to the middle of its sole, at home [m]."""
        home, names = self.robot.home, foot_contacts(self.robot, self.names[k])
        if not names:
            raise NotSupportedError(f"`{self.names[k]}` has no contact surface to put the weight on")
        corners = np.vstack([self.robot.contact_corners(home)[name] for name in names])[:, :2]
        middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
        return np.array(middle - self.kernels.frames(home, self.names)[k, :2, 3])

    def plan(self, t: float) -> tuple[Array, Array]:
        """Placements (3, 4, 4) and twists (3, 6) of stance foot, base and swing foot.

        Args:
            t: [s].
        """
        T, step, rate = np.array(self._home), self.step, np.zeros((3, 6))
        swung = min(max(t - step.shift, 0.0), step.duration)
        x, x_rate, _ = self._along.sample(swung - step.travel[0] * step.duration)
        rise, rise_rate, _ = self._up.sample(min(swung, step.duration - swung))
        rise_rate = rise_rate if swung < 0.5 * step.duration else -rise_rate
        T[1, :2, 3], rate[1, :2] = self._base(t)
        T[2, 0, 3], T[2, 2, 3] = x, T[2, 2, 3] + step.lift * rise
        T[2, :3, :3] = so3.exp(step.tilt * float(rise) * np.array([0.0, 1.0, 0.0])) @ T[2, :3, :3]
        rate[2] = x_rate, 0.0, step.lift * rise_rate, 0.0, step.tilt * rise_rate, 0.0
        return T, rate

    def jacobian(self, q: Array) -> Array:
        """(18, nv) of the tasks.

        Args:
            q: (nq,) configuration.
        """
        J = np.vstack([self.kernels.jacobian(q, name) for name in self.names])
        if self.step.shift > 0.0:
            J[6:8] = self.kernels.com_jacobian(q)[:2]
        return J

    def errors(self, q: Array, goal: Array) -> Array:
        """(18,) of the tasks.

        Args:
            q: (nq,) configuration.
            goal: (3, 4, 4) placements.
        """
        now = self.kernels.frames(q, self.names)
        if self.step.shift > 0.0:
            now[1, :2, 3] = self.kernels.com(q)[:2]
        turns = [so3.log(a[:3, :3] @ b[:3, :3].T) for a, b in zip(goal, now, strict=True)]
        return np.hstack([goal[:, :3, 3] - now[:, :3, 3], np.array(turns)]).ravel()

    def rates(self, q: Array, J: Array, plan: Array, rate: Array, x: Array, x_rate: Array) -> Array:
        """Velocities (nv,) that do the tasks, the swing foot deviated.

        Args:
            q: (nq,) configuration.
            J: (18, nv) there.
            plan: (3, 4, 4) placements.
            rate: (3, 6) twists.
            x: (3,) deviation of the swing foot [m].
            x_rate: (3,) [m/s].
        """
        goal, wanted = np.array(plan), np.array(rate)
        goal[2, :3, 3] += x
        wanted[2, :3] += x_rate
        task_rate = closed_loop_rate(wanted.ravel(), self.errors(q, goal), self.step.pull)
        held = np.outer(self._free, self._free)
        return _resolved(J, task_rate, 2.0 * self.comfort(q).gradient, self.weight(q) * held)

    def start(self) -> Array:
        """The posture (nq,) in which the step begins: Newton steps from home, the rest of the body at its best."""
        goal, _ = self.plan(0.0)
        q, no_pull, free = np.array(self.robot.home), np.zeros(self.robot.nv), np.diag(self._free)
        for k in range(2 * _STEPS):
            error = self.errors(q, goal)
            if k >= _STEPS and np.abs(error).max() < 1e-10:
                return self._within_limits(q)
            pull = 0.05 * self.comfort(q).gradient if k < _STEPS else no_pull
            short = error * min(1.0, 0.2 / max(np.abs(error).max(), 1e-12))
            q = np.asarray(pin.integrate(self.robot.model, q, _resolved(self.jacobian(q), short, pull, free)))
        raise ShapeError("the step begins out of reach of the legs", evidence={"error": np.abs(error).max()})

    def _within_limits(self, q: Array) -> Array:
        """The first posture, if its joints are in their ranges."""
        tree, limits = self.robot.tree, self.robot.limits
        beyond = np.maximum(limits.lower - q, q - limits.upper)
        wrong = [i for i in range(tree.n) if tree.nq_of(i) == 1 and beyond[tree.q_index[i]] > _BEYOND]
        if wrong:
            raise ShapeError(
                "the step begins with joints beyond their limits",
                evidence={"joints": [tree.joint_names[i] for i in wrong]},
                next_step="take a shorter step, or lower the base less",
            )
        return q

    def record(self, t: float, q: Array, v: Array, plan: Array, *deviation: Array) -> tuple[Any, ...]:
        """One row of a `SwingHistory`.

        Args:
            t: [s].
            q: (nq,) configuration.
            v: (nv,) velocities.
            plan: (3,) planned position of the swing foot [m].
            *deviation: From it, with its rate and its acceleration, (3,) each.
        """
        foot = self.kernels.frames(q, self.names)[2, :3, 3]
        return t, q, v, plan, foot, *deviation, self.to_world(q)[0].min(), self.to_leg(q)[0].min()


def _resolved(J: Array, rate: Array, gradient: Array, W_inverse: Array) -> Array:
    """As `liegeois_rates`; raises if the robot cannot do the tasks."""
    try:
        return liegeois_rates(J, rate, gradient, W_inverse)
    except NotSupportedError as error:
        raise NotSupportedError(
            "the robot reaches a posture in which feet and base cannot follow the step",
            evidence=error.evidence,
            next_step="take a shorter or lower step, or lower the base",
        ) from error


def _free_rows(robot: Robot, feet: Sequence[str]) -> Array:
    """(nv,) 1 for what may move, 0 for the joints of toes."""
    free = np.ones(robot.nv)
    for i in (i for foot in feet for i in bodies_beyond(robot, foot)):
        first = int(robot.tree.v_index[i])
        free[first : first + robot.tree.nv_of(i)] = 0.0
    return free


def _apart_at_home(robot: Robot, pairs: Sequence[Pair]) -> list[Pair]:
    """Pairs that do not overlap at home; hips side by side do, and say nothing about legs that cross."""
    return [(a, b) for a, b in pairs if volume_distance(robot.tree, robot.home, a, b).distance > 0.0]


def _distance_function(robot: Robot, pairs: Sequence[Pair], blur: float | None = None) -> DistanceFunction:
    """Kernel from q to the distances (pairs,), exact or blurred, and their gradients (pairs, nv)."""

    def distances(tree: Any, q: Any) -> tuple[Any, Any]:
        found = [volume_distance(tree, q, a, b, blur) for a, b in pairs]
        return ops.array([x.distance for x in found]), ops.stack([x.gradient for x in found])

    kernel: DistanceFunction = compile_robot(robot, functions={"gaps": distances}).gaps
    return kernel
