"""Every kind of motion, study and controller is found, and only when it is asked for."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args

import pytest

from surefoot.scenario import Scenario
from surefoot.scenario.build.simulation import CONTROLLERS
from surefoot.scenario.motions import MOTIONS
from surefoot.scenario.registry import imported
from surefoot.scenario.schema import ControllerTable, MotionTable
from surefoot.scenario.studies import STUDIES

LOADED = "import sys, surefoot.scenario.run; print(*sys.modules)"
STAND = """
import sys
from surefoot.scenario.run import run_scenario
run_scenario("stand", "small-humanoid", sys.argv[1], 0, ["simulation.duration=0.02", "audit.kind=none"])
print(*sys.modules)
"""
NOT_FOR_STANDING = ("planning", "ocp", "redundant", "studio", "gait.swings", "robot.sdf", "robot.dynamod")
NOT_FOR_STANDING += tuple(f"ik.{name}" for name in ("analysis", "avoidance", "predictive", "singular", "textbook"))


@pytest.mark.parametrize(
    ("table", "key", "places"),
    [(MotionTable, "kind", MOTIONS), (Scenario, "study", STUDIES), (ControllerTable, "kind", CONTROLLERS)],
)
def test_every_kind_of_the_schema_is_found(table, key, places):
    kinds = set(get_args(table.model_fields[key].annotation)) - {"none"}
    assert kinds == set(places)
    assert all(callable(imported(place)) for place in places.values())


def test_what_a_run_may_not_need_is_not_loaded_before_it_is_asked_for():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert "surefoot.scenario.motions.plan" in modules
    kinds = {place.partition(":")[0] for place in (*MOTIONS.values(), *STUDIES.values())}
    assert not modules & {*kinds, "surefoot.ik", "surefoot.tasks", "surefoot.redundant"}


def test_rooms_that_standing_does_not_need_are_not_loaded(tmp_path):
    command = [sys.executable, "-c", STAND, str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert "surefoot.scenario.studies.stand" in modules
    assert modules & {f"surefoot.{name}" for name in NOT_FOR_STANDING} == set()
