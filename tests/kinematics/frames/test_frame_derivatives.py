import numpy as np
import pinocchio as pin
import pytest

from surefoot import ops
from surefoot.kinematics import (
    REFERENCES,
    com_jacobian,
    com_velocity,
    frame_acceleration,
    frame_jacobian,
    frame_placement,
    frame_velocity,
)
from surefoot.kinematics.frames import WORLD
from surefoot.kinematics.frames.frame_derivatives import (
    com_velocity_derivative,
    frame_acceleration_derivatives,
    frame_velocity_derivatives,
)
from surefoot.robot.loading import load
from surefoot.spatial import se3
from tests.kinematics.examples import (
    REFERENCE_OF_PINOCCHIO,
    assert_same,
    followers,
    full_configuration,
    moved,
    robot_named,
    some_frame,
    state,
    widened,
)
from tests.whole_zoo import WHOLE_ZOO

NOT_READ = {"cassie"}  # Pinocchio does not read its file
ROBOTS = ["every joint", "panda", "go1"]


def by_differences(robot, function, q, step=1e-6):
    """∂ function(q) in the tangent space, by central differences."""
    rows = np.eye(robot.nv)
    columns = [function(moved(robot, q, row, step)) - function(moved(robot, q, row, -step)) for row in rows]
    return np.stack(columns, axis=-1) / (2.0 * step)


def by_vector(function, x, step=1e-6):
    columns = [function(x + step * row) - function(x - step * row) for row in np.eye(len(x))]
    return np.stack(columns, axis=-1) / (2.0 * step)


def at_a_fixed_point(derivative, J, motion):
    """Pinocchio's "local_world_aligned" by q: the point of reference stays in space while the frame moves on."""
    shift = [np.cross(column, motion[3:]) for column in J[:3].T]
    return derivative + np.concatenate([np.stack(shift, axis=1), np.zeros((3, len(shift)))])


def check_against_pinocchio(robot, seed):
    model, data, tree = robot.model, robot.model.createData(), robot.tree
    (q, v, a), frame = state(robot, seed), some_frame(robot, seed)
    placement = pin.SE3(frame.R, frame.p)
    pin.computeForwardKinematicsDerivatives(model, data, q, v, a)
    for reference in ("local", "local_world_aligned"):
        theirs = REFERENCE_OF_PINOCCHIO[reference]
        dV = frame_velocity_derivatives(tree, frame, q, v, reference)
        dA = frame_acceleration_derivatives(tree, frame, q, v, a, reference)
        if reference == "local_world_aligned":
            dV = at_a_fixed_point(dV[0], dV[1], frame_velocity(tree, frame, q, v)), dV[1]
            dA = at_a_fixed_point(dA[0], dV[1], frame_acceleration(tree, frame, q, v, a)), *dA[1:]
        found = pin.getFrameAccelerationDerivatives(model, data, frame.body + 1, placement, theirs)
        for ours, expected in zip((dV[0], *dA), found, strict=True):
            assert_same(ours, expected.reshape(6, -1))
        assert_same(dV[1], dA[2], 1e-15)
    check_com_against_pinocchio(robot, q, v)


def check_com_against_pinocchio(robot, q, v):
    model, data = robot.model, robot.model.createData()
    pin.computeAllTerms(model, data, q, v)
    expected = pin.getCenterOfMassVelocityDerivatives(model, data).reshape(3, -1)
    found, known = com_velocity_derivative(robot.tree, q, v), np.isfinite(expected)
    assert_same(found[known], expected[known])
    assert (found[~known] == 0.0).all()  # Pinocchio divides by the mass that a joint carries, which may be none


@pytest.mark.parametrize("name", WHOLE_ZOO)
@pytest.mark.parametrize(
    "seeds", [range(1), pytest.param(range(1, 3), marks=pytest.mark.slow)], ids=["few states", "more states"]
)
def test_whole_zoo_against_pinocchio(name, seeds):
    robot = load(name)
    for seed in seeds:
        check_against_pinocchio(robot, seed)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("reference", REFERENCES)
