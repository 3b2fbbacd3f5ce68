"""Series become items and findings: intervals, ranking, what covers what."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.feasibility.findings import judge_items, rank_findings
from surefoot.feasibility.series import Series, skipped

TIME = np.linspace(0.0, 10.0, 1001)


def series(item: str, spans: list[tuple[float, float]], size: float = 1.0, bodies=None, part: str = "joint") -> Series:
    """A value that is beyond its limit 1 by `size` during some intervals."""
    value = np.full((len(TIME), 1), 0.5)
    for start, end in spans:
        value[(start <= TIME) & (end >= TIME)] = 1.0 + size
    return Series(item, "N m", TIME, (part,), value, upper=1.0, bodies=None if bodies is None else (bodies,))


def test_intervals_are_those_of_the_failure_and_near_ones_are_one() -> None:
    found = rank_findings([series("joint_torque", [(1.0, 1.2), (1.25, 1.3), (5.0, 5.0)])])
    assert [(f.start, f.end) for f in found] == [(pytest.approx(1.0), pytest.approx(1.3)), (pytest.approx(5.0),) * 2]


def test_a_single_sample_speaks_for_its_whole_width_and_many_not_beyond_the_motion() -> None:
    whole = Series("units", "", np.array([5.0]), ("time",), np.array([[2.0]]), upper=1.0, width=5.0)
    late = Series(
        "self_collision", "m", TIME, ("a – b",), np.where(TIME > 9.8, -0.1, 0.1)[:, None], lower=0.0, width=0.5
    )
    assert [(f.start, f.end) for f in rank_findings([whole])] == [(0.0, 10.0)]
    assert [(f.start, f.end) for f in rank_findings([late])] == [(pytest.approx(9.805), 10.0)]


def test_an_earlier_stage_takes_later_findings_of_the_same_interval_and_body_under_itself() -> None:
    found = rank_findings(
        [
            series("zmp", [(2.38, 2.72)], 50.0),
            series("joint_torque", [(2.5, 2.6)], 9.0, frozenset({3, 4})),
            series("foot_slip", [(2.4, 2.7)], 0.1, frozenset({4})),
            series("energy_residual", [(8.0, 8.5)]),
        ]
    )
    assert [f.item for f in found] == ["foot_slip", "energy_residual"]
    assert [f.item for f in found[0].covers] == ["joint_torque", "zmp"]


def test_other_parts_of_the_robot_and_other_times_stay_findings_of_their_own() -> None:
    found = rank_findings(
        [
            series("foot_slip", [(2.0, 3.0)], 1.0, frozenset({4})),
            series("joint_torque", [(2.0, 3.0)], 1.0, frozenset({7})),
            series("joint_torque", [(6.0, 6.5)], 1.0, frozenset({4})),
        ]
    )
    assert [f.item for f in found] == ["foot_slip", "joint_torque", "joint_torque"]
    assert not any(f.covers for f in found)


def test_remarks_come_last_and_explain_no_defect() -> None:
    found = rank_findings([series("jerk", [(1.0, 2.0)], 1e6), series("replay", [(0.0, 9.0)])])
    assert all(f.severity == "remark" for f in found)
    both = rank_findings([series("jerk", [(1.0, 2.0)], 1e6), series("energy_residual", [(1.0, 2.0)])])
    assert [f.item for f in both] == ["energy_residual"]
    assert [f.item for f in both[0].covers] == ["jerk"]


def test_within_a_stage_the_worst_is_first() -> None:
    found = rank_findings(
        [
            series("joint_position", [(1.0, 2.0)], 0.1, frozenset({1})),
            series("joint_torque", [(4.0, 5.0)], 7.0, frozenset({1})),
        ]
    )
    assert [f.item for f in found] == ["joint_torque", "joint_position"]


def test_slack_passes_and_the_margin_still_tells() -> None:
    one = series("joint_torque", [(1.0, 2.0)], 0.05)
    lenient = Series(one.item, one.unit, one.time, one.parts, one.value, upper=1.0, slack=0.1)
    assert rank_findings([lenient]) == ()
    item = next(item for item in judge_items([lenient]) if item.name == "joint_torque")
    assert item.status == "passed"
    assert item.least_margin == pytest.approx(-0.05)
    assert item.worst_time == pytest.approx(1.0)


def test_items_that_nobody_judged_are_skipped_with_the_reason() -> None:
    items = {item.name: item for item in judge_items([skipped("loop_closure", "no loops"), series("zmp", [])])}
    assert items["loop_closure"].status == "skipped"
    assert items["loop_closure"].note == "no loops"
    assert items["zmp"].status == "passed"
    assert items["friction"].status == "skipped"


def test_values_that_are_not_judged_fail_nothing() -> None:
    value = np.full((len(TIME), 2), np.nan)
    found = Series("cop", "m", TIME, ("a", "b"), value, lower=0.0)
    assert rank_findings([found]) == ()
    assert next(item for item in judge_items([found]) if item.name == "cop").status == "passed"


def test_what_several_contacts_do_at_once_is_one_finding_that_names_them_all() -> None:
    feet = [
        series("foot_slip", [(2.0 + 0.1 * k, 3.0)], 0.5 + 0.1 * k, frozenset({k}), f"foot{k}") for k in range(4)
    ] + [series("friction", [(2.5, 2.6)], 1.0, frozenset({1}), "foot1")]  # fmt: skip
    found = rank_findings([*feet, series("foot_slip", [(7.0, 7.5)], 9.0, frozenset({2}), "foot2")])
    assert [f.where for f in found] == ["foot2", "foot3, foot2, foot1, foot0"]
    together = found[1]
    assert all(f"foot{k}" in together.message for k in range(1, 3))
    assert (together.start, together.end) == (pytest.approx(2.0), pytest.approx(3.0))
    assert [f.where for f in together.covers] == ["foot3", "foot2", "foot1", "foot0"]
    assert [f.item for f in together.covers[2].covers] == ["friction"]


def test_joints_keep_findings_of_their_own() -> None:
    joints = [series("joint_torque", [(2.0, 3.0)], 1.0, frozenset({k}), f"joint{k}") for k in range(3)]
    assert sorted(f.where for f in rank_findings(joints)) == ["joint0", "joint1", "joint2"]


def test_what_reaches_beyond_its_explanation_stays_a_finding_of_its_own_for_the_rest() -> None:
    value = np.full((len(TIME), 1), 0.5)
    value[TIME <= 4.0] = 2.0 + np.sin(TIME[TIME <= 4.0, None])  # worst near 1.571 s
    spike = series("joint_torque", [(1.995, 2.005)], 80.0, frozenset({3}))
    power = Series("energy_residual", "W", TIME, ("whole robot",), value, upper=1.0)
    first, second = rank_findings([spike, power])
    assert first.item == "joint_torque"
    (under,) = first.covers
    assert (under.item, under.start) == ("energy_residual", pytest.approx(1.95))
    assert under.end == pytest.approx(2.05, abs=0.011)
    assert (second.item, second.start, second.end) == ("energy_residual", pytest.approx(0.0), pytest.approx(4.0))
    assert second.time == pytest.approx(np.pi / 2, abs=0.01)
    assert second.value == pytest.approx(3.0, abs=1e-3)


def test_the_worst_of_a_rest_is_not_that_of_the_samples_that_are_explained() -> None:
    value = np.full((len(TIME), 1), 2.0)
    value[200] = 90.0
    both = [
        series("joint_torque", [(1.995, 2.005)], 80.0),
        Series("energy_residual", "W", TIME, ("",), value, upper=1.0),
    ]
    first, second = rank_findings(both)
    assert first.covers[0].value == 90.0
    assert second.value == 2.0


def test_several_findings_explain_their_parts_of_a_later_one() -> None:
    found = rank_findings(
        [series("foot_slip", [(2.0, 3.0)]), series("joint_torque", [(3.0, 4.0)]), series("zmp", [(2.0, 4.0)])]
    )
    assert [f.item for f in found] == ["foot_slip", "joint_torque"]
    assert [f.item for f in found[0].covers] == ["joint_torque", "zmp"]
    assert [f.item for f in found[1].covers] == ["zmp"]


def test_what_is_left_of_an_explained_finding_ranks_behind_its_stage() -> None:
    found = rank_findings([series("joint_velocity", [(2.0, 3.0)], 0.1), series("joint_torque", [(1.0, 3.0)], 99.0)])
    assert [f.item for f in found] == ["joint_velocity", "joint_torque"]
    assert found[1].end < 2.0


def test_equal_findings_rank_by_time() -> None:
    found = rank_findings([series("zmp", [(5.0, 6.0)], 1.0 + 1e-9), series("zmp", [(1.0, 2.0)], 1.0)])
    assert [f.start for f in found] == [pytest.approx(1.0), pytest.approx(5.0)]


@pytest.mark.parametrize(
    ("value", "is_spike"),
    [
        (1.02 - (TIME - 5.0) ** 2 * 300.0, False),  # three samples over the limit, and neighbours that lead to them
        (np.where(TIME[500] == TIME, 80.0, 0.5), True),
        (np.where(TIME[998] <= TIME, 80.0, 0.5), True),  # at the end
        (np.where(TIME > 5.0, 2.0, 0.5), False),
    ],
)
def test_advice_depends_on_whether_few_samples_stand_out(value: np.ndarray, is_spike: bool) -> None:
    one = Series(
        "joint_torque", "N m", TIME, ("knee",), value[:, None], upper=1.0,
        next_step="slow down", spike_step="look at {where} at {time}",
    )  # fmt: skip
    (found,) = rank_findings([one])
    assert found.next_step == (f"look at knee at {found.time:.3f} s" if is_spike else "slow down")


def test_margins_that_nobody_measured_are_bounds_without_place() -> None:
    far = Series("self_collision", "m", TIME, ("a – b",), np.full((len(TIME), 1), 0.05), lower=0.0, bound_from=0.05)
    item = next(item for item in judge_items([far]) if item.name == "self_collision")
    assert (item.is_bound, item.least_margin, item.worst_part) == (True, 0.05, "")
    assert np.isnan(item.worst_time)
    near = Series("self_collision", "m", TIME, ("a – b",), np.full((len(TIME), 1), 0.03), lower=0.0, bound_from=0.05)
    item = next(item for item in judge_items([near]) if item.name == "self_collision")
    assert (item.is_bound, item.worst_part) == (False, "a – b")


def test_part_and_time_of_an_item_are_those_of_its_least_margin() -> None:
    """Also where more passes than elsewhere, as in balances round samples that stand out."""
    value, slack = np.full((len(TIME), 2), 0.04), np.zeros((len(TIME), 2))
    value[380, 1], slack[380, 1] = 0.25, 0.5
    value[780, 0] = 0.049
    rough = Series("momentum_residual", "", TIME, ("wrist", "elbow"), value, upper=0.05, slack=slack)
    other = Series("momentum_residual", "", TIME, ("net force",), np.full((len(TIME), 1), 0.045), upper=0.05)
    item = next(item for item in judge_items([other, rough]) if item.name == "momentum_residual")
    assert (item.status, item.worst_part, item.worst_time) == ("passed", "elbow", TIME[380])
    assert item.least_margin == pytest.approx(-0.2)
    assert item.limit - item.value == pytest.approx(item.least_margin)
