import mujoco
import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import NotSupportedError
from surefoot.geometry import Box, Sphere
from surefoot.motion.world.ground import GroundBox, GroundPlane, HeightField
from surefoot.motion.world.world import MovableObject, Obstacle, World
from surefoot.robot import ContactSurface, Coupling, Drive, Geometry, Joint, Link, Loop, Robot, placement, zoo
from surefoot.robot.loading import load
from surefoot.sim.mujoco.model import build_mujoco, qpos_qvel

from ..examples import every_joint, lifted_model, moving_rows, pendulum, solid, some_state, velocity_map

SAMPLE = ("g1", "talos", "anymal", "panda", "baxter", "human", "romeo", "icub", "tiago", "double_pendulum_continuous")

# Robots of the zoo that this engine does not take, with the reason.
EXCEPTIONS = {"cassie": "its chains tie directions that MuJoCo does not have"}


def check_against_pinocchio(robot: Robot, seed: int) -> None:
    """Forward kinematics, mass, mass matrix, bias and inverse dynamics at a random state."""
    model = build_mujoco(robot)
    reference = lifted_model(model)
    data, rdata = mujoco.MjData(model.mj), reference.createData()
    q, v = some_state(model, seed)
    rows = moving_rows(model)
    a = np.zeros(robot.nv)
    a[rows] = np.random.default_rng(seed + 1).standard_normal(len(rows))
    data.qpos[:], data.qvel[:] = qpos_qvel(model, q, v)
    mujoco.mj_forward(model.mj, data)

    pin.forwardKinematics(reference, rdata, q, v)
    for i, body in enumerate(model.tree_bodies):
        assert_allclose(data.xpos[body], rdata.oMi[i + 1].translation, atol=1e-9)
        assert_allclose(data.xmat[body].reshape(3, 3), rdata.oMi[i + 1].rotation, atol=1e-9)
    assert_allclose(data.subtree_com[0], pin.centerOfMass(reference, rdata, q), atol=1e-9)
    assert_allclose(model.mj.body_mass.sum(), pin.computeTotalMass(reference), rtol=1e-9)

    W = velocity_map(model, q)
    full = np.zeros((model.mj.nv, model.mj.nv))
    mujoco.mj_fullM(model.mj, data, full)
    M = pin.crba(reference, rdata, q)
    M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(rows, rows)]
    ours = W.T @ full @ W
    scale = np.sqrt(np.outer(np.diag(M), np.diag(M)))
    assert np.abs(ours - M).max() <= 1e-8 * np.abs(M).max()
    assert (np.abs(ours - M) <= 1e-8 * scale + 1e-12).all()

    assert_allclose(
        W.T @ bias_at_pinocchio_zero(model, q, v), pin.nle(reference, rdata, q, v)[rows], atol=1e-7, rtol=1e-8
    )
    data.qacc[:] = W @ a[rows] + rate_of_map(model, q, v)
    mujoco.mj_rne(model.mj, data, 1, inverse := np.zeros(model.mj.nv))
    inverse = inverse + model.mj.dof_armature * data.qacc
    assert_allclose(W.T @ inverse, pin.rnea(reference, rdata, q, v, a)[rows], atol=1e-7, rtol=1e-8)


def rate_of_map(model, q, v):
    """dW/dt · v by central differences along the motion."""
    step = 1e-6
    ahead = velocity_map(model, pin.integrate(model.robot.model, q, step * v))
    behind = velocity_map(model, pin.integrate(model.robot.model, q, -step * v))
    return (ahead - behind) @ v[moving_rows(model)] / (2.0 * step)


def bias_at_pinocchio_zero(model, q, v):
    """MuJoCo's inverse dynamics at the acceleration that is zero in Pinocchio's coordinates."""
    data = mujoco.MjData(model.mj)
    data.qpos[:], data.qvel[:] = qpos_qvel(model, q, v)
    mujoco.mj_forward(model.mj, data)
    data.qacc[:] = rate_of_map(model, q, v)
    out = np.zeros(model.mj.nv)
    mujoco.mj_rne(model.mj, data, 1, out)
    return out + model.mj.dof_armature * data.qacc


