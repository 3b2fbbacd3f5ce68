"""Slip, penetration and gaps: planted ones are found where they are, ordinary motions pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from surefoot.feasibility.case import Case
from surefoot.feasibility.contact_motion import check_contact_motion, slip_of_contact
from surefoot.feasibility.series import Series
from surefoot.motion import ContactSchedule, Phase, Spot, Stance, Trajectory, World
from tests.feasibility.foot_motions import feet_motion, smooth
from tests.feasibility.good_motions import loaded
from tests.feasibility.stages import judge, stages

ROBOTS = ("g1", "talos", "anymal", "hexapod")


def _checked(name: str, motion: Trajectory) -> dict[str, Series]:
    return {series.item: series for series in judge(check_contact_motion, Case(loaded(name), World(), motion))}


def _failed(series: Series) -> set[str]:
    return {part for part, wrong in zip(series.parts, series.failed.any(axis=0), strict=True) if wrong}


def _times(rate: float, duration: float = 2.0) -> np.ndarray:
    return np.arange(round(rate * duration) + 1) / rate


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("rate", [30.0, 200.0])
def test_a_motion_on_standing_feet_passes(name: str, rate: float) -> None:
    motion = feet_motion(loaded(name), _times(rate))
    for given in (motion, replace(motion, v=None)):
        assert not any(series.failed.any() for series in _checked(name, given).values())


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize(("start", "end"), [(0.6, 1.4), (0.9, 1.0), (0.9, 0.92)])
def test_three_centimetres_of_slip_are_found_where_they_are(name: str, start: float, end: float) -> None:
    robot, t = loaded(name), _times(250.0)
    foot = next(iter(robot.contacts))
    way = 0.03 * smooth(t, start, end)[:, None] * np.array([0.8, 0.6, 0.0])
    slip = _checked(name, feet_motion(robot, t, {foot: way}))["foot_slip"]
    assert _failed(slip) == {foot}
    rows = np.flatnonzero(slip.failed[:, 0])
    assert start - 0.03 <= t[rows[0]] < t[rows[-1]] <= end + 0.03
    assert t[rows[-1]] - t[rows[0]] > 0.5 * (end - start)
    assert np.nanmax(slip.value[:, 0]) == pytest.approx(0.03, abs=0.004)
    assert slip.bodies is not None
    assert slip.bodies[0] == frozenset({robot.body_of(robot.contacts[foot].frame)})


@pytest.mark.parametrize("name", ["anymal", "hexapod"])
def test_a_ball_that_slides_slowly_while_the_leg_turns_slips_by_the_whole_way(name: str) -> None:
    robot, t = loaded(name), _times(100.0, 4.0)
    foot = next(iter(robot.contacts))
    assert robot.contacts[foot].kind == "point"
    for direction in ([1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]):
        way = 0.03 * smooth(t, 0.8, 3.2)[:, None] * np.array(direction)
        slip = _checked(name, feet_motion(robot, t, {foot: way}, tilt=0.25))["foot_slip"]
        assert _failed(slip) == {foot}
        assert np.nanmax(slip.value[:, 0]) == pytest.approx(0.03, abs=0.002)


@pytest.mark.parametrize("lift", [0.01, 0.05])
@pytest.mark.parametrize("rate", [30.0, 100.0, 500.0])
def test_a_step_is_no_slip(lift: float, rate: float) -> None:
    robot, t = loaded("g1"), _times(rate)
    s = smooth(t, 0.8, 1.2)
    way = np.column_stack([0.1 * s, 0.0 * s, 4.0 * lift * s * (1.0 - s)])
    assert not _checked("g1", feet_motion(robot, t, {"left_ankle_roll_link": way}))["foot_slip"].failed.any()


def _swing(t: np.ndarray) -> np.ndarray:
    """(n, 3) a swing of 5 cm from 0.6 s to 1.1 s."""
    x = np.clip((t - 0.6) / 0.5, 0.0, 1.0)
    return np.column_stack([0.05 * smooth(t, 0.6, 1.1), 0.0 * t, 0.03 * np.sin(np.pi * x) ** 2])


@pytest.mark.parametrize("name", ["anymal", "g1"])
@pytest.mark.parametrize("rate", [100.0, 250.0])
@pytest.mark.parametrize(("start", "end"), [(1.02, 1.22), (1.06, 1.26), (0.44, 0.64)])
def test_a_foot_that_skids_as_it_lands_or_lifts_slips(name: str, rate: float, start: float, end: float) -> None:
    robot, t = loaded(name), _times(rate)
    foot = next(iter(robot.contacts))
    swing = _swing(t)
    assert not _checked(name, feet_motion(robot, t, {foot: swing}))["foot_slip"].failed.any()
    way = swing + 0.04 * smooth(t, start, end)[:, None] * np.array([0.8, 0.6, 0.0])
    slip = _checked(name, feet_motion(robot, t, {foot: way}))["foot_slip"]
    assert _failed(slip) == {foot}
    steps = np.linalg.norm(np.diff(way[:, :2], axis=0), axis=1)
    on_ground, near = (steps[np.maximum(way[1:, 2], way[:-1, 2]) < height].sum() for height in (1e-4, 2e-3))
    assert on_ground - 0.004 <= np.nanmax(slip.value[:, 0]) <= near + 0.001
    rows = np.flatnonzero(slip.failed[:, 0])
    assert start - 0.03 <= t[rows[0]] < t[rows[-1]] <= end + 0.03


@pytest.mark.parametrize("rate", [100.0, 500.0])
@pytest.mark.parametrize("slope", [0.12, 0.4])
@pytest.mark.parametrize("speed", [0.2, 1.0])
def test_a_foot_that_lands_and_lifts_obliquely_does_not_slip(rate: float, slope: float, speed: float) -> None:
    robot, t = loaded("anymal"), _times(rate)
    reach = 0.15
    ahead = np.clip(speed * (t - 0.5), 0.0, reach)
    way = np.column_stack([ahead, 0.0 * t, slope * np.minimum(ahead, reach - ahead)])  # up a slope and down again
    assert not _checked("anymal", feet_motion(robot, t, {"LF_FOOT": way}))["foot_slip"].failed.any()


@pytest.mark.parametrize("rate", [100.0, 500.0])
def test_a_fast_foot_that_all_but_brushes_the_ground_does_not_slip(rate: float) -> None:
    robot, t = loaded("anymal"), _times(rate)
    x = np.clip((t - 0.8) / 0.4, 0.0, 1.0)
    lift = 0.02 * np.sin(2.0 * np.pi * x) ** 2  # down to the ground in the middle, where it is fastest
    way = np.column_stack([0.1 * smooth(t, 0.8, 1.2), 0.0 * t, lift])
    assert not _checked("anymal", feet_motion(robot, t, {"LF_FOOT": way}))["foot_slip"].failed.any()


def _turn(corner: np.ndarray, axis: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """(n, 4, 4) turns about an axis through a corner, in the contact frame."""
    out = np.tile(np.eye(4), (len(angle), 1, 1))
    for k, size in enumerate(angle):
        out[k, :3, :3] = pin.exp3(size * axis)
        out[k, :3, 3] = corner - out[k, :3, :3] @ corner
    return out


def test_rolling_over_the_toes_and_turning_about_a_corner_are_no_slip() -> None:
    robot, t = loaded("g1"), _times(200.0)
    foot = "left_ankle_roll_link"
    toe = robot.contacts[foot].corners[1]
    there_and_back = smooth(t, 0.4, 0.9) - smooth(t, 1.1, 1.6)
    over = feet_motion(robot, t, turned={foot: _turn(toe, np.array([0.0, 1.0, 0.0]), 0.4 * there_and_back)})
    about = feet_motion(robot, t, turned={foot: _turn(toe, np.array([0.0, 0.0, 1.0]), 0.2 * there_and_back)})
    for motion in (over, about):
        assert not _checked("g1", motion)["foot_slip"].failed.any()


def test_a_foot_that_turns_far_about_its_middle_slips() -> None:
    robot, t = loaded("g1"), _times(200.0)
    foot, up = "left_ankle_roll_link", np.array([0.0, 0.0, 1.0])
    middle = robot.contacts[foot].corners.mean(axis=0)
    little, far = (
        feet_motion(robot, t, turned={foot: _turn(middle, up, angle * smooth(t, 0.6, 1.2))}) for angle in (0.05, 0.4)
    )
    assert not _checked("g1", little)["foot_slip"].failed.any()
    assert _failed(_checked("g1", far)["foot_slip"]) == {foot}


def test_depth_in_the_ground_is_found_for_the_foot_and_the_time() -> None:
    robot, t = loaded("g1"), _times(200.0)
    way = -0.02 * (smooth(t, 0.5, 0.7) - smooth(t, 1.2, 1.4))[:, None] * np.array([0.0, 0.0, 1.0])
    depth = _checked("g1", feet_motion(robot, t, {"right_ankle_roll_link": way}))["penetration"]
    assert _failed(depth) == {"right_ankle_roll_link"}
    rows = np.flatnonzero(depth.failed[:, 1])
    assert 0.5 < t[rows[0]] < 0.7
    assert 1.2 < t[rows[-1]] < 1.4
    assert depth.value[:, 1].max() == pytest.approx(0.02, abs=1e-6)


def test_a_given_contact_in_the_air_has_a_gap() -> None:
    robot, t = loaded("g1"), _times(200.0)
    way = 0.03 * (smooth(t, 0.5, 0.7) - smooth(t, 1.2, 1.4))[:, None] * np.array([0.0, 0.0, 1.0])
    motion = feet_motion(robot, t, {"left_ankle_roll_link": way})
    assert _checked("g1", motion)["contact_gap"].note == "no contact schedule is given"
    pose = stages(Case(robot, World(), motion)).touch.placements[0, 0]
    schedule = ContactSchedule((Phase(0.0, 2.0, Stance({"left_ankle_roll_link": Spot(pose)})),))
    gap = _checked("g1", replace(motion, schedule=schedule))["contact_gap"]
    assert _failed(gap) == {"left_ankle_roll_link"}
    assert np.nanmax(gap.value) == pytest.approx(0.03, abs=1e-6)
    assert np.isnan(gap.value[:, 1]).all()


def test_slides_are_told_apart_and_creeping_adds_up() -> None:
    t = _times(100.0, 10.0)
    two = 0.02 * smooth(t, 2.0, 2.2) + 0.02 * smooth(t, 7.0, 7.2)
    slip = slip_of_contact(t, two[:, None] * np.array([1.0, 0.0, 0.0]), 0.01)
    wrong = np.flatnonzero(slip > 0.01)
    assert set(np.floor(t[wrong]).astype(int)) <= {1, 2, 6, 7}
    assert slip.max() == pytest.approx(0.02, abs=1e-3)
    assert slip[500] < 1e-3
    assert slip[-1] < 1e-3
    creep = slip_of_contact(t, 0.004 * t[:, None] * np.array([0.0, 1.0, 0.0]), 0.01)
    assert creep.min() == pytest.approx(0.04)
    assert slip_of_contact(t, 0.0005 * t[:, None] * np.array([0.0, 1.0, 0.0]), 0.01).max() == pytest.approx(0.005)


def test_a_robot_without_contacts_is_passed_over() -> None:
    robot = loaded("panda")
    motion = Trajectory.of(robot, [0.0, 1.0], np.tile(robot.home, (2, 1)))
    assert all(series.note for series in _checked("panda", motion).values())
