import numpy as np
import pytest

from surefoot import ops
from surefoot.kinematics import (
    REFERENCES,
    Frame,
    frame_acceleration,
    frame_bias_acceleration,
    frame_jacobian,
    frame_placement,
    frame_velocity,
)
from surefoot.kinematics.frames import frame_classical_acceleration, relative_placement
from surefoot.spatial import se3
from tests.kinematics.examples import assert_same, full_configuration, moved, robot_named, some_frame, state, widened

STEP = 1e-5


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("name", ["every joint", "talos"])
def test_velocity_is_the_jacobian_times_v(name, reference):
    robot = robot_named(name)
    q, v, _ = state(robot, 1)
    frame = some_frame(robot, 2)
    J = frame_jacobian(robot.tree, frame, q, reference)
    assert_same(frame_velocity(robot.tree, frame, q, v, reference), J @ v)


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("name", ["every joint", "g1", "biped"])
def test_bias_is_the_rate_of_the_jacobian(name, reference):
    robot = robot_named(name)
    q, v, _ = state(robot, 3)
    frame = some_frame(robot, 4)
    behind, ahead = (frame_jacobian(robot.tree, frame, moved(robot, q, v, t), reference) for t in (-STEP, STEP))
    bias = frame_bias_acceleration(robot.tree, frame, q, v, reference)
    assert_same(bias, (ahead - behind) @ v / (2 * STEP), 1e-7)


def test_bias_is_the_acceleration_less_the_pushes():
    robot = robot_named("every joint")
    q, v, a = state(robot, 5)
    frame = some_frame(robot, 6)
    for reference in REFERENCES:
        J = frame_jacobian(robot.tree, frame, q, reference)
        total = frame_classical_acceleration if reference == "local_world_aligned" else frame_acceleration
        bias = frame_bias_acceleration(robot.tree, frame, q, v, reference)
        assert_same(total(robot.tree, frame, q, v, a, reference), J @ a + bias)


def test_nothing_falls_at_rest():
    robot = robot_named("g1")
    q, v, _ = state(robot, 7)
    for reference in REFERENCES:
        assert not frame_bias_acceleration(robot.tree, some_frame(robot, 8), q, 0.0 * v, reference).any()


def test_relative_placement():
    robot = robot_named("every joint")
    q, _, _ = state(robot, 9)
    first, second = Frame(3, some_frame(robot, 10).R, np.array([0.1, 0.2, 0.3])), some_frame(robot, 11)
    T = se3.inverse(frame_placement(robot.tree, first, q)) @ frame_placement(robot.tree, second, q)
    assert_same(relative_placement(robot.tree, first, second, q), T)
    assert_same(relative_placement(robot.tree, second, first, q), se3.inverse(T))
    assert_same(relative_placement(robot.tree, second, second, q), np.eye(4))


def test_motion_does_not_know_where_the_root_is():
    robot = robot_named("g1")
    q, v, a = state(robot, 12)
    far = q + np.array([1e6, -3e6, 2e6, *np.zeros(robot.nq - 3)])
    frame = some_frame(robot, 13)
    for reference in ("local", "local_world_aligned"):
        for here, there in (
            [frame_velocity(robot.tree, frame, x, v, reference) for x in (q, far)],
            [frame_acceleration(robot.tree, frame, x, v, a, reference) for x in (q, far)],
            [frame_bias_acceleration(robot.tree, frame, x, v, reference) for x in (q, far)],
        ):
            assert np.array_equal(here, there)


@pytest.mark.parametrize("name", ["followers", "panda", "talos_full"])
def test_followers_move_as_in_the_whole_robot(name):
    robot, full = robot_named(name, "reduce"), robot_named(name)
    assert (robot.tree.mimic_source >= 0).any()
    q, v, a = state(robot, 14)
    Q, G = full_configuration(robot, full, q), widened(robot, full)
    for frame in (some_frame(robot, 15), Frame(int(np.flatnonzero(robot.tree.mimic_source >= 0)[0]))):
        assert_same(frame_placement(robot.tree, frame, q), frame_placement(full.tree, frame, Q))
        assert_same(frame_jacobian(robot.tree, frame, q), frame_jacobian(full.tree, frame, Q) @ G)
        assert_same(frame_velocity(robot.tree, frame, q, v), frame_velocity(full.tree, frame, Q, G @ v))
        assert_same(
            frame_acceleration(robot.tree, frame, q, v, a), frame_acceleration(full.tree, frame, Q, G @ v, G @ a)
        )


@pytest.mark.parametrize(("name", "mimic"), [("every joint", "coupling"), ("followers", "reduce")])
def test_symbols_give_the_numbers(name, mimic):
    robot = robot_named(name, mimic)
    q, v, a = state(robot, 16)
    frame = some_frame(robot, 17)

    def quantities(q, v, a):
        out = [frame_placement(robot.tree, frame, q)]
        for reference in REFERENCES:
            out += [frame_jacobian(robot.tree, frame, q, reference), frame_velocity(robot.tree, frame, q, v, reference)]
            out += [
                f(robot.tree, frame, q, v, a, reference) for f in (frame_acceleration, frame_classical_acceleration)
            ]
        return out

    Q, V, A = ops.symbols("q", robot.nq), ops.symbols("v", robot.nv), ops.symbols("a", robot.nv)
    found = ops.function("f", [Q, V, A], quantities(Q, V, A))(q, v, a)
    for traced, number in zip(found, quantities(q, v, a), strict=True):
        assert_same(np.array(traced).reshape(number.shape), number)