@pytest.mark.parametrize("name", SAMPLE)
def test_same_dynamics_as_pinocchio(name):
    check_against_pinocchio(load(name), seed=3)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in zoo.names() if name not in EXCEPTIONS])
def test_same_dynamics_as_pinocchio_for_the_whole_zoo(name):
    check_against_pinocchio(load(name), seed=0)


def test_same_dynamics_with_every_kind_of_joint():
    for seed in range(5):
        check_against_pinocchio(every_joint(), seed)


def test_same_dynamics_with_followers_taken_away():
    for name in ("baxter", "panda"):
        robot = load(name, mimic="reduce")
        assert (robot.tree.mimic_source >= 0).any()
        check_against_pinocchio(robot, seed=1)


def test_helical_joint_is_refused():
    with pytest.raises(NotSupportedError, match="helical"):
        build_mujoco(every_joint(("helical",)))


def test_order_of_joints_and_bodies():
    robot = load("talos")
    model = build_mujoco(robot)
    assert [model.mj.joint(j).name for j in range(model.mj.njnt)] == list(robot.joint_names)
    assert [model.mj.body(b).name for b in model.tree_bodies] == list(robot.tree.body_names)
    assert model.tree_bodies.tolist() == list(range(1, robot.tree.n + 1))
    assert [model.mj.actuator(k).trnid[0] for k in range(model.mj.nu)] == [
        model.mj.joint(drive.joint).id for drive in robot.drives
    ]
    assert_allclose(model.mj.actuator_forcerange[:, 1], [drive.torque_limit for drive in robot.drives])
    rows = [robot.tree.q_index[robot.joint_index(d.joint)] for d in robot.drives]
    joints = [model.mj.joint(d.joint).id for d in robot.drives]
    assert_allclose(model.mj.jnt_range[joints, 0], robot.limits.lower[rows])
    assert_allclose(model.mj.jnt_range[joints, 1], robot.limits.upper[rows])


def test_drive_numbers_arrive():
    joint = Joint("j", "revolute", lower=-1.0, upper=2.0)
    drive = Drive("j", gear_ratio=10.0, rotor_inertia=1e-3, viscous_friction=0.3, dry_friction=0.2, torque_limit=7.0)
    body = Link("b", "a", joint, mass=1.0, inertia=0.1 * np.eye(3))
    mj = build_mujoco(Robot.from_tree("r", [Link("a"), body], drives=(drive,))).mj
    assert_allclose([mj.dof_damping[0], mj.dof_frictionloss[0], mj.dof_armature[0]], [0.3, 0.2, 0.1])
    assert_allclose([mj.actuator_forcerange[0], mj.jnt_range[0]], [[-7.0, 7.0], [-1.0, 2.0]])


def test_continuous_joint_has_no_limits():
    mj = build_mujoco(load("double_pendulum_continuous")).mj
    assert not mj.jnt_limited.any()


def test_equal_limits_hold_the_joint():
    joint = Joint("j", "revolute", axis=(0.0, 1.0, 0.0), lower=0.0, upper=0.0)
    body = Link("b", "a", joint, mass=1.0, com=np.array([1.0, 0.0, 0.0]), inertia=0.1 * np.eye(3))
    model = build_mujoco(Robot.from_tree("r", [Link("a"), body], drives=()), World(ground=()))
    data = mujoco.MjData(model.mj)
    for _ in range(500):
        mujoco.mj_step(model.mj, data)
    assert abs(data.qpos[0]) < 1e-2


def test_lifted_and_locked_are_listed():
    assert "left_upperleg_virtual" in build_mujoco(load("human")).lifted
    romeo = build_mujoco(load("romeo"))
    assert "LThumb1" in romeo.locked
    assert all(romeo.qpos_index[romeo.robot.joint_index(name)] == -1 for name in romeo.locked)
    clean = build_mujoco(load("talos"))
    assert clean.lifted == ()
    assert clean.locked == ()


