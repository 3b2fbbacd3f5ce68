"""Does the robot hit itself or an obstacle, also between the samples of the motion?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from surefoot.collision import CollisionModel, ExactCollision, PruningSettings, world_obstacles
from surefoot.errors import ModelError
from surefoot.feasibility.case import Case
from surefoot.feasibility.mesh_overlap import MeshOverlap
from surefoot.feasibility.path_clearance import PathClearance, path_clearance
from surefoot.feasibility.series import Series, skipped
from surefoot.motion import Obstacle
from surefoot.robot import Robot

__all__ = ["check_collisions"]

Pair = tuple[str, str]
_SHOWN = 0.1  # [m]: pairs that come nearer than that are parts of the items
_MOST_PARTS = 40
_BOUNDS = "lower bounds: volumes are a little thicker than links, and beyond 5 cm nothing is measured"

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
        return [skipped(item, error.message) for item in ("self_collision", "obstacle_clearance")]
    obstacles = world_obstacles(case.world)
    model = model.with_obstacles(obstacles) if obstacles else model
    judged, nested = _judged_pairs(case, model)
    limit, slack = case.tolerances.clearance, case.tolerances.overlap
    exact = ExactCollision(case.robot, _measurable(case, judged), obstacles=_with_shapes(case))
    found = path_clearance(case, model, exact, limit - 0.5 * slack, 0.5 * slack)
    found = _confirmed(case, found, model.link_pairs, exact, limit - slack)
    names = {thing.name for thing in obstacles}
    own = [k for k, pair in enumerate(model.link_pairs) if pair not in nested and pair[1] not in names]
    world = [k for k, pair in enumerate(model.link_pairs) if pair[1] in names]
    proof = [_BOUNDS] if found.proven else [_BOUNDS, "not everything between samples could be proven apart"]
    return [
        _series(case, "self_collision", found, model.link_pairs, own, [*proof, *_nested_note(nested)]),
        _series(case, "obstacle_clearance", found, model.link_pairs, world, proof),
    ]


@lru_cache(maxsize=8)
def _model_of(robot: Robot) -> CollisionModel:
    """Volumes of the robot with all pairs that hulls may have to decide: those that overlap at home too."""
    return CollisionModel(robot, pruning=PruningSettings(near_home=-np.inf))


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


def _with_shapes(case: Case) -> tuple[Obstacle, ...]:
    return case.world.obstacles


def _measurable(case: Case, pairs: Sequence[Pair]) -> list[Pair]:
    """Pairs whose exact shapes are known."""
    known = _links_with_shapes(case.robot) | {thing.name for thing in _with_shapes(case)}
    return [pair for pair in pairs if set(pair) <= known]


def _confirmed(
    case: Case, found: PathClearance, pairs: Sequence[Pair], exact: ExactCollision, limit: float
) -> PathClearance:
    """The same with overlaps of hulls taken back where the meshes themselves do not touch."""
    measured = [k for k, pair in enumerate(pairs) if pair in set(exact.link_pairs)]
    suspects = [k for k in measured if (found.distance[:, k] < limit).any()]
    if not suspects:
        return found
    meshes = MeshOverlap(case.robot, [pairs[k] for k in suspects], _with_shapes(case))
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


def _series(
    case: Case, item: str, found: PathClearance, pairs: Sequence[Pair], columns: Sequence[int], notes: Sequence[str]
) -> Series:
    """The nearest pairs of an item."""
    if not columns:
        return skipped(item, "there is nothing to hit")
    least = found.distance[:, columns].min(axis=0)
    order = np.argsort(least, kind="stable")
    shown = [columns[k] for k in order[:_MOST_PARTS] if least[k] < _SHOWN or k == order[0]]
    return Series(
        item=item,
        unit="m",
        time=found.time,
        parts=tuple(" – ".join(pairs[k]) for k in shown),
        value=found.distance[:, shown],
        lower=case.tolerances.clearance,
        slack=case.tolerances.overlap,
        scale=0.05,
        bodies=tuple(_bodies(case.robot, pairs[k]) for k in shown),
        width=0.5 * float(np.median(np.diff(case.time))),
        note="; ".join(notes),
        texts=tuple(_sentence(item, pairs[k]) for k in shown),
        next_step=_NEXT[item],
    )


def _sentence(item: str, pair: Pair) -> str:
    verb = "touches the obstacle" if item == "obstacle_clearance" else "runs into"
    return f"`{pair[0]}` {verb} `{pair[1]}`: distance {{value}} at {{time}}, {{limit}} is the least that passes"


def _bodies(robot: Robot, pair: Pair) -> frozenset[int]:
    return frozenset(robot.body_of(link) for link in pair if link in robot.link_names)
