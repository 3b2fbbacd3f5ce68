"""Closed chains and couplings: does the motion keep them closed?"""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility.case import Case
from surefoot.feasibility.series import Series, skipped
from surefoot.robot import Loop
from surefoot.spatial import so3

__all__ = ["check_closure"]

_LEVER = 0.1  # [m]: an angle between the ends of a chain counts as the gap that it opens at that distance


def check_closure(case: Case) -> list[Series]:
    """Gaps of closed chains, and errors of followers."""
    return [_loops(case), _couplings(case)]


def _loops(case: Case) -> Series:
    loops = case.robot.loops
    if not loops:
        return skipped("loop_closure", "the robot has no closed chains")
    gaps = np.stack([_gap(case, loop) for loop in loops], axis=1)
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


def _gap(case: Case, loop: Loop) -> Array:
    """(n,) largest gap in the tied directions of the frame on a [m]."""
    T_a, T_b = (_placed(case, frame) @ np.asarray(T) for frame, T in _ends(loop))
    R_a = np.swapaxes(T_a[:, :3, :3], 1, 2)
    shift = np.einsum("nij,nj->ni", R_a, T_b[:, :3, 3] - T_a[:, :3, 3])
    turn = _LEVER * _rotation_vectors(R_a @ T_b[:, :3, :3])
    tied = np.hstack([shift, turn])[:, np.array(loop.directions)]
    return np.asarray(np.linalg.norm(tied, axis=1))


def _ends(loop: Loop) -> tuple[tuple[str, Array], tuple[str, Array]]:
    return (loop.frame_a, loop.placement_a), (loop.frame_b, loop.placement_b)


def _placed(case: Case, frame: str) -> Array:
    if frame == "universe":
        return np.tile(np.eye(4), (case.n, 1, 1))
    return case.kernels.frames(case.q, [frame])[:, 0]


def _rotation_vectors(R: Array) -> Array:
    """(n, 3) of rotations (n, 3, 3)."""
    return np.array([so3.log(one) for one in R]).reshape(-1, 3)


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
