"""`surefoot bench distance`: distances of swept-sphere volumes against Buschmann's table 5.1 and against coal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.benchmarks.distance_coal import capsules_of_pinocchio, require_coal_agrees
from surefoot.benchmarks.distance_robot import self_distances
from surefoot.benchmarks.machine import header
from surefoot.benchmarks.timing import Effort, Progress, measure, pinned, silent
from surefoot.collision.pair_kernels import pair_kernel
from surefoot.compiler import Kernel
from surefoot.errors import ShapeError

__all__ = ["TABLE_5_1", "DistanceBench", "run_distance"]

Array = NDArray[Any]
Json = dict[str, Any]
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
_QUICK = Effort(repeats=1, seconds=0.01, passes=2)
_WHOLE = Effort(repeats=5, seconds=0.2, passes=5)
_SIZE, _SPREAD, _RADII = 0.2, 0.6, (0.02, 0.06)  # [m]
_ROBOT = ("g1", 10_000)  # and how many postures
_WHAT = ("distance", "nearest", "smooth")


@dataclass(frozen=True)
class DistanceBench:
    """What to measure.

    Args:
        pairs: Of a batch.
        compared: Pairs of each kind that are compared with coal.
        seed: Of the volumes.
        quick: Measure for a short time.
        progress: progress(share done, what is next).
    """

    pairs: int = 65_536
    compared: int = 500
    seed: int = 0
    quick: bool = False
    progress: Progress = field(default_factory=lambda: silent)

    @property
    def effort(self) -> Effort:
        """How long to measure."""
        return _QUICK if self.quick else _WHOLE


def run_distance(bench: DistanceBench) -> Json:
    """Measure on one core; the result as plain data.

    Args:
        bench: What to measure.

    Raises:
        ShapeError: There are no pairs.
        WrongAnswerError: A distance differs from coal's.
    """
    for what in ("pairs", "compared"):
        if getattr(bench, what) < 1:
            raise ShapeError(f"{getattr(bench, what)} {what} cannot be timed", next_step="give one or more")
    result: Json = header("distance", bench.seed) | {"pairs": bench.pairs, "quick": bench.quick, "rows": {}}
    for k, kinds in enumerate(TABLE_5_1):
        bench.progress(k / (len(TABLE_5_1) + 1), " ".join(kinds))
        result["rows"][" ".join(kinds)] = _row(bench, kinds)
    bench.progress(len(TABLE_5_1) / (len(TABLE_5_1) + 1), "coal")
    result["coal"] = capsules_of_pinocchio(bench.seed, bench.effort)
    result["robot"] = None if bench.quick else self_distances(*_ROBOT, bench.seed)
    bench.progress(1.0, "")
    return result


def _row(bench: DistanceBench, kinds: tuple[str, str]) -> Json:
    """One kind of pair: compared with coal, then timed."""
    volumes = _volumes(bench, kinds)
    found = pair_kernel(*kinds, "nearest")(*volumes)
    error = require_coal_agrees(volumes, found, bench.compared)
    table = TABLE_5_1[kinds]
    ways = {f"{what}, {way}": run for what in _WHAT for way, run in _ways(pair_kernel(*kinds, what), volumes).items()}
    with pinned():
        times = {name: measure(run, bench.pairs, bench.effort) for name, run in ways.items()}
    return {
        "table_us": table,
        "error_m": error,
        "operations": {what: pair_kernel(*kinds, what).artifact.operations for what in _WHAT},
        "ways": {name: time.json() | {"ratio": table / (1e6 * time.p50)} for name, time in times.items()},
    }


def _volumes(bench: DistanceBench, kinds: tuple[str, str]) -> tuple[Array, Array, Array, Array]:
    """Vertices and radii of random pairs; few of them overlap."""
    rng = np.random.default_rng(bench.seed)
    A, B = (rng.uniform(-_SIZE, _SIZE, (bench.pairs, _VERTICES[kind], 3)) for kind in kinds)
    B += rng.uniform(-_SPREAD, _SPREAD, (bench.pairs, 1, 3))
    radius_a, radius_b = rng.uniform(*_RADII, (2, bench.pairs))
    return A, radius_a, B, radius_b


def _ways(kernel: Kernel, volumes: tuple[Array, ...]) -> dict[str, Callable[[], Any]]:
    """The batch in tiles, and in arrays with one pair per row."""
    inputs = volumes if len(kernel.recipe.inputs) == 4 else (*volumes, np.full(len(volumes[0]), _RADII[0]))
    tiles = [kernel.to_tiles(x) for x in inputs]
    packed = kernel.tiled(*tiles)
    return {"tiles": lambda: kernel.tiled(*tiles, out=packed), "rows": lambda: kernel(*inputs)}
