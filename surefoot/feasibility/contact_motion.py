"""Kinematics: do contacts stay where they are, and do closed chains and couplings hold?

Slip is the way of the material that touches: of the corner near the ground that moves least. A foot that rolls over its
edge or turns about a corner does not slip, nor does a ball that rolls; a foot that turns about its middle slips by the
way of its corners, which passes for small turns. Of the ways in which a point may stand still, one holds for a whole
contact.
"""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts import Efforts
from surefoot.feasibility.series import Series, skipped
from surefoot.feasibility.touch import Touch, bridged, runs_of, surface_motions
from surefoot.motion.world import SurfaceMotion
from surefoot.robot import Loop
from surefoot.spatial import so3

_WINDOW = 0.04  # [s] over which the speed of a slide is seen
_MOVES = 0.5  # of the mean speed over the contact: faster is sliding


def check_contact_motion(case: Case, touch: Touch) -> list[Series]:
    """Slip, penetration and gaps of all contact surfaces."""
    if not case.contact_names:
        return [
            skipped(item, "the robot has no contact surfaces") for item in ("foot_slip", "penetration", "contact_gap")
        ]
    motions = surface_motions(case, touch.placements)
    return [_slip(case, touch, motions), _penetration(case, motions), _gap(case, touch)]


_CARRIED = 0.3  # of the weight: a motion that needs more of it is not a flight
_ALWAYS = 0.95  # of the time


def check_ground(case: Case, touch: Touch, efforts: Efforts) -> list[Series]:
    """`ground_height`: the height of the lowest sole, where something has to carry the robot."""
    soles = _soles(case)
    if not soles or efforts.support is None or np.isnan(touch.height[:, soles]).all():
        return [skipped("ground_height", "the robot has no soles over ground, or needs none")]
    lowest = np.where(np.isnan(touch.height), np.inf, touch.height)[:, soles].min(axis=1)
    lowest[np.isinf(lowest)] = np.nan
    tol, load = case.tolerances, efforts.demand.net[:, 2] / case.weight
    hangs = ~efforts.support.carrying.any(axis=1) & (load > _CARRIED) & (lowest > tol.touch_height)
    deep = -lowest > tol.penetration
    bodies, everywhere = frozenset().union(*(_bodies(case)[k] for k in soles)), frozenset().union(*_bodies(case))
    texts = (
        f"{_extent('the feet hang', lowest, hangs)} above the ground {_share(hangs)}: nothing is within"
        f" {1e3 * tol.touch_height:.3g} mm of it, although {100.0 * _median(load, hangs):.0f} % of the weight have to"
        " be carried",
        f"{_extent('the feet are sunk', -lowest, deep)} into the ground {_share(deep)}; {1e3 * tol.penetration:.3g} mm"
        " are tolerated",
    )
    height = _median(lowest, deep if deep.sum() > hangs.sum() else hangs)
    return [
        Series(
            "ground_height", "m", case.time, ("height above the ground", "depth in the ground"),
            np.stack([np.where(hangs, lowest, np.minimum(lowest, 0.0)), -lowest], axis=1),
            upper=np.array([[tol.touch_height, tol.penetration]]), scale=0.05, bodies=(bodies, everywhere), texts=texts,
            note=contact_shares(case, touch),
            next_step=f"move the motion onto the ground: --ground fit, or --ground {height:.3f}",
        )
    ]  # fmt: skip


def contact_shares(case: Case, touch: Touch) -> str:
    """For how much of the time each contact touches, and how low the lowest sole is; "" without contacts."""
    soles = _soles(case)
    if not soles:
        return ""
    own = {name: case.robot.contacts[name].frame if name in case.bodies else name for name in case.contact_names}
    columns: dict[str, list[int]] = {}
    for k, name in enumerate(case.contact_names):
        columns.setdefault(own[name], []).append(k)
    shares = [
        f"{name} {100.0 * float(touch.active[:, some].any(axis=1).mean()):.0f} %" for name, some in columns.items()
    ]
    lowest = np.where(np.isnan(touch.height), np.inf, touch.height)[:, soles].min(axis=1)
    low, high = (round(100.0 * float(edge), 1) + 0.0 for edge in (lowest.min(), lowest.max()))
    ends = f"; lowest sole at {low:.1f} … {high:.1f} cm"
    return f"in contact for {', '.join(shares)} of the time" + (ends if np.isfinite(lowest).all() else "")


def _soles(case: Case) -> list[int]:
    """Contacts that the robot was loaded with."""
    return [k for k, name in enumerate(case.contact_names) if name not in case.bodies]


