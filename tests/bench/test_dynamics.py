"""The whole benchmark on small robots: what it says, what it refuses; no figure is judged."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.cases import dynamics
from bench.cases.dynamics import CASES, WAYS, memory_operations
from bench.check import WrongAnswerError
from bench.timing import listen
from surefoot.codegen import Kernel
from surefoot.compiler import compile_robot
from surefoot.robot.loading import load

TIMES = {"p5_us", "p50_us", "p95_us", "passes"}


@pytest.fixture(scope="module")
def result():
    """A benchmark of a small arm with an odd number of states."""
    shares = []
    with listen(lambda share, text: shares.append(share)):
        found = dynamics.run("arm4", states=37, quick=True)
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    return found


@pytest.mark.slow
def test_the_result_is_json_with_every_case_and_way(result):
    assert json.loads(json.dumps(result)) == result
    assert (result["schema"], result["bench"], result["states"], result["quick"]) == (1, "dynamics", 37, True)
    robot = result["robots"]["arm4"]
    assert (robot["nq"], robot["nv"], len(robot["frames"])) == (4, 4, 4)
    assert list(robot["cases"]) == [case.name for case in CASES]
    for case in robot["cases"].values():
        assert list(case["ways"]) == [way.name for way in WAYS]
        assert set(case["pinocchio"]) == {"calls", "p50_us", "before", "after"}
        for row in (*case["ways"].values(), *case["peers"].values()):
            assert set(row) >= TIMES | {"ratio"}
            assert 0.0 < row["p5_us"] <= row["p50_us"] <= row["p95_us"]


@pytest.mark.slow
def test_the_ratio_is_to_the_better_of_the_two_pinocchios(result):
    for case in result["robots"]["arm4"]["cases"].values():
        pinocchio = case["pinocchio"]
        assert pinocchio["p50_us"] == min(pinocchio["before"]["p50_us"], pinocchio["after"]["p50_us"])
        for row in case["ways"].values():
            assert row["ratio"] == pytest.approx(pinocchio["p50_us"] / row["p50_us"])


@pytest.mark.slow
def test_rows_tell_their_traffic(result):
    row = result["robots"]["arm4"]["cases"]["rnea"]["ways"]["rows"]
    assert row["bandwidth_gb_s"] == pytest.approx(1e-3 * 8 * 4 * 4 / row["p50_us"])


@pytest.mark.slow
def test_packed_rows_have_no_zeros_and_filling_with_zeros_is_told(result):
    case = result["robots"]["arm4"]["cases"]["frames"]
    stored = case["limit"]["stored_values_per_state"]
    packed = case["ways"]["packed"]
    assert stored < 4 * (16 + 6 * 4)
    assert packed["bandwidth_gb_s"] == pytest.approx(1e-3 * 8 * (4 + stored) / packed["p50_us"])
    assert case["limit"]["fill"]["ratio"] == pytest.approx(
        case["pinocchio"]["p50_us"] / case["limit"]["fill"]["p50_us"]
    )


@pytest.mark.slow
def test_limits_count_operations(result):
    for name, case in result["robots"]["arm4"]["cases"].items():
        limit = case["limit"]
        kernel = next(c for c in CASES if c.name == name).kernel(
            compile_robot(load("arm4")), result["robots"]["arm4"]["frames"]
        )
        assert limit["operations_per_state"] == kernel.artifact.operations > 0
        expected = limit["operations_per_state"] / (
            kernel.batch.width * 1e-6 * case["ways"]["tiled"]["p50_us"] * result["machine"]["clock_hz"]
        )
        assert limit["instructions_per_cycle"] == pytest.approx(expected)


@pytest.mark.slow
def test_mujoco_and_pinocchios_batch_are_there_and_drake_is_not(result):
    cases = result["robots"]["arm4"]["cases"]
    assert {"mujoco", "pinocchio_all"} == set(cases["rnea"]["peers"])
    assert set(cases["crba"]["peers"]) == set(cases["frames"]["peers"]) == {"mujoco"}
    assert cases["rnea_derivatives"]["peers"] == {}
    assert result["skipped"] == ["drake: no interpreter that has it was named"]


def test_spills_are_told():
    k = compile_robot(load("g1"))
    small, large = memory_operations(compile_robot(load("pendulum")).rnea), memory_operations(k.rnea)
    assert small["spill_stores"] <= 4  # sine and cosine
    assert large["loads"] > k.robot.nq + 2 * k.robot.nv
    assert large["spill_stores"] > 0


@pytest.mark.parametrize("way", ["unpack", "bind", "__call__"])
def test_a_wrong_answer_is_refused(monkeypatch, way):
    """Whichever way is wrong: packed tiles, bound arrays, or plain calls."""
    right = getattr(Kernel, way)

    def wrong(self, *args, **options):
        found = right(self, *args, **options)
        if way == "unpack":
            return tuple(x + 1e-9 for x in found)
        if way == "bind":
            return lambda: (found(), np.add(args[-1], 1e-9, out=args[-1]))
        return found if options else found + 1e-9

    monkeypatch.setattr(Kernel, way, wrong)
    monkeypatch.setattr(dynamics, "CASES", CASES[:1])
    with pytest.raises(WrongAnswerError, match="pendulum rnea"):
        dynamics.run("pendulum", states=9, quick=True)


def test_a_kernel_of_something_else_is_refused(monkeypatch):
    monkeypatch.setattr(dynamics, "CASES", [replace(CASES[2], kernel=lambda k, _: k.minverse)])
    with pytest.raises(WrongAnswerError, match="arm4 crba"):
        dynamics.run("arm4", states=9, quick=True)


@pytest.mark.slow
def test_what_cannot_be_done_is_skipped_with_a_line(monkeypatch):
    monkeypatch.setattr(dynamics, "CASES", CASES[1:3])
    drake = Path(sys.executable)  # which has no Drake
    found = dynamics.run("pendulum,romeo", states=9, quick=True, drake_python=drake)
    assert set(found["robots"]["pendulum"]["cases"]) == {"aba"}  # its mass matrix is a number
    assert set(found["robots"]["romeo"]["cases"]) == {"crba"}
    lines = "\n".join(found["skipped"])
    assert "pendulum crba: the result is the same for all states" in lines
    assert "romeo aba: the mass matrix is singular" in lines
    assert "pendulum drake: Drake reads this robot from no URDF file" in lines
    assert "pydrake" in lines
