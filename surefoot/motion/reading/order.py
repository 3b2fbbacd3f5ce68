"""Was the base quaternion read in the right order? Evidence from velocities and from the ground.

The four numbers of a unit quaternion have length one in any order, and it turns equally fast in any order. Three things
reveal a wrong order: the turning between samples does not match the given velocity, while that of another order does;
the feet are nowhere near the ground, while in another order they stand on it; or they slide over it, while in another
order they stay in place. The last one matters for robots that are nearly upright: (0, 0, 0, 1) in the other order is
half a turn about the vertical. A robot that rolls, lies or hangs matches its own velocity, and does not by chance stand
flat on its feet in another order. Without evidence, if the robot would be upright or face forwards in another order,
there is a doubt.

Where the order changes inside a file, the base turns at once by a large angle, which it does not if the numbers after
it are read in another order. Rolled back there, the quaternions are in one order all along, which is then judged as a
whole, which shows the wrong part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.geometry import Plane, surface_points
from surefoot.motion.exchange import rotate, rotate_back
from surefoot.motion.trajectory import Trajectory
from surefoot.motion.world import SurfaceMotion, World, surface_motion
from surefoot.robot import Robot

ORDERS = {"wxyz": -1, "xyzw": 1}
"""What the numbers were meant as → how far to roll what was read: wxyz read as xyzw, and xyzw read as wxyz."""
_FITS = 0.3  # of the motion, or of the misfit: below this a velocity fits
_EXACT = 0.003  # of the motion: smaller misfits are alike
_MOVES = 0.002  # [m/s], [rad/s]: slower motion tells nothing
_SAMPLES = 200  # at which the feet are looked at
_FLATTER = ((0.004, 0.2), (0.0005, 0.05))
"""[m], share: where the lowest corners as read are farther from the ground than the first, and at most the second
share of that in another order, the other order was meant."""
_STILLER = ((0.01, 0.3), (0.0005, 0.1))
"""[m], share: where a foot slides farther than the first as read, and at most the second share of that in another
order, the other order was meant."""
_DIRECTIONS = np.array([d for d in product((-1.0, 0.0, 1.0), repeat=3) if any(d)])
_LIES = 0.02  # [m]: the lowest point of a robot that lies is this near the ground, and
_FARTHER = 3.0  # times as far, or more, in another order
_SHARES = (0.25, 0.5, 0.75, 0.95)  # of the time in which a robot may stand
_STEP = 0.025  # [s] between samples at which slides are looked at, and
_MOST = 4000  # of them
_TURNED = -0.8  # cosine of the angle to the home posture, beyond which a base is upside down or looks back
_AS_AT_HOME = 0.8  # cosine within which it is as at home


@dataclass(frozen=True)
class OrderVerdict:
    """Whether an order is right.

    Args:
        meant: "xyzw" or "wxyz", the right order of the numbers; "" if they fit as they were read, or without evidence.
        certain: Whether there was evidence.
        reason: The evidence.
        doubt: What makes another order likely without evidence; "" for nothing.
    """

    meant: str
    certain: bool
    reason: str
    doubt: str = ""


def other_order(order: str) -> str:
    """The other one of xyzw and wxyz; "" of ""."""
    return {"wxyz": "xyzw", "xyzw": "wxyz"}.get(order, "")


def in_order(robot: Robot, q: Array, meant: str) -> Array:
    """(n, nq) with the numbers of the base quaternion read in another order."""
    out = np.array(q)
    at = _base_quaternion(robot)
    out[:, at] = np.roll(q[:, at], ORDERS[meant], axis=1)
    return out


def judge_order(robot: Robot, world: World, time: Array, q: Array, v: Array | None) -> OrderVerdict:
    """Whether the base quaternion was read in the right order.

    Args:
        robot: The robot.
        world: Its ground counts.
        time: (n,) [s].
        q: (n, nq) as it was read.
        v: (n, nv) with the velocity of the base as it was given, or None.
    """
    if robot.base_joint is None or robot.tree.kinds[robot.base_joint] != "free":
        return OrderVerdict("", True, "the base has no quaternion")
    found = _by_velocity(robot, time, q, v) or _by_ground(robot, world, time, q)
    return found or OrderVerdict("", False, "no evidence", _doubt(robot, q))


def _base_quaternion(robot: Robot) -> slice:
    """Entries of q with the quaternion of a free base."""
    start = int(robot.tree.q_index[robot.base_joint or 0])
    return slice(start + 3, start + 7)


def _by_velocity(robot: Robot, time: Array, q: Array, v: Array | None) -> OrderVerdict | None:
    if v is None or len(time) < 3:
        return None
    motion, misfit = _misfit(robot, time, q, v)
    if motion < _MOVES:
        return None
    least = _EXACT * motion
    misfit = max(misfit, least)
    others = {meant: max(_misfit(robot, time, in_order(robot, q, meant), v)[1], least) for meant in ORDERS}
    best = min(others, key=lambda meant: others[meant])
    if misfit <= _FITS * motion and (others[best] > _FITS * motion or misfit <= _FITS * others[best]):
        return OrderVerdict("", True, "its rotation matches the velocity")
    if others[best] > _FITS * min(misfit, motion):
        return None  # neither fits, or both do, as half a turn about the way that the base goes changes nothing
    if _FITS * max(_misfit(robot, time, q, v, any_axes=True)[1], least) <= others[best]:
        return None  # a velocity in world axes fits as it was read: half a turn of the base looks alike
    share = f"{100.0 * others[best] / motion:.0f} % instead of {100.0 * misfit / motion:.0f} %"
    return OrderVerdict(best, True, f"read as {best}, the motion of the base matches its velocity (misfit {share})")


def _misfit(robot: Robot, time: Array, q: Array, v: Array, any_axes: bool = False) -> tuple[float, float]:
    """Root mean squares of the motion of the base between samples, and of its difference from the velocity.

    The velocity is in body axes, or, if that is asked for, in those axes in which it fits better.
    """
    start, at = int(robot.tree.v_index[robot.base_joint or 0]), _base_quaternion(robot)
    turn, dt = q[:, at], np.diff(time)[:, None]
    moved = np.diff(q[:, at.start - 3 : at.start], axis=0) / dt
    turned = turning(turn) / dt
    linear, angular = v[:, start : start + 3], v[:, start + 3 : start + 6]
    said = [[rotate(turn, linear), linear], [angular, rotate_back(turn, angular)]]
    wrong = 0.0
    for found, readings in zip((moved, turned), said, strict=True):
        misfits = [float(np.mean((found - 0.5 * (one[1:] + one[:-1])) ** 2)) for one in readings]
        wrong += 0.5 * (min(misfits) if any_axes else misfits[0])
    return float(np.sqrt(np.mean(np.hstack([moved, turned]) ** 2))), float(np.sqrt(wrong))


def _by_ground(robot: Robot, world: World, time: Array, q: Array) -> OrderVerdict | None:
    """Where the robot stands in one order for longer than in the order that was read, or stiller: that order."""
    if not robot.contacts or not world.ground:
        return None
    some = q[np.unique(np.linspace(0, len(q) - 1, _SAMPLES).astype(int))]
    own = _farness(robot, world, some)
    others = {meant: _farness(robot, world, in_order(robot, some, meant)) for meant in ORDERS}
    for part in _SHARES:
        now = float(np.quantile(own, part))
        then = {meant: float(np.quantile(far, part)) for meant, far in others.items()}
        best = min(then, key=lambda meant: then[meant])
        if any(now > far and then[best] <= min(_STANDS, share * now) for far, share in _FLATTER):
            reason = f"read as {best}, its feet are on the ground; as read, they are {now:.3g} m away from it"
            return OrderVerdict(best, True, reason)
    rivals = [meant for meant, far in others.items() if _stands(far)]
    if rivals and (verdict := _by_slides(robot, world, dense(time, q), rivals)) is not None:
        return verdict
    doubt = _doubt(robot, q) if rivals else ""
    return OrderVerdict("", True, "the robot stands on its feet", doubt) if _stands(own) else None


def _stands(far: Array) -> bool:
    return float(np.quantile(far, _SHARES[0])) <= _STANDS


def dense(time: Array, q: Array) -> Array:
    """Samples that are near enough in time to follow feet from one to the next."""
    count = int(min(len(q), _MOST, 2.0 + max(0.0, (time[-1] - time[0]) / _STEP)))
    return np.asarray(q[np.unique(np.linspace(0, len(q) - 1, count).astype(int))])


def _by_slides(robot: Robot, world: World, q: Array, rivals: list[str]) -> OrderVerdict | None:
    """Of several orders in which the robot stands, the one in which its feet stay where they are."""
    own = foot_slide(robot, world, q)
    others = {meant: foot_slide(robot, world, in_order(robot, q, meant)) for meant in rivals}
    best = min(others, key=lambda meant: others[meant])
    if any(own > far and others[best] <= share * own for far, share in _STILLER):
        reason = f"read as {best}, its feet stay in place ({others[best]:.2g} m); as read, they slide by {own:.2g} m"
        return OrderVerdict(best, True, reason)
    if any(others[best] > far and own <= share * others[best] for far, share in _STILLER):
        return OrderVerdict("", True, "the feet stay in place")
    return None


def stiller_feet(robot: Robot, world: World, readings: Sequence[Trajectory]) -> tuple[int, str] | None:
    """Of two readings whose feet are not on the ground, that in which they stay in place over a ground of their own.

    Args:
        robot: The robot.
        world: Its ground counts.
        readings: The same motion with the base quaternion in two orders.

    Returns:
        Which one, and the evidence; None if nothing tells.
    """
    if not robot.contacts or not world.ground:
        return None
    slides = []
    for reading in readings:
        q = dense(reading.time, reading.q)
        heights = np.min([surface.height for surface in _surfaces(robot, world, q, 0.0)], axis=0)
        lowest = float(np.nan_to_num(np.quantile(heights, _SHARES[0])))
        q[:, _base_quaternion(robot).start - 1] -= lowest
        slides.append(foot_slide(robot, world, q))
    k = int(np.argmin(slides))
    if any(slides[1 - k] > far and slides[k] <= share * slides[1 - k] for far, share in _STILLER):
        return k, f"its feet then stay in place ({slides[k]:.2g} m), and slide by {slides[1 - k]:.2g} m otherwise"
    return None


def lowest_on_ground(robot: Robot, world: World, readings: Sequence[Trajectory]) -> tuple[int, str] | None:
    """Of two readings of a robot that lies or gets up, that in which its lowest point is on the ground.

    Args:
        robot: The robot.
        world: Its ground counts.
        readings: The same motion with the base quaternion in two orders.

    Returns:
        Which one, and the evidence; None if nothing tells.
    """
    links = list(dict.fromkeys(item.link for item in robot.collisions if not isinstance(item.shape, Plane)))
    if not links or not world.ground:
        return None
    corners, far = [link_corners(robot, link) for link in links], []
    for reading in readings:
        some = reading.q[np.unique(np.linspace(0, len(reading.q) - 1, _SAMPLES).astype(int))]
        placed = link_placements(robot, some, links)
        above = [heights_above(world, placed[:, k], points).min(axis=1) for k, points in enumerate(corners)]
        far.append(float(np.nan_to_num(np.median(np.abs(np.min(above, axis=0))), nan=_NOWHERE)))
    k = int(np.argmin(far))
    if far[k] > _LIES or far[1 - k] < _FARTHER * max(far[k], _LIES):
        return None
    return k, f"its lowest point is then {far[k]:.2g} m from the ground, and {far[1 - k]:.2g} m otherwise"


def link_corners(robot: Robot, link: str) -> Array:
    """(k, 3): outer points of the collision shapes of a link, in its frame."""
    items = [item for item in robot.collisions if item.link == link and not isinstance(item.shape, Plane)]
    points = [surface_points(item.shape, 16) @ item.placement[:3, :3].T + item.placement[:3, 3] for item in items]
    everywhere = np.vstack(points)
    return np.unique(everywhere[np.argmax(everywhere @ _DIRECTIONS.T, axis=0)], axis=0)


def heights_above(world: World, placed: Array, points: Array) -> Array:
    """(n, k): heights of points of a link above the ground [m].

    Args:
        world: Its ground counts.
        placed: (n, 4, 4) T_world_link.
        points: (k, 3) in the frame of the link.
    """
    at = np.einsum("nij,kj->nki", placed[:, :3, :3], points) + placed[:, None, :3, 3]
    return np.asarray(at[..., 2] - world.height(at[..., 0], at[..., 1]))


def tilt(robot: Robot, q: Array) -> float:
    """Median angle of the base's vertical axis against that of the home posture [deg].

    Args:
        robot: One with a free base.
        q: (n, nq).
    """
    at = _base_quaternion(robot)
    x, y, z, w = np.vstack([robot.home[at], q[:, at]]).T
    up = np.stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)], axis=1)
    return float(np.degrees(np.median(np.arccos(np.clip(up[1:] @ up[0], -1.0, 1.0)))))


def heading(robot: Robot, q: Array) -> float:
    """Cosine of the median angle between the heading of the base and that at home."""
    return float(np.median(_against_home(robot, q)[1]))


def _doubt(robot: Robot, q: Array) -> str:
    """A base that looks back or is upside down all the time, and is as at home in another order; "" for others."""
    up, ahead = _against_home(robot, q)
    for meant in ORDERS:
        there = _against_home(robot, in_order(robot, q, meant))
        if min(np.median(there[0]), np.median(there[1])) < _AS_AT_HOME:
            continue
        for what, cosine in (("is upside down", up), ("faces backwards, half a turn from the home posture,", ahead)):
            if np.max(cosine) < _TURNED:
                order = other_order(meant)
                return f"the base {what} throughout; if its quaternion is {meant}, not {order}, it is as at home"
    return ""


def _against_home(robot: Robot, q: Array) -> tuple[Array, Array]:
    """(n,) cosines of the angles between now and home, of the base's vertical, and of its heading in the plane."""
    at = _base_quaternion(robot)
    turn, home = q[:, at], np.tile(robot.home[at], (len(q), 1))
    up, ahead = (rotate_back(home, np.tile(axis, (len(q), 1))) for axis in ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)))
    heading = rotate(turn, ahead)
    flat = np.maximum(np.linalg.norm(heading[:, :2], axis=1), 1e-9)
    return rotate(turn, up)[:, 2], np.asarray(heading[:, 0] / flat)


