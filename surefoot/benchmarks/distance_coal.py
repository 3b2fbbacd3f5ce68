"""coal as the judge of distances, and its capsules through Pinocchio as the peer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot import ops
from surefoot.benchmarks.check import WrongAnswerError
from surefoot.benchmarks.timing import Effort, measure, pinned
from surefoot.collision.pair_kernels import pair_kernel
from surefoot.compiler import compile_function
from surefoot.geometry.swept_distance import swept_distance
from surefoot.spatial import quaternion

__all__ = ["capsules_of_pinocchio", "require_coal_agrees"]

Array = NDArray[Any]
Json = dict[str, Any]
_TOLERANCE = 1e-9  # [m]
_MEETING = 1e-3  # [m]: hulls of vertices that are nearer are left out; where they meet, coal tells how deep they are
_BODIES, _POSTURES, _RADIUS, _LENGTH, _SPREAD = 20, 50, 0.05, 0.3, 0.8  # capsules in free flight; lengths in [m]


# -- the judge ------------------------------------------------------------------------------------------------------


def require_coal_agrees(volumes: Sequence[Array], found: Sequence[Array], compared: int) -> float:
    """The largest difference [m] of the first so many distances from coal's.

    Args:
        volumes: Vertices (n, k, 3), radii (n,), vertices (n, l, 3), radii (n,).
        found: Distances (n,), nearest points (n, 3) and (n, 3).
        compared: How many to compare.

    Raises:
        WrongAnswerError: Some distance or point is another one.
    """
    apart = np.flatnonzero(found[0] + volumes[1] + volumes[3] > _MEETING)[:compared]
    expected = np.array([_coal_distance(*(x[i] for x in volumes)) for i in apart])
    gaps = np.linalg.norm(found[1] - found[2], axis=1)[apart]
    errors = np.maximum(np.abs(found[0][apart] - expected), np.abs(gaps - np.abs(expected)))
    _require_near(errors, "coal's")
    return float(errors.max())


def _require_near(errors: Array, whose: str) -> None:
    if not (errors <= _TOLERANCE).all():
        raise WrongAnswerError(
            f"distances differ from {whose}, so they are not timed",
            evidence={"worst": float(errors.max()), "tolerance": _TOLERANCE, "wrong": int((errors > _TOLERANCE).sum())},
            next_step="report it with the seed",
        )


def _coal_distance(A: Array, radius_a: float, B: Array, radius_b: float) -> float:
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance, request.gjk_max_iterations = 1e-12, 1000
    return float(coal.distance(*_coal_shape(A, radius_a), *_coal_shape(B, radius_b), request, result))


def _coal_shape(vertices: Array, radius: float) -> tuple[Any, Any]:
    """The swept-sphere volume as a shape of coal and its placement."""
    if len(vertices) == 1:
        return coal.Sphere(radius), coal.Transform3s(np.eye(3), vertices[0])
    if len(vertices) == 2:
        along = vertices[1] - vertices[0]
        R = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), along).matrix()
        return coal.Capsule(radius, np.linalg.norm(along)), coal.Transform3s(R, vertices.mean(axis=0))
    points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    points.extend(list(vertices))
    faces.extend([coal.Triangle(0, 1, 2), coal.Triangle(0, 2, 1)])
    shape = coal.Convex(points, faces)
    shape.setSweptSphereRadius(radius)
    return shape, coal.Transform3s(np.eye(3), np.zeros(3))


# -- the peer -------------------------------------------------------------------------------------------------------


def capsules_of_pinocchio(seed: int, effort: Effort) -> Json:
    """All pairs of capsules in free flight: Pinocchio's `computeDistances` with coal, and our kernels, per pair.

    Of Pinocchio's time, what the placements alone take is told, too; the ratios are to the rest. Ours are the pairs in
    a batch with the ends of the lines given, and all pairs of a posture in one kernel, from the poses of the bodies on.

    Args:
        seed: Of the postures.
        effort: How long to measure.

    Raises:
        WrongAnswerError: Our distances are not those of coal.
    """
    scene = _Capsules(seed)
    _require_near(np.abs(scene.by_pairs() - scene.by_coal()).ravel(), "those of coal's capsules")
    _require_near(np.abs(scene.by_posture() - scene.by_coal()).ravel(), "those of coal's capsules")
    ways = {
        "pinocchio computeDistances": scene.run_coal,
        "pinocchio placements only": scene.run_placements,
        "pairs, tiles": scene.run_pairs,
        "postures, tiles": scene.run_postures,
    }
    with pinned():
        times = {name: measure(run, scene.count, effort) for name, run in ways.items()}
    peer = times["pinocchio computeDistances"].p50 - times["pinocchio placements only"].p50
    return {
        "bodies": _BODIES,
        "pairs": scene.count,
        "ways": {name: time.json() | {"ratio": peer / time.p50} for name, time in times.items()},
    }


class _Capsules:
    """Equal capsules at random poses, in a number of postures."""

    def __init__(self, seed: int) -> None:
        self.model, self.geometry = _capsule_model()
        self.data, self.geometry_data = self.model.createData(), self.geometry.createData()
        self.pairs = [(pair.first, pair.second) for pair in self.geometry.collisionPairs]
        self.count = _POSTURES * len(self.pairs)
        self.q = _random_poses(np.random.default_rng(seed))
        self._prepare_pairs()
        self._prepare_postures()

    def _prepare_pairs(self) -> None:
        ends = np.array([[_capsule_ends(pose) for pose in q.reshape(-1, 7)] for q in self.q])
        first, second = np.array(self.pairs).T
        radii = np.full(self.count, _RADIUS)
        inputs = (ends[:, first].reshape(-1, 2, 3), radii, ends[:, second].reshape(-1, 2, 3), radii)
        self.kernel = pair_kernel("line", "line")
        self.tiles = [self.kernel.to_tiles(x) for x in inputs]
        self.packed = self.kernel.tiled(*self.tiles)

    def _prepare_postures(self) -> None:
        pairs = self.pairs

        def all_distances(q: Any) -> Any:
            ends = [_capsule_ends(pose) for pose in q]
            return ops.array([swept_distance(ends[i], _RADIUS, ends[j], _RADIUS).distance for i, j in pairs])

        self.whole = compile_function("capsules", all_distances, {"q": (_BODIES, 7)})
        self.poses = self.whole.to_tiles(self.q.reshape(-1, _BODIES, 7))
        self.all_packed = self.whole.tiled(self.poses)

    def by_coal(self) -> Array:
        """Distances (postures, pairs) [m]."""
        found = []
        for q in self.q:
            pin.computeDistances(self.model, self.data, self.geometry, self.geometry_data, q)
            found.append([result.min_distance for result in self.geometry_data.distanceResults])
        return np.array(found)

    def by_pairs(self) -> Array:
        """Distances (postures, pairs) [m]."""
        return self.kernel.unpack(self.packed, self.count)[0].reshape(_POSTURES, -1)

    def by_posture(self) -> Array:
        """Distances (postures, pairs) [m]."""
        return self.whole.unpack(self.all_packed, _POSTURES)[0]

    def run_coal(self) -> None:
        self._run(pin.computeDistances)

    def run_placements(self) -> None:
        self._run(pin.updateGeometryPlacements)

    def _run(self, function: Callable[..., Any]) -> None:
        model, data, geometry, geometry_data = self.model, self.data, self.geometry, self.geometry_data
        for q in self.q:
            function(model, data, geometry, geometry_data, q)

    def run_pairs(self) -> None:
        self.kernel.tiled(*self.tiles, out=self.packed)

    def run_postures(self) -> None:
        self.whole.tiled(self.poses, out=self.all_packed)


def _capsule_model() -> tuple[Any, Any]:
    model, geometry = pin.Model(), pin.GeometryModel()
    for i in range(_BODIES):
        joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), f"joint {i}")
        capsule = coal.Capsule(_RADIUS, _LENGTH)
        geometry.addGeometryObject(pin.GeometryObject(f"capsule {i}", joint, joint, pin.SE3.Identity(), capsule))
    for i, j in combinations(range(_BODIES), 2):
        geometry.addCollisionPair(pin.CollisionPair(i, j))
    return model, geometry


def _random_poses(rng: np.random.Generator) -> Array:
    """Configurations (postures, 7 bodies): position and quaternion (xyzw) of each body."""
    poses = np.empty((_POSTURES, _BODIES, 7))
    poses[..., :3] = rng.uniform(-_SPREAD, _SPREAD, (_POSTURES, _BODIES, 3))
    turns = rng.standard_normal((_POSTURES, _BODIES, 4))
    poses[..., 3:] = turns / np.linalg.norm(turns, axis=2, keepdims=True)
    return poses.reshape(_POSTURES, -1)


def _capsule_ends(pose: Any) -> Any:
    """Ends (2, 3) of the line of a capsule along z of its body."""
    half = quaternion.to_matrix(pose[3:])[:, 2] * (0.5 * _LENGTH)
    return ops.stack([pose[:3] - half, pose[:3] + half])
