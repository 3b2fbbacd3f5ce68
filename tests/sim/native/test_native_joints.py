import numpy as np
import pytest

from surefoot.errors import NotSupportedError
from surefoot.motion import State
from surefoot.robot import Joint, Link, Robot
from surefoot.sim.drives.actuation import Actuation
from surefoot.sim.native.engine import NativeEngine
from surefoot.sim.native.joints import DrivenRows, Resistance

from ..native_examples import robot_named, stretched_arm

INERTIA = 0.3


def wheel(**numbers):
    """A wheel on an axis along gravity."""
    joint = Joint("axle", "revolute", axis=(0.0, 0.0, 1.0), **numbers)
    disc = Link("disc", "frame", joint, mass=1.0, inertia=np.diag([0.2, 0.2, INERTIA]))
    return Robot.from_tree("wheel", [Link("frame"), disc], "fixed")


def drive(torque=0.0, position=0.0, kp=0.0, velocity=0.0, kd=0.0, limit=np.inf):
    return Actuation(*(np.array([float(x)]) for x in (torque, position, kp, velocity, kd, -limit, limit)))


def after(robot, actuation, q=0.0, v=0.0, h=1e-3, **options):
    engine = NativeEngine(robot, None, h, **options)
    engine.reset(State.of(robot, [q], [v]))
    engine.advance(actuation)
    return engine


def test_springs_act_with_their_force_at_the_end_of_the_step():
    h = 1e-3
    for kp, kd in ((500.0, 20.0), (1e7, 1e4)):
        engine = after(wheel(), drive(2.0, 0.7, kp, 1.0, kd), q=0.2, v=-3.0, h=h)
        q, v = engine.state.q[0], engine.state.v[0]
        torque = 2.0 + kp * (0.7 - q) + kd * (1.0 - v)
        assert engine.torques()[0] == pytest.approx(torque, rel=1e-9)
        assert INERTIA * (v + 3.0) / h == pytest.approx(torque, rel=1e-9)


def test_limits_hold_for_the_force_that_acts():
    engine = after(wheel(), drive(0.0, 1.0, 1e6, 0.0, 1e3, limit=5.0))
    assert engine.torques()[0] == 5.0
    assert engine.state.v[0] == pytest.approx(1e-3 * 5.0 / INERTIA)
    near = after(wheel(), drive(0.0, 1e-6, 1e6, 0.0, 1e3, limit=5.0))  # the spring at the start would exceed nothing
    assert abs(near.torques()[0]) < 5.0


def test_torques_without_springs_are_clipped():
    assert after(wheel(), drive(9.0, limit=5.0)).torques()[0] == 5.0
    assert after(wheel(), drive(-9.0, limit=5.0), springs=False).torques()[0] == -5.0


def test_an_engine_without_springs_refuses_them():
    engine = NativeEngine(wheel(), None, springs=False)
    with pytest.raises(NotSupportedError, match="springs"):
        engine.advance(drive(kp=1.0))


def test_viscous_friction_is_implicit():
    robot, h = wheel(damping=1e3), 1e-3
    engine = after(robot, drive(), v=2.0, h=h)
    assert engine.state.v[0] == pytest.approx(2.0 / (1.0 + h * 1e3 / INERTIA), rel=1e-12)
    assert after(robot, drive(), v=2.0, friction=False).state.v[0] == 2.0


def test_dry_friction_decelerates_and_holds():
    engine = after(wheel(friction=0.6), drive(), v=1.0)
    assert 1.0 - engine.state.v[0] == pytest.approx(1e-3 * 0.6 / INERTIA, rel=5e-3)
    engine.native_steps(1000, drive())
    assert abs(engine.state.v[0]) < 1e-9
    engine.native_steps(1000, drive(0.5))  # less than the friction: it creeps below the speed of regularisation
    assert abs(engine.state.v[0]) < 1e-3
    engine.native_steps(1000, drive(0.9))
    assert engine.state.v[0] > 0.5


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_stops_stop(integrator):
    robot = wheel(lower=-0.5, upper=0.3, effort=10.0)
    engine = after(robot, drive(), v=2.0, integrator=integrator)
    high = 0.0
    for _ in range(1500):
        engine.advance(drive(5.0))
        high = max(high, engine.state.q[0])
    assert high < 0.34
    assert engine.state.q[0] == pytest.approx(0.3, abs=0.02)
    assert abs(engine.state.v[0]) < 1e-3
    assert after(robot, drive(), q=0.29, v=20.0, limits=False).state.v[0] == 20.0


def test_positions_of_driven_joints():
    arm = stretched_arm()
    rows = DrivenRows.of(arm)
    assert rows.kinds == ("revolute", "continuous", "prismatic", "spherical", "spherical", "spherical")
    q = arm.q_of({"j0": 0.3, "j1": 3.0, "j2": -0.2})
    wanted = np.array([0.5, -3.0, 0.1, 9.0, 9.0, 9.0])
    np.testing.assert_allclose(rows.error(q, wanted), [0.2, 2.0 * np.pi - 6.0, 0.3, 0.0, 0.0, 0.0], atol=1e-12)
    engine = NativeEngine(arm)
    with pytest.raises(NotSupportedError, match="several axes"):
        engine.advance(Actuation(*(np.ones(6) for _ in range(7))))


def test_explicit_stops_are_no_stiffer_than_the_step_allows():
    robot = robot_named("g1")
    soft, stiff = (Resistance.of(robot, 1e-3, explicit=x) for x in (True, False))
    assert (soft.stiffness <= stiff.stiffness).all()
    assert (soft.stiffness < stiff.stiffness).any()
