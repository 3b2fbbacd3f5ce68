"""Classic controllers: identities of the body, projections, and a quiet stand for all of them."""

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.control.classic import CLASSIC, ClassicGains, classic_controller, standing_body, torso_twist
from surefoot.control.classic.body import prioritised
from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.motion import State
from surefoot.reduced.models import regulator_gains

ROBOT = sf.load("humanoid", base="floating")


def random_body(seed: int = 0):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    q = pin.integrate(ROBOT.model, np.array(ROBOT.home), rng.normal(0.0, 0.2, ROBOT.nv))
    v = rng.normal(0.0, 0.5, ROBOT.nv)
    return standing_body(ROBOT, ROBOT.model.createData(), tuple(ROBOT.contacts), q, v)


def test_body_identities() -> None:
    """Locked inertia, CoM Jacobian, contact and base bias by finite differences, momentum rate."""
    body, h = random_body(), 1e-6
    data = ROBOT.model.createData()
    pin.ccrba(ROBOT.model, data, body.q, body.v)
    np.testing.assert_allclose(body.inertia, np.array(data.Ig.inertia), atol=1e-9)
    np.testing.assert_allclose(body.com_jacobian @ body.v, body.com_velocity, atol=1e-12)
    ends = []
    for s in (1.0, -1.0):
        q = pin.integrate(ROBOT.model, body.q, s * h * body.v)
        ends.append(standing_body(ROBOT, ROBOT.model.createData(), tuple(ROBOT.contacts), q, body.v))
    plus, minus = ends
    for now, name in ((body.contact_bias, "contacts"), (body.momentum_bias, "momentum"), (body.base_bias, "base")):
        rate = (getattr(plus, name) - getattr(minus, name)) @ body.v / (2.0 * h)
        np.testing.assert_allclose(now, rate, atol=1e-4)


def test_corners_are_those_of_the_robot() -> None:
    body = random_body(2)
    for name, corners in zip(body.stance.names, body.stance.corners, strict=True):
        np.testing.assert_allclose(corners, ROBOT.contact_corners(body.q)[name], atol=1e-12)


@pytest.mark.parametrize(("omega", "pace"), [(3.4, 2.0), (6.4, 1.5), (4.5, 3.0)])
def test_gains_by_the_rule(omega: float, pace: float) -> None:
    """Poles −ω and −k ω; CMP and DCM stabilisers with the gain k are the same law; what is given stays."""
    gains = ClassicGains(pace=pace).of(omega)
    stiffness, damping = gains.com
    poles = np.linalg.eigvals([[0.0, 1.0], [-stiffness, -damping]])
    np.testing.assert_allclose(np.sort(poles), [-pace * omega, -omega])
    k1, k2 = regulator_gains(omega, (-1.0, -pace))  # of the ZMP: ẍ = ω² (x − u)
    np.testing.assert_allclose([stiffness, damping], [-(omega**2) * (1.0 + k1), -(omega**2) * k2])
    x, v = 0.03, -0.2
    ahead = x + v / omega
    by_dcm, by_cmp = omega * (-pace * omega * ahead - v), omega**2 * (x - ahead - pace * ahead)
    assert by_dcm == pytest.approx(by_cmp) == pytest.approx(-stiffness * x - damping * v)
    assert np.roots([1.0, gains.base[1], gains.base[0]]) == pytest.approx(2 * [-pace * omega], rel=1e-6)
    given = ClassicGains(com=(60.0, 15.0), momentum=0.0).of(omega)
    assert (given.com, given.momentum) == ((60.0, 15.0), 0.0)


def test_priorities() -> None:
    """The first level is met; the second as well as it can be beside it; both metrics."""
    rng = np.random.default_rng(1)
    A, B, a, b = rng.normal(size=(3, 8)), rng.normal(size=(2, 8)), rng.normal(size=3), rng.normal(size=2)
    W = rng.normal(size=(8, 8))
    for metric in (None, W @ W.T + np.eye(8)):
        x = prioritised([(A, a), (B, b), (np.eye(8), np.zeros(8))], metric)
        np.testing.assert_allclose(A @ x, a, atol=1e-4)
        np.testing.assert_allclose(B @ x, b, atol=1e-4)
    conflict = prioritised([(A, a), (A[:1], a[:1] + 1.0)])
    np.testing.assert_allclose(A @ conflict, a, atol=1e-4)


