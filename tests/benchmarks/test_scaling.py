"""Growing trees: answers, what is left out, the printed table; no figure is judged."""

from __future__ import annotations

import json

import numpy as np
import pytest

from surefoot.benchmarks import ScalingBench, run_scaling, scaling
from surefoot.benchmarks.check import WrongAnswerError
from surefoot.benchmarks.scaling import FAMILIES, METHODS, _growth, _problem, _readings, _table
from surefoot.benchmarks.scaling_facts import TABLE_3_1
from surefoot.dynamics import rnea
from surefoot.errors import ShapeError

SOME = [FAMILIES[k] for k in (0, 3, 4)]


@pytest.fixture(scope="module")
def result():
    return run_scaling(ScalingBench(largest=8, families=SOME))


def test_all_families_methods_and_kinds(result):
    assert json.loads(json.dumps(result)) == result
    found = {(row["family"], row["method"], row["kind"], row["bodies"]) for row in result["rows"]}
    for family in SOME:
        for method in METHODS:
            cells = {(family.name, method, kind, n) for kind in ("base", "compiled") for n in (4, 8)}
            assert cells <= found if family.has_order_n or method != "O(n)" else not cells & found
    assert all(0.0 < row["p5_us"] <= row["p50_us"] <= row["p95_us"] for row in result["rows"])
    assert {item["family"] for item in result["left_out"]} == {"dill, rigid gears"}
    assert len(result["growth"]) == len(result["rows"]) / 2
    assert result["readings"] == result["table_3_1"] == []


def test_bodies_are_counted_with_rotors(result):
    for row in result["rows"]:
        assert row["dofs"] == row["bodies"] // (2 if "rigid" in row["family"] else 1)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_expected_acceleration_needs_the_given_forces(family):
    problem = _problem(family, 16, seed=1)
    q, v, tau = problem.state
    np.testing.assert_allclose(rnea(problem.robot.tree, q, v, problem.expected), tau, atol=1e-8)


def test_a_wrong_answer_is_refused(monkeypatch):
    right = scaling.forward_dynamics
    monkeypatch.setattr(scaling, "forward_dynamics", lambda *args, **options: right(*args, **options) * (1 + 1e-9))
    with pytest.raises(WrongAnswerError, match="coil, 4 bodies"):
        run_scaling(ScalingBench(largest=4, families=FAMILIES[:1]))


def test_what_does_not_fit_into_the_time_is_left_out():
    found = run_scaling(ScalingBench(largest=8, families=FAMILIES[:1], seconds=0.0))
    assert found["rows"] == []
    assert len(found["left_out"]) == 6
    assert all(item["from_bodies"] == 4 for item in found["left_out"])
    assert all("would take more than 0 s" in item["why"] for item in found["left_out"])


def test_the_printed_times_have_the_printed_readings():
    times = dict(TABLE_3_1)
    assert all(row["ratio"] == row["source_ratio"] for row in _table(times))
    ratios = {(row["family"], row["method"], row["kind"]): row["ratio"] for row in _table(times)}
    assert ratios["coil", "CRBA", "base"] == pytest.approx(2.41, abs=0.01)
    assert ratios["coil", "NE", "compiled"] == pytest.approx(8.95, abs=0.02)
    assert ratios["dill", "NE", "compiled"] == pytest.approx(2.26, abs=0.02)
    readings = _readings(times)
    assert len(readings) == 9
    assert all(row["holds"] and row["ratio"] == row["source_ratio"] for row in readings)


def test_readings_can_fail():
    times = dict(TABLE_3_1) | {("dill", 32, "NE", "compiled"): 1e-4, ("dill", 32, "O(n)", "compiled"): 9e-5}
    assert [row["text"][:20] for row in _readings(times) if not row["holds"]] == [
        "branching leaves O(n", "branching helps NE: ", "NE beats CRBA on dil", "O(n) beats CRBA on d",
    ]  # fmt: skip


def test_growth_is_the_exponent_at_the_end():
    times = {("coil", n, "NE", "base"): n**3 + 1e9 * (n == 4) for n in (4, 8, 16)}
    assert _growth(times) == [
        {"family": "coil", "method": "NE", "kind": "base", "bodies": [8, 16], "exponent": pytest.approx(3.0)}
    ]


@pytest.mark.parametrize("bodies", [3, 513])
def test_sizes_out_of_range(bodies):
    with pytest.raises(ShapeError):
        run_scaling(ScalingBench(largest=bodies))
