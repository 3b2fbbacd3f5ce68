"""Coordinates that suit a state: chosen anew where those of the robot cost digits, else as they were."""

from __future__ import annotations

import numpy as np

from surefoot.dynamics import Baumgarte, constrained_acceleration, constraints_of, own_constraints
from surefoot.dynamics.loops.graph import loop_graph
from surefoot.dynamics.loops.minimal_coordinates import (
    dependent_jacobian,
    is_regular,
    minimal_acceleration,
    suited_graph,
)
from tests.dynamics.constraint_examples import held_trees, off
from tests.dynamics.examples import wrenches
from tests.dynamics.loop_examples import closed_state, delta


def test_a_choice_made_elsewhere_costs_digits_and_one_made_here_does_not():
    """J_D with condition 1.3e3 at the state, which counts twice; with pivots 3.6."""
    _, robot, q, v, tau, constraints = next(held_trees(7103))
    held, F = constraints_of(robot, constraints), wrenches(robot, 7103)
    graph = loop_graph(robot, held)
    suited = suited_graph(graph, q, v, Baumgarte())
    conditions = [
        [np.linalg.cond(dependent_jacobian(robot.tree, item, q)) for item in each.subsystems if item.dependent]
        for each in (graph, suited)
    ]
    assert max(conditions[0]) > 1e3
    assert max(conditions[1]) < 10.0
    expected = constrained_acceleration(robot, q, v, tau, held, "gauss", external=F).a
    assert off(minimal_acceleration(robot, graph, q, v, tau, F), expected) > 1e-12
    assert off(minimal_acceleration(robot, held, q, v, tau, F), expected) < 1e-12


def test_coordinates_that_serve_stay():
    robot = delta()
    q, v, _, _ = closed_state(robot, 1)
    graph = loop_graph(robot, own_constraints(robot))
    assert suited_graph(graph, q, v, Baumgarte()).independent == graph.independent


def test_regular_means_that_columns_are_independent():
    assert is_regular(np.zeros(0))
    assert is_regular(np.array([1.0, 1e-7]))
    assert not is_regular(np.array([1.0, 1e-9]))
