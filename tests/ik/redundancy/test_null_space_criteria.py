"""Criteria: gradients by differences, they add up, and the null space lets them fall without touching the task."""

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.collision import CollisionModel
from surefoot.errors import ShapeError
from surefoot.ik.redundancy.null_space_criteria import (
    Cost,
    DistanceCriterion,
    LimitCriterion,
    MomentumWeight,
    PostureCriterion,
    together,
)
from surefoot.ik.textbook.clik import liegeois_rates
from surefoot.motion import Quintic


@pytest.fixture(scope="module")
def humanoid():
    return sf.load("humanoid")


@pytest.fixture(scope="module")
def arm():
    return sf.load("arm4")


def pole_distance(robot, pole):
    """Distances of the four link ends of the planar arm to a point, with gradients: plain arrays."""
    k = sf.compile(robot)
    names = ["link2", "link3", "link4", "tip"]

    def distances(q):
        places = k.frames(q, names)[:, :3, 3]
        apart = places - pole
        d = np.linalg.norm(apart, axis=1)
        J = np.stack([k.jacobian(q, name)[:3] for name in names])
        return d, np.einsum("pi,pij->pj", apart / d[:, None], J)

    return distances


def by_differences(robot, criterion, q, h=1e-6):
    """dH along each unit velocity."""
    steps = h * np.eye(robot.nv)
    ends = [[criterion(pin.integrate(robot.model, q, sign * step)).value for sign in (1, -1)] for step in steps]
    return np.array([(up - down) / (2 * h) for up, down in ends])


def moved(robot, rng, size):
    return pin.integrate(robot.model, robot.home, size * rng.standard_normal(robot.nv))


def test_gradients_by_differences(humanoid, arm, rng):
    arm_criteria = together(
        DistanceCriterion(pole_distance(arm, np.array([0.4, 0.0, 0.3])), 0.4, -3.0),
        LimitCriterion(arm, 0.9),
        PostureCriterion(arm, arm.home),
    )
    q = moved(arm, rng, 0.5)
    np.testing.assert_allclose(arm_criteria(q).gradient, by_differences(arm, arm_criteria, q), atol=1e-7)
    weights = rng.uniform(0.0, 2.0, humanoid.nv)  # also on the pose of the base, where q ⊖ posture bends
    whole = together(LimitCriterion(humanoid, 0.8), PostureCriterion(humanoid, humanoid.home, weights))
    q = moved(humanoid, rng, 0.4)
    np.testing.assert_allclose(whole(q).gradient, by_differences(humanoid, whole, q), atol=1e-6)


def test_self_collision_of_a_whole_robot(rng):
    """Distances and gradients of a collision model, as they come."""
    robot = sf.load("lola")
    model = CollisionModel(robot)

    def gaps(q):
        found = model.proximity(q)
        return found.distance, found.gradient

    criterion = DistanceCriterion(gaps, 0.3, -2.0)
    q = moved(robot, rng, 0.2)
    gradient = criterion(q).gradient
    assert np.abs(gradient).max() > 0.1
    np.testing.assert_allclose(gradient, by_differences(robot, criterion, q), atol=1e-3 * np.abs(gradient).max())


def test_a_sum_is_the_sum(rng):
    parts = [lambda q, k=k: Cost(k * q @ q, 2.0 * k * q) for k in (1.0, 2.5)]
    q = rng.standard_normal(4)
    found = together(*parts)(q)
    assert found.value == pytest.approx(3.5 * q @ q)
    np.testing.assert_allclose(found.gradient, 7.0 * q)
    with pytest.raises(ShapeError):
        together()


def test_limits_hold_only_joints_that_have_them(humanoid):
    cost = LimitCriterion(humanoid)(humanoid.home)
    assert (cost.gradient[:6] == 0.0).all()
    low = np.array(humanoid.home)
    i = humanoid.joint_index("left_elbow")
    low[humanoid.tree.q_index[i]] = humanoid.limits.lower[humanoid.tree.q_index[i]] + 0.01
    assert LimitCriterion(humanoid)(low).gradient[humanoid.tree.v_index[i]] < 0.0  # going up is going down the hill


def test_momentum_weight_is_the_inverse_of_what_it_says(humanoid, rng):
    q, v = moved(humanoid, rng, 0.3), rng.standard_normal(humanoid.nv)
    data = humanoid.model.createData()
    momentum = pin.computeCentroidalMomentum(humanoid.model, data, q, v).angular
    for vertical, rows in ((True, slice(2, 3)), (False, slice(0, 3))):
        weight = MomentumWeight(humanoid, 0.008, 3.0, vertical)
        J = weight.momentum_jacobian(q)
        np.testing.assert_allclose(J @ v, momentum[rows], atol=1e-10)
        W = 3.0 * (0.008 * np.eye(humanoid.nv) + J.T @ J)
        np.testing.assert_allclose(weight(q) @ W, np.eye(humanoid.nv), atol=1e-9)


