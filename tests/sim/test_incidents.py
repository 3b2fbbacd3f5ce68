"""Incidents have a start and an end, and are found when they happen and not otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Sphere
from surefoot.motion import Command, Obstacle, State, World
from surefoot.robot import Drive, Geometry, Joint, Link, Robot, placement
from surefoot.sim import Push, Settings, Simulation, simulate

from .examples import block, pendulum, wheel


class Still:
    def __init__(self, n):
        self.n = n

    def command(self, t, state):
        return Command(torque=np.zeros(self.n))


def kinds(log):
    return [item["kind"] for item in log.metadata["incidents"]]


def test_a_block_that_is_pushed_slips_while_it_is_pushed():
    push = Push(0.5, 0.2, "box", np.array([40.0, 0, 0, 0, 0, 0]))
    log = simulate(block(), Still(0), World(friction=0.5), 1.5, events=[push])
    slips = [item for item in log.metadata["incidents"] if item["kind"] == "slip"]
    assert len(slips) == 1
    assert slips[0]["where"] == "sole"
    assert 0.5 < slips[0]["start"] < 0.6
    assert abs(slips[0]["end"] - (0.7 + 30.2 / 2 * 0.2 / 4.905)) < 0.1  # comes to rest, and the window passes
    assert slips[0]["worst"] > 0.005


def test_a_block_at_rest_has_no_incidents():
    assert kinds(simulate(block(), Still(0), World(), 0.5)) == []


def test_a_joint_beyond_its_limit():
    joint = Joint("j", "revolute", axis=(0.0, 1.0, 0.0), lower=-0.5, upper=0.5)
    bob = Link("bob", "frame", joint, mass=1.0, com=np.array([0.0, 0.0, -0.5]), inertia=1e-3 * np.eye(3))
    robot = Robot.from_tree("limited", [Link("frame"), bob], "fixed")
    fast = State(0.0, np.array([0.45]), np.array([8.0]))
    log = simulate(robot, Still(robot.nu), None, 0.3, initial=fast)
    found = [item for item in log.metadata["incidents"] if item["kind"] == "position_limit"]
    assert found[0]["where"] == "j"
    assert_allclose(found[0]["worst"], float(np.abs(log["q"]).max()) - 0.5, rtol=0.2)


def test_a_drive_at_its_limit_for_long():
    class Pushing:
        def command(self, t, state):
            return Command(torque=np.array([10.0 if t < 0.2 else 0.0]))

    log = simulate(wheel("revolute", limit=2.0), Pushing(), None, 0.4)
    found = [item for item in log.metadata["incidents"] if item["kind"] == "torque_limit"]
    assert len(found) == 1
    assert_allclose(found[0]["worst"], 0.2, atol=0.01)


def test_a_speed_beyond_the_limit():
    joint = Joint("j", "revolute", axis=(0.0, 0.0, 1.0), velocity=2.0)
    body = Link("w", "a", joint, mass=1.0, inertia=0.5 * np.eye(3))
    robot = Robot.from_tree("wheel", [Link("a"), body], drives=(Drive("j"),))
    log = simulate(robot, Still(1), None, 0.1, initial=State(0.0, np.zeros(1), np.array([3.0])))
    assert kinds(log) == ["velocity_limit"]
    assert_allclose(log.metadata["incidents"][0]["worst"], 1.5, rtol=0.01)


def test_fall_is_among_the_incidents():
    from surefoot.robot.loading import load

    robot = load("anymal")
    log = simulate(robot, Still(robot.nu), World(), 3.0)
    falls = [item for item in log.metadata["incidents"] if item["kind"] == "fall"]
    assert falls[0]["start"] == log.metadata["fall_time_s"]


def test_touches_of_itself():
    """A pendulum that hangs in its frame and swings into a wall that belongs to the robot."""
    wall = Geometry("wall", "base", Box((0.1, 1.0, 1.0)), placement((0.55, 0.0, -0.8)))
    ball = Geometry("ball", "bob", Sphere(0.1), placement((0.0, 0.0, -0.8)))
    middle = Joint("m", "revolute", axis=(1.0, 0.0, 0.0))
    hinge = Joint("hinge", "revolute", axis=(0.0, 1.0, 0.0))
    links = [
        Link("base", mass=50.0, inertia=10.0 * np.eye(3), collisions=(wall,)),
        Link("cross", "base", middle, mass=0.1, inertia=1e-3 * np.eye(3)),
        Link("bob", "cross", hinge, mass=1.0, com=(0.0, 0.0, -0.8), inertia=1e-3 * np.eye(3), collisions=(ball,)),
    ]
    robot = Robot.from_tree("swing", links, "floating", drives=())
    q = np.array(robot.neutral)
    empty = World(ground=(), gravity=np.zeros(3))
    v = np.zeros(robot.nv)
    v[-1] = -3.0
    start = State(0.0, q, v)
    with_touch = Simulation(robot, Still(0), empty, Settings(0.6, self_collision=True), initial=start).run()
    without = Simulation(robot, Still(0), empty, Settings(0.6), initial=start).run()
    assert "self_collision" in kinds(with_touch)
    assert kinds(without) == []


@pytest.mark.parametrize(
    "shape", [Box((0.2, 2.0, 0.6)), Cylinder(0.1, 0.6), Capsule(0.1, 0.6), Sphere(0.3), Ellipsoid((0.1, 0.5, 0.3))]
)
def test_touches_of_an_obstacle(shape):
    """A block that slides into something that must not be touched, and one that rests beside it."""
    robot = block()
    width = {Sphere: 0.3}.get(type(shape), 0.1)
    side = max(abs(corner[0]) for corner in np.vstack(list(robot.contact_corners(robot.home).values())))
    v = np.zeros(robot.nv)
    v[0] = 2.0
    hit, near = (
        Simulation(
            robot,
            Still(0),
            World(obstacles=(Obstacle("a post", shape, placement((side + width + gap, 0.0, 0.3))),)),
            Settings(0.3),
            initial=State(0.0, robot.home, speed),
        ).run()
        for gap, speed in ((0.05, v), (0.002, np.zeros(robot.nv)))
    )
    touches = [item for item in hit.metadata["incidents"] if item["kind"] == "obstacle_touch"]
    assert touches
    assert all(item["where"].endswith(" and a post") and item["worst"] > 0.0 for item in touches)
    assert 0.02 < touches[0]["start"] < 0.2
    assert "obstacle_touch" not in kinds(near)


def test_pendulum_without_base_never_falls():
    assert "fall" not in kinds(simulate(pendulum(), Still(1), None, 0.2))
