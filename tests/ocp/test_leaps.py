"""Squats and leaps: what is followed agrees with its own rates, and feet stand still and land gently."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.kinematics import contact_frame, frame_placement, frame_velocity
from surefoot.motion import ContactSchedule, Spot, Stance, Trajectory
from surefoot.ocp import Formulation, Node, Problem, motions
from surefoot.ocp.motions import motion_to_follow, stand_still
from surefoot.ocp.transcription import stages_of
from surefoot.robot import Joint, Link, Robot
from surefoot.robot.build import assemble_links


@pytest.fixture(scope="module")
def solo() -> Robot:
    return sf.load("solo12")


def test_a_motion_agrees_with_its_rates() -> None:
    """Where a mass is follows from how fast it is, of second order in the step."""
    link = Link("block", "rail", Joint("slide", "prismatic", axis=(1.0, 0.0, 0.0)), 2.0, np.zeros(3), 0.01 * np.eye(3))
    problem = Problem(assemble_links("slider", [Link("rail"), link]), formulation=Formulation())
    problem.phase("push", (), 10, 1.0)
    problem.start([0.0])
    problem.end([1.0])
    problem.cost("torque")
    motion = motion_to_follow(problem.solve())
    v = np.asarray(motion.v)[:, 0]
    way = np.r_[0.0, np.cumsum(0.5 * np.diff(motion.time) * (v[:-1] + v[1:]))]
    assert v.max() > 1.4
    np.testing.assert_allclose(motion.q[:, 0], way, atol=1e-9)  # nodes as they are miss it by 0.5 h v = 0.07


def test_feet_stand_still(solo: Robot) -> None:
    """Feet that drift by millimetres are held, and the base moves as before."""
    t, q = np.linspace(0.0, 1.0, 6), np.tile(solo.home, (6, 1))
    q[:, 0] += 0.02 * t
    q[:, 7:] += 0.01 * np.sin(5.0 * t)[:, None]
    v = np.zeros((6, solo.nv))
    v[:, 0] = 0.02
    places = solo.placements(solo.home)
    spots = {name: Spot(places[c.frame] @ c.placement, c.friction) for name, c in solo.contacts.items()}
    motion = Trajectory.of(solo, t, q, v, schedule=ContactSchedule.of([Stance(spots)], [0.0, 1.0]))
    held = stand_still(solo, motion)
    for name, spot in spots.items():
        frame = contact_frame(solo, name)
        for one, rate in zip(held.q, np.asarray(held.v), strict=True):
            T = np.asarray(frame_placement(solo.tree, frame, one), dtype=float)
            np.testing.assert_allclose(T[:3, 3], spot.pose[:3, 3], atol=1e-6)
            np.testing.assert_allclose(np.asarray(frame_velocity(solo.tree, frame, one, rate))[:3], 0.0, atol=3e-3)
    np.testing.assert_allclose(held.q[:, :7], q[:, :7], atol=1e-12)
    np.testing.assert_array_equal(np.asarray(held.v)[:, :6], v[:, :6])


def test_rows_of_impacts_act_at_impacts_only(solo: Robot) -> None:
    problem = motions.jump(solo, soft=False)
    problem.constrain("shock", lambda node: node.wrenches["FL_FOOT"][2:3], upper=1.0, at="impact", phases=["land"])
    kinds = set()
    for stage in stages_of(problem):
        kinds.add(stage.structure.kind)
        names = [block.name for block in stage.structure.blocks]
        assert ("shock" in names) == (stage.structure.kind == "impact")
    assert "impact" in kinds
    assert "impact" not in {stage.structure.kind for stage in stages_of(motions.jump(solo))}


def test_legs_that_are_straight_keep_their_length(solo: Robot) -> None:
    """A foot that is out of reach turns joints by a little only."""
    q = np.array(solo.home)
    q[2] += 0.3
    places = solo.placements(solo.home)
    spots = {name: Spot(places[c.frame] @ c.placement, c.friction) for name, c in solo.contacts.items()}
    schedule = ContactSchedule.of([Stance(spots)], [0.0, 1.0])
    held = stand_still(solo, Trajectory.of(solo, [0.0, 1.0], [q, q], np.zeros((2, solo.nv)), schedule=schedule))
    assert np.abs(held.q[:, 7:] - solo.home[7:]).max() < 0.31


@pytest.mark.parametrize("name", ["solo12", "g1"])
def test_robots_can_stand_at_home_in_a_leap(name: str) -> None:
    """Links that are near the ground at home, such as ankles, may stay there; knees may not come down."""
    robot = sf.load(name)
    problem = motions.jump(robot)
    blocks = [block for block in problem.blocks if block.name.endswith("above the ground")]
    node = Node(robot, problem.chart, problem.chart.coordinates(robot.home), None)
    assert blocks
    for block in blocks:
        assert (np.asarray(block.function(node), dtype=float) > problem.bounds[block.name][0]).all()


@pytest.mark.slow
def test_feet_land_gently_and_drives_keep_a_reserve(solo: Robot) -> None:
    solution = motions.solve_leap(motions.bound(solo))
    assert solution.success
    motion, flight = solution.trajectory, solution.trajectory.schedule.phases[2]  # type: ignore[union-attr]
    limits = np.array([drive.torque_limit for drive in solo.drives])
    assert np.abs(np.asarray(motion.tau) / limits).max() < 0.85 + 1e-3
    for k in np.flatnonzero((motion.time > flight.end - 0.045) & (motion.time <= flight.end + 1e-9)):
        most = 3.0 * 9.81 * (flight.end - motion.time[k]) * 1.2 + 1e-3  # bounds are of the guessed duration
        for name in solo.contacts:
            rates = frame_velocity(solo.tree, contact_frame(solo, name), motion.q[k], np.asarray(motion.v)[k])
            assert np.abs(np.asarray(rates, dtype=float)[:3]).max() < most + 0.1