def test_motion_by_finite_differences(name, reference):
    robot = robot_named(name)
    tree, (q, v, a), frame = robot.tree, state(robot, 1), some_frame(robot, 1)
    dV_dq, dV_dv = frame_velocity_derivatives(tree, frame, q, v, reference)
    assert_same(dV_dq, by_differences(robot, lambda x: frame_velocity(tree, frame, x, v, reference), q), 1e-8)
    assert_same(dV_dv, frame_jacobian(tree, frame, q, reference), 1e-14)
    dA_dq, dA_dv, dA_da = frame_acceleration_derivatives(tree, frame, q, v, a, reference)
    assert_same(dA_dq, by_differences(robot, lambda x: frame_acceleration(tree, frame, x, v, a, reference), q), 1e-8)
    assert_same(dA_dv, by_vector(lambda x: frame_acceleration(tree, frame, q, x, a, reference), v), 1e-8)
    assert_same(dA_da, frame_jacobian(tree, frame, q, reference), 1e-14)


@pytest.mark.parametrize("name", [*ROBOTS, "talos"])
def test_the_local_jacobian_is_the_derivative_of_the_placement(name):
    robot = robot_named(name)
    tree, (q, _, _), frame = robot.tree, state(robot, 2), some_frame(robot, 2)
    back = se3.inverse(frame_placement(tree, frame, q))
    twists = by_differences(robot, lambda x: se3.log(back @ frame_placement(tree, frame, x)), q)
    assert_same(frame_jacobian(tree, frame, q, "local"), twists, 1e-8)


@pytest.mark.parametrize("name", ROBOTS)
def test_com_velocity_by_finite_differences(name):
    robot = robot_named(name)
    q, v, _ = state(robot, 3)
    expected = by_differences(robot, lambda x: com_velocity(robot.tree, x, v), q)
    assert_same(com_velocity_derivative(robot.tree, q, v), expected, 1e-8)


@pytest.mark.parametrize("reference", REFERENCES)
def test_followers_project(reference):
    robot, full = followers("reduce"), followers("coupling")
    q, v, a = state(robot, 4)
    G, q_full = widened(robot, full), full_configuration(robot, full, q)
    for frame_index in (2, 3):
        frame, other = (some_frame(r, frame_index) for r in (robot, full))
        found = frame_acceleration_derivatives(robot.tree, frame, q, v, a, reference)
        expected = frame_acceleration_derivatives(full.tree, other, q_full, G @ v, G @ a, reference)
        for ours, theirs in zip(found, expected, strict=True):
            assert_same(ours, theirs @ G)
        found = frame_velocity_derivatives(robot.tree, frame, q, v, reference)[0]
        assert_same(found, frame_velocity_derivatives(full.tree, other, q_full, G @ v, reference)[0] @ G)
    assert_same(com_velocity_derivative(robot.tree, q, v), com_velocity_derivative(full.tree, q_full, G @ v) @ G)


def test_the_world_stays():
    robot = robot_named("panda")
    q, v, a = state(robot, 5)
    for found in frame_acceleration_derivatives(robot.tree, WORLD, q, v, a):
        assert (found == 0.0).all()


def test_the_rate_of_the_com_velocity_is_its_derivative_along_the_motion():
    robot = robot_named("talos")
    (q, v, _), tree, step = state(robot, 6), robot.tree, 1e-6
    ahead, behind = (com_velocity(tree, moved(robot, q, v, time), v) for time in (step, -step))
    assert_same(com_velocity_derivative(tree, q, v) @ v, (ahead - behind) / (2.0 * step), 1e-8)
    assert_same(com_jacobian(tree, q) @ v, com_velocity(tree, q, v))


@pytest.mark.parametrize("name", ["every joint", "go1"])
def test_a_trace_gives_the_same_numbers(name):
    robot = robot_named(name)
    tree, values, frame = robot.tree, state(robot, 7), some_frame(robot, 7)

    def everything(q, v, a):
        dV, dA = frame_velocity_derivatives(tree, frame, q, v), frame_acceleration_derivatives(tree, frame, q, v, a)
        return ops.concatenate([*dV, *dA, com_velocity_derivative(tree, q, v)])

    symbols = [ops.symbols(f"x{k}", len(value)) for k, value in enumerate(values)]
    found = ops.function("f", symbols, [everything(*symbols)])(*values)
    assert_same(np.array(found), everything(*values), 1e-13)
