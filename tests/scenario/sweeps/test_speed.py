"""The search for the fastest walk, on robots whose limits are known."""

from __future__ import annotations

import pytest

from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.scenario.sweeps import Outcome, fastest_walk
from surefoot.scenario.sweeps.speed import uncleanness


def robot_with(longest: float, quickest: float):
    """Runs of a robot that walks at step × pace m/s, up to a step length and a pace."""
    asked: list[tuple[float, float]] = []

    def run(jobs):
        out = []
        for job in jobs:
            step, pace = (float(next(t for t in job.overrides if t.startswith(k)).split("=")[1])
                          for k in ("walk.step", "walk.pace"))  # fmt: skip
            asked.append((step, pace))
            if step > longest:
                out.append(Outcome(job, "failed", "joint knee hit its limit"))
            elif pace > quickest:
                out.append(Outcome(job, "fell", "capture point out of reach; fell at 2.0 s"))
            else:
                out.append(Outcome(job, "passed", None, {"cruise_speed_m_s": step * pace, "incidents": []}))
        return out[::-1]

    return run, asked


def test_the_search_comes_near_the_limits_and_names_them(tmp_path):
    run, asked = robot_with(0.6, 1.4)
    found = fastest_walk("g1", tmp_path, run=run)
    assert 0.9 * 0.6 * 1.4 < found.speed <= 0.6 * 1.4
    assert found.speed == max(trial.speed for trial in found.trials)
    assert "joint knee hit its limit" in found.limit
    assert "capture point out of reach" in found.limit
    assert len(asked) == len(found.trials) <= 16


def test_a_robot_that_needs_slow_steps_begins_slower(tmp_path):
    run, _ = robot_with(0.3, 0.9)
    found = fastest_walk("g1", tmp_path, run=run)
    assert 0.85 * 0.27 < found.speed <= 0.27


def test_nothing_is_tried_that_is_longer_and_quicker_than_what_failed(tmp_path):
    run, _ = robot_with(0.6, 1.4)
    found = fastest_walk("g1", tmp_path, run=run)
    for k, trial in enumerate(found.trials):
        before = [one for one in found.trials[:k] if one.reason]
        assert not any(one.step <= trial.step and one.pace <= trial.pace for one in before)


@pytest.mark.parametrize(("longest", "quickest"), [(0.9, 1.0), (0.5, 2.0), (0.75, 1.6)])
def test_the_search_is_short_wherever_the_limits_are(longest, quickest, tmp_path):
    run, asked = robot_with(longest, quickest)
    found = fastest_walk("g1", tmp_path, run=run)
    assert 0.85 * longest * quickest < found.speed <= longest * quickest
    assert len(asked) <= 16


def test_a_robot_that_cannot_walk_has_no_speed(tmp_path):
    run, asked = robot_with(0.01, 0.1)
    found = fastest_walk("g1", tmp_path, run=run)
    assert (found.speed, found.best) == (0.0, None)
    assert "joint knee hit its limit" in found.limit
    assert len(asked) == 4


@pytest.mark.parametrize(
    ("robot", "error"), [("nosuch", UnknownNameError), ("anymal", NotSupportedError), ("g1", NotSupportedError)]
)
def test_a_robot_that_cannot_begin_to_walk_is_refused(robot, error, tmp_path):
    def refuse(jobs):
        return [Outcome(job, "refused", "the legs do not span a step") for job in jobs]

    with pytest.raises(error, match={"g1": "do not span"}.get(robot, robot)):
        fastest_walk(robot, tmp_path, run=refuse)


@pytest.mark.parametrize(
    ("verdict", "reason", "incidents", "text"),
    [
        ("passed", None, [], None),
        ("passed", None, [{"kind": "slip", "where": "foot", "worst": 0.01}], None),
        ("passed", None, [{"kind": "slip", "where": "foot", "worst": 0.03}], "slip of foot"),
        ("passed", None, [{"kind": "torque_limit", "where": "knee", "worst": 0.1}], "torque limit of knee"),
        ("fell", "slip of foot; fell at 1.0 s", [], "fell: slip of foot; fell at 1.0 s"),
        ("failed", "ended 9.0 cm from its goal", [], "ended 9.0 cm from its goal"),
    ],
)
def test_a_clean_walk_has_no_incidents_but_small_slips(verdict, reason, incidents, text):
    assert uncleanness(Outcome(None, verdict, reason, {"incidents": incidents})) == text