def _median(values: Array, where: np.ndarray) -> float:
    return float(np.median(values[where])) if where.any() else 0.0


def _extent(what: str, heights: Array, where: np.ndarray) -> str:
    """`the feet hang 0.6–8.6 cm`."""
    low, high = (100.0 * float(np.quantile(heights[where], share)) if where.any() else 0.0 for share in (0.0, 1.0))
    return f"{what} {low:.1f}–{high:.1f} cm" if f"{low:.1f}" != f"{high:.1f}" else f"{what} {low:.1f} cm"


def _share(where: np.ndarray) -> str:
    share = float(where.mean())
    return "all the time" if share > _ALWAYS else f"for {100.0 * share:.0f} % of the time"


def _bodies(case: Case) -> tuple[frozenset[int], ...]:
    contacts = case.robot.contacts
    return tuple(frozenset({case.robot.body_of(contacts[name].frame)}) for name in case.contact_names)


def _slip(case: Case, touch: Touch, motions: list[SurfaceMotion]) -> Series:
    active, limit = touch.active, case.tolerances.slip
    value = np.full((case.n, len(motions)), np.nan)
    for k, motion in enumerate(motions):
        for run in runs_of(active[:, k]):
            a, b = _stands(motion.height, run, case.tolerances.touch_slide)
            paths = [_along(path[a:b], touch.normals[a:b, k]) for path in np.swapaxes(motion.readings, 0, 1)]
            value[a:b, k] = _least_slip(case.time[a:b], paths, limit)
    return Series(
        "foot_slip", "m", case.time, case.contact_names, value, upper=limit, scale=0.05, bodies=_bodies(case),
        note=f"contacts {touch.source}",
        texts=tuple(f"`{name}` slides {{value}} on the ground, limit {{limit}}" for name in case.contact_names),
        next_step="keep the foot where it touched down, or lift it",
    )  # fmt: skip


def _stands(height: Array, run: tuple[int, int], slack: float) -> tuple[int, int]:
    """The part of a contact from when it stands until it lifts: where it is no higher than it stood, up to a slack."""
    here = height[run[0] : run[1]]
    if np.isnan(here).all():
        return run
    low = np.flatnonzero(~(here > np.nanmedian(here) + slack))
    return run[0] + int(low[0]), run[0] + int(low[-1]) + 1


def _least_slip(time: Array, paths: list[Array], limit: float) -> Array:
    """(m,) slip by the reading that passes; where none does, by the one that takes the surface the least way in all."""
    slips = [slip_of_contact(time, path, limit) for path in paths]
    least = min(slips, key=np.max)
    if np.max(least) <= limit:
        return least
    ways = [np.linalg.norm(np.diff(path, axis=0), axis=1).sum() for path in paths]
    return slips[int(np.argmin(ways))]


def _along(path: Array, normals: Array) -> Array:
    """The part along the ground of a path (m, 3)."""
    steps, middle = np.diff(path, axis=0), 0.5 * (normals[1:] + normals[:-1])
    steps = steps - np.sum(steps * middle, axis=1, keepdims=True) * middle
    return np.vstack([np.zeros(3), np.cumsum(steps, axis=0)])


def slip_of_contact(time: Array, path: Array, limit: float) -> Array:
    """(m,) how far a surface has slid: in a slide the whole of it, between slides the little that it creeps.

    Ways are counted from where the contact began, or from the end of the last slide beyond the limit.

    Args:
        time: (m,) [s].
        path: (m, 3) of the material that touches, along the ground [m].
        limit: Way that passes [m].
    """
    way = np.linalg.norm(path - path[0], axis=1)
    if way.max() <= limit or len(time) < 2:
        return way
    anchor = path[0]
    last = 0
    for a, b in runs_of(_slides(time, path, float(way.max()))):
        way[last:a] = np.linalg.norm(path[last:a] - anchor, axis=1)
        way[a:b] = np.linalg.norm(path[a:b] - anchor, axis=1).max()
        if way[a] > limit:
            anchor = path[b - 1]
        last = b
    way[last:] = np.linalg.norm(path[last:] - anchor, axis=1)
    return way


def _slides(time: Array, path: Array, way: float) -> np.ndarray:
    """(m,) whether the surface slides: faster than on the mean of the contact."""
    n = len(time)
    half = min(max(1, round(0.5 * _WINDOW * (n - 1) / float(time[-1] - time[0]))), n - 1)
    before, after = np.maximum(np.arange(n) - half, 0), np.minimum(np.arange(n) + half, n - 1)
    speed = np.linalg.norm(path[after] - path[before], axis=1) / (time[after] - time[before])
    fast = speed > _MOVES * way / float(time[-1] - time[0])
    return bridged(fast, np.ones(n, dtype=bool), time, _WINDOW)