class Swing:
    """A leg swings through 0.3 m in 0.8 s while the other foot stands and the torso keeps its pose."""

    duration, step, dt = 0.8, 0.3, 0.01

    def __init__(self, robot):
        self.robot, self.k = robot, sf.compile(robot)
        self.path = Quintic.at_rest(0.0, self.step, self.duration)

    def task(self, q):
        J = [self.k.jacobian(q, name) for name in ("left_foot", "right_foot", "pelvis")]
        return np.vstack(J)

    def rate(self, t):
        wanted = np.zeros(18)
        wanted[6] = self.path.sample(t)[1]  # right foot along x
        wanted[12] = 0.5 * self.path.sample(t)[1]  # pelvis with half of it
        return wanted

    def run(self, weight, criterion=None, gain=0.0):
        """Histories of the vertical angular momentum, of J v − w', and of the right foot; explicit Euler."""
        robot, q = self.robot, np.array(self.robot.home)
        turning, missed, feet = [], [], []
        for t in np.arange(0.0, self.duration, self.dt) + 0.5 * self.dt:
            J, wanted = self.task(q), self.rate(t)
            z = gain * criterion(q).gradient if criterion else np.zeros(robot.nv)
            v = liegeois_rates(J, wanted, z, weight(q) if weight else None)
            turning.append(self.k.centroidal(q, v).momentum[5])
            missed.append(np.abs(J @ v - wanted).max())
            q = pin.integrate(robot.model, q, self.dt * v)
            feet.append(self.k.frames(q, ["right_foot"])[0, :3, 3])
        return np.abs(turning), max(missed), np.array(feet), q


def test_swinging_leg_with_little_angular_momentum(humanoid):
    """Buschmann 2014, Fig. 5.11: γ = 0.008; the arms and the torso take the momentum, the task stays the same."""
    swing = Swing(humanoid)
    free, off, feet, _ = swing.run(None)
    held, off_held, feet_held, _ = swing.run(MomentumWeight(humanoid, 0.008))
    assert free.max() > 0.2  # kg m²/s: there is something to take away
    assert held.max() < 0.1 * free.max()
    assert max(off, off_held) < 1e-9
    np.testing.assert_allclose(feet_held, feet, atol=2e-4)  # what differs is the drift of explicit Euler


def test_all_criteria_at_once_go_down_in_the_null_space(humanoid):
    """With the criteria switched on, all of them end lower, momentum stays small, and the task is exact."""
    swing = Swing(humanoid)
    away = dict(zip(("left_elbow", "right_elbow"), (-1.2, -1.2), strict=True))
    posture = humanoid.q_of({n: float(humanoid.home[humanoid.tree.q_index[humanoid.joint_index(n)]])
                             for n in humanoid.joint_names[1:]} | away, humanoid.home[:7])  # fmt: skip
    k = swing.k

    def hand_to_hip(q):
        places = k.frames(q, ["left_palm", "pelvis"])[:, :3, 3]
        apart = places[0] - places[1]
        d = np.linalg.norm(apart)
        J = k.jacobian(q, "left_palm")[:3] - k.jacobian(q, "pelvis")[:3]
        return np.array([d]), (apart / d @ J)[None]

    parts = {
        "distance": DistanceCriterion(hand_to_hip, 0.8, -1.0),
        "limits": LimitCriterion(humanoid, 0.9),
        "posture": PostureCriterion(humanoid, posture),
    }
    weight = MomentumWeight(humanoid, 0.008, 1.0 / 0.008)
    _, _, _, plain = swing.run(weight)
    turning, missed, _, better = swing.run(weight, together(*parts.values()), 5.0)
    before, after = (sum(part(q).value for part in parts.values()) for q in (plain, better))
    assert after < 0.7 * before
    assert parts["posture"](better).value < 0.7 * parts["posture"](plain).value
    assert parts["distance"](better).value < parts["distance"](plain).value
    assert missed < 1e-9
    assert turning.max() < 0.5 * swing.run(None)[0].max()


def test_weights_of_a_posture_are_checked(arm):
    with pytest.raises(ShapeError):
        PostureCriterion(arm, arm.home, [-1.0, 0.0, 0.0, 0.0])
