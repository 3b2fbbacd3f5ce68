import numpy as np
import pytest

from surefoot.dynamics.constraints.constraints import constraints_of, contact
from surefoot.dynamics.constraints.equations import Baumgarte, constrained_equations
from surefoot.dynamics.methods.forward import anchor_values, anchored, constrained_forward, solve_semidefinite
from surefoot.robot import Coupling, Loop
from tests.dynamics.examples import armed, robot_named, state

GAINS = Baumgarte(3.0, 5.0)


def held_robots():
    talos, anymal, arm = robot_named("talos"), robot_named("anymal"), armed()
    q_talos, q_anymal = state(talos, 1)[0], state(anymal, 1)[0]
    return [
        (talos, [contact(talos, q_talos, name) for name in talos.contacts]),
        (anymal, [contact(anymal, q_anymal, name, "point") for name in anymal.contacts]),
        (arm, [Loop("chain", "l2", "l5"), contact(arm, state(arm, 1)[0], "l0", "line")]),
        (arm, [Loop("hinge", "l1", "l6", directions=(True, True, True, True, False, True))]),
    ]


def kkt(equations):
    M, force, J, drift = equations
    m = len(J)
    whole = np.block([[M, -J.T], [J, np.zeros((m, m))]])
    found = np.linalg.lstsq(whole, np.concatenate([force, -drift]), rcond=1e-13)[0]
    return found[: len(M)], found[len(M) :]


@pytest.mark.parametrize("gains", [Baumgarte(), GAINS], ids=["plain", "pulled back"])
@pytest.mark.parametrize(("robot", "given"), held_robots(), ids=lambda x: getattr(x, "name", ""))
def test_it_solves_the_equations(robot, given, gains):
    held, (q, v, tau) = constraints_of(robot, given), state(robot, 2)
    equations = constrained_equations(robot.tree, held, q, v, tau, baumgarte=gains)
    a, multipliers = constrained_forward(robot.tree, held, q, v, tau, baumgarte=gains)
    expected, forces = kkt(equations)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(a, expected, atol=1e-9 * scale)
    np.testing.assert_allclose(equations.J.T @ multipliers, equations.J.T @ forces, atol=1e-9 * np.abs(forces).max())


def test_the_same_tie_twice_changes_nothing():
    robot = robot_named("talos")
    q, v, tau = state(robot, 5)
    once = [contact(robot, q, name) for name in robot.contacts]
    twice = [*once, contact(robot, q, next(iter(robot.contacts)), "point", name="again")]
    a, _ = constrained_forward(robot.tree, constraints_of(robot, once), q, v, tau)
    b, _ = constrained_forward(robot.tree, constraints_of(robot, twice), q, v, tau)
    np.testing.assert_allclose(b, a, atol=1e-9 * np.abs(a).max())


def test_couplings_hold_the_ratio():
    robot = robot_named("panda")
    names = robot.tree.joint_names
    held = constraints_of(robot, [Coupling(names[1], names[3], 2.5, 0.1)])
    q, v, tau = state(robot, 1)
    a, _ = constrained_forward(robot.tree, held, q, v, tau)
    assert a[1] == pytest.approx(2.5 * a[3], rel=1e-12)


def test_anchors_say_where_contacts_are():
    """The same contact, once in the constraint and once as an argument, for another place and attitude."""
    robot = robot_named("talos")
    name = next(iter(robot.contacts))
    q, v, _ = state(robot, 3)
    there = constraints_of(robot, [contact(robot, state(robot, 4)[0], name, "line")])
    here = constraints_of(robot, [contact(robot, q, name, "line")])
    expected = anchored(robot.tree, there, q, v, None, GAINS)
    found = anchored(robot.tree, here, q, v, anchor_values(there), GAINS)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-12)
    np.testing.assert_allclose(expected[0], there.jacobian(robot.tree, q), atol=1e-12)


def test_semidefinite_systems_are_solved_where_they_can_be():
    rng = np.random.default_rng(0)
    for n, rank in ((1, 1), (5, 5), (6, 3), (12, 6)):
        B = rng.normal(size=(n, rank))
        A, right = B @ B.T, B @ rng.normal(size=(rank, 2))
        np.testing.assert_allclose(A @ solve_semidefinite(A, right), right, atol=1e-8)
        np.testing.assert_allclose(A @ solve_semidefinite(A, right[:, 0]), right[:, 0], atol=1e-8)
    assert not solve_semidefinite(np.zeros((2, 2)), np.zeros(2)).any()