def test_coupling_is_held():
    rng = np.random.default_rng(1)
    links = [Link("a"), Link("b", "a", Joint("p", "revolute", axis=(0.0, 1.0, 0.0)), **solid(rng)),
             Link("c", "a", Joint("s", "revolute", axis=(0.0, 1.0, 0.0)), **solid(rng))]  # fmt: skip
    model = build_mujoco(Robot.from_tree("r", links, couplings=(Coupling("s", "p", -2.0, 0.1),)), World(ground=()))
    data = mujoco.MjData(model.mj)
    data.qpos[:] = [1.0, -1.9]
    path = []
    for _ in range(300):
        mujoco.mj_step(model.mj, data)
        path.append(data.qpos.copy())
    first, second = np.array(path).T
    assert np.ptp(first) > 0.05
    assert np.abs(second - (0.1 - 2.0 * first)).max() < 5e-3


@pytest.mark.parametrize("directions", [(1, 1, 1, 0, 0, 0), (1, 1, 1, 1, 1, 1)])
def test_loop_is_held(directions):
    robot = pendulum()
    loop = Loop("pin", "bob", "universe", placement((0.0, 0.0, -0.8)), placement((0.0, 0.0, -0.8)),
                tuple(bool(d) for d in directions))  # fmt: skip
    model = build_mujoco(robot.replace(loops=(loop,)), World(ground=(), gravity=np.array([3.0, 0.0, -9.81])))
    data = mujoco.MjData(model.mj)
    for _ in range(500):
        mujoco.mj_step(model.mj, data)
    assert abs(data.qpos[0]) < 1e-2


def test_loop_of_other_directions_is_refused():
    """The tip can move along z too, so that x alone is not what MuJoCo could tie."""
    tip = placement((0.0, 0.0, -0.8))
    loop = Loop("odd", "bob", "universe", tip, tip, (True, False, False, False, False, False))
    with pytest.raises(NotSupportedError, match="odd"):
        build_mujoco(pendulum().replace(loops=(loop,)))


def drop_height(world: World, x: float, y: float) -> float:
    """Height at which a ball of radius 0.05 m comes to rest."""
    ball = Link("ball", mass=1.0, inertia=1e-3 * np.eye(3), collisions=(Geometry("g", "ball", Sphere(0.05)),))
    model = build_mujoco(Robot.from_tree("ball", [ball], "floating"), world)
    data = mujoco.MjData(model.mj)
    data.qpos[:3] = [x, y, 1.0]
    for _ in range(600):
        mujoco.mj_step(model.mj, data)
        data.qvel[[0, 1, 3, 4, 5]] = 0.0
        data.qpos[:2] = [x, y]
    return float(data.qpos[2]) - 0.05


def test_ground_is_where_the_world_says():
    heights = np.array([[0.0, 0.1, 0.2], [0.3, 0.3, 0.1], [0.0, 0.2, 0.4], [0.1, 0.1, 0.1]])
    field = HeightField(heights, cell=0.5, origin=np.array([1.0, 2.0, 0.1]))
    slope = GroundPlane(np.array([0.0, 0.0, 0.05]), np.array([0.1, -0.05, 1.0]))
    box = GroundBox((0.4, 0.4, 0.3), placement((-2.0, 0.0, 0.15)))
    world = World(ground=(slope, box, field))
    for x, y in ((-2.0, 0.0), (-1.0, 3.0)):
        assert_allclose(drop_height(world, x, y), world.height(x, y), atol=3e-3)
    for i, j in ((1, 1), (2, 1)):
        x, y = 1.0 + 0.5 * i, 2.0 + 0.5 * j
        assert_allclose(drop_height(World(ground=(field,)), x, y), 0.1 + heights[i, j], atol=0.03)


