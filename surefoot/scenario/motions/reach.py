"""`reach`: hands reach targets while the feet stay fixed and the robot keeps its balance without collisions.

Strict priorities: the nearest pairs of volumes and the limits of the joints first, then feet and balance, then hands,
then the posture.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.collision import CollisionModel
from surefoot.compiler import compile_robot
from surefoot.errors import NotSupportedError, ScenarioError
from surefoot.ik import Stepper
from surefoot.ik.avoidance import AvoidingStepper, VelocityDamper
from surefoot.motion import Log, Quintic, Trajectory, World
from surefoot.report import Plot
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings
from surefoot.scenario.motions.plan import Plan
from surefoot.scenario.schema import MotionTable
from surefoot.tasks import Contact, FrameOrientation, FramePosition, JointSpeeds, Posture, Support, Task

_DURATION, _HOLD, _CYCLE, _TOLERANCE = 2.5, 1.0, 0.01, 0.005
_INFLUENCE, _CLEARANCE, _APPROACH = 0.08, 0.02, 0.3
_FASTEST = 0.5  # [rad/s] or [m/s]: of the joints and the base
_PAIRS = 40  # that are looked at
_EDGE = 0.015  # [m]: how far the centre of mass stays inside the soles
_FEET = 1e-3  # [m]: how far a foot may drift in the plan
_RUN_TOLERANCE = 0.03  # [m]: how far a hand may end from its target in physics
_EVERY = 10  # rows of the log that are looked at
_BLUR = 0.05  # [s]: standard deviation of the window that takes corners off the path
_FORESIGHT = 0.3  # [s]: the same of the window over which the motion slows down


def reach(table: MotionTable, robot: Robot, world: World) -> Plan:
    """Plan with and without regard to collisions; the trajectory is the one with.

    Args:
        table: Of the kind "reach".
        robot: A robot that stands.
        world: Its obstacles are kept clear of.

    Raises:
        NotSupportedError: The robot stands on nothing.
        ScenarioError: There is no hand.
        UnknownNameError: There is no such frame.
    """
    scene = _scene(table, robot, world)
    trajectory, unaware = calm(robot, scene.cycle, scene.moved(avoid=True), _FASTEST), scene.moved(avoid=False)
    aware, blind_at = trajectory.q, np.linspace(trajectory.start, trajectory.end, len(unaware))
    hands = scene.hand_errors(aware)
    gaps, blind = scene.gaps(aware), np.interp(trajectory.time, blind_at, scene.gaps(unaware))
    com = compile_robot(robot).com(aware)
    metrics: dict[str, Any] = {
        "hand_error_plan_m": float(max(error[-1] for error in hands.values())),
        "gap_plan_m": float(gaps.min()),
        "gap_unaware_m": float(blind.min()),
        "nearest_in_plan": " – ".join(scene.nearest(aware)),
        "feet_drift_plan_m": scene.feet_drift(aware),
        "support_margin_plan_m": float(scene.inside(com).min()),
    }
    curves = (
        Plot("planned distance of hands to targets", "m", hands),
        Plot("smallest distance to self and obstacles", "m", {"planned": gaps, "without avoidance": blind}),
        Plot("centre of mass margin inside the soles", "m", {"margin": scene.inside(com)}),
    )
    return Plan(trajectory, metrics, _trouble(metrics, scene), curves, scene.judged)


def _trouble(metrics: dict[str, Any], scene: _Scene) -> str | None:
    if not metrics["hand_error_plan_m"] <= scene.tolerance:
        return f"the hands stay {metrics['hand_error_plan_m']:.3g} m short of their targets"
    if not metrics["feet_drift_plan_m"] <= _FEET:
        return f"a foot drifts by {metrics['feet_drift_plan_m']:.3g} m"
    if metrics["support_margin_plan_m"] < 0.0:
        return "the centre of mass leaves the support"
    if metrics["gap_plan_m"] < scene.least_gap:
        return f"{metrics['nearest_in_plan']} approach to {metrics['gap_plan_m']:.3g} m"
    return None


def _scene(table: MotionTable, robot: Robot, world: World) -> _Scene:
    if not robot.contacts or robot.base != "floating":
        raise NotSupportedError(f"`{robot.name}` does not stand on feet", next_step="use a humanoid")
    if not table.hands:
        raise ScenarioError("a reach needs hands", next_step="give motion.hands = { FRAME = [x, y, z] }")
    hold = _HOLD if table.hold is None else table.hold
    return _Scene(
        robot,
        CollisionModel(robot, world),
        {frame: np.array(point) for frame, point in table.hands.items()},
        table.duration or _DURATION,
        hold,
        table.cycle or _CYCLE,
        table.influence or _INFLUENCE,
        table.tolerance or _TOLERANCE,
    )


@dataclass(frozen=True, eq=False)
class _Scene:
    """Who reaches where among what."""

    robot: Robot
    model: CollisionModel
    hands: dict[str, Array]
    duration: float
    hold: float
    cycle: float
    influence: float
    tolerance: float

    @property
    def times(self) -> Array:
        return np.asarray(self.cycle * np.arange(round((self.duration + self.hold) / self.cycle) + 1), dtype=float)

    @property
    def least_gap(self) -> float:
        """What pairs must keep, but for those that begin nearer [m]."""
        return min(_CLEARANCE, float(self.model.distances(self.robot.home).min(initial=np.inf))) - 1e-3

    def moved(self, avoid: bool) -> Array:
        """Configurations (n, nq) at the times."""
        stepper = self._stepper(avoid)
        start = self.robot.placements(self.robot.home)
        ways = {
            frame: Quintic.at_rest(start[frame][:3, 3], point, self.duration) for frame, point in self.hands.items()
        }
        rows = [np.array(self.robot.home)]
        for t in self.times[:-1]:
            for frame, way in ways.items():
                x, rate, _ = way.sample(min(t + self.cycle, self.duration))
                stepper.set_target(frame, x, rate if t + self.cycle < self.duration else np.zeros(3))
            rows.append(stepper.step(rows[-1]).q_next)
        return np.array(rows)

    def _stepper(self, avoid: bool) -> Stepper:
        options: dict[str, Any] = {"margin": 0.02, "speed_share": 0.5, "acceleration": 10.0}
        if not avoid:
            return Stepper(self.robot, self._tasks(), self.cycle, **options)
        damper = VelocityDamper(self.influence, _CLEARANCE, _APPROACH, _PAIRS)
        return AvoidingStepper(self.robot, self._tasks(), self.cycle, self.model, damper, **options)

    def _tasks(self) -> list[Task]:
        robot = self.robot
        start, trunk = robot.placements(robot.home), robot.tree.body_names[robot.base_joint or 0]
        return [
            *(Contact(robot, name, gain=20.0) for name in robot.contacts),
            Support(self._corners, _EDGE, name="balance", gain=10.0),
            *(FramePosition(x, start[x][:3, 3], priority=1, gain=5.0) for x in self._known_hands()),
            FrameOrientation(trunk, start[trunk][:3, :3], name="upright", priority=2, gain=2.0, weight=10.0),
            Posture(robot, priority=2, gain=1.0),
            JointSpeeds(robot, name="calm", priority=2, weight=0.1),
        ]

    def _known_hands(self) -> list[str]:
        for frame in self.hands:
            self.robot.frame_id(frame)
        return list(self.hands)

    @property
    def _corners(self) -> Array:
        return np.vstack(list(self.robot.contact_corners(self.robot.home).values()))

    # -- looking at motions ---------------------------------------------------------------------------------------

    def hand_errors(self, q: Array) -> dict[str, Array]:
        """Distance of each hand to where it shall end [m]."""
        places = compile_robot(self.robot).frames(q, list(self.hands))[:, :, :3, 3]
        return {x: np.linalg.norm(places[:, k] - self.hands[x], axis=1) for k, x in enumerate(self.hands)}

    def gaps(self, q: Array) -> Array:
        """Smallest distance at each time (n,) [m]."""
        return self.model.distances(q).min(axis=1)

    def nearest(self, q: Array) -> tuple[str, str]:
        """The two that come nearest to each other."""
        distances = self.model.distances(q)
        return self.model.names[int(np.unravel_index(int(np.argmin(distances)), distances.shape)[1])]

    def feet_drift(self, q: Array) -> float:
        """How far a corner of a sole is from where it was [m]."""
        before = self.robot.contact_corners(q[0])
        drifts = [
            np.abs(c - before[name]).max() for row in q[::_EVERY] for name, c in self.robot.contact_corners(row).items()
        ]
        return float(max(drifts))

    def inside(self, com: Array) -> Array:
        """How far the centre of mass is inside the hull of the soles (n,) [m]."""
        support = Support(self._corners, name="balance")
        normals, offsets = support.edges
        return (offsets - com[:, :2] @ normals.T).min(axis=1)

    def judged(self, _: Robot, log: Log) -> Findings:
        """What a run showed."""
        q = np.asarray(log["q"])[::_EVERY]
        gaps, end = self.gaps(q), {x: float(e[-1]) for x, e in self.hand_errors(np.asarray(log["q"])[-1:]).items()}
        worst = max(end.values())
        nearest = " – ".join(self.nearest(q))
        metrics = {"hand_error_run_m": worst, "gap_run_m": float(gaps.min()), "nearest_in_run": nearest}
        if not worst <= _RUN_TOLERANCE:
            return Findings(metrics, f"a hand ends {worst:.3g} m from its target")
        if not gaps.min() > 0.0:
            return Findings(metrics, f"{nearest} touch in the run")
        return Findings(metrics)


def calm(robot: Robot, dt: float, q: Array, fastest: float) -> Trajectory:
    """The same path, its corners rounded, slower where it would be faster than `fastest`; at rest at both ends.

    Velocities are blurred and integrated again, so that the motion ends a little off where the path does, by what
    blurred rotations do not commute.

    Args:
        robot: The robot.
        dt: Time between postures [s].
        q: (n, nq) postures; the first and the last ones are at rest.
        fastest: Largest entry of v.
    """
    still = np.zeros((1, robot.nv))
    steps = np.array([pin.difference(robot.model, a, b) for a, b in itertools.pairwise(q)])
    v = _blurred(np.vstack([still, steps / dt, still]), _BLUR / dt)
    stretch = np.maximum(np.abs(v).max(axis=1) / fastest, 1.0)
    stretch = np.maximum(_blurred(_widest(stretch, _FORESIGHT / dt)[:, None], _FORESIGHT / dt)[:, 0], 1.0)
    rows = [np.array(q[0])]
    for k in range(1, len(v)):
        rows.append(np.array(pin.integrate(robot.model, rows[-1], 0.5 * dt * (v[k - 1] + v[k]))))
    time = np.concatenate([[0.0], np.cumsum(0.5 * dt * (stretch[1:] + stretch[:-1]))])
    slow = Trajectory.of(robot, time, np.array(rows), v / stretch[:, None])
    return slow.resample(dt=dt)


def _widest(values: Array, width: float) -> Array:
    """Largest value within a window of two widths to either side."""
    reach = round(2.0 * width)
    padded = np.pad(values, reach, mode="edge")
    return np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).max(axis=1)


def _blurred(values: Array, width: float) -> Array:
    """Columns convolved with a bell of this standard deviation [samples]; zero beyond the ends stays zero."""
    reach = max(1, round(4.0 * width))
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    padded = np.pad(values, ((reach, reach), (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0)
    return np.asarray(windows @ (bell / bell.sum()))
