"""`figure_eight`: a hand traces a figure eight through singular postures of its arm with bounded joint rates.

The path is followed by the singularity-consistent inverse (Nenchev, Tsumaki & Uchiyama 2000; Nenchev & Konno 2019,
section 2.5), which slows down along the path where joints would have to run. The plain and the damped inverse do the
same path at full speed, for comparison: one runs, the other leaves the path.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.ik import solve
from surefoot.ik.singular import ConsistentMotion, follow_consistently
from surefoot.motion import Quintic, Trajectory, World
from surefoot.robot import Robot
from surefoot.scenario.motions.eight_findings import EightFindings
from surefoot.scenario.motions.hand_path import EightPath, HandPath, end_frame, frame_poses
from surefoot.scenario.motions.plan import Plan
from surefoot.scenario.schema import MotionTable
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
