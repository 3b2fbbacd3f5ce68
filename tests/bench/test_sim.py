"""The benchmark of simulation on small robots: what it says, what it refuses; no figure is judged."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bench.cases import sim
from bench.check import WrongAnswerError
from bench.runner import main
from bench.timing import Effort, listen
from surefoot.robot.loading import load

pytestmark = pytest.mark.slow

LITTLE = Effort(repeats=1, seconds=0.0, passes=1)


@pytest.fixture(scope="module")
def result():
    shares = []
    with listen(lambda share, text: shares.append(share)):
        found = sim.run("arm4", "hexapod,arm4", 5, 4, quick=True)
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    return found


@pytest.mark.slow
def test_the_result_is_json_with_every_way(result):
    assert json.loads(json.dumps(result)) == result
    assert (result["bench"], result["copies"], result["steps"], result["quick"]) == ("sim", 5, 4, True)
    free, ground = result["free"]["arm4"], result["ground"]["hexapod"]
    for rows in (free, ground["stand"], ground["march"]):
        assert any(name.startswith("mujoco") for name in rows)
        assert any(name.startswith("native") for name in rows)
        for row in rows.values():
            assert row["steps_per_second"] == pytest.approx(1e6 / row["p50_us"])
    assert free["pinocchio in python"]["ratio"] == 1.0
    assert max(row["ratio"] for name, row in ground["stand"].items() if name.startswith("mujoco")) == 1.0


@pytest.mark.slow
def test_answers_are_compared(result):
    free = result["free"]["arm4"]
    assert max(row["error"] for name, row in free.items() if name.startswith("native")) < 1e-10
    rest = result["ground"]["hexapod"]["rest"]
    assert (rest["points"], rest["mujoco_contacts"]) == (6, 6)
    assert rest["native_load_n"] == pytest.approx(rest["weight_n"], rel=1e-3)
    assert rest["mujoco_load_n"] == pytest.approx(rest["weight_n"], rel=1e-3)
    assert 0.0 < rest["native_depth_mm"] < 2.0
    energy = result["ground"]["hexapod"]["energy"]
    assert abs(energy["residual_j"]) < 0.01 * energy["work_j"]


@pytest.mark.slow
def test_a_robot_that_cannot_stand_is_named(result):
    assert "arm4" not in result["ground"]
    assert any(line.startswith("arm4 ground:") for line in result["skipped"])


def test_other_answers_are_not_timed(monkeypatch):
    right = sim._Flight.native_at_once

    def wrong(self):
        q, v = right(self)
        return q, v + 1e-6

    monkeypatch.setattr(sim._Flight, "native_at_once", wrong)
    with pytest.raises(WrongAnswerError, match="one call for all steps"):
        sim.free_flight(load("arm4"), 2, 2, 0, LITTLE)


@pytest.mark.slow
def test_an_engine_that_does_not_carry_the_weight_is_not_timed(monkeypatch):
    monkeypatch.setattr(sim, "_normal_forces", lambda judge: np.zeros(6))
    with pytest.raises(WrongAnswerError, match="does not rest in mujoco"):
        sim.on_ground(load("hexapod"), 2, 2, 0, LITTLE)


@pytest.mark.slow
def test_the_command_prints_and_writes(result, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sim, "run", lambda: result)
    assert main(["sim", "--json", str(tmp_path / "sim.json")]) == 0
    assert json.loads((tmp_path / "sim.json").read_text(encoding="utf-8")) == result
    out = capsys.readouterr().out
    assert "arm4 in free flight" in out
    assert "hexapod on 6 contact points" in out
    assert "residual" in out
    assert "not measured" in out
