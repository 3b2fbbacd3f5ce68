import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.dynamics.constraints.constraints import constraints_of, contact
from surefoot.dynamics.constraints.equations import Baumgarte
from surefoot.dynamics.methods.forward import constrained_forward
from surefoot.dynamics.methods.forward_derivatives import constrained_derivatives
from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.robot import Loop
from tests.dynamics.examples import armed, robot_named, state

GAINS = Baumgarte(3.0, 5.0)
STEP = 1e-6


def cases():
    anymal, arm = robot_named("anymal"), armed("fixed")
    q = state(anymal, 1)[0]
    return [
        (anymal, [contact(anymal, q, name, "point") for name in list(anymal.contacts)[:3]]),
        (arm, [Loop("chain", "l1", "l5", directions=(True, True, False, True, False, False))]),
    ]


@pytest.mark.parametrize(("robot", "given"), cases(), ids=["feet", "loop"])
def test_kernels_say_what_the_algorithm_says(robot, given):
    k, held = sf.compile(robot), constraints_of(robot, given)
    states = [state(robot, seed) for seed in range(9)]
    q, v, tau = (np.array(x) for x in zip(*states, strict=True))
    found = k.constrained(q, v, tau, held, GAINS)
    for i in range(len(q)):
        a, multipliers = constrained_forward(robot.tree, held, q[i], v[i], tau[i], baumgarte=GAINS)
        np.testing.assert_allclose(found.a[i], a, atol=1e-8 * np.abs(a).max())
        np.testing.assert_allclose(found.multipliers[i], multipliers, atol=1e-8 * np.abs(multipliers).max())


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "given"), cases(), ids=["feet", "loop"])
def test_derivatives_against_differences(robot, given):
    k, held = sf.compile(robot), constraints_of(robot, given)
    q, v, tau = state(robot, 3)
    found, steps = k.constrained_derivatives(q, v, tau, held, GAINS), STEP * np.eye(robot.nv)

    def differences(change):
        ends = [[k.constrained(*change(sign * step), held, GAINS) for sign in (1.0, -1.0)] for step in steps]
        return [np.array([(x[i] - y[i]) / (2.0 * STEP) for x, y in ends]).T for i in (0, 1)]

    moved = lambda step: (pin.integrate(robot.model, q, step), v, tau)  # noqa: E731
    sped = lambda step: (q, v + step, tau)  # noqa: E731
    pushed = lambda step: (q, v, tau + step)  # noqa: E731
    for change, fields in ((moved, (0, 3)), (sped, (1, 4)), (pushed, (2, 5))):
        for expected, field in zip(differences(change), fields, strict=True):
            np.testing.assert_allclose(found[field], expected, atol=2e-6 * max(1.0, np.abs(expected).max()))


def test_one_kernel_serves_all_places():
    robot = robot_named("anymal")
    k, name = sf.compile(robot), next(iter(robot.contacts))
    here, there = (constraints_of(robot, [contact(robot, state(robot, s)[0], name)]) for s in (1, 2))
    assert k.constrained_kernel(here) is k.constrained_kernel(there)
    welded = constraints_of(robot, [contact(robot, state(robot, 1)[0], name, "flat")])
    assert k.constrained_kernel(here) is not k.constrained_kernel(welded)
    assert k.constrained_kernel(here) is not k.constrained_kernel(here, GAINS)


def test_ties_of_the_robot_itself_hold_where_none_are_given():
    free, coupled = robot_named("anymal"), robot_named("panda")
    k, (q, v, tau) = sf.compile(free), state(free, 1)
    np.testing.assert_allclose(k.constrained(q, v, tau).a, k.aba(q, v, tau), rtol=1e-9)
    k, (q, v, tau) = sf.compile(coupled), state(coupled, 1)
    a = k.constrained(q, v, tau).a
    assert coupled.couplings, "its fingers move together"
    assert a[7] == pytest.approx(a[8], rel=1e-9)
    assert np.abs(a - k.aba(q, v, tau)).max() > 1.0


def test_mistakes_are_named():
    robot = robot_named("panda")
    q, v, tau = state(robot, 1)
    with pytest.raises(UnknownNameError, match="panda_hadn"):
        contact(robot, q, "panda_hadn")
    with pytest.raises(UnknownNameError, match="kind of contact"):
        contact(robot, q, "panda_hand", "falt")
    with pytest.raises(NotSupportedError, match="traced"):
        constrained_derivatives(robot.tree, constraints_of(robot, []), q, v, tau)