def _penetration(case: Case, motions: list[SurfaceMotion]) -> Series:
    depth = np.column_stack([-motion.height for motion in motions])
    limit = case.tolerances.penetration
    return Series(
        "penetration", "m", case.time, case.contact_names, depth, upper=limit, scale=0.05, bodies=_bodies(case),
        note="depth of the lowest corner",
        texts=tuple(f"`{name}` is {{value}} below the ground surface at {{time}}" for name in case.contact_names),
        next_step="raise the foot, or check the heights of the base and the ground",
    )  # fmt: skip


def _gap(case: Case, touch: Touch) -> Series:
    if case.trajectory.schedule is None:
        return skipped("contact_gap", "no contact schedule is given")
    height = np.where(touch.active, touch.height, np.nan)
    return Series(
        "contact_gap",
        "m",
        case.time,
        case.contact_names,
        height,
        upper=case.tolerances.contact_gap,
        scale=0.05,
        bodies=_bodies(case),
        note="height of the lowest corner while the contact is given as closed",
        texts=tuple(
            f"`{name}` is {{value}} above the ground although its contact is given as closed"
            for name in case.contact_names
        ),
        next_step="lower the surface to the ground, or correct the contact schedule",
    )


_LEVER = 0.1  # [m]: an angle between the ends of a chain counts as the gap that it opens at that distance


def check_closure(case: Case) -> list[Series]:
    """Gaps of closed chains, and errors of followers."""
    return [_loops(case), _couplings(case)]


def _loops(case: Case) -> Series:
    loops = case.robot.loops
    if not loops:
        return skipped("loop_closure", "the robot has no closed chains")
    gaps = np.stack([_loop_gap(case, loop) for loop in loops], axis=1)
    bodies = tuple(frozenset(case.robot.body_of(f) for f in _links(loop)) for loop in loops)
    return Series(
        "loop_closure", "m", case.time, tuple(loop.name for loop in loops), gaps, upper=0.0,
        slack=case.tolerances.loop_gap, scale=0.01, bodies=bodies,
        note=f"angles count as gaps at a distance of {_LEVER:g} m",
        texts=tuple(f"the closed chain `{loop.name}` has a gap of {{value}} at {{time}}" for loop in loops),
        next_step="move all joints of the closed chain together",
    )  # fmt: skip


def _links(loop: Loop) -> list[str]:
    return [frame for frame in (loop.frame_a, loop.frame_b) if frame != "universe"]


def _loop_gap(case: Case, loop: Loop) -> Array:
    """(n,) largest gap in the tied directions of the frame on a [m]."""
    ends = (loop.frame_a, loop.placement_a), (loop.frame_b, loop.placement_b)
    T_a, T_b = (_placed(case, frame) @ np.asarray(T) for frame, T in ends)
    R_a = np.swapaxes(T_a[:, :3, :3], 1, 2)
    shift = np.einsum("nij,nj->ni", R_a, T_b[:, :3, 3] - T_a[:, :3, 3])
    turn = _LEVER * np.array([so3.log(one) for one in R_a @ T_b[:, :3, :3]]).reshape(-1, 3)
    tied = np.hstack([shift, turn])[:, np.array(loop.directions)]
    return np.asarray(np.linalg.norm(tied, axis=1))


def _placed(case: Case, frame: str) -> Array:
    if frame == "universe":
        return np.tile(np.eye(4), (case.n, 1, 1))
    return case.kernels.frames(case.q, [frame])[:, 0]


def _couplings(case: Case) -> Series:
    couplings = case.robot.couplings
    if not couplings:
        return skipped("coupling", "the robot has no couplings")
    tree = case.robot.tree
    at = {name: int(tree.q_index[i]) for i, name in enumerate(tree.joint_names)}
    errors = [case.q[:, at[c.joint]] - c.offset - c.ratio * case.q[:, at[c.source]] for c in couplings]
    bodies = tuple(case.subtree(tree.joint_names.index(c.joint)) for c in couplings)
    return Series(
        "coupling", "rad", case.time, tuple(c.joint for c in couplings), np.stack(errors, axis=1), lower=0.0, upper=0.0,
        slack=case.tolerances.coupling_error, scale=0.1, bodies=bodies,
        texts=tuple(f"`{c.joint}` is {{value}} off the position given by `{c.source}` at {{time}}" for c in couplings),
        next_step="omit the column of the follower, or compute it from its leader",
    )  # fmt: skip
