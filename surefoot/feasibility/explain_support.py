"""Why no contact forces carry a motion at a time: which contacts and drives conflict, and what each would yield."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.contact.wrench_cone import outer_corners
from surefoot.errors import NotSupportedError
from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts_joints import drive_limits
from surefoot.feasibility.efforts_support import Support, surfaces_at_touch
from surefoot.motion.checks import Array
from surefoot.solvers import Explanation, Group, Relaxation, explain

__all__ = ["explain_support", "plain_reason"]

_MOST_WAYS = 3
_PULL, _FRICTION, _TORQUE = "{} cannot pull", "friction of {}", "torque limit of {}"
_GIVING_WAY = {
    _PULL: "the ground pulls at a corner of {} with {}",
    _FRICTION: "friction holds {} with {} more than it can",
    _TORQUE: "the drive of {} gives {} more than it can",
}


def explain_support(case: Case, t: float) -> Explanation | None:
    """The conflict at the sample nearest to a time; None where the motion needs no contacts or they carry it.

    The unknowns are forces at the corners that touch, in the axes of their contacts: no corner pulls, the force of
    each contact stays inside a friction pyramid, together they exert what the motion asks for (which nobody can
    change), and no drive is overloaded. Torsion of single contacts is left out.

    Args:
        case: The motion.
        t: [s].
    """
    support = case.efforts.support
    if support is None or case.robot.loops:
        return None
    k = int(np.argmin(np.abs(case.time - t)))
    corners = _corners(case, support, k)
    if not any(len(points) for points, _ in corners.values()):
        return None
    groups = [_motion(case, k, corners), *_contacts(case, k, corners), *_drives(case, k, corners)]
    found = explain(groups, tolerance=1e-6, place=f"at t = {case.time[k]:.3f} s")
    return found if found.conflict and found.least != () else None  # what is left is a matter of rounding


def plain_reason(found: Explanation) -> str:
    """The conflict in plain words: what would have to happen that cannot.

    Args:
        found: From `explain_support`.
    """
    start = f"{found.place} the contacts carry this motion only if"
    alone = [_event(member.alone) for member in found.conflict if member.alone is not None]
    if alone:
        more = f", or {len(alone) - _MOST_WAYS} other such things" if len(alone) > _MOST_WAYS else ""
        return f"{start} {', or '.join(alone[:_MOST_WAYS])}{more}"
    if not found.least:
        return f"{found.place} no forces of these contacts carry this motion"
    return f"{start} {' and '.join(map(_event, found.least))}"


def _event(way: Relaxation) -> str:
    """What it means that a group gives way."""
    amount = f"{way.amount:.3g} {way.unit}"
    for name, text in _GIVING_WAY.items():
        before, after = name.split("{}")
        if way.name.startswith(before) and way.name.endswith(after):
            return text.format(way.name.removeprefix(before).removesuffix(after), amount)
    raise NotSupportedError(f"nobody knows what it means that `{way.name}` gives way")


Corners = dict[str, tuple[Array, Array]]


def _corners(case: Case, support: Support, k: int) -> Corners:
    """For each contact that carries: corners that touch (m, 3) in world, and the axes (3, 3) of the contact."""
    out: Corners = {}
    start = 0
    for i, (name, surface) in enumerate(zip(case.contact_names, surfaces_at_touch(case), strict=True)):
        count = len(outer_corners(surface))
        rows = slice(start, start + count)
        start += count
        if support.carrying[k, i]:
            out[name] = (support.points[k, rows][support.pushes[k, rows]], support.frames[k, i, :3, :3])
    return out


def _columns(corners: Corners) -> dict[str, slice]:
    """Which unknowns belong to each contact."""
    sizes = [3 * len(points) for points, _ in corners.values()]
    ends = np.cumsum([0, *sizes])
    return {name: slice(int(a), int(b)) for name, a, b in zip(corners, ends[:-1], ends[1:], strict=True)}


def _motion(case: Case, k: int, corners: Corners) -> Group:
    """All forces together are what the motion asks for, about the centre of mass."""
    com, net = case.efforts.demand.com[k], case.efforts.demand.net[k]
    blocks = [np.vstack([R, pin.skew(point - com) @ R]) for points, R in corners.values() for point in points]
    return Group("what the motion asks for", np.hstack(blocks), net, net, may_relax=False)


def _contacts(case: Case, k: int, corners: Corners) -> list[Group]:
    columns = _columns(corners)
    total = max(part.stop for part in columns.values())
    groups = []
    for name, part in columns.items():
        mu = float(case.touch.friction[k, case.contact_names.index(name)])
        x, y, z = (np.arange(part.start + axis, part.stop, 3) for axis in range(3))
        push, hold = np.zeros((len(z), total)), np.zeros((4, total))
        push[np.arange(len(z)), z] = 1.0
        for row, (axis, sign) in enumerate(((x, 1.0), (x, -1.0), (y, 1.0), (y, -1.0))):
            hold[row, axis], hold[row, z] = sign, mu
        groups.append(Group(_PULL.format(name), push, 0.0, np.inf, unit="N"))
        groups.append(Group(_FRICTION.format(name), hold, 0.0, np.inf, unit="N"))
    return groups


def _drives(case: Case, k: int, corners: Corners) -> list[Group]:
    """Torque of each drive that the contacts load: what the motion asks for less what the forces do."""
    robot, limits = case.robot, drive_limits(case)
    J = _jacobian(case, k, corners)
    groups = []
    for u, drive in enumerate(robot.drives):
        row = J[:, robot.driven[u]]
        if np.isfinite(limits[u]) and limits[u] > 0.0 and np.abs(row).max(initial=0.0) > 1e-9:
            need = case.efforts.needed[k, robot.driven[u]]
            groups.append(Group(_TORQUE.format(drive.joint), -row, -limits[u] - need, limits[u] - need, unit="N m"))
    return groups


def _jacobian(case: Case, k: int, corners: Corners) -> Array:
    """(unknowns, nv): velocities of the corners along the axes of their contacts, per joint rate."""
    robot = case.robot
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, np.array(case.q[k]))
    pin.updateFramePlacements(model, data)
    rows = []
    for name, (points, R) in corners.items():
        frame = robot.frame_id(robot.contacts[name].frame)
        at = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        origin = data.oMf[frame].translation
        rows += [R.T @ (at[:3] - pin.skew(point - origin) @ at[3:]) for point in points]
    return np.vstack(rows)
