from functools import lru_cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import surefoot as sf
from surefoot.control import JointPd
from surefoot.feasibility import audit
from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts.demand import mean_net_wrench
from surefoot.feasibility.efforts.means import integral, second_rates
from surefoot.feasibility.forces.balance import net_wrench
from surefoot.motion import State, Trajectory, World
from surefoot.robot import Joint, Link
from surefoot.sim import Settings, Simulation
from tests.feasibility.flight_motions import thrown
from tests.feasibility.good_motions import loaded
from tests.feasibility.stages import judge, stages
from tests.feasibility.standing_motions import landing_log, of_log

RATES = (50, 100, 500, 1000)


def given(robot, time, q, v, a):
    """The motion as q alone, with v, and with v and a."""
    return Trajectory.of(robot, time, q), Trajectory.of(robot, time, q, v), Trajectory.of(robot, time, q, v, a=a)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("turn", [0.3, 3.0, 6.0])
def test_a_block_that_flies_and_turns_asks_for_nothing(rate, turn):
    """In closed form: a parabola, and a turn about a principal axis. Along its own axes nothing is constant."""
    block = loaded("block")
    time = np.arange(round(0.6 * rate) + 1) / rate
    R = Rotation.from_rotvec(np.outer(time, [0.0, turn, 0.0]))
    path = np.column_stack([0.5 * time, 0.0 * time, 2.0 + 2.0 * time - 0.5 * 9.81 * time**2])
    spin = np.tile([0.0, turn, 0.0], (len(time), 1))
    linear = R.inv().apply(np.column_stack([0.5 + 0.0 * time, 0.0 * time, 2.0 - 9.81 * time]))
    falling = R.inv().apply(np.tile([0.0, 0.0, -9.81], (len(time), 1))) - np.cross(spin, linear)
    for motion in given(
        block, time, np.hstack([path, R.as_quat()]), np.hstack([linear, spin]), np.hstack([falling, 0.0 * spin])
    ):
        case = Case(block, World(), motion)
        assert stages(case).efforts.violation.max() < 1e-6 * case.weight
        assert audit(motion, block, replay=False).passed


@pytest.mark.parametrize("velocities", [True, False])
@pytest.mark.parametrize("rate", RATES)
def test_a_robot_that_tumbles_with_swinging_legs_asks_for_nothing(rate, velocities):
    case = Case(loaded("anymal"), World(), thrown("anymal", rate, velocities=velocities))
    assert stages(case).efforts.violation.max() < 2e-3 * case.weight
    assert np.isfinite(stages(case).efforts.tau).all()
    forces = case.kernels.rnea(case.q, stages(case).efforts.demand.v, stages(case).efforts.demand.a)
    assert np.abs(forces[:, :6]).max() < 2e-3 * case.weight  # the accelerations belong to it


@pytest.mark.parametrize("velocities", [True, False])
@pytest.mark.parametrize("rate", RATES)
def test_a_flight_with_a_twentieth_of_the_weight_missing_is_found(rate, velocities):
    case = Case(loaded("anymal"), World(), thrown("anymal", rate, fall=0.95, velocities=velocities))
    assert stages(case).efforts.violation == pytest.approx(0.05 * case.weight, rel=0.02)
    result = audit(case.trajectory, case.given_robot, replay=False, collisions=False)
    assert [finding.item for finding in result.findings if finding.severity == "defect"] == ["admissible"]


@pytest.mark.parametrize("velocities", [True, False])
def test_a_robot_that_hovers_lacks_its_weight(velocities):
    one = loaded("anymal")
    high = np.array(one.home)
    high[2] += 1.0
    zero = np.zeros((50, one.nv)) if velocities else None
    case = Case(one, World(), Trajectory.of(one, np.arange(50) * 0.01, np.tile(high, (50, 1)), zero))
    assert stages(case).efforts.violation == pytest.approx(case.weight, rel=1e-6)