_STANDS = 0.01  # [m]: the lowest corners of a robot that stands are this near the ground
_NOWHERE = 1e3  # [m]: height where there is no ground
_CORNERS = 0.005  # [m]: corners this much higher than the lowest one may touch


def _farness(robot: Robot, world: World, q: Array) -> Array:
    """(n,) how far a whole surface is from the ground, or three points: the lowest corners of all [m]."""
    heights = np.hstack([surface.heights for surface in _surfaces(robot, world, q, 0.0)])
    count = max(3, min(len(surface.corners) for surface in robot.contacts.values()))
    lowest = np.sort(np.where(np.isnan(heights), _NOWHERE, heights), axis=1)[:, :count]
    return np.asarray(np.abs(lowest).max(axis=1))


def foot_slide(robot: Robot, world: World, q: Array) -> float:
    """How far the foot that slides farthest gets over the ground while it is near it [m].

    Ways are summed over all contacts of a foot and their range is taken, so that noise of single samples does not
    add up.
    """
    ways = [_way(surface) for surface in _surfaces(robot, world, q, _CORNERS)]
    return max((float(np.linalg.norm(np.ptp(way, axis=0))) for way in ways), default=0.0)


def foot_touch(robot: Robot, world: World, q: Array) -> float:
    """Share of the time that feet are near the ground, their mean."""
    return float(np.mean([_near(surface) for surface in _surfaces(robot, world, q, _CORNERS)]))


