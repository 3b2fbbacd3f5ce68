"""Stance sequences: files give back what was saved, and any planner of motions can follow them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import FileFormatError, NotSupportedError
from surefoot.motion import World
from surefoot.planning import SINGLE_MODE, Budget, Limits, StancePlanner, StanceSequence, audit_plan
from surefoot.planning.multimodal import MultiModalRoadmap

_GOAL = (0.0, 0.1, 0.0)


@pytest.fixture(scope="module")
def sequence() -> StanceSequence:
    robot = sf.load("hexapod")
    return StancePlanner(robot, World()).plan(np.array(robot.home), _GOAL, seed=1).sequence()


def test_a_file_gives_back_all_numbers(sequence: StanceSequence, tmp_path: Path) -> None:
    sequence.save(tmp_path / "stances.json")
    again = StanceSequence.load(tmp_path / "stances.json")
    assert (again.robot, again.legs) == (sequence.robot, sequence.legs)
    np.testing.assert_array_equal(again.start, sequence.start)
    np.testing.assert_array_equal(again.stances, sequence.stances)
    np.testing.assert_array_equal(again.footholds.points, sequence.footholds.points)
    for a, b in zip(again.bases, sequence.bases, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", list(SINGLE_MODE))
def test_planners_follow_it_to_the_same_stance(sequence: StanceSequence, name: str) -> None:
    planner = StancePlanner(sf.load("hexapod"), World(), single_mode=SINGLE_MODE[name])
    plan = planner.follow(sequence, seed=3)
    assert plan.solved, plan.reason
    assert audit_plan(plan).passed
    assert [move.after for move in plan.moves] == [tuple(row) for row in sequence.stances[1:].tolist()]
    ended = plan.segments[-1].path[-1, 6:].reshape(-1, 3)
    np.testing.assert_allclose(ended, plan.graph.feet(plan.goal), atol=1e-12)


def test_a_sequence_through_a_place_out_of_reach_fails_and_says_where(sequence: StanceSequence) -> None:
    far = sequence.footholds.take(list(range(len(sequence.footholds))))
    far.points[sequence.stances[1][sequence.stances[1] != sequence.stances[0]]] += [0.0, 0.4, 0.0]
    broken = StanceSequence(sequence.robot, sequence.legs, sequence.start, far, sequence.stances, sequence.bases)
    limits = Limits(states=20_000, single_mode=Budget(200))
    plan = StancePlanner(sf.load("hexapod"), World()).follow(broken, limits=limits)
    assert not plan.solved
    assert "move 1 has no motion" in plan.reason


def test_files_that_contradict_themselves_are_refused(sequence: StanceSequence, tmp_path: Path) -> None:
    path = tmp_path / "stances.json"
    sequence.save(path)
    data = json.loads(path.read_text())
    for key, value in (("schema", "other/1"), ("stances", data["stances"][:1] + data["stances"][2:]), ("bases", 3)):
        path.write_text(json.dumps(data | {key: value}))
        with pytest.raises(FileFormatError):
            StanceSequence.load(path)
    path.write_text("{")
    with pytest.raises(FileFormatError):
        StanceSequence.load(path)


def test_another_robot_is_refused(sequence: StanceSequence) -> None:
    with pytest.raises(NotSupportedError, match="solo12"):
        StancePlanner(sf.load("hexapod"), World()).follow(replace(sequence, robot="solo12", legs=tuple("abcdef")))


def test_a_roadmap_of_stances_that_begins_at_its_goal_is_solved() -> None:
    robot = sf.load("hexapod")
    plan = MultiModalRoadmap(StancePlanner(robot, World()), np.array(robot.home), (0.0, 0.0, 0.0)).solve()
    assert plan.solved, plan.reason
    assert not plan.moves


@pytest.mark.slow
def test_roadmaps_of_stances_find_a_way_that_passes_the_audit() -> None:
    robot = sf.load("hexapod")
    planner, goal = StancePlanner(robot, World()), (0.0, 0.05, 0.0)
    plans = [MultiModalRoadmap(planner, np.array(robot.home), goal, seed=2).solve() for _ in range(2)]
    assert plans[0].solved, plans[0].reason
    assert audit_plan(plans[0]).passed
    assert [segment.path.tobytes() for segment in plans[0].segments] == [x.path.tobytes() for x in plans[1].segments]
