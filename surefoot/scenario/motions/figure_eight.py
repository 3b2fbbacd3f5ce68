"""`figure_eight`: a hand traces a figure eight through singular postures of its arm with bounded joint rates.

The path is followed by the singularity-consistent inverse (Nenchev, Tsumaki & Uchiyama 2000; Nenchev & Konno 2019,
section 2.5), which slows down along the path where joints would have to run. The plain and the damped inverse do the
same path at full speed, for comparison: one runs, the other leaves the path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.ik import solve
from surefoot.ik.singular import ConsistentMotion, follow_consistently
from surefoot.ik.textbook import damped_inverse, truncated_inverse
from surefoot.motion import Log, Quintic, Trajectory, World
from surefoot.report import Plot
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings
from surefoot.scenario.motions.hand_path import EightPath, HandPath, end_frame, frame_poses
from surefoot.scenario.motions.plan import Plan
from surefoot.scenario.schema import MotionTable
from surefoot.spatial import so3
from surefoot.tasks import FramePose, FramePosition

_AXES = {"x": 0, "y": 1, "z": 2}
_DURATION, _SIZE, _PLANE, _RATE = 6.0, (0.2, 0.1), "yz", float(np.pi)  # [s], [m], [rad/s]
_STEP, _FINE = 0.01, 0.005  # of the path and of the trajectory [s]
_LONGER = 4.0  # how many times its duration the motion may take
_RAMP, _REST = 0.5, 0.5  # [s] from rest to full speed, and at rest before and after
_SLOWLY = 0.5  # share of the joint rates on the way to the start
_TOLERANCES = {"m": 1e-7, "rad": 1e-7}


def figure_eight(table: MotionTable, robot: Robot, world: World) -> Plan:
    """Go to the outer turn of the eight, draw it, and stay.

    Args:
        table: frame, centre, size, plane, cycles, orientation and tilt of the path; duration [s] of a cycle at full
            speed; rate_limit [rad/s] of every joint: that of the slowest joint where this is less; damping of the
            damped inverse.
        robot: The robot; its base is fixed.
        world: Where it is; not looked at.
    """
    if len(robot.base_rows):
        raise NotSupportedError(
            f"`{robot.name}` has a {robot.base} base; the figure eight needs a fixed-base arm",
            next_step="fix the base: --set robot.base=fixed",
        )
    hand = _hand(table, robot)
    start = _start(hand)
    if isinstance(start, str):
        return _staying(robot, start)
    limit = min(table.rate_limit or _RATE, float(robot.limits.velocity[hand.columns].min()))
    speed = 2.0 * np.pi / (table.duration or _DURATION)
    try:
        motion = _followed(hand, start, speed, limit)
    except NotSupportedError as error:
        return _staying(robot, error.message)
    trajectory, clock = _whole_motion(hand, motion, limit)
    return EightFindings(hand, motion, trajectory, clock, speed, limit, table.damping).plan()


def _hand(table: MotionTable, robot: Robot) -> HandPath:
    """The limb and its path."""
    frame, orientation = table.frame or end_frame(robot), table.orientation is not False
    if table.tilt and not orientation:
        raise NotSupportedError("`tilt` needs a hand with a prescribed orientation", next_step="omit one of them")
    home = frame_poses(robot, np.array(robot.home)[None], frame)[0]
    path = EightPath(
        centre=home[:3, 3] + np.array(table.centre or (0.0, 0.0, 0.0)),
        rotation=home[:3, :3],
        axes=np.eye(3)[[_AXES[letter] for letter in table.plane or _PLANE]],
        size=table.size or _SIZE,
        cycles=table.cycles or 1,
        tilt=table.tilt or 0.0,
    )
    return HandPath(robot, frame, path, orientation)


def _start(hand: HandPath) -> Array | str:
    """Joints (n,) at the start of the path, or why there are none."""
    T, task = hand.path.pose(hand.path.start), FramePose(hand.frame, name="hand")
    tasks = [replace(task, target=T)] if hand.orientation else [FramePosition(hand.frame, T[:3, 3], name="hand")]
    found = solve(hand.robot, tasks, joints=hand.joints, tolerances=_TOLERANCES)
    return hand.joints_of(found.q) if found.success else f"the hand cannot reach its path: {found.message}"


def _followed(hand: HandPath, start: Array, speed: float, limit: float) -> ConsistentMotion:
    """The motion along the path, to its end or as far as the arm can."""
    path = hand.path
    most = _LONGER * (path.end - path.start) / speed
    span = (path.start - speed * _STEP, path.end)
    return follow_consistently(hand.problem, start, path.start, speed, most, _STEP, limit, span=span)


def _staying(robot: Robot, trouble: str) -> Plan:
    """No motion, and why."""
    q = np.tile(robot.home, (2, 1))
    return Plan(Trajectory.of(robot, [0.0, _REST], q, np.zeros((2, robot.nv))), trouble=trouble)


def _whole_motion(hand: HandPath, motion: ConsistentMotion, limit: float) -> tuple[Trajectory, Array]:
    """From home to the path, along it from rest to rest, and a stay; and the time of the path (k,) over its times."""
    way = float(np.abs(motion.q[0]).max())
    going = max(_REST, 1.875 * way / (_SLOWLY * limit))  # 1.875: highest over mean speed of a quintic
    along = float(motion.t[-1]) + _RAMP
    t = np.arange(0.0, going + along + 2.0 * _REST + 0.5 * _FINE, _FINE)
    clock, pace = _clock(t - going - _REST, along)
    there, rate, _ = Quintic.at_rest(np.zeros(motion.q.shape[1]), motion.q[0], going).sample(t)
    on_path = (t >= going)[:, None]
    x = np.where(on_path, CubicHermiteSpline(motion.t, motion.q, motion.rates)(clock), there)
    rates = np.where(on_path, _between(motion.t, motion.rates, clock) * pace[:, None], rate)
    v = np.zeros((len(t), hand.robot.nv))
    v[:, hand.columns] = rates
    q = np.array([hand.posture(row) for row in x])
    return Trajectory.of(hand.robot, t, q, v, a=np.gradient(v, t, axis=0)), clock


def _clock(t: Array, along: float) -> tuple[Array, Array]:
    """Time of the path (k,) and its pace, which goes smoothly from 0 to 1 and back within the ramps."""
    up, down = np.clip(t / _RAMP, 0.0, 1.0), np.clip((along - t) / _RAMP, 0.0, 1.0)
    middle = np.clip(t, _RAMP, along - _RAMP) - _RAMP
    clock = _RAMP * (up**3 - 0.5 * up**4) + middle + _RAMP * (0.5 - (down**3 - 0.5 * down**4))
    return clock, (3.0 * up**2 - 2.0 * up**3) * (3.0 * down**2 - 2.0 * down**3)


def _between(t: Array, values: Array, at: Array) -> Array:
    return np.column_stack([np.interp(at, t, line) for line in values.T])


LARGEST_MISS = 0.01
"""How far the hand may be from its plan in the run [m]."""
_DAMPING, _GAIN = 0.05, 10.0  # λ; [1/s]
_ON_PATH, _TOUCH = 1e-6, 1e-9  # [m]; [rad]
_SINGULAR = 0.01  # smallest over largest singular value, near a singular posture
_SHOWN = 3.0  # rates beyond so many times the bound are cut off in the picture


@dataclass(frozen=True, eq=False)
class Servo:
    """How a path was followed at full speed.

    Args:
        s: (k,) path parameter.
        rates: (k, n) joint rates [rad/s].
        error: (k, 2) distance from where the path is [m], and angle [rad].
    """

    s: Array
    rates: Array
    error: Array


def servo(hand: HandPath, x: Array, speed: float, dt: float, inverse: Callable[[Array], Array]) -> Servo:
    """Follow the path at s' = speed:  x' = J^# (Ŝ s' + 10/s · error), one step after the other.

    Args:
        hand: The limb and its path.
        x: (n,) joints at the start of the path.
        speed: s' [1/s].
        dt: Step [s].
        inverse: From J (m, n) to J^# (n, m).
    """
    problem, path, rows = hand.problem, hand.path, []
    for s in np.arange(path.start, path.end, speed * dt):
        miss = hand.miss(x, float(s))
        wanted = problem.direction(float(s)) * speed + _GAIN * problem.error(x, float(s))
        rates = inverse(problem.jacobian(x)) @ wanted
        rows.append((s, *rates, np.linalg.norm(miss[:3]), np.linalg.norm(miss[3:])))
        x = x + dt * rates
    table = np.array(rows)
    return Servo(table[:, 0], table[:, 1:-2], table[:, -2:])


class EightFindings:
    """A motion along an eight, compared with other ways to follow it.

    Args:
        hand: The limb and its path.
        motion: The singularity-consistent motion.
        trajectory: The whole motion, from home and back to rest.
        clock: (k,) time of the motion along the path at the times of the trajectory [s].
        speed: s' at full speed [1/s].
        limit: Bound of the joint rates [rad/s].
        damping: λ of the damped inverse.
    """

    def __init__(
        self,
        hand: HandPath,
        motion: ConsistentMotion,
        trajectory: Trajectory,
        clock: Array,
        speed: float,
        limit: float,
        damping: float | None,
    ) -> None:
        self.hand, self.motion, self.trajectory, self.clock = hand, motion, trajectory, clock
        self.speed, self.limit, self.damping = speed, limit, damping or _DAMPING
        dt = float(motion.t[1] - motion.t[0])
        self.others = {
            "plain": servo(hand, motion.q[0], speed, dt, truncated_inverse),
            "damped": servo(hand, motion.q[0], speed, dt, lambda J: damped_inverse(J, self.damping)),
        }
        jacobians = [hand.jacobian(x) for x in motion.q]
        sizes = np.array([np.linalg.svd(J, compute_uv=False) for J in jacobians])
        self.least, self.near = sizes[:, -1], sizes[:, -1] < _SINGULAR * sizes[:, 0]
        square = jacobians[0].shape[0] == jacobians[0].shape[1]
        self.crossings = _sign_changes([float(np.linalg.det(J)) for J in jacobians]) if square else None

    def plan(self) -> Plan:
        """The plan."""
        return Plan(self.trajectory, self._metrics(), self._trouble(), self._curves(), self._judge)

    def _metrics(self) -> dict[str, Any]:
        motion, path = self.motion, self.hand.path
        others = {
            f"{name}_{what}": value
            for name, way in self.others.items()
            for what, value in (
                ("rate_rad_s", float(np.abs(way.rates).max())),
                ("path_error_m", float(way.error[:, 0].max())),
                ("path_error_rad", float(way.error[:, 1].max()) if self.hand.orientation else None),
            )
        }
        return {
            "frame": self.hand.frame,
            "path_done": self._done,
            "path_duration_s": float(motion.t[-1]),
            "at_full_speed_s": float((path.end - path.start) / self.speed),
            "singular_crossings": self.crossings,
            "near_singular_passes": _stretches(self.near),
            "least_singular_value": float(self.least.min()),
            "rate_bound_rad_s": self.limit,
            "consistent_rate_rad_s": float(np.abs(motion.rates).max()),
            "consistent_path_error_m": float(motion.error.max()),
            **others,
        }

    @property
    def _done(self) -> float:
        """Share of the path that the hand did, to a step."""
        path, step = self.hand.path, self.speed * float(self.motion.t[1] - self.motion.t[0])
        return float(min((self.motion.s.max() + step - path.start) / (path.end - path.start), 1.0))

    def _trouble(self) -> str | None:
        motion = self.motion
        if self._done < 1.0:
            return f"the hand covers {self._done:.0%} of its path before the arm runs out of reach"
        if not np.abs(motion.rates).max() <= self.limit * (1.0 + _ON_PATH):
            return f"a joint reaches {np.abs(motion.rates).max():.3g} rad/s, above the bound of {self.limit:.3g} rad/s"
        if not motion.error.max() <= _ON_PATH:
            return f"the hand leaves its path by {motion.error.max():.2g}"
        return self._limits_left()

    def _limits_left(self) -> str | None:
        """Joints that would have to leave their position limits."""
        robot, tree = self.hand.robot, self.hand.robot.tree
        for joint in self.hand.joints:
            i = robot.joint_index(joint)
            row, line = int(tree.q_index[i]), self.trajectory.q[:, int(tree.q_index[i])]
            outside = (line < robot.limits.lower[row] - _TOUCH) | (line > robot.limits.upper[row] + _TOUCH)
            if tree.nq_of(i) == 1 and outside.any():
                time = float(self.trajectory.time[int(np.argmax(outside))])
                return f"joint `{joint}` would leave its limits at {time:.2f} s"
        return None

    def _curves(self) -> tuple[Plot, ...]:
        path, t = self.hand.path, self.trajectory.time
        places = frame_poses(self.hand.robot, self.trajectory.q, self.hand.frame)[:, :3, 3] - path.centre
        rates = np.abs(np.asarray(self.trajectory.v)[:, self.hand.columns]).max(axis=1)
        s, moving = self._over_time(self.motion.s), (self.clock > 0.0) & (self.clock < self.motion.t[-1])
        most = _SHOWN * self.limit

        def by_place(values: dict[str, Array], most: float = np.inf) -> dict[str, Array]:
            lines = {name: np.interp(s, self.others[name].s, line) for name, line in values.items()}
            return {name: np.where(moving, np.minimum(line, most), 0.0) for name, line in lines.items()}

        all_rates = by_place({name: np.abs(way.rates).max(axis=1) for name, way in self.others.items()}, most)
        errors = by_place({name: 1e3 * way.error[:, 0] for name, way in self.others.items()})
        on_path = self._over_time(1e3 * self.motion.error)
        bound = np.full(len(t), self.limit)
        names = {"xyz"[int(np.argmax(axis))]: axis for axis in path.axes}
        return (
            Plot(
                "plan: hand relative to the centre of the eight", "m", {n: places @ axis for n, axis in names.items()}
            ),
            Plot("plan: smallest singular value", "1", {"value": self._over_time(self.least)}),
            Plot("plan: joints relative to home", "rad | m", self._joint_lines()),
            Plot(
                f"plan: largest joint rate along the path (clipped at {most:.3g})",
                "rad/s",
                {**all_rates, "consistent": rates, "bound": bound},
            ),
            Plot("plan: deviation along the path", "mm", {**errors, "consistent": on_path}),
        )

    def _over_time(self, values: Array) -> Array:
        """Values of the motion along the path (n,) at the times of the trajectory (k,)."""
        return np.interp(self.clock, self.motion.t, values)

    def _joint_lines(self) -> dict[str, Array]:
        x = np.array([self.hand.joints_of(q) for q in self.trajectory.q])
        return dict(zip(self.hand.joints, x.T, strict=True))

    def _judge(self, robot: Robot, log: Log) -> Findings:
        during = log.time <= self.trajectory.end
        planned = frame_poses(robot, self.trajectory.resample(log.time[during]).q, self.hand.frame)
        planned = np.concatenate([planned, np.tile(planned[-1:], (int(np.sum(~during)), 1, 1))])
        real = frame_poses(robot, log["q"], self.hand.frame)
        miss = np.linalg.norm(real[:, :3, 3] - planned[:, :3, 3], axis=1)
        turned = np.array([so3.angle_between(a, b) for a, b in zip(real[:, :3, :3], planned[:, :3, :3], strict=True)])
        metrics = {
            "run_hand_error_m": float(miss.max()),
            "run_hand_error_rad": float(turned.max()),
            "run_largest_rate_rad_s": float(np.abs(log["v"][:, self.hand.columns]).max()),
        }
        if log.time[-1] < self.trajectory.end:
            ends = f"the run ends at {log.time[-1]:.3g} s, before the motion ends at {self.trajectory.end:.3g} s"
            return Findings(metrics, ends)
        if not miss.max() <= LARGEST_MISS:
            return Findings(metrics, f"the hand was {miss.max():.2g} m from its plan")
        return Findings(metrics)


def _sign_changes(values: list[float]) -> int:
    """How often values go from one sign to the other."""
    signs = np.sign([value for value in values if value != 0.0])
    return int(np.sum(signs[1:] != signs[:-1]))


def _stretches(flags: NDArray[np.bool_]) -> int:
    """How many stretches of true values there are."""
    return int(np.sum(np.diff(flags.astype(int), prepend=0) == 1))