def _near(surface: SurfaceMotion) -> NDArray[np.bool_]:
    near: NDArray[np.bool_] = np.abs(np.where(np.isnan(surface.height), _NOWHERE, surface.height)) <= _STANDS
    return near


def _way(surface: SurfaceMotion) -> Array:
    """(n, 3): way of the touching material, along the ground, in the steps in which it is near the ground [m]."""
    near = _near(surface)
    steps = np.diff(surface.path, axis=0)
    normals = surface.normals[1:]
    steps -= np.sum(steps * normals, axis=1, keepdims=True) * normals
    return np.vstack([np.zeros(3), np.cumsum(steps * (near[1:] & near[:-1])[:, None], axis=0)])


def _surfaces(robot: Robot, world: World, q: Array, near: float) -> list[SurfaceMotion]:
    names = list(dict.fromkeys(surface.frame for surface in robot.contacts.values()))
    links = link_placements(robot, q, names)
    return [
        surface_motion(world, surface, links[:, names.index(surface.frame)] @ surface.placement, near)
        for surface in robot.contacts.values()
    ]


def link_placements(robot: Robot, q: Array, frames: Sequence[str]) -> Array:
    """(n, k, 4, 4): T_world_frame of links, by Pinocchio.

    Args:
        robot: The robot.
        q: (n, nq).
        frames: Names of the links.
    """
    model, data, at = robot.model, robot.model.createData(), [robot.frame_id(name) for name in frames]
    out = np.empty((len(q), len(at), 4, 4))
    for row, posture in enumerate(q):
        pin.forwardKinematics(model, data, posture)
        out[row] = [pin.updateFramePlacement(model, data, frame).homogeneous for frame in at]
    return out


