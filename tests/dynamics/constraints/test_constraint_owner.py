"""Constraints belong to the robot that they were made for: another one is refused, a like one is not."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.dynamics import (
    close,
    constrained_acceleration,
    constraints_of,
    contact,
    own_constraints,
    project_velocity,
)
from surefoot.dynamics.constraints.distance import distance
from surefoot.dynamics.impacts.impact import impact
from surefoot.dynamics.impacts.mass import equivalent_mass
from surefoot.dynamics.impacts.pushing import pushing_impact
from surefoot.dynamics.inverse.constrained import inverse_dynamics_constrained
from surefoot.dynamics.inverse.forward_operator import fdop
from surefoot.dynamics.inverse.internal_forces import internal_forces
from surefoot.dynamics.inverse.operator import idop
from surefoot.dynamics.inverse.partial_linearisation import partial_linearisation
from surefoot.dynamics.loops.graph import loop_graph
from surefoot.dynamics.loops.minimal_coordinates import minimal_acceleration, minimal_function
from surefoot.errors import ModelError
from surefoot.robot import Coupling, Joint, Link, Robot, placement
from tests.dynamics.examples import armed
from tests.dynamics.loop_examples import four_bar, six_bar


def chain(lengths: tuple[float, ...], name: str = "chain", mass: float = 1.0, prefix: str = "j") -> Robot:
    """Bars in a row, with a floating base."""
    rod = {"mass": mass, "com": np.array([0.1, 0.0, 0.0]), "inertia": 0.1 * np.eye(3)}
    links = [Link("base", **rod)]
    for k, length in enumerate(lengths):
        joint = Joint(f"{prefix}{k}", "revolute", placement((length, 0.0, 0.0)), axis=(0.0, 1.0, 0.0))
        links.append(Link(f"l{k}", links[-1].name, joint, **rod))
    drives = tuple(sf.Drive(f"{prefix}{k}") for k in range(len(lengths)))
    return Robot.from_tree(name, links, "floating", drives=drives)


OTHERS = {
    "more joints": chain((0.3, 0.4, 0.5)),
    "other lengths": chain((0.3, 0.5)),
    "other names": chain((0.3, 0.4), prefix="k"),
}
CALLS = {
    "constraints_of": lambda r, c, q, v: constraints_of(r, c),
    "lagrange": lambda r, c, q, v: constrained_acceleration(r, q, v, v, c),
    "minimal": lambda r, c, q, v: minimal_acceleration(r, c, q, v, v),
    "minimal_function": lambda r, c, q, v: minimal_function(r, c),
    "loop_graph": lambda r, c, q, v: loop_graph(r, c),
    "close": lambda r, c, q, v: close(r, c, q),
    "project_velocity": project_velocity,
    "fdop": lambda r, c, q, v: fdop(r, q, v, np.zeros(r.nu), c),
    "idop": lambda r, c, q, v: idop(r, q, v, np.zeros(r.nu), c),
    "inverse": lambda r, c, q, v: inverse_dynamics_constrained(r, q, v, v, c),
    "impact": lambda r, c, q, v: impact(r, q, v, c),
    "pushing_impact": lambda r, c, q, v: pushing_impact(r, q, v, c),
    "equivalent_mass": lambda r, c, q, v: equivalent_mass(r, q, "base", (1.0, 0.0, 0.0), c),
    "internal_forces": lambda r, c, q, v: internal_forces(r, q, c),
    "partial_linearisation": lambda r, c, q, v: partial_linearisation(r, q, v, np.zeros(r.nu), None, c),
    "compiled": lambda r, c, q, v: sf.compile(r).constrained(q, v, v, c),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("other", OTHERS)
def test_constraints_of_another_robot_are_refused_by_name(call, other):
    robot = chain((0.3, 0.4), "mine")
    foot = constraints_of(OTHERS[other], [contact(OTHERS[other], OTHERS[other].neutral, "l1", "point", "foot")])
    with pytest.raises(ModelError, match="constraint `foot` was made for another robot than `mine`") as caught:
        CALLS[call](robot, foot, np.array(robot.neutral), np.zeros(robot.nv))
    assert caught.value.evidence["they differ in"]
    assert caught.value.next_step


def test_parts_and_graphs_of_another_robot_are_refused_too():
    robot, other = chain((0.3, 0.4)), OTHERS["other lengths"]
    rod = distance(other, "rod", "l1", 1.0)
    gear = constraints_of(other, [Coupling("j0", "j1")]).parts[0]
    for part in (rod, gear):
        with pytest.raises(ModelError, match="another robot"):
            constraints_of(robot, [part])
    graph = loop_graph(six_bar())
    with pytest.raises(ModelError, match="another robot"):
        minimal_acceleration(four_bar(), graph, np.zeros(3), np.zeros(3), np.zeros(3))


def test_a_robot_with_other_masses_and_drives_takes_them():
    """What is tied, and where, is the same."""
    robot, heavy = chain((0.3, 0.4)), chain((0.3, 0.4), mass=3.0).replace(drives=())
    foot = constraints_of(robot, [contact(robot, robot.neutral, "l1", "point")])
    q, v = np.array(robot.neutral), np.zeros(robot.nv)
    expected = constrained_acceleration(heavy, q, v, v, [contact(heavy, q, "l1", "point")])
    np.testing.assert_array_equal(constrained_acceleration(heavy, q, v, v, foot).a, expected.a)


def test_constraints_of_the_robot_itself_are_not_looked_at_twice():
    robot = armed()
    own = own_constraints(robot)
    assert constraints_of(robot, own) is own
    held = constraints_of(robot, [contact(robot, robot.neutral, "l2")])
    assert constraints_of(robot, held) is held
    assert held.parts[0].tree is robot.tree