def test_a_planar_robot_that_flies_and_turns_asks_for_nothing():
    """Its mass is beside the base's origin, which moves on no parabola."""
    body = Link("body", None, Joint("base", "planar"), mass=2.0, com=(0.2, 0.1, 0.0), inertia=np.diag([0.1, 0.1, 0.1]))
    one = sf.Robot.from_tree("disc", [body], base="planar")
    time, turn = np.arange(61) * 0.01, 4.0
    angle = turn * time
    c, s = np.cos(angle), np.sin(angle)
    R = np.stack([np.stack([c, -s], axis=1), np.stack([s, c], axis=1)], axis=1)
    com = np.column_stack([0.5 * time, 3.0 + 2.0 * time - 0.5 * 9.81 * time**2])
    q = np.column_stack([com - R @ [0.2, 0.1], c, s])
    for fall, missing in ((1.0, 0.0), (0.9, 0.1)):
        case = Case(one, World(gravity=(0.0, -9.81 / fall, 0.0)), Trajectory.of(one, time, q))
        assert stages(case).efforts.violation == pytest.approx(missing * case.weight, abs=2e-4 * case.weight)


def test_mean_wrenches_of_a_landing_are_those_that_the_engine_exerts():
    """Moments about points that stand still in each window, so that what contacts exert may be averaged as well."""
    case = Case(loaded("hexapod"), World(), landing_log("hexapod"))
    com = case.kernels.com(case.q)
    acting = judge(net_wrench, case, com)
    acting[:, :3] -= case.robot.mass * case.world.gravity
    acting[:, 3:] += np.cross(com, acting[:, :3])
    gained = np.cumsum(0.001 * acting, axis=0)  # the engine logs wrenches of the step before
    mean = second_rates(integral(gained, case.time), case.time, 0.02)
    mean[:, 3:] -= np.cross(com, mean[:, :3])
    found = judge(mean_net_wrench, case, com)
    inside = slice(25, -25)
    assert np.abs(found - mean)[inside, :3].max() < 0.02 * case.weight
    assert np.abs(found - mean)[inside, 3:].max() < 2e-3 * case.weight


@lru_cache(maxsize=1)
def jump():
    """Joint springs throw a robot up that moves forward over its feet: what an engine logs of it."""
    one = loaded("a1")
    low = np.array(one.home)
    low[7:] += np.tile([0.0, 0.3, -0.6], 4)  # hip, thigh, calf
    low[2] -= min(corners[:, 2].min() for corners in one.contact_corners(low).values())
    kernels, v = sf.compile(one), np.zeros(one.nv)
    J = np.vstack([kernels.jacobian(low, contact.frame)[:3] for contact in one.contacts.values()])
    v[0] = 0.5
    v[6:] = -np.linalg.pinv(J[:, 6:]) @ J[:, 0] * v[0]
    springs = JointPd(one, stiffness=150.0, damping=1.0)
    settings = Settings(0.3, 0.001, 0.001, engine="mujoco")
    return of_log(one, Simulation(one, springs, World(friction=0.9), settings, initial=State(0.0, low, v)).run())


def seen(log, rate, velocities):
    """What is left of a log at a lower rate."""
    rows = slice(None, None, 1000 // rate)
    return Trajectory.of(loaded("a1"), log.time[rows], log.q[rows], log.v[rows] if velocities else None)


@pytest.mark.parametrize("velocities", [True, False])
@pytest.mark.parametrize("rate", RATES)
def test_a_take_off_passes(rate, velocities):
    """What contacts exert last counts up to 20 ms after they are open."""
    motion = seen(jump(), rate, velocities)
    case = Case(loaded("a1"), World(friction=0.9), motion)
    assert stages(case).touch.height[len(motion) // 2].min() > 0.02  # it flies
    result = audit(motion, case.given_robot, case.world, replay=False, collisions=False)
    assert [finding.message for finding in result.findings if finding.severity == "defect"] == []
    assert stages(case).efforts.violation.max() < 0.5 * case.tolerances.admissible * case.weight


@pytest.mark.parametrize("velocities", [True, False])
def test_a_take_off_on_ground_that_is_too_slippery_is_found(velocities):
    motion = seen(jump(), 500, velocities)
    result = audit(motion, loaded("a1"), World(friction=0.3), replay=False, collisions=False)
    found = [finding for finding in result.findings if finding.item == "friction"]
    assert found
    assert all(finding.end < 0.12 for finding in found)  # of the stance alone