_TURNS = 0.5  # [rad] at once: a change of order, if
_GOES_ON = 0.2  # of that turn, at most, is left in another order


@dataclass(frozen=True, eq=False)
class OrderOverTime:
    """Whether the order is right, and where it is not.

    Args:
        verdict: On all samples, or on those that are wrong.
        wrong: (n,) which samples are wrong; None for all or none.
    """

    verdict: OrderVerdict
    wrong: NDArray[np.bool_] | None = None


def judge_order_over_time(robot: Robot, world: World, time: Array, q: Array, v: Array | None) -> OrderOverTime:
    """Whether the base quaternion was read in the right order, and where, if it is in two orders.

    Args:
        robot: The robot.
        world: Its ground counts.
        time: (n,) [s].
        q: (n, nq) as it was read.
        v: (n, nv) with the velocity of the base as it was given, or None.
    """
    rolls = _rolls(robot, q)
    if not rolls.any():
        return OrderOverTime(judge_order(robot, world, time, q, v))
    at, even = _base_quaternion(robot), np.array(q)
    for roll in np.unique(rolls):
        even[rolls == roll, at] = np.roll(q[rolls == roll, at], roll, axis=1)
    verdict = judge_order(robot, world, time, even, v)
    if not verdict.certain:
        return OrderOverTime(verdict)
    total = (rolls + ORDERS.get(verdict.meant, 0) + 1) % 4 - 1
    wrong = total != 0
    orders = {roll: order for order, roll in ORDERS.items()}
    meant = {orders.get(int(roll), "") for roll in total[wrong]}
    if len(meant) != 1 or "" in meant:
        return OrderOverTime(judge_order(robot, world, time, q, v))
    reason = f"there is then no jump, and in one order {verdict.reason}"
    return OrderOverTime(OrderVerdict(meant.pop(), True, reason), None if wrong.all() else wrong)


