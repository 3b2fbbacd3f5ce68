"""Forward and inverse dynamics against the explicit cart-pole, recursions over trees, Pinocchio, and dense KKT."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from surefoot.dynamics import crba, nonlinear_effects, rnea
from surefoot.dynamics import forward_dynamics as tree_forward
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.redundant import (
    Stepper,
    forward_dynamics,
    hinge_residuals,
    inputs_of,
    inverse_dynamics,
    joint_accelerations,
    model_of,
    posed,
    simulate,
    state_of,
)
from surefoot.robot import Coupling, Joint, Link, Robot
from tests.redundant.examples import four_bar, package_model, random_motion, random_robot
from tests.sim.examples import solid


def cart_pole(tilt: float, rate: float, u: float) -> tuple[float, float]:
    """Accelerations of the explicit model (tilt 0 is upright)."""
    s, c, g = np.sin(tilt), np.cos(tilt), 9.81
    cart = (u + 0.1 * g * s * c - 0.1 * rate**2 * s) / (1.0 + 0.1 * s**2)
    return c * cart + g * s, cart


@pytest.mark.parametrize("solver", ["dyadic", "dense"])
def test_cart_pole(solver) -> None:
    model = package_model("cart-pole")
    for tilt, rate, u in ((0.3, 0.7, 2.0), (2.5, -3.0, -7.0), (np.pi, 0.0, 20.0)):
        state = posed(model, {"tilt": tilt, "travel": 0.4}, {"tilt": rate, "travel": -1.0})
        found = forward_dynamics(model, state, [u], solver=solver)
        np.testing.assert_allclose(found.freedoms, cart_pole(tilt, rate, u), rtol=1e-10)
        assert found.u == pytest.approx([u], rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(9))
@pytest.mark.parametrize("solver", ["dyadic", "dense"])
def test_random_robots(seed: int, solver) -> None:
    """The same accelerations as articulated bodies and as Pinocchio, to 1e-9 relative."""
    robot = random_robot(seed)
    model, (q, v, tau) = model_of(robot), random_motion(robot, seed)
    state = state_of(robot, model, q, v)
    assert max(gap.max() for gap in hinge_residuals(model, state)) < 1e-12
    found = forward_dynamics(model, state, inputs_of(robot, q, tau), solver=solver)
    a = joint_accelerations(robot, model, q, v, found.freedoms)
    for wanted in (tree_forward(robot.tree, q, v, tau), pin.aba(robot.model, robot.model.createData(), q, v, tau)):
        np.testing.assert_allclose(a, wanted, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize("seed", range(4))
def test_hinge_forces_are_the_reactions_of_the_recursion(seed: int) -> None:
    """The wrench that Pinocchio's recursion passes through each joint, about the child's centre of mass."""
    robot = random_robot(seed)
    model, (q, v, tau) = model_of(robot), random_motion(robot, seed + 70)
    found = forward_dynamics(model, state_of(robot, model, q, v), inputs_of(robot, q, tau))
    data = robot.model.createData()
    a = joint_accelerations(robot, model, q, v, found.freedoms)
    pin.rnea(robot.model, data, q, v, a)
    pin.updateGlobalPlacements(robot.model, data)
    scale = np.abs(found.forces).max()
    for i in range(robot.tree.n):
        wrench, R = data.f[i + 1], data.oMi[i + 1].rotation
        moment = R @ (wrench.angular - np.cross(robot.tree.coms[i], wrench.linear))
        np.testing.assert_allclose(found.forces[i], R @ wrench.linear, atol=1e-9 * scale)
        np.testing.assert_allclose(found.torques[i], moment, atol=1e-9 * scale)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_inverse_dynamics_by_other_weights(seed: int) -> None:
    robot = random_robot(seed)
    model, (q, v, tau) = model_of(robot), random_motion(robot, seed + 20)
    state = state_of(robot, model, q, v)
    forward = forward_dynamics(model, state, inputs_of(robot, q, tau))
    found = inverse_dynamics(model, state, forward.freedoms)
    np.testing.assert_allclose(found.u, inputs_of(robot, q, tau), atol=1e-8 * np.abs(forward.forces).max())
    a = joint_accelerations(robot, model, q, v, found.freedoms)
    np.testing.assert_allclose(
        found.u, inputs_of(robot, q, rnea(robot.tree, q, v, a)), atol=1e-8 * np.abs(forward.forces).max()
    )


def test_underactuated_wishes_give_way() -> None:
    """One force, two accelerations wished: the laws hold, the wishes are shared by their weights."""
    model = package_model("cart-pole")
    state = posed(model, {"tilt": 0.2})
    mild, strict = (inverse_dynamics(model, state, [0.0, 0.0], weights=w) for w in ([1e-6, 1e-6], [1e-4, 1e-10]))
    assert np.abs(mild.residual).max() < 1e-4
    assert abs(strict.freedoms[0]) < 1e-3 < abs(mild.freedoms[0])
    np.testing.assert_allclose(strict.freedoms, cart_pole(0.2, 0.0, strict.u[0]), atol=1e-5)


def test_four_bar_against_the_dense_equations() -> None:
    """More hinges than bodies, and hyperstatic in space: M a + h = tau + Jᵀ λ with J a = -J̇ v, by least squares."""
    robot = four_bar()
    q, v = closed_four_bar(robot)
    model, tau = model_of(robot), np.array([0.7, -0.2, 0.4])
    assert len(model.hinges) == 4 > len(model.bodies) == 3
    state = state_of(robot, model, q, v)
    assert max(gap.max() for gap in hinge_residuals(model, state)) < 1e-9
    J = loop_jacobian(robot, q)
    h = 1e-6
    rate = (loop_jacobian(robot, q + h * v) - loop_jacobian(robot, q - h * v)) / (2 * h) @ v
    M, bias = crba(robot.tree, q), nonlinear_effects(robot.tree, q, v)
    system = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
    wanted = np.linalg.lstsq(system, np.concatenate([tau - bias, -rate]), rcond=1e-10)[0][:3]
    for solver in ("dyadic", "dense"):
        found = forward_dynamics(model, state, inputs_of(robot, q, tau), solver=solver)
        a = joint_accelerations(robot, model, q, v, found.freedoms)
        np.testing.assert_allclose(a, wanted, atol=1e-7 * np.abs(wanted).max())
        assert np.abs(found.residual).max() < 1e-9


def loop_jacobian(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Velocity of the coupling point (x, y, z) and turning about x and z, of the last link, in world axes."""
    data = robot.model.createData()
    pin.computeJointJacobians(robot.model, data, q)
    J = pin.getJointJacobian(robot.model, data, 3, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    arm = data.oMi[3].rotation @ np.array([0.5, 0.0, 0.0])
    return np.vstack([J[:3] + np.cross(J[3:].T, arm).T, J[3], J[5]])


def closed_four_bar(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """A closed configuration by Newton's method, and a velocity that keeps it closed."""
    q = np.array([-1.2, 0.6, 1.2])
    for _ in range(60):
        data = robot.model.createData()
        pin.forwardKinematics(robot.model, data, q)
        gap = data.oMi[3].act(np.array([0.5, 0.0, 0.0])) - np.array([1.0, 0.0, 0.0])
        q = q - np.linalg.lstsq(loop_jacobian(robot, q)[:3], gap, rcond=None)[0]
    return q, np.linalg.svd(loop_jacobian(robot, q))[2][-1]


def test_hyperstatic_forces_can_be_shared() -> None:
    """A standing biped: with a small wish for small forces, both legs carry the same."""
    model = package_model("planar-biped")
    state = posed(model, bodies={"torso": (0.0, 1.22, 0.0)})
    stepper = Stepper(model, state, 0.01)
    stepper.settle(np.zeros(10))
    found = forward_dynamics(model, stepper.state, None, None, stepper.boundaries, spread=1e-12)
    rows = [model.layout.freedoms.names.index(f"{side}_heel_y") for side in ("right", "left")]
    assert found.reactions[rows[0]] == pytest.approx(found.reactions[rows[1]], rel=1e-6)
    normals = [c.normal for c in model.layout.contacts]
    assert found.reactions[normals].sum() == pytest.approx(87.6 * 9.81, rel=1e-6)


def test_what_is_no_chain_of_links_is_refused() -> None:
    rng = np.random.default_rng(0)
    screw = Joint("screw", "helical", axis=(0.0, 0.0, 1.0), pitch=0.1)
    robot = Robot.from_tree("screw", [Link("base"), Link("nut", "base", screw, **solid(rng))], "fixed", drives=())
    with pytest.raises(NotSupportedError, match="screw"):
        model_of(robot)
    with pytest.raises(ShapeError, match="inputs must be"):
        forward_dynamics(package_model("cart-pole"), posed(package_model("cart-pole")), [1.0, 2.0])


def test_couplings_are_refused_by_name() -> None:
    """The formalism has no row for them: a model without them would be another robot."""
    robot = four_bar()
    coupled = robot.replace(couplings=(Coupling("j0", "j1", 2.0),))
    with pytest.raises(NotSupportedError, match="`j0` follows `j1`") as caught:
        model_of(coupled)
    assert model_of(coupled.replace(couplings=())) == model_of(robot)
    assert "couplings=()" in caught.value.next_step


def limited() -> Robot:
    """A pendulum with a slide, both with limits, on a table that slides within a box; a wheel turns without end."""
    rng = np.random.default_rng(8)
    links = [Link("floor")]
    for name, joint in {
        "arm": Joint("swing", "revolute", axis=(0.0, 1.0, 0.0), lower=-0.5, upper=0.25),
        "tip": Joint("reach", "prismatic", axis=(0.0, 0.0, 1.0), lower=-0.1),
        "table": Joint("table", "translation"),
        "wheel": Joint("wheel", "continuous", axis=(1.0, 0.0, 0.0)),
    }.items():
        links.append(Link(name, links[-1].name, joint, **solid(rng)))
    return Robot.from_tree("limited", links, "fixed", drives=())


def test_limits_of_joints_are_stops() -> None:
    robot = limited()
    model = model_of(robot)
    law = model.layout.freedoms
    stops = {name: (low, high) for name, low, high in zip(law.names, law.lower, law.upper, strict=True)}
    assert stops["swing"] == (-0.5, 0.25)
    assert stops["reach"] == (-0.1, np.inf)
    free = {name for name, pair in stops.items() if pair == (-np.inf, np.inf)}
    assert free == {"table.x", "table.y", "table.z", "wheel"}


def test_a_robot_stays_within_its_limits() -> None:
    """An arm that falls is held by its stop, with the moment of its weight."""
    arm = Joint("swing", "revolute", axis=(0.0, 1.0, 0.0), lower=-0.5, upper=0.25)
    weight = {"mass": 2.0, "com": np.array([0.5, 0.0, 0.0]), "inertia": 0.1 * np.eye(3)}
    robot = Robot.from_tree("arm", [Link("floor"), Link("arm", "floor", arm, **weight)], "fixed", drives=())
    model = model_of(robot)
    run = simulate(model, state_of(robot, model, np.zeros(1), np.zeros(1)), [0.0], duration=1.0, dt=0.005)
    assert run.coordinates.max() < 0.25 + 0.005 * 3.0  # met at the end of a step
    assert run.coordinates[-1, 0] == pytest.approx(0.25, abs=1e-3)
    assert run.reactions[-1, 0] == pytest.approx(-2.0 * 9.81 * 0.5 * np.cos(0.25), rel=1e-3)
