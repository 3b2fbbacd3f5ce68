import numpy as np
import pinocchio as pin
import pytest

from surefoot.feasibility.case import Case, Tolerances
from surefoot.feasibility.efforts.support import touch_frames, touch_jacobians
from surefoot.feasibility.forces.impact import check_impact, effective_masses
from surefoot.motion import Trajectory, World
from tests.feasibility.good_motions import loaded
from tests.feasibility.stages import judge, stages
from tests.feasibility.standing_motions import failures, squat_case


def landing(name, speed, tolerances=None, dt=0.001):
    """A robot that sinks upright at a constant speed and stops at once when it touches."""
    one = loaded(name)
    time = np.arange(301) * dt
    height = np.maximum(0.1 - speed * time, 0.0)
    q = np.tile(one.home, (len(time), 1))
    q[:, 2] += height
    v = np.zeros((len(time), one.nv))
    v[height > 0.0, 2] = -speed
    return Case(one, World(), Trajectory.of(one, time, q, v), tolerances or Tolerances())


@pytest.mark.parametrize("name", ["g1", "anymal"])
def test_touch_downs_are_found_with_their_speed(name):
    (series,) = judge(check_impact, landing(name, 1.6))
    assert {part for _, part in failures([series])} == set(loaded(name).contacts)
    assert series.time == pytest.approx(0.0625, abs=0.02)
    speed = series.value / series.upper * Tolerances().impact
    assert speed[~np.isnan(speed)] == pytest.approx(1.6, rel=1e-6)


def test_slow_touch_downs_pass_and_so_do_fast_ones_if_told():
    assert failures(judge(check_impact, landing("anymal", 0.8))) == set()
    assert failures(judge(check_impact, landing("anymal", 1.6, Tolerances(impact=2.0)))) == set()


def test_effective_mass_is_that_of_a_free_contact():
    """1 / (n M⁻¹ nᵀ) of the vertical at the foot, by Pinocchio."""
    case = landing("anymal", 0.8)
    one = case.given_robot
    sample, contact = np.nonzero(stages(case).touch.active[1:] & ~stages(case).touch.active[:-1])
    mass = judge(effective_masses, case, sample + 1, contact)
    q = np.array(case.q[sample[0] + 1])
    M = pin.crba(one.model, one.model.createData(), q)
    M = np.triu(M) + np.triu(M, 1).T
    surface = one.contacts[case.contact_names[contact[0]]]
    J = pin.computeFrameJacobian(
        one.model, one.model.createData(), q, one.frame_id(surface.frame), pin.LOCAL_WORLD_ALIGNED
    )
    T = one.placements(q)[surface.frame]
    bottom = T[:3, :3] @ (surface.placement @ [0.0, 0.0, surface.radius, 1.0])[:3] - [0.0, 0.0, surface.radius]
    row = J[2] + np.cross(bottom, [0.0, 0.0, 1.0]) @ J[3:]
    assert mass[0] == pytest.approx(1.0 / (row @ np.linalg.solve(M, row)), rel=1e-6)


def test_a_motion_without_touch_downs_has_no_impact():
    (series,) = judge(check_impact, squat_case("g1", rate=100.0))
    assert not series.parts


def test_links_without_mass_leave_the_rest_as_it_is():
    """The fingers of this robot have no mass, so that M is singular; without them it is not."""
    case = landing("romeo", 0.8)
    robot = case.given_robot
    M = pin.crba(robot.model, robot.model.createData(), np.array(case.q[10]))
    M = np.triu(M) + np.triu(M, 1).T
    heavy = np.diag(M) > 1e-12
    assert not heavy.all()
    sample = np.array([10])
    normal = judge(touch_jacobians, case, judge(touch_frames, case), sample)[0, 0, 2, heavy]
    wanted = 1.0 / (normal @ np.linalg.solve(M[np.ix_(heavy, heavy)], normal))
    assert judge(effective_masses, case, sample, np.array([0]))[0] == pytest.approx(wanted, rel=1e-6)
    assert len(judge(check_impact, case)[0].time)
