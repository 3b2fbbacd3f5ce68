"""Does the robot hit itself or an obstacle, also between the samples of the motion?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from surefoot.collision import ExactCollision, world_obstacles
from surefoot.errors import ModelError
from surefoot.feasibility.case import Case
from surefoot.feasibility.clearance.exact import MeshOverlap, Nearest, nearest_pair
from surefoot.feasibility.clearance.path import PathClearance, path_clearance
from surefoot.feasibility.clearance.shapes import (
    clearance_model,
    links_with_shapes,
    missing_shapes_note,
    standing_shapes,
    unjudged_pairs,
)
from surefoot.feasibility.rates import Rates
from surefoot.feasibility.series import Series, skipped
from surefoot.robot import Robot

__all__ = ["check_collisions"]

Pair = tuple[str, str]
_MOST_PARTS = 40
_MEASURED = 0.05  # [m] beyond the clearance that is asked for: what is farther is not measured
_BOUNDS = "the least distance is measured with hulls; others are lower bounds, and nothing is measured beyond 5 cm"

_NEXT = {
    "self_collision": "move these links around each other; if they do not touch in reality, correct their shapes",
    "obstacle_clearance": "move this link around the obstacle, or check the position of the obstacle",
}


def check_collisions(case: Case, rates: Rates) -> list[Series]:
    """Distances of links to each other and to obstacles."""
    try:
        model, unjudged = clearance_model(case.given_robot), unjudged_pairs(case.given_robot)
    except ModelError as error:
        note = "; ".join(text for text in (error.message, missing_shapes_note(case.robot)) if text)
        return [skipped(item, note) for item in ("self_collision", "obstacle_clearance")]
    obstacles = world_obstacles(case.world)
    model = model.with_obstacles(obstacles) if obstacles else model
    judged = [pair for pair in model.link_pairs if pair not in unjudged.nested]
    limit, slack = case.tolerances.clearance, case.tolerances.overlap
    exact = ExactCollision(case.robot, _measurable(case, judged), obstacles=standing_shapes(case.world))
    found = path_clearance(case, rates, model, exact, limit - slack, 0.5 * slack, limit + _MEASURED)
    found = _confirmed(case, found, model.link_pairs, exact, limit - slack)
    names = {thing.name for thing in obstacles}
    own = [k for k, pair in enumerate(model.link_pairs) if pair not in unjudged.nested and pair[1] not in names]
    world = [k for k, pair in enumerate(model.link_pairs) if pair[1] in names]
    lost = missing_shapes_note(case.robot)
    proof = [lost] if lost else []
    proof += [_BOUNDS] if found.proven else [_BOUNDS, "not every pair could be proven apart between samples"]
    clearance = _Clearance(case, found, model.link_pairs, exact)
    return [
        _series(clearance, "self_collision", own, proof, unjudged.notes),
        _series(clearance, "obstacle_clearance", world, proof),
    ]


class _Clearance(NamedTuple):
    """What was found, and what it was found with."""

    case: Case
    found: PathClearance
    pairs: Sequence[Pair]
    exact: ExactCollision


def _measurable(case: Case, pairs: Sequence[Pair]) -> list[Pair]:
    """Pairs whose exact shapes are known."""
    known = links_with_shapes(case.robot) | {thing.name for thing in standing_shapes(case.world)}
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


def _series(
    clearance: _Clearance, item: str, columns: Sequence[int], notes: Sequence[str], unjudged: Sequence[str] = ()
) -> Series:
    """The nearest pairs of an item; the notes say how it was judged, and what was not."""
    case, found, pairs, _ = clearance
    if not columns:
        return skipped(item, "; ".join(unjudged) or "nothing to collide with")
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
        note="; ".join([*notes, *unjudged]),
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
    verb = "touches the obstacle" if item == "obstacle_clearance" else "collides with"
    return f"`{pair[0]}` {verb} `{pair[1]}`: distance {{value}} at {{time}}, least allowed {{limit}}"


def _bodies(robot: Robot, pair: Pair) -> frozenset[int]:
    return frozenset(robot.body_of(link) for link in pair if link in robot.link_names)
