import numpy as np
import pytest

from surefoot.dynamics import crba, kinetic_energy, nonlinear_effects, potential_energy, rnea
from surefoot.dynamics.inverse.forward_operator import fdop
from surefoot.dynamics.inverse.partial_linearisation import collocated, non_collocated, partial_linearisation
from surefoot.errors import ModelError, ShapeError
from tests.dynamics.driven_examples import case, equations_of, kkt, limbed, random_equations
from tests.dynamics.examples import assert_same, moved, robot_named, state, traced


def power(robot, q, v, a, step=1e-5):
    """Rate of the robot's energy by a central difference."""

    def energy(time):
        x = moved(robot, q, v + 0.5 * time * a, time)
        return kinetic_energy(robot.tree, x, v + time * a) + potential_energy(robot.tree, x)

    return (energy(step) - energy(-step)) / (2.0 * step)


def test_cart_pole():
    """Spong 1994: the cart, or the pole, accelerates as commanded."""
    robot = robot_named("cartpole")
    q, v = np.array([0.2, 0.4]), np.array([0.3, -0.7])
    for commanded in ([0], [1]):
        found = partial_linearisation(robot, q, v, [1.5], commanded)
        assert_same(found.a[commanded], [1.5], 1e-12)
        assert_same(fdop(robot, q, v, found.tau).a, found.a, 1e-12)
        assert_same(rnea(robot.tree, q, v, found.a), np.array([found.tau[0], 0.0]), 1e-11)
        assert_same(power(robot, q, v, found.a), found.tau[0] * v[0], 1e-6)


def test_without_coupling_the_pole_cannot_be_commanded():
    """A level pole does not feel the cart."""
    robot = robot_named("cartpole")
    with pytest.raises(ModelError, match="independently") as caught:
        partial_linearisation(robot, [0.0, np.pi / 2], np.zeros(2), [1.0], [1])
    assert caught.value.evidence["commanded"] == 1


@pytest.mark.parametrize("name", ["talos", "g1", "anymal"])
def test_free_floating_robots(name):
    """Collocated: all joints as commanded, the base follows; non-collocated: the base as commanded."""
    robot = robot_named(name)
    q, v, a = state(robot, 1)
    M, h = crba(robot.tree, q), nonlinear_effects(robot.tree, q, v)
    wish = a[robot.driven]
    found, (tau, same) = partial_linearisation(robot, q, v, wish), collocated(M, h, robot.driven, wish)
    assert_same(found.a[robot.driven], wish, 1e-9)
    assert_same(found.tau, tau, 1e-9)
    assert_same(found.a, same, 1e-9)
    if len(robot.driven) < 6 or len(np.setdiff1d(np.arange(robot.nv), robot.driven)) != 6:
        pytest.fail("the base alone should be passive")
    base = partial_linearisation(robot, q, v, a[:6], robot.base_rows)
    assert_same(base.a[:6], a[:6], 1e-8)
    tau, same = non_collocated(M, h, robot.driven, a[:6])
    assert_same(same[:6], a[:6])
    assert_same(fdop(robot, q, v, tau).a, same, 1e-8)
    assert_same(power(robot, q, v, base.a), base.tau @ v[robot.driven], 1e-5)


def test_closed_forms_on_random_equations():
    equations = random_equations(9, 5, 0, seed=2)
    M, h, driven = equations.M, equations.h, equations.driven
    wish = np.arange(1.0, 6.0)
    tau, a = collocated(M, h, driven, wish)
    assert_same(a[driven], wish)
    assert_same(kkt(equations, tau)[0], a, 1e-10)
    tau, a = non_collocated(M, h, driven, wish[:4])
    assert_same(a[equations.passive], wish[:4])
    assert_same(kkt(equations, tau)[0], a, 1e-10)
    for function, size in ((collocated, 5), (non_collocated, 4)):
        expected = np.concatenate(function(M, h, driven, wish[:size]))
        found = traced(lambda M, h, y, f=function: np.concatenate(f(M, h, driven, y)), M, h, wish[:size])
        assert_same(found, expected, 1e-10)


@pytest.mark.parametrize("name", ["anymal", "limbed", "talos"])
def test_with_contacts(name):
    """Commanded joints, as many as the contacts leave free; contacts do no work."""
    robot, q, v, constraints = case(name)
    equations = equations_of(robot, q, v, constraints)
    free = min(robot.nv - len(equations.J), robot.nu, 3)
    commanded, wish = np.arange(robot.nv)[-free:], np.linspace(-1.0, 1.0, free)
    found = partial_linearisation(robot, q, v, wish, commanded, constraints)
    assert_same(found.a[commanded], wish, 1e-9)
    assert_same(kkt(equations, found.tau)[0], found.a, 1e-9)
    assert_same(equations.J @ found.a, -equations.drift, 1e-9)
    assert_same(power(robot, q, v, found.a), found.tau @ v[robot.driven], 1e-5)


def test_a_base_on_feet_can_be_commanded():
    robot, q, v, constraints = case("limbed")
    wish = np.arange(6.0)
    found = partial_linearisation(robot, q, v, wish, robot.base_rows, constraints)
    assert_same(found.a[:6], wish, 1e-9)


def test_what_contacts_hold_cannot_be_commanded():
    """The tip at one height holds the pole; only the cart is free."""
    robot, q, v, constraints = case("cartpole")
    assert_same(partial_linearisation(robot, q, v, [2.0], [0], constraints).a[0], 2.0, 1e-12)
    with pytest.raises(ModelError, match="independently"):
        partial_linearisation(robot, q, v, [2.0], [1], constraints)


def test_too_much_is_refused():
    robot, q, v, constraints = case("limbed")
    with pytest.raises(ModelError, match="independently"):  # 14 joints, of which contacts leave 8 motions
        partial_linearisation(robot, q, v, np.zeros(robot.nu), constraints=constraints)
    with pytest.raises(ShapeError, match="different"):
        partial_linearisation(robot, q, v, np.zeros(2), [3, 3])
    with pytest.raises(ShapeError, match="different"):
        partial_linearisation(robot, q, v, np.zeros(1), [robot.nv])
    with pytest.raises(ShapeError, match="desired"):
        partial_linearisation(limbed(3, 1), limbed(3, 1).home, np.zeros(9), np.zeros(4))
