"""What one plan found serves the next: roadmaps as files; plans with fewer moves; goals that are regions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import FileFormatError, NotSupportedError
from surefoot.motion import World
from surefoot.planning import Limits, Margins, StancePlan, StancePlanner, audit_plan
from surefoot.planning.multimodal import StanceRoadmap

_GOAL = (0.0, 0.2, 0.0)


@pytest.fixture(scope="module")
def planner() -> StancePlanner:
    return StancePlanner(sf.load("hexapod"), World())


@pytest.fixture(scope="module")
def plan(planner: StancePlanner) -> StancePlan:
    return planner.plan(np.array(planner.model.robot.home), _GOAL, seed=0)


def test_another_query_begins_where_the_roadmap_of_the_first_ends(
    planner: StancePlanner, plan: StancePlan, tmp_path: Path
) -> None:
    plan.roadmap().save(tmp_path / "roadmap.npz")
    known = StanceRoadmap.load(tmp_path / "roadmap.npz")
    np.testing.assert_array_equal(known.bases, plan.roadmap().bases)
    home = np.array(planner.model.robot.home)
    alone, helped = (planner.plan(home, (0.0, 0.25, 0.0), seed=1, roadmap=x) for x in (None, known))
    assert helped.solved
    assert audit_plan(helped).passed
    assert len(helped.explored) < 0.7 * len(alone.explored)
    np.testing.assert_allclose(helped.graph.feet(helped.goal), alone.graph.feet(alone.goal), atol=1e-9)


def test_a_roadmap_leads_back_as_well(planner: StancePlanner, plan: StancePlan) -> None:
    q = planner.model.chart.lift(plan.segments[-1].path[-1:]).q[0]
    back = planner.plan(q, plan.graph.feet(plan.start)[:, :2], seed=2, roadmap=plan.roadmap())
    assert back.solved
    assert audit_plan(back).passed
    assert len(back.explored) < len(plan.explored)


def test_roadmaps_of_other_worlds_and_files_that_are_none_are_refused(plan: StancePlan, tmp_path: Path) -> None:
    robot = sf.load("hexapod")
    other = StancePlanner(robot, World(), Margins(balance=0.03))
    with pytest.raises(NotSupportedError, match="other margins"):
        other.plan(np.array(robot.home), _GOAL, roadmap=plan.roadmap())
    path = tmp_path / "roadmap.npz"
    path.write_bytes(b"PK\x03\x04 not a roadmap")
    with pytest.raises(FileFormatError):
        StanceRoadmap.load(path)
    known = plan.roadmap()
    with pytest.raises(FileFormatError, match="one foot"):
        StanceRoadmap(known.place, known.footholds, known.before, known.before, known.bases)
    with pytest.raises(FileFormatError, match="foothold"):
        StanceRoadmap(known.place, known.footholds.take([0]), known.before, known.after, known.bases)


def test_an_improved_plan_has_fewer_moves_and_passes_the_audit(planner: StancePlanner) -> None:
    home = np.array(planner.model.robot.home)
    shorter = planner.plan(home, (0.0, 0.5, 0.0), seed=4, limits=Limits(improve=True))
    assert shorter.solved
    assert shorter.dropped > 0
    assert (shorter.moves[0].before, shorter.moves[-1].after) == (shorter.start, shorter.goal)
    assert all(a.after == b.before for a, b in zip(shorter.moves[:-1], shorter.moves[1:], strict=True))
    assert audit_plan(shorter).passed


def test_a_goal_region_needs_no_more_moves_and_is_kept(planner: StancePlanner, plan: StancePlan) -> None:
    shares: list[float] = []
    near = planner.plan(
        np.array(planner.model.robot.home), _GOAL, seed=0, region=0.04, progress=lambda _, share: shares.append(share)
    )
    assert near.solved
    assert len(near.moves) <= len(plan.moves)
    off = near.graph.feet(near.goal) - plan.graph.feet(plan.goal)
    assert np.linalg.norm(off, axis=1).max() <= 0.04
    assert shares == sorted(shares)
    assert 0.5 < shares[-1] <= 1.0
