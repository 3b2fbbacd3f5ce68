"""Does the robot hit itself or an obstacle, also between the samples of the motion?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from surefoot.collision import CollisionModel, ExactCollision, PruningSettings, world_obstacles
from surefoot.collision.robot_volumes import quick_volumes
from surefoot.errors import ModelError
from surefoot.feasibility.case import Case
from surefoot.feasibility.clearance_shapes import missing_shapes_note, standing_shapes
from surefoot.feasibility.mesh_overlap import MeshOverlap
from surefoot.feasibility.nearest_pair import Nearest, nearest_pair
from surefoot.feasibility.path_clearance import PathClearance, path_clearance
from surefoot.feasibility.series import Series, skipped
from surefoot.robot import Robot

__all__ = ["check_collisions"]

Pair = tuple[str, str]
_MOST_PARTS = 40
_MEASURED = 0.05  # [m] beyond the clearance that is asked for: what is farther is not measured
_BOUNDS = "the least is measured with hulls; the others are lower bounds, and beyond 5 cm nothing is measured"

_NEXT = {
    "self_collision": "lead these links round each other; if they do not touch in truth, correct their shapes",
    "obstacle_clearance": "lead this link round the obstacle, or check where the obstacle stands",
}


def check_collisions(case: Case) -> list[Series]:
    """Distances of links to each other and to obstacles.

    Args:
        case: The motion.
    """
    try:
        model = _model_of(case.given_robot)
    except ModelError as error:
        note = "; ".join(text for text in (error.message, missing_shapes_note(case.robot)) if text)
        return [skipped(item, note) for item in ("self_collision", "obstacle_clearance")]
    obstacles = world_obstacles(case.world)
    model = model.with_obstacles(obstacles) if obstacles else model
    judged, nested = _judged_pairs(case, model)
    limit, slack = case.tolerances.clearance, case.tolerances.overlap
    exact = ExactCollision(case.robot, _measurable(case, judged), obstacles=standing_shapes(case.world))
    found = path_clearance(case, model, exact, limit - 0.5 * slack, 0.5 * slack, limit + _MEASURED)
    found = _confirmed(case, found, model.link_pairs, exact, limit - slack)
    names = {thing.name for thing in obstacles}
    own = [k for k, pair in enumerate(model.link_pairs) if pair not in nested and pair[1] not in names]
    world = [k for k, pair in enumerate(model.link_pairs) if pair[1] in names]
    lost = missing_shapes_note(case.robot)
    proof = [lost] if lost else []
    proof += [_BOUNDS] if found.proven else [_BOUNDS, "not everything between samples could be proven apart"]
    clearance = _Clearance(case, found, model.link_pairs, exact)
    return [
        _series(clearance, "self_collision", own, [*proof, *_nested_note(nested)]),
        _series(clearance, "obstacle_clearance", world, proof),
    ]


class _Clearance(NamedTuple):
    """What was found, and what it was found with."""

    case: Case
    found: PathClearance
    pairs: Sequence[Pair]
    exact: ExactCollision


@lru_cache(maxsize=8)
def _model_of(robot: Robot) -> CollisionModel:
    """Volumes of the robot with all pairs that hulls may have to decide: those that overlap at home too.

    Fitted volumes would be tighter and a fused kernel faster, but for a robot that was never seen both take longer than
    the audit itself; hulls decide anyway.
    """
    settings = PruningSettings(near_home=-np.inf)
    return CollisionModel(robot, volumes=quick_volumes(robot), pruning=settings, fuse=False)


def _judged_pairs(case: Case, model: CollisionModel) -> tuple[list[Pair], set[Pair]]:
    """Pairs to judge, and those whose shapes overlap at home: a flaw of the model, not of the motion."""
    distances = model.link_distances(case.robot.home)
    own = len(model.self_pairs)
    of_robot = {frozenset(pair) for pair in model.names[:own]}
    near = [p for p, d in zip(model.link_pairs, distances, strict=True) if d <= 0.0 and frozenset(p) in of_robot]
    measurable = [pair for pair in near if set(pair) <= _links_with_shapes(case.robot)]
    hulls = ExactCollision(case.robot, measurable).distances(case.robot.home)
    nested = {pair for pair, d in zip(measurable, hulls, strict=True) if d <= 0.0}
    nested |= {pair for pair in near if pair not in measurable}
    return [pair for pair in model.link_pairs if pair not in nested], nested


def _links_with_shapes(robot: Robot) -> set[str]:
    return {item.link for item in robot.collisions}


def _measurable(case: Case, pairs: Sequence[Pair]) -> list[Pair]:
    """Pairs whose exact shapes are known."""
    known = _links_with_shapes(case.robot) | {thing.name for thing in standing_shapes(case.world)}
    return [pair for pair in pairs if set(pair) <= known]


def _confirmed(
    case: Case, found: PathClearance, pairs: Sequence[Pair], exact: ExactCollision, limit: float
) -> PathClearance:
    """The same with overlaps of hulls taken back where the meshes themselves do not touch."""
    measured = [k for k, pair in enumerate(pairs) if pair in set(exact.link_pairs)]
    suspects = [k for k in measured if (found.distance[:, k] < limit).any()]
    if not suspects:
        return found
    meshes = MeshOverlap(case.robot, [pairs[k] for k in suspects], standing_shapes(case.world))
    distance = np.array(found.distance)
    rows = np.flatnonzero((distance[:, suspects] < limit).any(axis=1))
    q = case.trajectory.resample(found.time[rows]).q
    for column, k in enumerate(suspects):
        here = distance[rows, k] < limit
        distance[rows[here], k] = meshes.distances(column, q[here], distance[rows[here], k])
    return PathClearance(found.time, distance, found.proven)


def _nested_note(nested: set[Pair]) -> list[str]:
    overlapping = sorted("–".join(pair) for pair in nested)
    shown = ", ".join(overlapping[:3]) + (f" and {len(overlapping) - 3} more" if len(overlapping) > 3 else "")
    return [f"not judged, as their shapes overlap at home: {shown}"] if nested else []


def _series(clearance: _Clearance, item: str, columns: Sequence[int], notes: Sequence[str]) -> Series:
    """The nearest pairs of an item."""
    case, found, pairs, _ = clearance
    if not columns:
        return skipped(item, "there is nothing to hit")
    limit = case.tolerances.clearance
    distance, bound_from = _measured(clearance, columns)
    least = distance.min(axis=0)
    order = np.argsort(least, kind="stable")
    shown = [int(k) for k in order[:_MOST_PARTS] if least[k] < limit + _MEASURED or k == order[0]]
    return Series(
        item=item,
        unit="m",
        time=found.time,
        parts=tuple(" – ".join(pairs[columns[k]]) for k in shown),
        value=distance[:, shown],
        lower=limit,
        slack=case.tolerances.overlap,
        scale=0.05,
        bodies=tuple(_bodies(case.robot, pairs[columns[k]]) for k in shown),
        width=0.5 * float(np.median(np.diff(case.time))),
        note="; ".join(notes),
        texts=tuple(_sentence(item, pairs[columns[k]]) for k in shown),
        next_step=_NEXT[item],
        bound_from=bound_from,
    )


def _measured(clearance: _Clearance, columns: Sequence[int]) -> Nearest:
    """Distances of some pairs, the least of them measured if they pass; what fails was measured before."""
    case, found, pairs, exact = clearance
    bounds, limit = found.distance[:, columns], case.tolerances.clearance
    if (bounds < limit - case.tolerances.overlap).any():
        return Nearest(np.minimum(bounds, limit + _MEASURED), np.inf)
    q = case.trajectory.resample(found.time).q
    return nearest_pair(exact, q, bounds, [pairs[k] for k in columns], limit + _MEASURED)


def _sentence(item: str, pair: Pair) -> str:
    verb = "touches the obstacle" if item == "obstacle_clearance" else "runs into"
    return f"`{pair[0]}` {verb} `{pair[1]}`: distance {{value}} at {{time}}, {{limit}} is the least that passes"


def _bodies(robot: Robot, pair: Pair) -> frozenset[int]:
    return frozenset(robot.body_of(link) for link in pair if link in robot.link_names)
