"""Distances of swept-sphere volumes against Buschmann's table 5.1 and against coal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Annotated, Any

import coal
import numpy as np
import pinocchio as pin
import typer
from numpy.typing import NDArray

from bench import page
from bench.check import WrongAnswerError
from bench.machine import header
from bench.page import Json, number_text, print_table, times_text
from bench.timing import Effort, measure, pinned, tell
from surefoot import ops
from surefoot.codegen import Kernel, compile_function
from surefoot.collision import CollisionModel, pair_kernel, random_postures
from surefoot.geometry import swept_distance
from surefoot.robot import load
from surefoot.spatial import quaternion

__all__ = ["TABLE_5_1", "coal_shape", "require_coal_agrees", "run", "show"]

Array = NDArray[Any]
TABLE_5_1 = {
    ("point", "point"): 0.0538,
    ("point", "line"): 0.0555,
    ("line", "line"): 0.0773,
    ("point", "triangle"): 0.0909,
    ("line", "triangle"): 0.3351,
    ("triangle", "triangle"): 0.9007,
}
"""Time of one pair [µs] on Lola's on-board computer of 2.33 GHz.   Buschmann 2014, table 5.1."""
_VERTICES = {"point": 1, "line": 2, "triangle": 3}
_QUICK, _WHOLE = Effort(repeats=1, seconds=0.01, passes=2), Effort(repeats=5, seconds=0.2, passes=5)
_SIZE, _SPREAD, _RADII = 0.2, 0.6, (0.02, 0.06)  # [m]
_COMPARED = 500  # pairs of each kind that are compared with coal
_WHAT = ("distance", "nearest", "smooth")
_SINGLES = 64  # pairs that are timed one by one
_TOLERANCE = 1e-9  # [m]
_MEETING = 1e-3  # [m]: hulls of vertices that are nearer are left out; where they meet, coal reports their depth
_BODIES, _POSTURES, _RADIUS, _LENGTH, _ROOM = 20, 50, 0.05, 0.3, 0.8  # capsules in free flight; lengths in [m]
_ROBOT, _ROBOT_POSTURES, _REPEATS = "g1", 10_000, 3
_COLUMNS = {
    "tiles": "distance, tiles", "tiles + points": "nearest, tiles", "smooth, tiles": "smooth, tiles",
    "rows": "distance, rows", "rows + points": "nearest, rows", "one call": "distance, one call",
}  # fmt: skip


def run(
    pairs: Annotated[int, typer.Option(help="Pairs of a batch.", min=1)] = 65_536,
    seed: Annotated[int, typer.Option(help="Seed of the volumes.", min=0)] = 0,
    quick: page.Quick = False,
) -> Json:
    """Measure on one core."""
    effort = _QUICK if quick else _WHOLE
    result: Json = header("distance", seed) | {"pairs": pairs, "quick": quick, "rows": {}}
    for k, kinds in enumerate(TABLE_5_1):
        tell(k / (len(TABLE_5_1) + 1), " ".join(kinds))
        result["rows"][" ".join(kinds)] = _row(kinds, _volumes(kinds, pairs, seed), effort)
    tell(len(TABLE_5_1) / (len(TABLE_5_1) + 1), "coal")
    result["coal"] = _capsules(seed, effort)
    result["robot"] = None if quick else _self_distances(seed)
    tell(1.0, "")
    return result


def _volumes(kinds: tuple[str, str], pairs: int, seed: int) -> tuple[Array, Array, Array, Array]:
    """Vertices and radii of random pairs; few of them overlap."""
    rng = np.random.default_rng(seed)
    A, B = (rng.uniform(-_SIZE, _SIZE, (pairs, _VERTICES[kind], 3)) for kind in kinds)
    B += rng.uniform(-_SPREAD, _SPREAD, (pairs, 1, 3))
    radius_a, radius_b = rng.uniform(*_RADII, (2, pairs))
    return A, radius_a, B, radius_b


def _row(kinds: tuple[str, str], volumes: tuple[Array, ...], effort: Effort) -> Json:
    """One kind of pair: compared with coal, then timed."""
    kernels, table = {what: pair_kernel(*kinds, what) for what in _WHAT}, TABLE_5_1[kinds]
    error = require_coal_agrees(volumes, kernels["nearest"](*volumes), _COMPARED)
    ways = {f"{what}, {way}": (call, len(volumes[0])) for what in _WHAT for way, call in _ways(kernels[what], volumes)}
    singles = _bound_calls(kernels["distance"], volumes)
    ways["distance, one call"] = (lambda: [call() for call in singles]), len(singles)
    with pinned():
        times = {name: measure(call, count, effort) for name, (call, count) in ways.items()}
    return {
        "table_us": table,
        "error_m": error,
        "operations": {what: kernel.artifact.operations for what, kernel in kernels.items()},
        "ways": {name: found.json() | {"ratio": table / (1e6 * found.p50)} for name, found in times.items()},
    }


