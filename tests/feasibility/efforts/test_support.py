from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts.efforts import on_bodies
from surefoot.feasibility.efforts.support import in_frames, support_of, surfaces_at_touch, touch_frames, touch_jacobians
from surefoot.motion import Trajectory, World
from tests.feasibility.good_motions import loaded
from tests.feasibility.stages import judge, stages
from tests.feasibility.standing_motions import still


def turned(one, angle, axis):
    """The robot at home, turned about a world axis through the ground below its base."""
    R = pin.AngleAxis(angle, np.asarray(axis, dtype=float)).matrix()
    q = np.array(one.home)
    q[3:7] = pin.Quaternion(R @ pin.Quaternion(q[3:7]).matrix()).coeffs()
    return q


def test_balls_touch_with_their_lowest_point_along_the_ground():
    one = loaded("anymal")
    case = Case(one, World(), still(one, turned(one, 0.3, (1.0, 0.0, 0.0))))
    frames, name = judge(touch_frames, case)[0], case.contact_names[0]
    surface = one.contacts[name]
    T = one.placements(case.q[0])[surface.frame] @ surface.placement
    centre = (T @ [0.0, 0.0, surface.radius, 1.0])[:3]
    assert frames[0, :3, 3] == pytest.approx(centre - [0.0, 0.0, surface.radius])
    assert frames[:, :3, 2] == pytest.approx(np.tile([0.0, 0.0, 1.0], (4, 1)))
    assert frames[:, :3, :3] @ np.swapaxes(frames[:, :3, :3], 1, 2) == pytest.approx(np.tile(np.eye(3), (4, 1, 1)))
    assert np.linalg.det(frames[:, :3, :3]) == pytest.approx(1.0)


def test_lifted_corners_do_not_push():
    """A humanoid that tips on its toes stands on the corners at the front."""
    one = loaded("g1")
    q = turned(one, 0.15, (0.0, 1.0, 0.0))
    q[2] -= min(corners[:, 2].min() for corners in one.contact_corners(q).values())
    case = Case(one, World(), still(one, q))
    support = judge(support_of, case, case.kernels.com(case.q))
    height = support.points[0, :, 2]
    assert support.pushes[0].sum() == 4
    assert height[support.pushes[0]].max() < 0.01 < height[~support.pushes[0]].min()
    assert support.cones.use[0].sum() == 16  # four sides at four corners


def test_tiny_corners_are_left_out_but_not_the_area():
    one = loaded("g1")
    angle = np.linspace(0.0, 2.0 * np.pi, 65)[:-1]
    disc = 0.05 * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    round_feet = {name: replace(surface, corners=disc) for name, surface in one.contacts.items()}
    case = Case(one.replace(contacts=round_feet), World(), still(one))
    for simple in surfaces_at_touch(case):
        x, y = simple.corners[:, 0], simple.corners[:, 1]
        area = 0.5 * abs(x @ np.roll(y, 1) - y @ np.roll(x, 1))
        assert 8 <= len(x) <= 24
        assert area == pytest.approx(np.pi * 0.05**2, rel=0.07)


def test_wrenches_are_the_same_in_other_frames():
    """Power does not depend on the frame."""
    rng = np.random.default_rng(0)
    source, target = (np.array([pin.SE3.Random().homogeneous for _ in range(5)]) for _ in range(2))
    wrench, twist = rng.standard_normal((5, 6)), rng.standard_normal((5, 6))
    moved = in_frames(wrench, source, target)
    for k in range(5):
        relative = pin.SE3(target[k]).inverse() * pin.SE3(source[k])
        assert moved[k] @ (relative.toActionMatrix() @ twist[k]) == pytest.approx(wrench[k] @ twist[k])


def test_wrenches_on_bodies_do_what_jacobians_say():
    one = loaded("anymal")
    rng = np.random.default_rng(1)
    q = np.array([pin.integrate(one.model, np.array(one.home), 0.2 * rng.standard_normal(one.nv)) for _ in range(3)])
    case = Case(one, World(), Trajectory.of(one, [0.0, 0.1, 0.2], q))
    wrenches, zero = rng.standard_normal((3, 4, 6)), np.zeros((3, one.nv))
    without, pushed = (
        case.kernels.rnea(q, zero, zero),
        case.kernels.rnea(q, zero, zero, external=on_bodies(case, wrenches)),
    )
    J = judge(touch_jacobians, case, judge(touch_frames, case), np.arange(3))
    at_touch = in_frames(wrenches, stages(case).touch.placements, judge(touch_frames, case))
    assert without - pushed == pytest.approx(np.einsum("ncij,nci->nj", J, at_touch), abs=1e-9)


def test_surfaces_near_the_ground_may_carry_however_fast():
    one = loaded("hexapod")
    time = np.arange(41) * 0.002
    q = np.tile(one.home, (41, 1))
    q[:, 2] += np.maximum(0.004 - 0.5 * time, 0.0)
    case = Case(one, World(), Trajectory.of(one, time, q))
    assert judge(support_of, case, case.kernels.com(q)).carrying.all()
    given = Case(one, World(), replace(case.trajectory, schedule=stages(case).touch.schedule))
    assert (judge(support_of, given, case.kernels.com(q)).carrying[20:] == stages(given).touch.active[20:]).all()
