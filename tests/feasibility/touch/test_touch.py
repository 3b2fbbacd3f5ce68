"""Contacts: detected, told by forces, given; over planes, boxes and height fields."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import UnknownNameError
from surefoot.feasibility.case import Case, Tolerances
from surefoot.feasibility.touch.runs import bridged, held, lasting, runs_of
from surefoot.geometry import Box
from surefoot.motion import (
    ContactSchedule,
    GroundBox,
    GroundPlane,
    HeightField,
    Obstacle,
    Phase,
    Spot,
    Stance,
    Trajectory,
    World,
)
from surefoot.robot import placement
from tests.feasibility.foot_motions import feet_motion, on_ground, smooth
from tests.feasibility.good_motions import loaded
from tests.feasibility.stages import stages

ROBOTS = ("g1", "talos", "anymal", "hexapod")


def _times(rate: float, duration: float = 2.0) -> np.ndarray:
    return np.arange(round(rate * duration) + 1) / rate


def _step(rate: float, lift: float = 0.03, reach: float = 0.1) -> Trajectory:
    """Left foot of g1 steps forward between 0.8 s and 1.2 s."""
    robot, t = loaded("g1"), _times(rate)
    s = smooth(t, 0.8, 1.2)
    way = np.column_stack([reach * s, 0.0 * s, 4.0 * lift * s * (1.0 - s)])
    return feet_motion(robot, t, {"left_ankle_roll_link": way})


@pytest.mark.parametrize("name", ROBOTS)
def test_feet_that_stand_touch_all_the_time(name: str) -> None:
    robot = loaded(name)
    touch = stages(Case(robot, World(), feet_motion(robot, _times(100.0)))).touch
    assert touch.active.all()
    assert touch.source.startswith("detected: within 5 mm of the ground and slower than 0.05 m/s for 30 ms")
    assert touch.schedule is not None
    assert len(touch.schedule.phases) == 1
    assert np.abs(touch.height).max() < 0.005


@pytest.mark.parametrize("rate", [30.0, 100.0, 1000.0])
def test_a_step_is_a_gap_between_two_touches(rate: float) -> None:
    case = Case(loaded("g1"), World(), _step(rate))
    (a, b), (c, d) = runs_of(stages(case).touch.active[:, 0])
    assert a == 0
    assert d == case.n
    assert case.time[b - 1] == pytest.approx(0.84, abs=0.04 + 1.0 / rate)
    assert case.time[c] == pytest.approx(1.16, abs=0.04 + 1.0 / rate)
    assert stages(case).touch.active[:, 1].all()
    assert stages(case).touch.schedule is not None
    spots = [phase.stance.names for phase in stages(case).touch.schedule.phases]
    assert spots == [("left_ankle_roll_link", "right_ankle_roll_link"), ("right_ankle_roll_link",), spots[0]]
    first, last = (stages(case).touch.schedule.phases[k].stance["left_ankle_roll_link"].pose[0, 3] for k in (0, 2))
    assert last - first == pytest.approx(0.1, abs=1e-3)


def test_detection_needs_no_velocities_and_does_not_trust_wrong_ones() -> None:
    motion = _step(200.0)
    wanted = stages(Case(loaded("g1"), World(), motion)).touch.active
    for v in (None, 0.0 * np.asarray(motion.v), 50.0 * np.asarray(motion.v)):
        assert np.array_equal(stages(Case(loaded("g1"), World(), replace(motion, v=v))).touch.active, wanted)


def test_a_foot_that_slides_fast_at_its_height_goes_on_touching() -> None:
    robot, t = loaded("g1"), _times(500.0, 1.0)
    way = 0.03 * smooth(t, 0.5, 0.56)[:, None] * np.array([1.0, 0.0, 0.0])
    case = Case(robot, World(), feet_motion(robot, t, {"left_ankle_roll_link": way}))
    speed = np.abs(np.gradient(way[:, 0], t)).max()
    assert speed > 10.0 * case.tolerances.touch_speed
    assert stages(case).touch.active.all()


def test_numbers_of_the_detection_can_be_set_and_are_printed() -> None:
    motion = _step(200.0, lift=0.02)
    wide = Tolerances(touch_height=0.05, touch_speed=5.0)
    touch = stages(Case(loaded("g1"), World(), motion, wide)).touch
    assert touch.active.all()
    assert "within 50 mm of the ground and slower than 5 m/s" in touch.source


def test_twists_are_rates_of_the_placements() -> None:
    robot, t = loaded("anymal"), _times(1000.0, 0.4)
    way = 0.05 * smooth(t, 0.1, 0.3)[:, None] * np.array([1.0, 0.5, 0.8])
    touch = stages(Case(robot, World(), feet_motion(robot, t, {"LF_FOOT": way}, tilt=0.3))).touch
    for k in range(50, 350, 60):
        for c in range(4):
            before, after = (pin.SE3(touch.placements[j, c]) for j in (k - 1, k + 1))
            wanted = pin.log6(before.inverse() * after).vector / (t[k + 1] - t[k - 1])
            np.testing.assert_allclose(touch.twists[k, c], wanted, atol=2e-3)


def _standing(name: str, height: float = 0.0) -> Trajectory:
    robot = loaded(name)
    q = on_ground(robot)
    q[2] += height
    t = _times(100.0, 0.5)
    return Trajectory.of(robot, t, np.tile(q, (len(t), 1)), np.zeros((len(t), robot.nv)))


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("kind", ["plane", "box", "field", "obstacle"])
def test_every_kind_of_ground_carries_at_its_height_with_its_friction(name: str, kind: str) -> None:
    top = 0.3
    size, pose = (4.0, 4.0, 0.2), placement((0.0, 0.0, top - 0.1))
    world = {
        "plane": World(ground=(GroundPlane(np.array([0.0, 0.0, top]), friction=0.3),)),
        "box": World(ground=(GroundPlane(), GroundBox(size, pose, 0.3))),
        "field": World(
            ground=(GroundPlane(), HeightField(np.full((9, 9), top), 0.5, np.array([-2.0, -2.0, 0.0]), 0.3))
        ),
        "obstacle": World(obstacles=(Obstacle("box", Box(size), pose),), friction=0.3),
    }[kind]
    touch = stages(Case(loaded(name), world, _standing(name, top))).touch
    assert touch.active.all()
    assert np.nanmax(np.abs(touch.height)) < 0.003
    np.testing.assert_allclose(touch.normals[..., 2], 1.0)
    np.testing.assert_allclose(touch.friction, 0.3)
    assert not stages(Case(loaded(name), world, _standing(name, top + 0.05))).touch.active.any()


def test_the_slipperier_of_surface_and_ground_counts() -> None:
    touch = stages(Case(loaded("g1"), World.flat(5.0), _standing("g1"))).touch
    np.testing.assert_allclose(touch.friction, loaded("g1").contacts["left_ankle_roll_link"].friction)


def test_without_ground_there_is_no_height_and_no_contact() -> None:
    touch = stages(Case(loaded("g1"), World(ground=()), _standing("g1"))).touch
    assert np.isnan(touch.height).all()
    assert not touch.active.any()


def test_forces_tell_contacts_and_short_gaps_do_not_count() -> None:
    motion = _standing("g1", 1.0)  # in the air: only the forces say that it stands
    force = np.zeros((len(motion), 6))
    force[10:40, 2] = 100.0
    force[25:27, 2] = 0.0
    touch = stages(Case(loaded("g1"), World(), replace(motion, wrenches={"left_ankle_roll_link": force}))).touch
    assert runs_of(touch.active[:, 0]) == [(10, 40)]
    assert not touch.active[:, 1].any()
    assert touch.source.startswith("from forces: above 0.01 of the weight; without forces (right_ankle_roll_link)")


def test_a_given_schedule_counts_whatever_the_surfaces_do() -> None:
    motion = _standing("g1", 0.05)
    pose = stages(Case(loaded("g1"), World(), motion)).touch.placements[0, 0]
    stance = Stance({"left_ankle_roll_link": Spot(pose, 0.4)})
    schedule = ContactSchedule((Phase(0.0, 0.2, stance), Phase(0.2, 0.5, Stance())))
    touch = stages(Case(loaded("g1"), World(), replace(motion, schedule=schedule))).touch
    assert touch.source == "given with the motion"
    assert runs_of(touch.active[:, 0]) == [(0, 20)]
    assert not touch.active[:, 1].any()
    np.testing.assert_allclose(touch.friction[:20, 0], 0.4)
    np.testing.assert_allclose(touch.height[:, 0], 0.05, atol=1e-9)
    assert touch.schedule is schedule


def test_a_spot_far_from_the_ground_has_its_own_plane() -> None:
    motion = _standing("g1", 1.0)
    pose = np.array(stages(Case(loaded("g1"), World(), motion)).touch.placements[0, 0])
    pose[2, 3] -= 0.03
    schedule = ContactSchedule((Phase(0.0, 0.5, Stance({"left_ankle_roll_link": Spot(pose)})),))
    touch = stages(Case(loaded("g1"), World(), replace(motion, schedule=schedule))).touch
    np.testing.assert_allclose(touch.height[:, 0], 0.03, atol=1e-9)
    assert touch.height[0, 1] == pytest.approx(1.0, abs=1e-6)


def test_a_schedule_of_unknown_contacts_is_refused() -> None:
    motion = _standing("g1")
    schedule = ContactSchedule((Phase(0.0, 0.5, Stance({"left_angle": Spot(np.eye(4))})),))
    with pytest.raises(UnknownNameError, match="left_angle"):
        _ = stages(Case(loaded("g1"), World(), replace(motion, schedule=schedule))).touch


def test_a_robot_with_a_fixed_base_touches_nothing() -> None:
    robot = loaded("panda")
    touch = stages(Case(robot, World(), Trajectory.of(robot, [0.0, 1.0], np.tile(robot.home, (2, 1))))).touch
    assert touch.active.shape == (2, 0)
    assert touch.schedule is None
    assert "fixed" in touch.source


def test_runs_hysteresis_and_bridges() -> None:
    mask = np.array([0, 1, 1, 0, 0, 1, 0], dtype=bool)
    time = 0.1 * np.arange(7)
    assert runs_of(mask) == [(1, 3), (5, 6)]
    assert runs_of(held(np.arange(7) == 2, mask)) == [(1, 3)]
    assert runs_of(lasting(mask, time, 0.15)) == [(1, 3)]
    assert runs_of(bridged(mask, ~mask, time, 0.25)) == [(1, 6)]
    assert runs_of(bridged(mask, ~mask, time, 0.15)) == [(1, 3), (5, 6)]
    assert bridged(mask, ~mask, time, ends=True).all()
    assert not bridged(np.zeros(7, dtype=bool), np.ones(7, dtype=bool), time, ends=True).any()


def test_a_motion_without_contacts_of_a_robot_without_surfaces_is_judged() -> None:
    robot = loaded("panda")
    still = Trajectory.of(robot, _times(50.0), np.tile(robot.home, (101, 1)))
    touch = stages(Case(robot, World(), replace(still, schedule=ContactSchedule.of([Stance()], [0.0, 2.0])))).touch
    assert touch.active.shape == (101, 0)