def _bound_calls(kernel: Kernel, volumes: tuple[Array, ...]) -> list[Callable[[], Any]]:
    """One call for each of the first pairs, bound to its arrays."""
    pairs = [[np.array(x[i]) for x in volumes] for i in range(min(_SINGLES, len(volumes[0])))]
    return [kernel.bind(*pair, np.empty(())) for pair in pairs]


def _ways(kernel: Kernel, volumes: tuple[Array, ...]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The batch in tiles, and in arrays with one pair per row."""
    inputs = volumes if len(kernel.recipe.inputs) == 4 else (*volumes, np.full(len(volumes[0]), _RADII[0]))
    tiles = [kernel.to_tiles(x) for x in inputs]
    packed = kernel.tiled(*tiles)
    yield "tiles", lambda: kernel.tiled(*tiles, out=packed)
    yield "rows", lambda: kernel(*inputs)


def _self_distances(seed: int) -> Json:
    """All self-distances of a whole robot in a batch of random postures."""
    robot = load(_ROBOT)
    model = CollisionModel(robot)
    q = random_postures(robot, _ROBOT_POSTURES, np.random.default_rng(seed))
    model.distances(q[:64])  # compiles
    seconds = []
    with pinned():
        for _ in range(_REPEATS):
            start = time.perf_counter()
            model.distances(q)
            seconds.append(time.perf_counter() - start)
    facts = {"robot": _ROBOT, "volumes": len(model.volumes), "pairs": len(model.names), "postures": _ROBOT_POSTURES}
    return facts | {"seconds": float(np.median(seconds))}


# -- coal -------------------------------------------------------------------------------------------------------------


def require_coal_agrees(volumes: Sequence[Array], found: Sequence[Array], compared: int) -> float:
    """The largest difference [m] of the first so many distances and gaps of nearest points from coal's.

    Raises:
        WrongAnswerError: Some distance or point is another one.
    """
    apart = np.flatnonzero(found[0] + volumes[1] + volumes[3] > _MEETING)[:compared]
    expected = np.array([_coal_distance(*(x[i] for x in volumes)) for i in apart])
    gaps = np.linalg.norm(found[1] - found[2], axis=1)[apart]
    errors = np.maximum(np.abs(found[0][apart] - expected), np.abs(gaps - np.abs(expected)))
    return _require_near(errors, "coal's")


def _require_near(errors: Array, whose: str) -> float:
    if not (errors <= _TOLERANCE).all():
        raise WrongAnswerError(
            f"distances differ from {whose}, so they are not timed",
            evidence={"worst": float(errors.max()), "tolerance": _TOLERANCE, "wrong": int((errors > _TOLERANCE).sum())},
            next_step="report it with the seed",
        )
    return float(errors.max())


def _coal_distance(A: Array, radius_a: float, B: Array, radius_b: float) -> float:
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance, request.gjk_max_iterations = 1e-12, 1000
    return float(coal.distance(*coal_shape(A, radius_a), *coal_shape(B, radius_b), request, result))


def coal_shape(vertices: Array, radius: float) -> tuple[Any, Any]:
    """The swept-sphere volume as a shape of coal and its placement.

    Args:
        vertices: (1…3, 3) [m].
        radius: [m].
    """
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


def _capsules(seed: int, effort: Effort) -> Json:
    """All pairs of capsules in free flight: Pinocchio's `computeDistances` with coal, and our kernels, per pair.

    Ratios are to Pinocchio's time beyond that of the placements alone. Ours are the pairs in a batch with the ends of
    the lines given, and all pairs of a posture in one kernel, from the poses of the bodies on.
    """
    model, geometry = _capsule_model()
    where = (model, model.createData(), geometry, geometry.createData())
    q = _random_poses(np.random.default_rng(seed))
    pairs = [(pair.first, pair.second) for pair in geometry.collisionPairs]
    by_pair, tiles = _pair_tiles(q, pairs)
    whole = compile_function("capsules", lambda q: _all_distances(q, pairs), {"q": (_BODIES, 7)})
    poses = whole.to_tiles(q.reshape(-1, _BODIES, 7))
    packed, all_packed, count = by_pair.tiled(*tiles), whole.tiled(poses), _POSTURES * len(pairs)

    def run_pinocchio(function: Callable[..., Any]) -> list[list[float]]:
        return [function(*where, x) for x in q]

    def coal_distances(*given: Any) -> list[float]:
        pin.computeDistances(*given)
        return [result.min_distance for result in where[3].distanceResults]

    expected = np.array(run_pinocchio(coal_distances))
    for found in (by_pair.unpack(packed, count)[0].reshape(_POSTURES, -1), whole.unpack(all_packed, _POSTURES)[0]):
        _require_near(np.abs(found - expected).ravel(), "those of coal's capsules")
    ways: dict[str, Callable[[], Any]] = {
        "pinocchio computeDistances": lambda: run_pinocchio(pin.computeDistances),
        "pinocchio placements only": lambda: run_pinocchio(pin.updateGeometryPlacements),
        "pairs, tiles": lambda: by_pair.tiled(*tiles, out=packed),
        "postures, tiles": lambda: whole.tiled(poses, out=all_packed),
    }
    with pinned():
        times = {name: measure(call, count, effort) for name, call in ways.items()}
    peer = times["pinocchio computeDistances"].p50 - times["pinocchio placements only"].p50
    rows = {name: found.json() | {"ratio": peer / found.p50} for name, found in times.items()}
    return {"bodies": _BODIES, "pairs": count, "ways": rows}


def _pair_tiles(q: Array, pairs: list[tuple[int, int]]) -> tuple[Kernel, list[Array]]:
    ends = np.array([[_capsule_ends(pose) for pose in x.reshape(-1, 7)] for x in q])
    first, second = np.array(pairs).T
    radii, kernel = np.full(len(q) * len(pairs), _RADIUS), pair_kernel("line", "line")
    inputs = (ends[:, first].reshape(-1, 2, 3), radii, ends[:, second].reshape(-1, 2, 3), radii)
    return kernel, [kernel.to_tiles(x) for x in inputs]


def _all_distances(q: Any, pairs: list[tuple[int, int]]) -> Any:
    ends = [_capsule_ends(pose) for pose in q]
    return ops.array([swept_distance(ends[i], _RADIUS, ends[j], _RADIUS).distance for i, j in pairs])


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
    positions = rng.uniform(-_ROOM, _ROOM, (_POSTURES, _BODIES, 3))
    turns = rng.standard_normal((_POSTURES, _BODIES, 4))
    turns /= np.linalg.norm(turns, axis=2, keepdims=True)
    return np.concatenate([positions, turns], axis=2).reshape(_POSTURES, -1)


def _capsule_ends(pose: Any) -> Any:
    """Ends (2, 3) of the line of a capsule along z of its body."""
    half = quaternion.to_matrix(pose[3:])[:, 2] * (0.5 * _LENGTH)
    return ops.stack([pose[:3] - half, pose[:3] + half])


# -- what is printed --------------------------------------------------------------------------------------------------


def show(result: Json) -> None:
    """Print a table of pairs, one of capsules, and the time of a robot."""
    print(f"\nTime of a pair [ns], {result['pairs']} pairs in a batch on one core; × how much less than in Table 5.1")
    print("of Buschmann 2014 (2.33 GHz); points: with the nearest points of both; one call: bound; error: against coal")
    rows = []
    for name, row in result["rows"].items():
        found = [row["ways"][way] for way in _COLUMNS.values()]
        cells = [x for way in found for x in (number_text(1e3 * way["p50_us"]), number_text(way["ratio"]))]
        rows.append([name.replace(" ", "–"), number_text(1e3 * row["table_us"]), *cells, f"{row['error_m']:.1e}"])
    print_table(("pair", "Table 5.1", *(x for way in _COLUMNS for x in (way, "×")), "error (m)"), rows)
    coal_result = result["coal"]
    print(f"\n{coal_result['bodies']} capsules, all pairs; × what Pinocchio's computeDistances takes beyond placements")
    rows = [
        [name, *times_text(way, *[] if name.startswith("pinocchio") else ["ratio"], scale=1e3)]
        for name, way in coal_result["ways"].items()
    ]
    print_table(("ns per pair", "p5", "p50", "p95", "×"), rows)
    if (robot := result["robot"]) is not None:
        print(
            f"\n{robot['robot']}: all {robot['pairs']} self-distances of {robot['volumes']} fitted volumes, "
            f"{robot['postures']} postures: {robot['seconds']:.2f} s on one core"
        )
