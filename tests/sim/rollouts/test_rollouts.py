"""Rollouts: many copies against steps one by one, against Pinocchio and against MuJoCo; bad copies stay alone."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import NotSupportedError, ShapeError, SimulationError, UnknownNameError
from surefoot.geometry import Box
from surefoot.motion import State, World
from surefoot.motion.world.ground import GroundBox, GroundPlane
from surefoot.motion.world.world import MovableObject, Obstacle
from surefoot.robot import placement
from surefoot.robot.loading import load
from surefoot.sim.mujoco.model import build_mujoco, q_v, qpos_qvel
from surefoot.sim.rollouts.rollout import rollout

from ..examples import block, every_joint, pendulum


def random_states(robot, n, seed=0, spread=0.3):
    rng = np.random.default_rng(seed)
    moves = spread * rng.standard_normal((n, robot.nv))
    q = np.array([pin.integrate(robot.model, np.array(robot.home), move) for move in moves])
    return q, spread * rng.standard_normal((n, robot.nv))


def bits(found):
    return [x.tobytes() for x in (found.q, found.v, found.good)]


@pytest.fixture(scope="module")
def hexapod():
    return load("hexapod")


@pytest.fixture(scope="module")
def standing(hexapod):
    """Hexapods that fall a little onto the ground, held by their drives."""
    rng = np.random.default_rng(1)
    q = np.tile(hexapod.home, (11, 1))
    q[:, 2] += 0.004 * rng.random(11)
    target = np.tile(hexapod.home[7:], (40, 1)) + 0.05 * rng.standard_normal((11, 40, hexapod.nu))
    drives = {"mode": "position", "kp": 10.0, "kd": 0.3, "hold": 5, "record_every": 20}
    return (q, np.zeros((11, hexapod.nv))), target, {"world": World.flat(), **drives}


def stepped(robot, q, v, a, h):
    """v + h a and q ⊕ h v⁺, but the linear velocities of free and planar joints in axes that do not turn."""
    after = v + h * a
    end = pin.integrate(robot.model, q, h * after)
    for i, kind in enumerate(robot.tree.kinds):
        if kind not in ("free", "planar"):
            continue
        size = 3 if kind == "free" else 2
        at, row = int(robot.tree.q_index[i]), int(robot.tree.v_index[i])
        linear = slice(row, row + size)
        spin = v[row + 3 : row + 6] if kind == "free" else np.array([0.0, 0.0, v[row + 2]])
        turned = np.cross(spin, [*v[linear], *[0.0] * (3 - size)])[:size]
        straight = axes(q, at, kind) @ (after[linear] + h * turned)
        end[at : at + size] = q[at : at + size] + h * straight
        after[linear] = axes(end, at, kind).T @ straight
    return end, after


def axes(q, at, kind):
    """Rotation of a free (3, 3) or planar (2, 2) joint."""
    if kind == "free":
        return pin.XYZQUATToSE3(q[at : at + 7]).rotation
    c, s = q[at + 2 : at + 4]
    return np.array([[c, -s], [s, c]])


def test_free_flight_of_every_kind_of_joint_is_that_of_pinocchio():
    robot = every_joint()
    q, v = random_states(robot, 9)
    found = rollout(robot, (q, v), np.zeros((30, 0)), dt=1e-3)
    data = robot.model.createData()
    for i in range(9):
        x, y = q[i], v[i]
        for t in range(30):
            x, y = stepped(robot, x, y, pin.aba(robot.model, data, x, y, np.zeros(robot.nv)), 1e-3)
            assert_allclose(found.v[i, t], y, rtol=0, atol=1e-10)
            assert_allclose(pin.difference(robot.model, x, found.q[i, t]), 0.0, atol=1e-12)
    assert found.finite.all()
    assert_allclose(found.time, 1e-3 * np.arange(1, 31), rtol=1e-15)


def test_torques_are_held_limited_and_may_be_shared():
    robot = load("cartpole")
    limit = robot.drives[0].torque_limit
    q, v = random_states(robot, 3)
    controls = np.array([[0.3 * limit], [5.0 * limit], [-9.0 * limit]])
    found = rollout(robot, (q, v), controls, hold=4, record_every=3)
    each = np.repeat(np.clip(controls, -limit, limit), 4, axis=0)
    same = rollout(robot, np.concatenate([q, v], axis=1), np.tile(each, (3, 1, 1)))
    assert found.q.shape == (3, 4, robot.nq)
    assert found.q.tobytes() == np.ascontiguousarray(same.q[:, 2::3]).tobytes()
    assert_allclose(found.time, [0.003, 0.006, 0.009, 0.012])


def test_any_number_of_threads_and_any_neighbours_give_the_same_bits(hexapod, standing):
    states, target, options = standing
    found = rollout(hexapod, states, target, **options)
    assert bits(rollout(hexapod, states, target, **options, threads=3)) == bits(found)
    assert bits(rollout(hexapod, states, target, **options)) == bits(found)
    some = [7, 2, 9]
    again = rollout(hexapod, [State(0.0, states[0][i], states[1][i]) for i in some], target[some], **options)
    assert again.q.tobytes() == found.q[some].tobytes()
    out = np.empty_like(found.q), np.empty_like(found.v)
    assert rollout(hexapod, states, target, **options, out=out).q is out[0]
    assert out[1].tobytes() == found.v.tobytes()


def test_the_gravity_of_the_world_counts():
    robot = block()
    moon = World(gravity=(0.0, 0.0, -1.62))
    q = np.tile(robot.home, (1, 1)) + np.array([0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0])
    for engine in ("native", "mujoco"):
        found = rollout(robot, (q, np.zeros((1, 6))), np.zeros((100, 0)), world=moon, engine=engine)
        assert_allclose(found.v[0, :, 2], -1.62 * found.time, rtol=1e-12)


@pytest.mark.parametrize("law", ["spring_damper", "visco_elastic", "penalty_pid"])
def test_a_block_comes_to_rest_on_any_ground_with_its_weight(law):
    robot = block()
    q = np.tile(robot.home, (4, 1))
    q[:, 2] = 0.1 + np.array([0.0, 1e-3, 2e-3, 5e-3])
    still = np.zeros((1500, 0))
    flat = rollout(robot, (q, np.zeros((4, 6))), still, world=World.flat(), contact=law, forces=True, record_every=50)
    assert_allclose(flat.force[:, -1].sum(axis=1), np.tile([0.0, 0.0, 9.81 * robot.mass], (4, 1)), atol=1e-3)
    assert not flat.fallen.any()
    pieces = (GroundPlane(), GroundBox((1.0, 1.0, 0.5), placement((9.0, 0.0, 0.0))))
    short = still[:100]
    out = np.empty((4, 2, 7)), np.empty((4, 2, 6))
    options = {"contact": law, "forces": True, "record_every": 50, "out": out}
    with_box = rollout(robot, (q, np.zeros((4, 6))), short, world=World(ground=pieces), **options)
    assert with_box.q is out[0]
    assert_allclose(with_box.q, flat.q[:, :2], atol=1e-9)
    assert_allclose(with_box.force, flat.force[:, :2], rtol=1e-6, atol=1e-6)


def test_single_precision_is_near_double(hexapod, standing):
    states, target, options = standing
    double = rollout(hexapod, states, target[:, :8], **options)
    single = rollout(hexapod, states, target[:, :8], **options, dtype="float32")
    assert single.q.dtype == np.float32
    assert_allclose(single.q, double.q, atol=2e-4)


def test_a_copy_that_diverges_is_frozen_and_disturbs_nobody(hexapod, standing):
    states, target, options = standing
    good = rollout(hexapod, states, target, **options)
    wild = states[1].copy()
    wild[4, 8] = 1e7  # faster than any joint
    wild[4, 3:6] = 1e6
    found = rollout(hexapod, (states[0], wild), target, **options, forces=True)
    others = np.arange(11) != 4
    assert found.q[others].tobytes() == good.q[others].tobytes()
    assert found.finite.tolist() == [True] * 4 + [False] + [True] * 6
    assert np.isfinite(found.q).all()
    assert (found.q[4, -2] == found.q[4, -1]).all()
    assert np.isnan(found.force[4, -1]).all()
    assert np.isfinite(found.force[others]).all()
    with pytest.raises(SimulationError, match="1 of 11 copies diverged") as caught:
        rollout(hexapod, (states[0], wild), target, **options, strict=True)
    assert "copy 4" in str(caught.value)


@pytest.mark.slow
def test_copies_over_steps_freeze_as_those_on_a_plane(hexapod, standing):
    states, target, options = standing
    wild = states[1].copy()
    wild[4, 3:6] = 1e6
    pieces = World(ground=(GroundPlane(), GroundBox((1.0, 1.0, 0.5), placement((9.0, 0.0, 0.0)))))
    short = {**options, "record_every": 4}
    found = rollout(hexapod, (states[0], wild), target[:, :4], **{**short, "world": pieces})
    flat = rollout(hexapod, (states[0], wild), target[:, :4], **short)
    assert (found.good == flat.good).all()
    assert_allclose(found.q[[0, 1, 5]], flat.q[[0, 1, 5]], atol=1e-9)


def test_mujoco_copies_are_those_of_its_own_steps(hexapod, standing):
    states, target, options = standing
    found = rollout(hexapod, states, target, engine="mujoco", threads=2, **options)
    model = build_mujoco(hexapod, World.flat(), timestep=1e-3)
    mj = model.mj
    mj.actuator_biasprm[:, 1], mj.actuator_biasprm[:, 2] = -10.0, -0.3
    for i in (0, 10):
        data = mujoco.MjData(mj)
        data.qpos[:], data.qvel[:] = qpos_qvel(model, states[0][i], states[1][i])
        for t in range(200):
            data.ctrl[:] = 10.0 * target[i, t // 5]
            mujoco.mj_step(mj, data)
            if (t + 1) % 20 == 0:
                q, v = q_v(model, data.qpos, data.qvel)
                assert_allclose(found.q[i, t // 20], q, rtol=0, atol=1e-14)
                assert_allclose(found.v[i, t // 20], v, rtol=0, atol=1e-12)
    assert found.finite.all()
    assert not found.fallen.any()


def test_mujoco_copies_that_diverge_are_frozen():
    robot = pendulum()
    q, v = np.zeros((3, 1)), np.array([[0.1], [1e11], [0.2]])
    found = rollout(robot, (q, v), np.zeros((20, robot.nu)), engine="mujoco")
    assert found.finite.tolist() == [True, False, True]
    assert np.isfinite(found.q).all()
    assert (found.q[1] == found.q[1, :1]).all()


def test_both_engines_swing_a_pendulum_alike():
    robot = pendulum()
    q, v = np.array([[0.3], [1.0]]), np.array([[0.0], [-0.5]])
    torque = 0.4 * np.sin(0.01 * np.arange(500))[:, None] * np.ones(robot.nu)
    ours, judge = (rollout(robot, (q, v), torque, engine=engine) for engine in ("native", "mujoco"))
    assert_allclose(ours.q, judge.q, atol=1e-6)


def test_bad_requests_are_named(hexapod):
    q, v, u = hexapod.home[None], np.zeros((1, 24)), np.zeros((5, 18))
    bad = q.copy()
    bad[0, 3:7] *= 1.1
    wrong = [
        (((q[:, :-1], v), u), ShapeError, "q of `hexapod`"),
        (((q, v[:, 1:]), u), ShapeError, "v of `hexapod`"),
        (((bad, v), u), ShapeError, "quaternion"),
        (((q, np.full((1, 24), np.nan)), u), ShapeError, "finite"),
        ((np.zeros((1, 7)), u), ShapeError, "states of"),
        (((q, v), u[:, 1:]), ShapeError, "controls of"),
        (((q, v), np.zeros((2, 5, 18))), ShapeError, "controls of"),
        (((q, v), np.zeros((0, 18))), ShapeError, "no controls"),
        (((np.zeros((0, 25)), np.zeros((0, 24))), u), ShapeError, "no states"),
    ]
    for arguments, kind, message in wrong:
        with pytest.raises(kind, match=message):
            rollout(hexapod, *arguments)
    box = Box((0.1, 0.1, 0.1))
    options = [
        ({"engine": "bullet"}, UnknownNameError, "bullet"),
        ({"mode": "speed"}, UnknownNameError, "speed"),
        ({"contact": "glue"}, UnknownNameError, "glue"),
        ({"contact": "rigid"}, NotSupportedError, "rigid"),
        ({"integrator": "leapfrog"}, UnknownNameError, "leapfrog"),
        ({"kp": 3.0}, ShapeError, "kp"),
        ({"mode": "position", "kp": 3.0}, ShapeError, "kd"),
        ({"mode": "position", "kp": -3.0, "kd": 0.0}, ShapeError, "negative"),
        ({"hold": 0}, ShapeError, "hold"),
        ({"record_every": 2.5}, ShapeError, "record_every"),
        ({"record_every": 6}, ShapeError, "more than all steps"),
        ({"dt": 0.0}, ShapeError, "dt"),
        ({"threads": 0}, ShapeError, "threads"),
        ({"world": World(objects=(MovableObject("cup", box, 0.1),))}, NotSupportedError, "ground only"),
        ({"world": World(obstacles=(Obstacle("wall", box),))}, NotSupportedError, "ground only"),
        ({"engine": "mujoco", "forces": True}, NotSupportedError, "forces"),
        ({"engine": "mujoco", "dtype": "float32"}, NotSupportedError, "dtype"),
        ({"engine": "mujoco", "out": (q, v)}, NotSupportedError, "out"),
        ({"out": (q, v)}, ShapeError, "out"),
    ]
    for more, kind, message in options:
        with pytest.raises(kind, match=message):
            rollout(hexapod, (q, v), u, **more)