@pytest.mark.parametrize("method", CLASSIC)
def test_torques_carry_the_robot_at_rest(method: str) -> None:
    """At the start, contact wrenches exist with which the commanded torques accelerate nothing."""
    control = classic_controller(method, ROBOT)
    body = control.start
    torque = np.array(control.command(0.0, State(0.0, np.array(ROBOT.home), np.zeros(ROBOT.nv))).torque)
    load = body.bias - np.r_[np.zeros(6), torque]
    wrenches = np.linalg.lstsq(body.contacts.T, load, rcond=None)[0]
    np.testing.assert_allclose(body.contacts.T @ wrenches, load, atol=0.05)


@pytest.mark.parametrize("asked", [0.2, 3.0])
def test_torques_ask_no_more_than_soles_give(asked: float) -> None:
    """With the contacts at rest, the CoP that the torques call for is in the soles, at their edge if more is asked."""
    control = classic_controller("operational_space", ROBOT)
    body, n = control.start, ROBOT.nv
    rows = np.vstack([body.contacts, body.com_jacobian])
    wanted = np.linalg.lstsq(rows, np.r_[np.zeros(len(body.contacts)), asked, 0.0, 0.0], rcond=None)[0]
    torque, J = control.torque_of(body, np.array(wanted, dtype=float)), body.contacts
    law = np.block([[body.mass_matrix, -J.T], [J, np.zeros((len(J), len(J)))]])
    found = np.linalg.lstsq(law, np.r_[np.r_[np.zeros(6), torque] - body.bias, -body.contact_bias], rcond=None)[0]
    wrenches = found[n:].reshape(-1, 6)
    moment = (np.cross(body.stance.points, wrenches[:, :3]) + wrenches[:, 3:]).sum(axis=0)
    heel = min(float(corners[:, 0].min()) for corners in body.stance.corners)
    cop = -moment[1] / wrenches[:, 2].sum()
    assert cop >= heel - 1e-6
    if asked > 1.0:
        assert cop == pytest.approx(heel, abs=1e-6)
    else:
        assert body.com_jacobian[0] @ found[:n] == pytest.approx(asked, abs=1e-3)


def test_refused() -> None:
    with pytest.raises(UnknownNameError, match="controller"):
        classic_controller("magic", ROBOT)
    with pytest.raises(NotSupportedError, match="floating base"):
        classic_controller("henze", sf.load("cartpole"))


@pytest.mark.parametrize(
    ("method", "phase", "least"),
    [("ramv_still", -1.0, 0.9), ("ramv_reactionless", 1.0, 0.9), ("resolved_momentum", -1.0, 0.3)],
)
def test_torso_twist(method: str, phase: float, least: float) -> None:
    """Arms in antiphase with conserved momentum, in phase in the reaction null space; resolved momentum lags behind."""
    found = torso_twist(method, ROBOT)
    assert found.phase == pytest.approx(phase, abs=0.01)
    assert found.achieved > least
    assert (found.moment > 0.1) == (method == "ramv_reactionless")
    if method == "resolved_momentum":
        assert found.achieved < 0.7


def test_torso_twist_needs_rates() -> None:
    with pytest.raises(UnknownNameError, match="rates"):
        torso_twist("henze", ROBOT)


def test_direct_control_brakes_before_limits() -> None:
    """A joint next to its limit decelerates at least so that it stops there."""
    control = classic_controller("direct", ROBOT)
    q, v = np.array(ROBOT.home), np.zeros(ROBOT.nv)
    q[7], v[6] = ROBOT.limits.upper[7] - 0.02, 1.5
    lower, upper = control._braking(standing_body(ROBOT, ROBOT.model.createData(), control.contacts, q, v))  # type: ignore[attr-defined]
    assert upper[6] == pytest.approx(-(1.5**2) / 0.04)
    assert np.isinf(np.delete(upper, 6)).all()
    assert np.isinf(lower).all()


def test_schedule_and_lean() -> None:
    """Gains of the base between two times of a schedule, and a CoM that is led to its lean and rests there."""
    schedule = ((0.0, 100.0, 20.0), (1.0, 100.0, 20.0), (2.0, 0.0, 10.0))
    gains = ClassicGains(base_schedule=schedule, lean=(0.02, 0.0, 0.0))
    control = classic_controller("operational_space", ROBOT, gains=gains)
    body = random_body(3)
    state = State(1.5, body.q, body.v)
    control.command(1.5, state)
    wanted = 50.0 * control.base_error(body) - 15.0 * body.base @ body.v
    np.testing.assert_allclose(control.base_acceleration(body), wanted, atol=1e-9)
    there = control.start.com + np.array([0.02, 0.0, 0.0])
    wanted = control.gains.com[0] * (there - body.com) - control.gains.com[1] * body.com_velocity
    np.testing.assert_allclose(control.com_acceleration(body), wanted, atol=1e-9)
