"""Loops are cut into subsystems, connected ones merged, and every one gets as many coordinates as it can move by."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.dynamics import close, constraints_of, contact, own_constraints
from surefoot.dynamics.loops.graph import LoopGraph, loop_graph
from surefoot.errors import ModelError
from surefoot.robot import Coupling, Drive, Loop, Robot, placement
from tests.dynamics.examples import followers, robot_named
from tests.dynamics.loop_examples import (
    EXAMPLES,
    HINGE,
    PLANAR,
    branched_with_rotors,
    closed_state,
    delta,
    floating_bars,
    four_bar,
    geared_four_bar,
    random_loops,
    six_bar,
)

ROBOTS = {**EXAMPLES, **{f"random {seed}": lambda seed=seed: random_loops(seed) for seed in range(12)}}


def names(robot: Robot, rows: tuple[int, ...]) -> set[str]:
    tree = robot.tree
    return {tree.joint_names[i] for i in range(tree.n) for row in rows if 0 <= row - tree.v_index[i] < tree.nv_of(i)}


def tied(graph: LoopGraph) -> list[set[str]]:
    return [{graph.tree.joint_names[i] for i in item.bodies} for item in graph.subsystems if not item.is_joint]


@pytest.mark.parametrize("name", ROBOTS)
def test_every_body_is_in_one_subsystem_after_the_one_that_carries_it(name):
    robot = ROBOTS[name]()
    graph = loop_graph(robot)
    assert sorted(i for item in graph.subsystems for i in item.bodies) == list(range(robot.tree.n))
    assert sorted(row for item in graph.subsystems for row in item.dofs) == list(range(robot.nv))
    owner = {i: number for number, item in enumerate(graph.subsystems) for i in item.bodies} | {-1: -1}
    for number, (item, carrier) in enumerate(zip(graph.subsystems, graph.carriers, strict=True)):
        assert carrier == owner[item.parent] < number
        for i in item.bodies:
            assert robot.tree.parents[i] in (item.parent, *item.bodies)


@pytest.mark.parametrize("name", ROBOTS)
def test_as_many_coordinates_as_the_constraints_leave(name):
    robot = ROBOTS[name]()
    J = own_constraints(robot).jacobian(robot.tree, closed_state(robot, 3)[0])
    assert len(loop_graph(robot).independent) == robot.nv - np.linalg.matrix_rank(J, 1e-8)


def test_gears_are_pairs():
    robot = branched_with_rotors()
    graph = loop_graph(robot)
    assert tied(graph) == [{f"j{k}", f"r{k}"} for k in (0, 1, 2, 3, 4, 5)]
    assert names(robot, graph.independent) == {f"j{k}" for k in range(6)}


def test_loops_that_share_a_joint_are_one():
    (found,) = tied(loop_graph(six_bar()))
    assert found == {"crank_joint", "coupler_joint", "rocker_joint", "coupler2_joint", "rocker2_joint"}


def test_a_gear_joins_the_loop_whose_joint_it_drives():
    assert tied(loop_graph(geared_four_bar())) == [{"crank_joint", "coupler_joint", "rocker_joint", "rotor_joint"}]


def test_three_loops_of_a_platform_are_one_and_move_by_the_driven_joints():
    graph = loop_graph(delta())
    (item,) = graph.subsystems
    assert item.name == "leg0 + leg1 + leg2"
    assert names(delta(), graph.independent) == {"hip0", "hip1", "hip2"}


def test_loops_that_share_only_what_carries_them_stay_apart():
    graph = loop_graph(floating_bars())
    sides = [{f"{side}_{name}_joint" for name in ("crank", "coupler", "rocker")} for side in "lr"]
    assert tied(graph) == sides


def test_a_gear_between_joints_of_one_line_takes_those_between_them():
    robot = robot_named("followers")
    assert tied(loop_graph(robot)) == [{"j0", "j1", "j2", "j4"}]
    assert names(robot, loop_graph(robot).subsystems[1].independent) == {"j0", "j1"}


def test_joints_without_a_coordinate_belong_to_the_one_that_leads_them():
    robot = followers("reduce")
    item = loop_graph(robot).subsystems[1]
    assert names(robot, item.independent) == {"j0", "j1"}
    assert len(item.bodies) == 4
    assert not item.dependent


def test_gears_in_a_row_and_in_a_circle():
    robot = four_bar().replace(loops=())
    row = (Coupling("rocker_joint", "coupler_joint", 3.0), Coupling("coupler_joint", "crank_joint", 2.0))
    (item,) = loop_graph(robot, row).subsystems
    assert [gear.joint for gear in item.gears] == [1, 2]
    assert names(robot, item.independent) == {"crank_joint"}
    circle = loop_graph(robot, (*row, Coupling("crank_joint", "rocker_joint", 1.0 / 6.0)))
    assert len(circle.independent) == 1
    assert len(loop_graph(robot, (*row, Coupling("crank_joint", "rocker_joint", 2.0))).independent) == 0


def test_more_directions_than_it_takes_change_nothing():
    assert loop_graph(four_bar(HINGE)).independent == loop_graph(four_bar()).independent


@pytest.mark.parametrize("driven", ["crank_joint", "coupler_joint", "rocker_joint"])
def test_the_driven_joint_is_independent(driven):
    robot = four_bar().replace(drives=(Drive(driven),))
    assert names(robot, loop_graph(robot).independent) == {driven}


def test_at_a_dead_point_of_the_driven_joint_another_one_is():
    robot = four_bar().replace(drives=(Drive("rocker_joint"),))
    q = close(robot, None, robot.q_of({"crank_joint": -0.9, "rocker_joint": -1.5}), hold=["coupler_joint"])
    assert names(robot, loop_graph(robot, None, q).independent) != {"rocker_joint"}


def test_feet_on_the_ground_are_loops_through_the_base():
    robot = robot_named("small-humanoid")
    feet = constraints_of(robot, [contact(robot, robot.home, name) for name in ("left_foot", "right_foot")])
    item = loop_graph(robot, feet).subsystems[0]
    assert item.parent == -1
    assert set(range(6)) <= set(item.dependent)
    assert len(item.dependent) == 12


def test_it_can_be_printed():
    text = str(loop_graph(geared_four_bar()))
    for words in ("bars + rotor_joint~crank_joint on the world", "independent: crank_joint", "geared: rotor_joint",
                  "dependent: coupler_joint, rocker_joint", "1 joint(s) outside loops; 4 coordinates"):  # fmt: skip
        assert words in text


def test_a_loop_that_cannot_close_is_named_with_its_residual():
    ends = placement((5.0, 0.0, 0.0)), placement((0.1, 0.0, 0.0))
    robot = four_bar().replace(loops=(Loop("far", "coupler", "rocker", *ends, PLANAR),))
    with pytest.raises(ModelError, match="`far`") as error:
        loop_graph(robot)
    assert "3.9" in str(error.value)


def test_a_body_cannot_be_tied_to_itself():
    with pytest.raises(ModelError, match="`knot` ties a body to itself"):
        loop_graph(four_bar(), [Loop("knot", "coupler", "coupler")])
