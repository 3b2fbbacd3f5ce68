from dataclasses import replace

import numpy as np
import pytest

from surefoot.feasibility.case import Case
from surefoot.feasibility.rates.rates import check_smoothness
from tests.feasibility.stages import judge
from tests.feasibility.standing_motions import failing_times, failures, squat_case


def test_a_squat_is_smooth_and_begins_and_ends_at_rest():
    series = judge(check_smoothness, squat_case("g1", rate=100.0))
    assert failures(series) == set()
    assert [one.item for one in series] == ["jerk", "rest"]


def test_a_jump_of_the_acceleration_is_a_jerk():
    case = squat_case("g1", rate=100.0)
    a = np.array(case.trajectory.a)
    a[200:, 10] += 1500.0
    series = judge(check_smoothness, Case(case.given_robot, case.world, replace(case.trajectory, a=a)))
    assert failures(series) == {("jerk", case.velocity_names[10])}
    assert failing_times(series, "jerk") == pytest.approx((1.995, 1.995))


def test_a_motion_that_is_cut_short_does_not_end_at_rest():
    case = squat_case("g1", rate=100.0)
    half = case.trajectory.resample(times=case.time[: len(case.time) // 4])
    series = judge(check_smoothness, Case(case.given_robot, case.world, half))
    rest = series[1]
    assert rest.time == pytest.approx([half.start, half.end])
    assert rest.failed[1].any()
    assert not rest.failed[0].any()
