"""The benchmark of distances: what it says, what it refuses; no figure is judged."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bench.cases import distance as bench
from bench.cases.distance import TABLE_5_1, require_coal_agrees
from bench.check import WrongAnswerError
from bench.timing import listen
from surefoot.collision.pairs.kernels import pair_kernel

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def result():
    shares = []
    with pytest.MonkeyPatch.context() as patch, listen(lambda share, text: shares.append(share)):
        patch.setattr(bench, "_BODIES", 4)
        patch.setattr(bench, "_COMPARED", 20)
        found = bench.run(pairs=64, quick=True)
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    return found


@pytest.mark.slow
def test_the_result_is_json_with_every_row_of_the_table(result):
    assert json.loads(json.dumps(result)) == result
    assert (result["bench"], result["pairs"], result["quick"]) == ("distance", 64, True)
    assert list(result["rows"]) == [" ".join(kinds) for kinds in TABLE_5_1]
    for row in result["rows"].values():
        ways = {f"{x}, {y}" for x in ("distance", "nearest", "smooth") for y in ("tiles", "rows")}
        assert set(row["ways"]) == ways | {"distance, one call"}
        assert row["error_m"] < 1e-9
        for way in row["ways"].values():
            assert way["ratio"] == pytest.approx(row["table_us"] / way["p50_us"])


def test_capsules_are_timed_beside_pinocchio(result):
    coal = result["coal"]
    assert (coal["bodies"], coal["pairs"]) == (4, 50 * 6)
    times = {name: way["p50_us"] for name, way in coal["ways"].items()}
    net = times["pinocchio computeDistances"] - times["pinocchio placements only"]
    for name in ("pairs, tiles", "postures, tiles"):
        assert coal["ways"][name]["ratio"] == pytest.approx(net / times[name])


def test_distances_that_are_not_coals_are_not_timed():
    rng = np.random.default_rng(0)
    radii = np.full(10, 0.05)
    volumes = (rng.uniform(-0.2, 0.2, (10, 2, 3)), radii, rng.uniform(0.3, 0.7, (10, 3, 3)), radii)
    distance, point_a, point_b = pair_kernel("line", "triangle", "nearest")(*volumes)
    assert require_coal_agrees(volumes, (distance, point_a, point_b), 10) < 1e-9
    with pytest.raises(WrongAnswerError, match="coal"):
        require_coal_agrees(volumes, (distance + 1e-6, point_a, point_b), 10)
    with pytest.raises(WrongAnswerError, match="coal"):
        require_coal_agrees(volumes, (distance, point_a, point_b + 1e-6), 10)
