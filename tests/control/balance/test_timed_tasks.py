"""Tasks and stances of `[balance]` in closed loop, and tasks that are begun and ended at run time."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.control.balance import BalanceController, HoldOrientation, HoldPosition, LookAt, TimedTask
from surefoot.errors import NotSupportedError, ShapeError, SurefootError, UnknownNameError
from surefoot.scenario.build import build_simulation
from surefoot.scenario.schema import Scenario
from surefoot.spatial import so3

STANCES = [{"start": 1.4, "shift": 0.6, "feet": ["right_foot"]}, {"start": 2.8, "feet": ["left_foot", "right_foot"]}]
TASKS = [
    {"kind": "position", "frame": "left_grip", "offset": [0.04, 0.0, 0.06], "start": 0.3, "end": 1.3, "fade": 0.45},
    {"kind": "orientation", "frame": "right_grip", "turn": [0.0, -0.4, 0.0], "start": 0.3, "end": 1.3, "fade": 0.45},
]


def scenario(duration=1.8, **balance):
    tables = {"robot": {"name": "small-humanoid"}, "controller": {"kind": "balance"}, "balance": balance}
    return Scenario.model_validate({"name": "tasks", "simulation": {"duration": duration}, **tables})


def test_tasks_are_made_and_are_out_when_they_have_ended():
    simulation = build_simulation(scenario(tasks=TASKS))
    log, robot = simulation.run(), sf.load("small-humanoid")

    def places(t):
        found = robot.placements(log["q"][np.searchsorted(log.time, t)])
        return np.linalg.inv(found["left_foot"]) @ found["left_grip"], found["right_grip"]

    (left, right), (left_then, right_then) = places(0.29), places(1.29)
    np.testing.assert_allclose(left_then[:3, 3] - left[:3, 3], [0.04, 0.0, 0.06], atol=2e-3)
    np.testing.assert_allclose(so3.log(right_then[:3, :3] @ right[:3, :3].T), [0.0, -0.4, 0.0], atol=0.02)
    full = (log.time > 1.0) & (log.time < 1.3)
    assert log["control.hand_error"][full].max() < 2e-3
    assert log["control.turn_error"][full].max() < 0.02
    assert log["control.fallbacks"][-1] == 0.0
    assert simulation.controller.tasks.active == {}
    problem = simulation.controller.body.problem
    own = [k for k, name in enumerate(problem.rows.names) if name.startswith("task ")]
    assert len(own) == 6
    assert not problem.problem.A[own].any()


def test_stances_say_when_a_foot_is_in_the_air():
    log = build_simulation(scenario(duration=3.6, stances=STANCES)).run()
    assert log.metadata["fall_time_s"] is None
    force = log["contact.left_foot.wrench"][:, 2]
    assert force[(log.time > 1.45) & (log.time < 2.6)].max() < 0.5
    assert force[log.time < 1.0].min() > 5.0
    assert force[log.time > 3.3].min() > 5.0


@pytest.mark.parametrize(
    ("stances", "said"),
    [
        (STANCES[:1], "at the end"),
        ([{"start": 2.0, "feet": []}, STANCES[1]], "one foot is lifted at a time"),
        ([{"start": 2.0, "feet": ["paw"]}, STANCES[1]], "paw"),
        ([{"start": 0.5, "feet": ["right_foot"]}, STANCES[1]], "too early"),
        ([{"start": 2.0, "feet": ["right_foot"]}, STANCES[1]], "too short"),
        ([STANCES[1], STANCES[0]], "follow each other"),
    ],
)
def test_stances_that_cannot_be_made_are_refused_with_their_place(stances, said):
    with pytest.raises(SurefootError, match=said) as caught:
        build_simulation(scenario(stances=stances))
    assert "stances" in str(caught.value)


def test_a_task_is_begun_and_ended_by_its_name():
    robot = sf.load("small-humanoid")
    look = TimedTask(LookAt("left_grip", (2.0, 0.5, 0.2), axis=(0.0, 0.0, -1.0)), "look", start=None, fade=0.2)
    control = BalanceController(robot, tasks=[look])

    control.tasks.begin("look", 0.1)
    log = sf.simulate(robot, control, sf.World(), 0.8)
    assert control.tasks.active == {"look": 1.0}
    T = robot.placements(log["q"][-1])["left_grip"]
    way = np.array([2.0, 0.5, 0.2]) - T[:3, 3]
    assert -T[:3, 2] @ way / np.linalg.norm(way) > np.cos(0.05)
    control.tasks.end("look", 0.8)
    control.command(0.9, sf.State.of(robot))
    assert 0.0 < control.tasks.active["look"] < 1.0
    control.command(1.01, sf.State.of(robot))
    assert control.tasks.active == {}
    with pytest.raises(UnknownNameError, match="look"):
        control.tasks.begin("loop", 0.0)


def test_times_and_levels_that_cannot_be():
    goal = HoldPosition("left_grip")
    with pytest.raises(ShapeError, match="faded in"):
        TimedTask(goal, "a", start=1.0, end=1.2)
    with pytest.raises(ShapeError, match="above 0"):
        TimedTask(goal, "a", fade=0.0)
    with pytest.raises(UnknownNameError, match="level"):
        TimedTask(HoldOrientation("left_grip"), "a", level="first")
    with pytest.raises(NotSupportedError, match="one foot"):
        build_simulation(scenario(stances=[{"start": 2.0, "feet": []}, STANCES[1]]))
    with pytest.raises(ShapeError, match="two tasks"):
        build_simulation(scenario(tasks=[TASKS[0], TASKS[0]]))
    with pytest.raises(UnknownNameError, match="tail"):
        build_simulation(scenario(tasks=[TASKS[0] | {"frame": "tail"}]))
