import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import NotSupportedError
from surefoot.motion import State, World
from surefoot.sim.native.contact_laws import Rigid
from surefoot.sim.native.engine import NativeEngine

from ..examples import block
from ..native_examples import incline, on_incline, robot_named, run, springs


def by_pinocchio(robot, mover):
    """Impulses of the last problem by Pinocchio's projected Gauss–Seidel."""
    G, bias, _, friction, _ = mover.problem
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for mu in friction:
        model = pin.PointContactConstraintModel(robot.model, 1, pin.SE3.Identity())
        model.setFriction(float(mu))
        models.append(pin.ConstraintModel(model))
        datas.append(models[-1].createData())
    settings, result = pin.PGSSolverSettings(), pin.PGSSolverResult()
    settings.max_iterations = 100_000
    settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = 1e-12
    settings.relative_feasibility_tol = settings.relative_complementarity_tol = 1e-15
    pin.PGSConstraintSolver().solve(
        pin.DelassusOperatorDense(G.copy()), bias.ravel().copy(), models, datas, settings, result
    )
    return np.array(result.retrieveConstraintImpulses()).reshape(-1, 3)


@pytest.mark.parametrize("friction", [0.1, 0.3, 5.0])
def test_impulses_are_those_of_pinocchio(friction):
    robot = block()
    engine = NativeEngine(robot, World.flat(friction), contact=Rigid(tolerance=1e-12, sweeps=20_000))
    for seed in range(4):
        v = 0.3 * np.random.default_rng(seed).standard_normal(6)
        engine.reset(State.of(robot, v=v))
        mover = engine._movers[0]
        expected = by_pinocchio(robot, mover)
        G = mover.problem[0]
        np.testing.assert_allclose(G @ (mover.impulse - expected).ravel(), 0.0, atol=1e-8)


def test_the_laws_of_contact_hold():
    """No point goes down, none pulls, those that carry do not leave, cones hold, friction is against the motion."""
    robot = robot_named("hexapod")
    engine = NativeEngine(robot, World.flat(0.4), 1e-3, contact="rigid")
    v = np.zeros(robot.nv)
    v[:3] = 0.8, 0.3, -0.2
    engine.reset(State.of(robot, v=v))
    mover, slid = engine._movers[0], 0
    for _ in range(60):
        engine.advance(springs(robot, 30.0, 1.0))
        G, bias, _, friction, _ = mover.problem
        u = (G @ mover.impulse.ravel()).reshape(-1, 3) + bias
        push, rise = mover.impulse[:, 2], u[:, 2]
        assert push.min() >= 0.0
        assert rise.min() > -1e-8
        assert np.abs(push * rise).max() < 1e-9
        along, slide = mover.impulse[:, :2], u[:, :2]
        assert (np.linalg.norm(along, axis=1) <= friction * push * (1.0 + 1e-9)).all()
        moving = (push > 1e-6) & (np.linalg.norm(slide, axis=1) > 1e-6)
        slid += moving.sum()
        limit = -(friction * push / np.linalg.norm(slide, axis=1))[:, None] * slide
        np.testing.assert_allclose(along[moving], limit[moving], atol=1e-6)
        assert (engine.modes()[moving] == 2.0).all()
    assert slid > 10


@pytest.mark.parametrize(("share", "slides"), [(0.98, False), (1.02, True)])
def test_a_block_on_an_incline(share, slides):
    """It sticks below atan μ without creeping, and slides above with g (sin − μ cos)."""
    friction, robot = 0.5, block()
    angle = share * np.arctan(friction)
    engine = NativeEngine(robot, incline(angle, friction), 1e-3, contact=Rigid(sweeps=5000))
    engine.reset(on_incline(robot, angle, 0.1))
    run(engine, 0.2, springs(robot))
    expected = 0.2 * 9.81 * (np.sin(angle) - friction * np.cos(angle)) if slides else 0.0
    assert np.linalg.norm(engine.state.v[:3]) == pytest.approx(expected, abs=1e-6)


def test_restitution():
    robot = block()
    engine = NativeEngine(robot, World.flat(), 1e-4, contact=Rigid(restitution=0.5))
    q = np.array(robot.home)
    q[2] += 0.05
    engine.reset(State.of(robot, q))
    speed = []
    for _ in range(1500):
        engine.advance(springs(robot))
        speed.append(engine.state.v[2])
    fall, bounce = min(speed), max(speed)
    assert fall == pytest.approx(-np.sqrt(2.0 * 9.81 * 0.05), rel=0.01)
    assert bounce == pytest.approx(-0.5 * fall, rel=0.01)


def test_a_step_above_the_ground_lands_on_it():
    robot = block()
    engine = NativeEngine(robot, World.flat(), 5e-3, contact="rigid")
    q = np.array(robot.home)
    q[2] += 0.013
    engine.reset(State.of(robot, q))
    run(engine, 1.0, springs(robot))
    assert engine.state.q[2] == pytest.approx(0.1, abs=1e-6)


def test_only_semi_implicit():
    with pytest.raises(NotSupportedError, match="semi-implicit"):
        NativeEngine(block(), World.flat(), contact="rigid", integrator="rk4")


def test_a_push_ends_with_its_release_and_with_a_reset():
    robot = block()
    engine = NativeEngine(robot, World.flat(0.0), 1e-3, contact="rigid")
    engine.push("box", [10.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    run(engine, 0.1, springs(robot))
    pushed = engine.state.v[0]
    assert pushed == pytest.approx(1.0 / robot.mass, rel=1e-9)
    engine.release()
    run(engine, 0.1, springs(robot))
    assert engine.state.v[0] == pytest.approx(pushed, rel=1e-9)
    np.testing.assert_allclose(engine.balance.momentum_residual, 0.0, atol=1e-9)
    engine.push("box", [10.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    engine.reset(State.of(robot))
    run(engine, 0.1, springs(robot))
    assert abs(engine.state.v[0]) < 1e-12
