"""Layouts: round trips, MuJoCo itself as judge, and the laws of rigid motion for the others."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from surefoot.motion.exchange.exchange import LAYOUTS, column_names, from_layout, layout_sizes, to_layout
from surefoot.robot import Joint, Link, Robot, placement
from surefoot.spatial import euler, quaternion, so3
from tests.motion.examples import distance, every_kind, link, random_states

FRAMES = ("body", "world", "mixed")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("base", ["floating", "planar", "fixed"])
def test_round_trip_of_every_joint_kind(layout, base):
    robot = every_kind(base)
    q, v = random_states(robot, 50)
    back_q, back_v = from_layout(robot, layout, to_layout(robot, layout, q, v))
    assert distance(robot, q, back_q) < 1e-12
    np.testing.assert_allclose(back_v, v, atol=1e-12)
    one_q, one_v = from_layout(robot, layout, to_layout(robot, layout, q[3], v[3]))
    assert one_q.shape == (robot.nq,)
    np.testing.assert_array_equal(one_q, back_q[3])
    np.testing.assert_array_equal(one_v, back_v[3])
    only_q, no_v = from_layout(robot, layout, to_layout(robot, layout, q))
    assert no_v is None
    np.testing.assert_array_equal(only_q, back_q)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_round_trip_in_another_joint_order(layout):
    robot = every_kind()
    q, v = random_states(robot, 20)
    names = list(robot.joint_names)
    np.random.default_rng(1).shuffle(names)
    data = to_layout(robot, layout, q, v, joints=names)
    back_q, back_v = from_layout(robot, layout, data, joints=None if layout in ("ros", "csv") else names)
    assert distance(robot, q, back_q) < 1e-12
    np.testing.assert_allclose(back_v, v, atol=1e-12)


def test_joint_order_is_by_name_and_the_base_goes_first():
    robot = every_kind()
    q, v = random_states(robot, 3)
    rest = [name for name in robot.joint_names if name != "root_joint"]
    plain = to_layout(robot, "mujoco", q, v)
    turned = to_layout(robot, "mujoco", q, v, joints=rest[::-1])
    np.testing.assert_array_equal(plain["qpos"][:, :7], turned["qpos"][:, :7])
    np.testing.assert_array_equal(plain["qvel"][:, 6], turned["qvel"][:, -1])  # joint a: first, then last
    last = to_layout(robot, "mujoco", q, v, joints=[*rest, "root_joint"])
    np.testing.assert_array_equal(plain["qpos"][:, :7], last["qpos"][:, -7:])


@pytest.mark.parametrize(
    ("joints", "word"),
    [(lambda n: n[:-2], "missing"), (lambda n: [*n, n[1]], "twice"), (lambda n: [*n, "elbow"], "no joint `elbow`")],
)
def test_wrong_joint_orders_are_refused(joints, word):
    robot = every_kind(follower=False)
    q, _ = random_states(robot, 1)
    with pytest.raises(UnknownNameError, match=word):
        to_layout(robot, "mujoco", q, joints=joints(list(robot.joint_names)))


def test_followers_are_filled_in_and_checked():
    robot = every_kind()
    q, v = random_states(robot, 5)
    source = robot.tree.q_index[robot.joint_index("a_joint")]
    data = to_layout(robot, "ros", q, v)
    k = list(data["joint_names"]).index("i_joint")
    np.testing.assert_allclose(data["position"][:, k], 0.2 - 1.5 * q[:, source])
    np.testing.assert_allclose(data["velocity"][:, k], -1.5 * v[:, source - 1])
    data["position"][2, k] += 2e-6
    with pytest.raises(ShapeError, match="i_joint` does not follow"):
        from_layout(robot, "ros", data)
    keep = [i for i in range(len(data["joint_names"])) if i != k]
    less = {**data, "joint_names": data["joint_names"][keep]}
    less |= {name: data[name][:, keep] for name in ("position", "velocity")}
    np.testing.assert_allclose(from_layout(robot, "ros", less)[1], v, atol=1e-12)
    assert layout_sizes(robot, "mujoco")[1] == robot.nv + 1
    assert layout_sizes(robot, "pinocchio") == (robot.nq, robot.nv)


def mujoco_twin():
    """The same tree in MuJoCo and as a robot: free, hinge (limited, endless), ball, slide, planar as three joints."""
    spec = mujoco.MjSpec()
    trunk = spec.worldbody.add_body(
        name="trunk", pos=[1.0, 2.0, 3.0], quat=quaternion.to_wxyz(quaternion.exp([0.1, 0.2, 0.3]))
    )
    trunk.add_freejoint(name="root_joint")
    turn = so3.exp([0.3, -0.4, 0.5])
    tree = [
        ("hinge", "trunk", "revolute", (0.6, 0.0, 0.8)),
        ("wheel", "hinge", "continuous", (0.0, 1.0, 0.0)),
        ("ball", "wheel", "spherical", (0.0, 0.0, 1.0)),
        ("slide", "trunk", "prismatic", (0.0, 0.6, 0.8)),
        ("cart", "slide", "planar", (0.0, 0.0, 1.0)),
    ]
    kinds = {"revolute": mujoco.mjtJoint.mjJNT_HINGE, "continuous": mujoco.mjtJoint.mjJNT_HINGE,
             "spherical": mujoco.mjtJoint.mjJNT_BALL, "prismatic": mujoco.mjtJoint.mjJNT_SLIDE}  # fmt: skip
    bodies, links = {"trunk": trunk}, [Link("trunk", mass=1.0, inertia=0.01 * np.eye(3))]
    for name, parent, kind, axis in tree:
        body = bodies[parent].add_body(
            name=name, pos=[0.1, 0.05, -0.2], quat=quaternion.to_wxyz(quaternion.from_matrix(turn))
        )
        if kind == "planar":
            body.add_joint(name=name + "_x", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[1, 0, 0])
            body.add_joint(name=name + "_y", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0, 1, 0])
            body.add_joint(name=name + "_turn", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
        else:
            body.add_joint(name=name, type=kinds[kind], axis=axis)
        bodies[name] = body
        links.append(link(name, parent, kind, axis=axis, rotation=turn, joint=name))
    for body in bodies.values():
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.05, 0, 0])
    return Robot.from_tree("twin", links, "floating", contacts=()), spec.compile()


def test_mujoco_agrees_on_where_the_bodies_are():
    robot, model = mujoco_twin()
    data = mujoco.MjData(model)
    q, _ = random_states(robot, 5)
    for row in q:
        data.qpos[:] = to_layout(robot, "mujoco", row)["qpos"]
        mujoco.mj_kinematics(model, data)
        for name, T in robot.placements(row).items():
            if (body := mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)) > 0:
                np.testing.assert_allclose(data.xpos[body], T[:3, 3], atol=1e-12)
                np.testing.assert_allclose(data.xmat[body].reshape(3, 3), T[:3, :3], atol=1e-12)


def test_mujoco_agrees_on_body_velocities():
    robot, model = mujoco_twin()
    data, ours = mujoco.MjData(model), robot.model.createData()
    q, v = random_states(robot, 5)
    for row, rate in zip(q, v, strict=True):
        there = to_layout(robot, "mujoco", row, rate)
        data.qpos[:], data.qvel[:] = there["qpos"], there["qvel"]
        mujoco.mj_forward(model, data)
        pin.framesForwardKinematics(robot.model, ours, row)
        pin.forwardKinematics(robot.model, ours, row, rate)
        for name in ("trunk", "hinge", "wheel", "ball", "slide", "cart"):
            found = np.zeros(6)
            body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, found, 1)
            twist = pin.getFrameVelocity(robot.model, ours, robot.frame_id(name), pin.LOCAL)
            np.testing.assert_allclose(found, np.r_[twist.angular, twist.linear], atol=1e-11)


def test_one_step_of_mujoco_is_one_step_of_pinocchio():
    """mj_integratePos and mj_differentiatePos against integrate and difference, to the order of the step."""
    robot, model = mujoco_twin()
    dt = 1e-6
    for row, rate in zip(*random_states(robot, 10), strict=True):
        there = to_layout(robot, "mujoco", row, rate)
        qpos = there["qpos"].copy()
        mujoco.mj_integratePos(model, qpos, there["qvel"], dt)
        after, _ = from_layout(robot, "mujoco", {"qpos": qpos})
        assert distance(robot, pin.integrate(robot.model, row, rate * dt), after) < 50.0 * dt**2
        found = np.zeros(model.nv)
        stepped = to_layout(robot, "mujoco", pin.integrate(robot.model, row, rate * dt))["qpos"]
        mujoco.mj_differentiatePos(model, found, dt, there["qpos"], stepped)
        np.testing.assert_allclose(found, there["qvel"], atol=50.0 * dt + 1e-8)


@pytest.mark.parametrize("layout", ["mujoco", "drake"])
@pytest.mark.parametrize("base", ["floating", "planar"])
def test_time_derivatives_of_positions_are_the_velocities(layout, base):
    """Central differences of converted q: equal to converted v where the entries are plain, through ω elsewhere."""
    robot, h = every_kind(base), 1e-5
    q, v = random_states(robot, 10)
    now = to_layout(robot, layout, q, v)
    ahead, behind = (
        to_layout(
            robot, layout, np.array([pin.integrate(robot.model, a, s * h * b) for a, b in zip(q, v, strict=True)])
        )
        for s in (1.0, -1.0)
    )
    pos, vel = now
    rate = (ahead[pos] - behind[pos]) / (2.0 * h)
    labels = column_names(robot, layout)
    names = [name for name, _ in labels[0]]
    for k, (name, _) in enumerate(labels[1]):
        joint, _, part = name.rpartition(".")
        plain = {"v": "", "vx": ".x", "vy": ".y", "vz": ".z", "wz": ".yaw"}.get(part)
        is_planar = robot.tree.kinds[robot.joint_index(joint)] == "planar"
        if is_planar or (plain is not None and joint + plain in names and part[0] == "v"):
            wrapped = np.abs(rate[:, names.index(joint + plain)]) < 1e3  # an angle may jump by 2π in between
            assert wrapped.any()
            np.testing.assert_allclose(rate[wrapped, names.index(joint + plain)], now[vel][wrapped, k], atol=1e-6)


@pytest.mark.parametrize("base", ["floating", "planar"])
def test_ros_base_twists_move_a_point_of_the_base_alike(base):
    """Velocity of a body-fixed point in world by finite differences, and from the twist in each of the three frames."""
    robot, h = every_kind(base), 1e-6
    point = np.array([0.3, -0.2, 0.5])

    def at(q):
        data = to_layout(robot, "ros", q)
        return data["base_position"] + quaternion.rotate(data["base_orientation"], point)

    for row, rate in zip(*random_states(robot, 5), strict=True):
        moved = [at(pin.integrate(robot.model, row, s * h * rate)) for s in (1.0, -1.0)]
        expected = (moved[0] - moved[1]) / (2.0 * h)
        for frame in FRAMES:
            data = to_layout(robot, "ros", row, rate, base_velocity=frame)
            R, linear, angular = (
                quaternion.to_matrix(data["base_orientation"]),
                data["base_linear"],
                data["base_angular"],
            )
            if frame == "body":
                found = R @ (linear + np.cross(angular, point))
            else:
                found = linear + np.cross(angular, R @ point if frame == "mixed" else at(row))
            np.testing.assert_allclose(found, expected, atol=1e-8)
            back, back_v = from_layout(robot, "ros", data, base_velocity=frame)
            assert distance(robot, row, back) < 1e-12
            np.testing.assert_allclose(back_v, rate, atol=1e-12)


def test_drake_floating_base_and_ball_move_points_as_the_law_says():
    robot, h = every_kind(), 1e-6
    names = [[name for name, _ in kind] for kind in column_names(robot, "drake")]
    ball_q, ball_v = names[0].index("c_joint.roll"), names[1].index("c_joint.wx")
    point = np.array([0.3, -0.2, 0.5])

    def places(q):
        p = to_layout(robot, "drake", q)["q"]
        r, s, y = p[ball_q : ball_q + 3]
        return p[4:7] + quaternion.to_matrix(quaternion.from_wxyz(p[:4])) @ point, euler.to_matrix(
            "zyx", [y, s, r]
        ) @ point

    for row, rate in zip(*random_states(robot, 5), strict=True):
        ahead, behind = (places(pin.integrate(robot.model, row, s * h * rate)) for s in (1.0, -1.0))
        now = to_layout(robot, "drake", row, rate)
        base, ball = places(row)
        expected = now["v"][3:6] + np.cross(now["v"][:3], base - now["q"][4:7])
        np.testing.assert_allclose((ahead[0] - behind[0]) / (2.0 * h), expected, atol=1e-8)
        expected = np.cross(now["v"][ball_v : ball_v + 3], ball)
        np.testing.assert_allclose((ahead[1] - behind[1]) / (2.0 * h), expected, atol=1e-8)


def test_ball_at_gimbal_lock_keeps_its_rotation():
    robot = Robot.from_tree("ball", [link("b", None, "spherical")], contacts=())
    for pitch in (0.5 * np.pi, -0.5 * np.pi):
        q = quaternion.from_matrix(euler.to_matrix("zyx", [0.3, pitch, 0.7]))
        back, _ = from_layout(robot, "drake", to_layout(robot, "drake", q))
        assert distance(robot, q, back) < 1e-12


@pytest.mark.parametrize("layout", ["mujoco", "drake", "ros", "csv"])
def test_a_free_joint_that_is_placed_has_its_pose_in_world(layout):
    T = placement((1.0, 2.0, 3.0), so3.exp([0.1, 0.5, -0.7]))
    body = Link("body", None, Joint("root", "free", T), mass=1.0, inertia=np.eye(3))
    robot = Robot.from_tree("placed", [body], "floating", contacts=())
    q, v = random_states(robot, 4)
    data = to_layout(robot, layout, q, v)
    columns = [data.get(f"base.{x} [m]") for x in "xyz"]
    where = {"mujoco": ("qpos", 0), "drake": ("q", 4), "ros": ("base_position", 0)}
    first = np.column_stack(columns) if layout == "csv" else data[where[layout][0]][:, where[layout][1] :][:, :3]
    np.testing.assert_allclose(first, [robot.placements(row)["body"][:3, 3] for row in q], atol=1e-12)
    back_q, back_v = from_layout(robot, layout, data)
    assert distance(robot, q, back_q) < 1e-12
    np.testing.assert_allclose(back_v, v, atol=1e-12)


def test_a_free_object_beside_a_fixed_robot_is_not_its_base():
    arm = link("arm", None, "revolute", joint="elbow")
    cube = Link("cube", None, Joint("cube_free", "free"), mass=1.0, inertia=np.eye(3))
    robot = Robot.from_tree("arm", [arm, cube], contacts=())
    q, v = random_states(robot, 4)
    ros = to_layout(robot, "ros", q, v)
    assert "base_position" not in ros
    assert list(ros["multi_dof_names"]) == ["cube_free"]
    np.testing.assert_array_equal(ros["multi_dof_position"][:, 0], q[:, 1:4])
    csv = to_layout(robot, "csv", q, v)
    assert not any(name.startswith("base.") for name in csv)
    np.testing.assert_array_equal(csv["cube_free.z [m]"], q[:, 3])
    for layout in LAYOUTS:
        back_q, back_v = from_layout(robot, layout, to_layout(robot, layout, q, v))
        assert distance(robot, q, back_q) < 1e-12
        np.testing.assert_allclose(back_v, v, atol=1e-12)
    with pytest.raises(UnknownNameError, match="cube_free"):
        to_layout(robot, "mujoco", q, joints=["elbow"])


def test_wrong_quaternions_name_the_layout_that_fits():
    robot = Robot.from_tree(
        "f", [Link("t", mass=1.0, inertia=np.eye(3)), link("a", "t", "revolute")], "floating", contacts=()
    )
    q, _ = random_states(robot, 4)
    q[:, :3] += 2.0
    with pytest.raises(ShapeError, match="fit layout drake"):
        from_layout(robot, "mujoco", {"qpos": to_layout(robot, "drake", q)["q"]})
    nearly = to_layout(robot, "mujoco", q)["qpos"]
    nearly[:, 3:7] *= 1.0005
    assert distance(robot, q, from_layout(robot, "mujoco", {"qpos": nearly})[0]) < 1e-12
    nearly[:, 3:7] *= 1.001
    with pytest.raises(ShapeError, match=r"length 1\.0015"):
        from_layout(robot, "mujoco", {"qpos": nearly})


def test_wrong_data_is_refused():
    robot = every_kind()
    q, v = random_states(robot, 3)
    good = to_layout(robot, "mujoco", q, v)
    for wrong, kind in [
        ({"qpos": good["qpos"][:, :-1]}, ShapeError),
        ({"qpos": good["qpos"], "qvel": good["qvel"][:2]}, ShapeError),
        ({"qpos": np.where(good["qpos"] == good["qpos"][1, 1], np.nan, good["qpos"])}, ShapeError),
        ({"qvel": good["qvel"]}, UnknownNameError),
        ({**good, "qacc": good["qvel"]}, UnknownNameError),
    ]:
        with pytest.raises(kind):
            from_layout(robot, "mujoco", wrong)
    columns = to_layout(robot, "csv", q, v)
    with pytest.raises(UnknownNameError, match="missing"):
        from_layout(robot, "csv", {k: x for k, x in columns.items() if k != "d_joint [m]"})
    with pytest.raises(ShapeError, match=r"in \[deg\]"):
        from_layout(robot, "csv", {("a_joint [deg]" if k == "a_joint [rad]" else k): x for k, x in columns.items()})
    plain = {k.split(" [")[0]: x for k, x in columns.items()}
    np.testing.assert_array_equal(from_layout(robot, "csv", plain)[1], from_layout(robot, "csv", columns)[1])
    with pytest.raises(UnknownNameError, match="no layout"):
        to_layout(robot, "bullet", q)
    with pytest.raises(NotSupportedError):
        to_layout(robot, "mujoco", q, v, base_velocity="world")
    ros = to_layout(robot, "ros", q, v)
    del ros["base_linear"]
    with pytest.raises(ShapeError, match="all velocities or none"):
        from_layout(robot, "ros", ros)


def test_csv_columns_are_named_with_units():
    robot = every_kind()
    q, v = random_states(robot, 2)
    names = list(to_layout(robot, "csv", q, v))
    for name in ("base.x [m]", "base.qw [1]", "base.vx [m/s]", "base.wz [rad/s]", "a_joint [rad]", "a_joint.v [rad/s]",
                 "d_joint [m]", "e_joint.yaw [rad]", "c_joint.qx [1]"):  # fmt: skip
        assert name in names
