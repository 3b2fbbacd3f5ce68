"""Walks of scenario files: units, times, pushes, loads, headings; impossible ones are refused before anything moves."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import NotSupportedError, SurefootError
from surefoot.gait import GoalSteps, ReplannedSteps, StepLimits, stance_of
from surefoot.geometry import Box
from surefoot.motion import Obstacle, World
from surefoot.robot import anatomy, placement
from surefoot.robot.loading import load
from surefoot.scenario import names, read_scenario, resolved_scenario, run_scenario
from surefoot.scenario.build import build_simulation
from surefoot.scenario.build.events import build_event, repeat_push
from surefoot.scenario.build.simulation import build_initial
from surefoot.scenario.build.walking import build_walker, swing_times, walk_duration
from surefoot.scenario.schema import EventTable, InitialTable, WalkTable

ROBOT = "small-humanoid"
WALL = '[{kind="box", name="wall", size=[0.2, 4.0, 2.0], position=[1.0, 0.0, 1.0]}]'
ISLAND = '[{kind="box", size=[0.6, 2.0, 0.2], position=[0.0, 0.0, -0.1]}]'
WALKS = [name for name in names() if read_scenario(name).study == "walk"]


def walker(**keys):
    robot = load(ROBOT)
    return build_walker(WalkTable(**keys), robot, World(), robot.home)


def test_lengths_in_legs_are_those_in_metres():
    leg = StepLimits.of(load(ROBOT)).leg
    legs = walker(unit="leg", goal=(2.0, 0.5, 0.3), step=0.3).source
    metres = walker(goal=(2.0 * leg, 0.5 * leg, 0.3), step=0.3 * leg).source
    assert_allclose(legs.goal, metres.goal)
    assert_allclose(legs.limits.forward, 0.3 * leg)
    assert metres.limits == legs.limits


def test_pace_divides_the_times_of_steps_and_given_times_count():
    usual, quick = walker(goal=(1.0, 0.0, 0.0)), walker(goal=(1.0, 0.0, 0.0), pace=1.25)
    steps = [s.single + s.double for s in (quick.settings, usual.settings)]
    assert_allclose(steps[0], steps[1] / 1.25)
    assert quick.settings.double < usual.settings.double / 1.25
    assert walker(goal=(1.0, 0.0, 0.0), pace=1.25, single=0.5).settings.single == 0.5
    table = WalkTable(goal=(1.0, 0.0, 0.0))
    assert walk_duration(table, quick) < walk_duration(table, usual)


def test_gains_and_times_of_the_table_reach_the_walker():
    given = {"settle": 1.1, "first": 0.6, "dcm_gain": 4.0, "integral_gain": 0.2, "landing_speed": 0.08}
    given["reference"] = "preview"
    found = walker(goal=(1.0, 0.0, 0.0), **given).settings
    assert {name: getattr(found, name) for name in given} == given
    for name, value in (("dcm_gain", 50.0), ("settle", -1.0), ("landing_speed", 0.0), ("reference", "prevew")):
        with pytest.raises(ValueError, match=name):
            WalkTable(goal=(1.0, 0.0, 0.0), **{name: value})


def test_repeated_pushes_come_in_the_middle_of_swings_and_turn():
    walking = walker(goal=(1.0, 0.0, 0.0))
    first, period, end = swing_times(walking, 10.0)
    s = walking.settings
    assert_allclose([first, period], [s.settle + s.first + 0.5 * s.single, s.single + s.double])
    table = EventTable(kind="push", time=first + 0.1, steps=2, turn=np.pi / 2, direction=(0.0, 1.0, 0.0), impulse=1.0)
    pushes = repeat_push(table, first, period, end)
    times = [push.time for push in pushes]
    assert_allclose(times, first + period * np.arange(1, 1 + 2 * len(times), 2))
    assert times[-1] < end <= times[-1] + 2.0 * period
    turned = [build_event(push, walking.robot, walking.q0).wrench[:2] for push in pushes[:4]]
    assert_allclose(np.array(turned), 10.0 * np.array([[0, 1], [-1, 0], [0, -1], [1, 0]]), atol=1e-12)
    once = EventTable(kind="push", impulse=1.0)
    assert repeat_push(once, first, period, end) == [once]


def test_a_load_is_a_share_of_the_mass_on_the_trunk():
    robot = load("talos")
    event = build_event(EventTable(kind="payload", link="torso", share=0.1), robot, robot.home)
    assert (event.link, event.mass) == (anatomy(robot).torso, pytest.approx(0.1 * robot.mass))
    for keys in ({}, {"mass": 1.0, "share": 0.1}):
        with pytest.raises(ValueError, match="one of `mass` and `share`"):
            EventTable(kind="payload", **keys)


@pytest.mark.parametrize("heading", [0.0, 2.0])
@pytest.mark.parametrize("robot", ["icub", ROBOT])
def test_a_heading_turns_the_robot_on_the_ground(robot, heading):
    robot = load(robot)
    state = build_initial(InitialTable(heading=heading), robot, World())
    feet = stance_of(robot, state.q)
    assert_allclose([foot.yaw for foot in feet], heading, atol=0.02)
    assert_allclose([foot.T[2, 3] for foot in feet], 0.0, atol=2e-3)


@pytest.mark.parametrize(
    ("overrides", "robot", "words"),
    [
        (["walk.step=1.0"], ROBOT, ["do not span a step of 1.00 m", "longest step", "--set walk.step=1.0"]),
        ([f"world.obstacles={WALL}", "walk.goal=[1.0, 0.0, 0.0]"], ROBOT, ["inside obstacle `wall`", "walk.goal"]),
        ([], "anymal", ["does not have one left and one right foot", "--robot anymal"]),
        (
            ['world.ground=[{kind="plane", normal=[0.1763, 0.0, 1.0]}]'],
            ROBOT,
            ["slopes by 10.0°", "largest slope"],
        ),
        (['walk.tray="third"'], ROBOT, ["third", "walk.tray"]),
        (
            ["walk={path=[[0.0, 0.0], [2.0, 0.0]]}", f"world.obstacles={WALL}"],
            ROBOT,
            ["obstacle `wall`", "walk.path"],
        ),
        (["walk={path=[[0.0, 0.0], [1.0, 0.0]]}", f"world.obstacles={WALL}"], ROBOT, ["obstacle `wall`", "place"]),
        (
            ["walk={path=[[0.0, 0.0], [1.0, 0.0]]}", f"world.ground={ISLAND}"],
            ROBOT,
            ["has no firm ground", "walk.path"],
        ),
        (
            ["walk={commands=[{time=1.0, forward=5.0}]}"],
            ROBOT,
            ["asks `small-humanoid` for 5 m/s", "from … to", "step"],
        ),
        (["walk={commands=[{time=1.0, turn=-9.0}]}"], ROBOT, ["for -9 rad/s (`turn`)"]),
        (
            ["walk={commands=[{time=1.0, forward=0.1}, {time=12.0}]}", f"world.obstacles={WALL}"],
            ROBOT,
            ["obstacle `wall`", "walk.commands"],
        ),
        (["walk.reference=mpc"], ROBOT, ["moves feet by itself", "preview", "--set walk.reference"]),
        (["walk.lift=2.0"], ROBOT, ["do not lift a foot by 2.00 m", "highest lift", "--set walk.lift"]),
        (["walk.single=0.11", "walk.double=0.001"], ROBOT, ["0.110 s on one foot are too short", "least [s]"]),
        (["walk.pace=4.0"], ROBOT, ["on one foot are too short"]),
        (["world.gravity=[0.0, 0.0, 9.81]"], ROBOT, ["gravity points straight down", "world.gravity"]),
        (["world.gravity=[0.0, 0.0, 0.0]"], ROBOT, ["gravity points straight down"]),
        (["walk.height=1.0"], ROBOT, ["cannot stand with its centre of mass at 1.000 m"]),
        (["controller.kind=joint_pd"], ROBOT, ['for `controller.kind = "walk"`']),
    ],
)
def test_what_cannot_be_walked_is_refused_with_the_reason(tmp_path, overrides, robot, words):
    with pytest.raises(SurefootError) as caught:
        run_scenario("walk", robot=robot, out=tmp_path / "run", overrides=overrides)
    assert not (tmp_path / "run").exists()
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    "way",
    [
        {"path": [(0.0, 0.0), (0.5, 0.0)]},
        {"path": [(0.0, 0.0), (0.5, 0.5), (0.5, 3.0), (2.0, 3.0)]},
        {"commands": [{"time": 1.0, "forward": 0.1}, {"time": 5.0}]},
        {"commands": [{"time": 1.0, "forward": 0.0}, {"time": 500.0, "left": 0.02}, {"time": 501.0}]},
    ],
)
def test_ways_that_end_before_a_wall_or_lead_around_it_are_not_refused(way):
    robot, wall = load(ROBOT), Obstacle("wall", Box((0.2, 4.0, 2.0)), placement((1.0, 0.0, 1.0)))
    assert build_walker(WalkTable(**way), robot, World(obstacles=[wall]), robot.home).steps == 0


def test_a_tray_is_a_hand_of_the_robot_and_the_head_looks():
    robot = load("humanoid")
    table = WalkTable(goal=(1.0, 0.0, 0.0), unit="leg", tray="right", gaze=(4.0, 1.0, 1.5))
    tray, gaze = build_walker(table, robot, World(), robot.home).tasks
    assert (tray.frame, gaze.frame) == (anatomy(robot).hands[1], "head")
    assert_allclose(gaze.target, StepLimits.of(robot).leg * np.array([4.0, 1.0, 1.5]))
    assert_allclose(robot.placements(robot.home)["head"][:3, :3] @ gaze.axis, anatomy(robot).forward, atol=1e-6)
    with pytest.raises(NotSupportedError, match="no head to look with"):
        build_walker(WalkTable(goal=(1.0, 0.0, 0.0), gaze=(4.0, 0.0, 1.0)), load("g1"), World(), load("g1").home)


def test_pushes_by_steps_need_a_walk(tmp_path):
    with pytest.raises(NotSupportedError, match="an event every some `steps`"):
        run_scenario("stand-pd", robot=ROBOT, out=tmp_path / "run", overrides=["events.0.steps=2"])


@pytest.mark.slow
def test_obstacles_are_planned_around_and_bare_ground_is_not():
    around = build_simulation(resolved_scenario("around", ROBOT)).controller
    assert isinstance(around.source, ReplannedSteps)
    assert isinstance(walker(goal=(1.0, 0.0, 0.0)).source, GoalSteps)


@pytest.mark.parametrize("name", WALKS)
def test_walks_are_on_estimates_with_self_collision(name):
    scenario = read_scenario(name)
    assert (scenario.sensors.kind, scenario.estimator.kind) == ("default", "base")
    assert scenario.simulation.self_collision
    assert scenario.simulation.duration is None
    assert scenario.initial.heading == 0.0
