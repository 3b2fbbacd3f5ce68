"""First states stand on the ground of their world."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import NotSupportedError
from surefoot.motion import GroundBox, GroundPlane, World
from surefoot.robot import placement
from surefoot.robot.loading import load
from surefoot.scenario.build.simulation import build_initial, build_simulation
from surefoot.scenario.schema import InitialTable, Scenario


def lowest(robot, state):
    return min(float(c[:, 2].min()) for c in robot.contact_corners(state.q).values())


def test_home_and_at_rest_where_nothing_is_said():
    robot = load("anymal")
    state = build_initial(InitialTable(), robot, World())
    assert_allclose(state.q, robot.home)
    assert not state.v.any()


def test_other_joints_and_a_lift():
    robot = load("hexapod")
    state = build_initial(InitialTable(joints={"left_front_femur": -1.2}, lift=0.03), robot, World())
    assert_allclose(lowest(robot, state), 0.03, atol=1e-12)
    assert state.q[robot.tree.q_index[robot.joint_index("left_front_femur")]] == -1.2


def test_on_a_box():
    robot = load("anymal")
    world = World(ground=(GroundPlane(), GroundBox((2.0, 2.0, 0.4), placement((5.0, 0.0, 0.2)))))
    state = build_initial(InitialTable(position=(5.0, 0.1)), robot, world)
    assert_allclose(state.q[:2], [5.0, 0.1])
    assert_allclose(lowest(robot, state), 0.4, atol=1e-9)


def test_flat_on_a_slope():
    robot, normal = load("block"), np.array([-0.3, 0.2, 1.0])
    world = World(ground=(GroundPlane(normal=normal),))
    state = build_initial(InitialTable(on_slope=True), robot, world)
    corners = robot.contact_corners(state.q)["bottom"]
    assert_allclose(corners @ normal, 0.0, atol=1e-12)


def test_velocity_is_in_world_axes():
    robot, world = load("block"), World(ground=(GroundPlane(normal=(-0.5, 0.0, 1.0)),))
    state = build_initial(InitialTable(on_slope=True, velocity=(1.0, 2.0, 3.0)), robot, world)
    turn = robot.placements(state.q)[robot.tree.body_names[0]][:3, :3]
    assert_allclose(turn @ state.v[:3], [1.0, 2.0, 3.0], atol=1e-12)


def test_a_fixed_robot_stays_where_it_is():
    with pytest.raises(NotSupportedError, match="fixed"):
        build_initial(InitialTable(lift=0.1), load("panda"), World())


@pytest.mark.parametrize(("initial", "slip"), [({}, 2e-4), ({"lift": 2e-4}, None)])
def test_a_robot_that_stands_does_not_slip_at_its_start(initial, slip):
    """A foot that merely touches the ground would be moved by its drives before it is loaded."""
    scenario = {"name": "stand", "robot": {"name": "anymal_c"}, "initial": initial, "simulation": {"duration": 0.1}}
    simulation = build_simulation(Scenario.model_validate(scenario | {"controller": {"kind": "balance"}}))
    log = simulation.run()
    slips = [log[f"contact.{name}.slip"][-1] for name in simulation.robots[0].contacts]
    assert max(slips) < slip if slip else max(slips) > 1e-3