def _rolls(robot: Robot, q: Array) -> NDArray[np.int64]:
    """(n,) by how far to roll the base quaternions so that they go on from the first one without a change of order."""
    at = _base_quaternion(robot)
    turn = q[:, at]
    jump = _angles(turn[:-1], turn[1:])
    changes = np.zeros(len(q), dtype=np.int64)
    for meant, roll in ORDERS.items():
        other = in_order(robot, q, meant)[:, at]
        changes[1:][(jump > _TURNS) & (_angles(turn[:-1], other[1:]) < _GOES_ON * jump)] = roll
    return np.cumsum(changes)


def _angles(one: Array, other: Array) -> Array:
    """(n,) angles between unit quaternions (n, 4) [rad]."""
    return np.asarray(2.0 * np.arccos(np.clip(np.abs(np.sum(one * other, axis=1)), 0.0, 1.0)))


_TELLS = 0.7  # the misfit in the right axes is this much smaller, or nothing tells


def in_body_axes(
    time: Array, pose: tuple[Array, Array, Array], linear: Array, angular: Array
) -> tuple[Array, Array, list[str]]:
    """Velocities of the base in body axes, and in which axes they were found to be.

    Args:
        time: (n,) [s].
        pose: Positions (n, 3) in world [m], unit quaternions xyzw (n, 4), and the rotation vectors (n − 1, 3) between
            samples in body axes [rad].
        linear: (n, 3) as given.
        angular: (n, 3) as given.
    """
    position, turn, turned = pose
    dt = np.diff(time)[:, None]
    moved, spun = np.diff(position, axis=0) / dt, turned / dt
    remarks = []
    if _fits_better(moved, linear, rotate(turn, linear)):
        linear = rotate_back(turn, linear)
        remarks.append("linear velocity of the base is in world axes")
    if _fits_better(spun, rotate_back(turn, angular), angular):
        angular = rotate_back(turn, angular)
        remarks.append("angular velocity of the base is in world axes")
    return linear, angular, remarks


def _fits_better(found: Array, one: Array, other: Array) -> bool:
    """Whether means between samples of the one velocity fit clearly better than those of the other."""
    if not len(found):
        return False
    misfits = [float(np.sum((found - 0.5 * (v[1:] + v[:-1])) ** 2)) for v in (one, other)]
    return misfits[0] < _TELLS * misfits[1]


def turning(turn: Array) -> Array:
    """(n − 1, 3) rotation vectors from each of the unit quaternions xyzw (n, 4) to the next, in body axes [rad]."""
    a, b = turn[:-1], turn[1:]
    vector = a[:, 3:] * b[:, :3] - b[:, 3:] * a[:, :3] - np.cross(a[:, :3], b[:, :3])
    cosine = np.sum(a * b, axis=1)
    sine = np.linalg.norm(vector, axis=1)
    angle = 2.0 * np.arctan2(sine, np.abs(cosine)) * np.where(cosine < 0.0, -1.0, 1.0)
    return np.asarray(vector * np.where(sine > 1e-12, angle / np.maximum(sine, 1e-300), 2.0)[:, None])
