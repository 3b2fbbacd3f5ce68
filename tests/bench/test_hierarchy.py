"""The bench of the control loop: answers are checked, the result is plain data."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bench.cases import hierarchy
from bench.check import WrongAnswerError
from surefoot.robot.loading import load

pytestmark = pytest.mark.slow


@pytest.mark.slow
def test_it_reports_times_and_how_strict_it_was() -> None:
    found = json.loads(json.dumps(hierarchy.run(seconds=0.05)))
    assert set(found["motions"]) == set(hierarchy.MOTIONS)
    for motion in found["motions"].values():
        assert motion["ticks"] == 50
        assert 0.0 <= motion["largest_priority_violation"] <= 1e-9
        assert 0.0 < motion["p50_ms"] <= motion["p95_ms"] <= motion["max_ms"]


def test_a_tick_that_breaks_a_limit_is_refused() -> None:
    robot = load("talos")
    loop = hierarchy._Loop(robot, 0.01, hierarchy.MOTIONS["reachable"])
    step = loop.tick(0)
    step.q_next[7:] = np.pi * 2.0
    with pytest.raises(WrongAnswerError, match="control loop"):
        hierarchy._checked(robot, step)