def test_slipperier_surface_decides():
    robot = load("anymal")
    for ground, sole in ((0.3, 0.9), (0.9, 0.2)):
        contacts = {n: ContactSurface(c.name, c.frame, c.kind, c.placement, c.corners, sole, radius=c.radius)
                    for n, c in robot.contacts.items()}  # fmt: skip
        model = build_mujoco(robot.replace(contacts=contacts), World.flat(ground))
        data = mujoco.MjData(model.mj)
        q = np.array(robot.home)
        q[2] -= 0.002
        data.qpos[:], _ = qpos_qvel(model, q, np.zeros(robot.nv))
        mujoco.mj_forward(model.mj, data)
        assert data.ncon >= 4
        assert_allclose(data.contact.friction[:, 0], min(ground, sole))


def test_every_contact_surface_touches_at_home():
    for name in ("g1", "talos", "anymal", "solo12", "icub", "simple_humanoid"):
        robot = load(name)
        model = build_mujoco(robot, World())
        data = mujoco.MjData(model.mj)
        q = np.array(robot.home)
        q[2] -= 0.003
        data.qpos[:], _ = qpos_qvel(model, q, np.zeros(robot.nv))
        mujoco.mj_forward(model.mj, data)
        touching = {int(g) for pair in data.contact.geom for g in pair}
        for contact, geoms in model.contact_geoms.items():
            assert touching & set(geoms), f"{name}: {contact}"


def test_contact_without_shape_gets_balls():
    corners = 0.1 * np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
    sole = ContactSurface("sole", "box", "rectangle", placement((0.0, 0.0, -0.1)), corners)
    body = Link("box", mass=1.0, inertia=0.01 * np.eye(3))
    robot = Robot.from_tree("bare", [body], "floating", contacts=(sole,))
    model = build_mujoco(robot, World())
    assert len(model.contact_geoms["sole"]) == 4
    data = mujoco.MjData(model.mj)
    data.qpos[2] = 0.1
    for _ in range(500):
        mujoco.mj_step(model.mj, data)
    assert_allclose(data.qpos[2], 0.1, atol=2e-3)


def test_robot_touches_itself_only_if_asked():
    robot = load("talos")
    q = np.array(robot.home)
    q[2] = 3.0
    q[robot.tree.q_index[robot.joint_index("leg_left_2_joint")]] = -0.5
    counts = []
    for flag in (False, True):
        model = build_mujoco(robot, World(), self_collision=flag)
        data = mujoco.MjData(model.mj)
        data.qpos[:], _ = qpos_qvel(model, q, np.zeros(robot.nv))
        mujoco.mj_forward(model.mj, data)
        counts.append(data.ncon)
        home = np.array(robot.home)
        home[2] = 3.0
        data.qpos[:], _ = qpos_qvel(model, home, np.zeros(robot.nv))
        mujoco.mj_forward(model.mj, data)
        assert data.ncon == 0
    assert counts[0] == 0
    assert counts[1] > 0


def test_objects_and_obstacles():
    world = World(obstacles=(Obstacle("wall", Box((0.1, 1.0, 1.0)), placement((2.0, 0.0, 0.5))),),
                  objects=(MovableObject("crate", Box((0.2, 0.2, 0.2)), 3.0, placement((1.0, 0.0, 0.4))),))  # fmt: skip
    model = build_mujoco(load("panda"), world)
    assert_allclose(model.mj.body("object crate").mass, 3.0)
    assert (model.nq, model.nv) == (model.mj.nq - 7, model.mj.nv - 6)
    data = mujoco.MjData(model.mj)
    for _ in range(600):
        mujoco.mj_step(model.mj, data)
    assert_allclose(data.body("object crate").xpos[2], 0.1, atol=2e-3)


def test_equal_meshes_share_an_asset():
    robot = load("g1")
    distinct = {(c.shape.path, c.shape.scale) for c in robot.collisions if hasattr(c.shape, "path")}
    mj = build_mujoco(robot).mj
    assert mj.nmesh == len(distinct)
    assert (mj.mesh_vertnum > 0).all()
