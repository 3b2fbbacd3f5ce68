"""OMPL's planners inside stances: the same pipeline, the same audit."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import SurefootError
from surefoot.motion import World
from surefoot.planning import StancePlanner, audit_plan

pytest.importorskip("ompl")


@pytest.mark.slow
def test_a_plan_with_rrt_connect_passes_the_audit_and_repeats() -> None:
    from surefoot.planning.ompl import OmplSingleMode

    robot = sf.load("hexapod")
    own = StancePlanner(robot, World())
    sequence = own.plan(np.array(robot.home), (0.0, 0.06, 0.0), seed=0).sequence().head(2)
    paths = []
    with OmplSingleMode("RRTConnect") as single:
        planner = StancePlanner(robot, World(), single_mode=single)
        for _ in range(2):
            plan = planner.follow(sequence, seed=5)
            assert plan.solved, plan.reason
            paths.append(np.concatenate([segment.path for segment in plan.segments]))
        assert audit_plan(plan).passed
        assert {answer.stopped for answer in single.answers} == {"solved"}
        assert planner.model.statistics.states >= sum(answer.states_checked for answer in single.answers)
    np.testing.assert_array_equal(*paths)


def test_an_unknown_planner_is_refused() -> None:
    from surefoot.planning.ompl import OmplSingleMode

    with pytest.raises(SurefootError, match="RRTConnect"):
        OmplSingleMode("RRTDisconnect")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["LBKPIECE1", "BFMT"])
def test_planners_that_draw_many_samples_before_edges_end_within_their_budget(name: str) -> None:
    from surefoot.planning.ompl import OmplSingleMode

    robot = sf.load("hexapod")
    sequence = StancePlanner(robot, World()).plan(np.array(robot.home), (0.0, 0.06, 0.0), seed=0).sequence().head(2)
    with OmplSingleMode(name) as single:
        plan = StancePlanner(robot, World(), single_mode=single).follow(sequence, seed=5)
        assert plan.solved, plan.reason
        assert {answer.stopped for answer in single.answers} <= {"solved", "evaluations"}
