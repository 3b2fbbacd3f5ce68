"""Does the robot hit itself or an obstacle, also between the samples of the motion?

Volumes are thicker than links, so the pair with the least bound need not be the nearest. Distances are measured in the
order of the bounds until one of them is no larger than every bound that is left: that one is the least of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.collision import ExactCollision, world_obstacles
from surefoot.errors import ModelError
from surefoot.feasibility.case import Case
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
from surefoot.geometry import Mesh
from surefoot.motion import Obstacle
from surefoot.robot import Robot

Pair = tuple[str, str]
_MOST_PARTS = 40
_CONFIRMED = 3000  # postures of pairs at which meshes are measured in all
_FEWEST_CONFIRMED = 8  # of each pair
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
    # Pairs whose exact shapes are known
    known = links_with_shapes(case.robot) | {thing.name for thing in standing_shapes(case.world)}
    exact = ExactCollision(
        case.robot, [pair for pair in judged if set(pair) <= known], obstacles=standing_shapes(case.world)
    )
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
    """Clearances, with the models that they were computed with."""

    case: Case
    found: PathClearance
    pairs: Sequence[Pair]
    exact: ExactCollision


def _confirmed(
    case: Case, found: PathClearance, pairs: Sequence[Pair], exact: ExactCollision, limit: float
) -> PathClearance:
    """The same with overlaps of hulls taken back where the meshes themselves do not touch.

    Of pairs whose hulls overlap almost always, some postures are looked at; the others are taken to be like the nearest
    of them in time, and nothing counts as proven then.
    """
    measured = [k for k, pair in enumerate(pairs) if pair in set(exact.link_pairs)]
    suspects = [k for k in measured if (found.distance[:, k] < limit).any()]
    if not suspects:
        return found
    meshes = MeshOverlap(case.robot, [pairs[k] for k in suspects], standing_shapes(case.world))
    distance, proven = np.array(found.distance), found.proven
    most = max(_FEWEST_CONFIRMED, _CONFIRMED // len(suspects))
    for column, k in enumerate(suspects):
        rows = np.flatnonzero(distance[:, k] < limit)
        looked = _some_rows(distance[rows, k], most)
        proven &= len(looked) == len(rows)
        q = case.trajectory.resample(found.time[rows[looked]]).q
        there = meshes.distances(column, q, distance[rows[looked], k])
        nearest = np.abs(np.subtract.outer(found.time[rows], found.time[rows[looked]])).argmin(axis=1)
        apart = (there >= limit)[nearest]
        distance[rows[apart], k] = there[nearest][apart]
        distance[rows[looked], k] = there
    return PathClearance(found.time, distance, proven)


def _some_rows(distance: Array, most: int) -> NDArray[np.int64]:
    """At most so many rows, increasing: all if they are few, else the deepest one, and others evenly between."""
    if len(distance) <= most:
        return np.arange(len(distance))
    evenly = np.linspace(0, len(distance) - 1, most - 1).round().astype(np.int64)
    return np.unique([*evenly, int(np.argmin(distance))])


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
        item=item, unit="m", time=found.time, parts=tuple(" – ".join(pairs[columns[k]]) for k in shown),
        value=distance[:, shown], lower=limit, slack=case.tolerances.overlap, scale=0.05,
        bodies=tuple(_bodies(case.robot, pairs[columns[k]]) for k in shown),
        width=0.5 * float(np.median(np.diff(case.time))), note="; ".join([*notes, *unjudged]),
        texts=tuple(_sentence(item, pairs[columns[k]]) for k in shown), next_step=_NEXT[item], bound_from=bound_from,
    )  # fmt: skip


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


_RAY = np.array([0.5257311, 0.3090170, 0.7926])  # no direction that edges are likely to have


class MeshOverlap:
    """Pairs of links, or of a link and an obstacle, by their meshes.

    Args:
        robot: The robot.
        pairs: The pairs.
        obstacles: What stands in the world.
    """

    def __init__(self, robot: Robot, pairs: Sequence[tuple[str, str]], obstacles: Sequence[Obstacle] = ()) -> None:
        self._robot, self._data, self._pairs = robot, robot.model.createData(), pairs
        self._exact = ExactCollision(robot, pairs, hulls=False, obstacles=obstacles)
        links = {link for pair in pairs for link in pair}
        self._triangles = {link: _triangles(robot, link) for link in links & set(robot.link_names)}

    def distances(self, pair: int, q: Array, hulls: Array) -> Array:
        """(m,) distance of the meshes where they are apart, else that of the hulls [m].

        Args:
            pair: Which pair.
            q: (m, nq) postures.
            hulls: (m,) distance of the hulls there.
        """
        links = self._pairs[pair]
        if not any(len(self._triangles.get(link, ())) for link in links):
            return hulls  # hulls of plain shapes are the shapes
        found = np.array([self._exact.at(row, [pair])[0] for row in q])
        apart = [bool(gap > 0.0) and not self._nested(links, row) for gap, row in zip(found, q, strict=True)]
        return np.where(apart, found, hulls)

    def _nested(self, links: tuple[str, str], q: Array) -> bool:
        """Whether a corner of one link lies inside a mesh of the other."""
        if not all(len(self._triangles.get(link, ())) for link in links):
            return True  # nobody can tell: the hulls are believed
        pin.forwardKinematics(self._robot.model, self._data, np.array(q))
        a, b = (pin.updateFramePlacement(self._robot.model, self._data, self._robot.frame_id(link)) for link in links)
        in_b = (b.inverse() * a).act(self._triangles[links[0]][0, 0])
        in_a = (a.inverse() * b).act(self._triangles[links[1]][0, 0])
        return _inside(self._triangles[links[1]], in_b) or _inside(self._triangles[links[0]], in_a)


def _triangles(robot: Robot, link: str) -> Array:
    """(k, 3, 3) corners of the triangles of the meshes of a link, in its frame [m]."""
    found = [np.zeros((0, 3, 3))]
    for item in robot.collisions:
        if item.link == link and isinstance(item.shape, Mesh):
            T = np.asarray(item.placement)
            points = item.shape.vertices() @ T[:3, :3].T + T[:3, 3]
            found.append(points[item.shape.triangles()])
    return np.concatenate(found)


def _inside(triangles: Array, point: Array) -> bool:
    """Whether a ray from a point meets a mesh an odd number of times (Möller & Trumbore 1997)."""
    a, ab, ac = triangles[:, 0], triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    p = np.cross(_RAY, ac)
    det = np.einsum("ij,ij->i", ab, p)
    usable = np.abs(det) > 1e-15
    inverse = np.where(usable, 1.0 / np.where(usable, det, 1.0), 0.0)
    to = point - a
    w = np.cross(to, ab)
    u, v, t = np.einsum("ij,ij->i", to, p) * inverse, w @ _RAY * inverse, np.einsum("ij,ij->i", ac, w) * inverse
    hits = usable & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t > 0.0)
    return bool(hits.sum() % 2)


_MOST = 2000  # postures at which distances are measured


class Nearest(NamedTuple):
    """Distances with the least of them measured.

    Args:
        distance: (m, pairs) [m]; where it was measured the distance, elsewhere a lower bound.
        bound_from: If the least is not below that, it is a lower bound: nobody measured it [m].
    """

    distance: Array
    bound_from: float


def nearest_pair(
    exact: ExactCollision, q: Array, bounds: Array, pairs: Sequence[tuple[str, str]], within: float
) -> Nearest:
    """The least distance of pairs of links.

    Args:
        exact: Measures some of the pairs.
        q: (m, nq) postures.
        bounds: (m, pairs) lower bounds of the distances [m].
        pairs: Their names.
        within: What is farther than that is not measured [m].
    """
    place = {frozenset(pair): k for k, pair in enumerate(exact.link_pairs)}
    known = np.array([frozenset(pair) in place for pair in pairs], dtype=bool)
    columns = np.array([place.get(frozenset(pair), -1) for pair in pairs], dtype=np.int64)
    distance = np.minimum(bounds, within)
    least, nearest = within, distance.min(axis=1)
    order = np.argsort(nearest, kind="stable")
    for row in order[:_MOST]:
        if nearest[row] >= least:
            break
        some = np.flatnonzero(known & (distance[row] < least))
        measured = exact.at(q[row], columns[some])
        distance[row, some] = np.minimum(np.maximum(distance[row, some], measured), within)
        least = min(least, float(distance[row, some].min(initial=within)))
    left = [distance[order[_MOST:]].min(initial=within), distance[:, ~known].min(initial=within)]
    return Nearest(distance, within if min(left) >= least else float(min(left)))
