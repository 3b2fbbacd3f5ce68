"""What a finished robot promises: nothing lost on the way, couplings held, the base where it belongs."""

from __future__ import annotations

import copy
import os
import pickle
import threading

import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import ModelError, SurefootError
from surefoot.geometry import Box, Sphere
from surefoot.robot import Coupling, DHRow, Drive, Geometry, Joint, Link, Loop, Robot, placement, zoo
from surefoot.robot.loading import load
from tests.robot.sample_files import ARM_MJCF, ARM_URDF, write


def chain(n: int = 3, **fields) -> list[Link]:
    joints = [Joint(f"j{i}", "revolute", placement((0.1, 0, 0.2)), (0, 1, 0), **fields) for i in range(n)]
    return [Link(f"l{i}", f"l{i - 1}" if i else None, joints[i], 1.0, inertia=0.1 * np.eye(3)) for i in range(n)]


@pytest.mark.parametrize("text", ["0.02 ", " 0.02", "\t0.02\n", "2e-2", "+.02", "0.020000"])
def test_numbers_in_any_spelling_reach_the_model(tmp_path, text):
    """urdfdom drops a whole inertia for a blank behind one number, without a word."""
    urdf = ARM_URDF.replace('ixx="0.02"', f'ixx="{text}"').replace('value="2.5"', 'value=" 2.5 "')
    robot = load(write(tmp_path, "arm.urdf", urdf.replace('lower="-1.5"', 'lower=" -1.5 "')))
    plain = load(write(tmp_path, "arm.urdf", ARM_URDF))
    np.testing.assert_allclose(robot.tree.inertias, plain.tree.inertias, atol=1e-15)
    assert robot.limits.lower[0] == -1.5


def test_digits_of_other_scripts_are_refused(tmp_path):
    with pytest.raises(SurefootError, match="finite number"):
        load(write(tmp_path, "arm.urdf", ARM_URDF.replace('value="2.5"', 'value="２.５"')))


def test_links_with_numbers_as_names(tmp_path):
    urdf = ARM_URDF.replace('"upper"', '"1"').replace('"lower"', '"2"').replace("lower=", "lower=")
    assert {"1", "2"} <= set(load(write(tmp_path, "arm.urdf", urdf)).link_names)


def test_what_a_follower_brings_counts_at_its_leader():
    """Mass matrix GᵀMG with rotor inertia; damping by power; limits of both."""
    links = chain(2, armature=0.2, damping=0.7, friction=0.3, lower=-0.5, upper=0.5, velocity=1.0)
    ties = (Coupling("j1", "j0", -3.0, 0.1),)
    full = Robot.from_tree("full", links, couplings=ties)
    small = Robot.from_tree("small", links, couplings=ties, mimic="reduce")
    G = np.array([[1.0], [-3.0]])
    M = np.array(pin.crba(full.model, full.model.createData(), full.q_of({"j0": 0.1, "j1": -0.2})))
    M = np.triu(M) + np.triu(M, 1).T
    m = pin.crba(small.model, small.model.createData(), small.q_of({"j0": 0.1}))
    np.testing.assert_allclose(m, G.T @ M @ G, atol=1e-12)
    assert small.model.damping[0] == pytest.approx(0.7 * 10.0)
    assert small.model.upperDryFrictionLimit[0] == pytest.approx(0.3 * 4.0)
    np.testing.assert_allclose(
        [small.limits.lower[0], small.limits.upper[0]], [(0.5 - 0.1) / -3.0, (-0.5 - 0.1) / -3.0]
    )
    assert small.limits.velocity[0] == pytest.approx(1.0 / 3.0)


def test_drives_on_leader_and_follower_become_one():
    drives = (Drive("j0", torque_limit=10.0, rotor_inertia=0.1), Drive("j1", torque_limit=5.0, rotor_inertia=0.2))
    robot = Robot.from_tree("r", chain(2), couplings=(Coupling("j1", "j0", 2.0),), drives=drives, mimic="reduce")
    assert robot.nu == 1
    assert robot.drives[0].torque_limit == 20.0
    assert robot.drives[0].armature == pytest.approx(0.1 + 4 * 0.2)
    assert robot.tree.armature[0] == pytest.approx(0.9)
    held = Robot.from_tree("h", chain(2), couplings=(Coupling("j1", "j0", 0.0),), drives=drives, mimic="reduce")
    assert [drive.joint for drive in held.drives] == ["j0"]


@pytest.mark.parametrize("mimic", ["coupling", "reduce"])
@pytest.mark.parametrize("home", [{"j2": 0.5}, {"j0": 1.1}, None])
def test_the_home_posture_holds_the_couplings(mimic, home):
    """j0 = 0.1 + 2 j2: the follower comes first in the tree; where 0 is no place, 5 % of the range from the limit."""
    ties = (Coupling("j0", "j2", 2.0, 0.1),)
    robot = Robot.from_tree("r", chain(3, lower=0.3, upper=3.0), couplings=ties, home=home, mimic=mimic)
    other = Robot.from_tree("o", chain(3), mimic="free")
    expected = {"j2": 0.3 + 0.05 * ((3.0 - 0.1) / 2.0 - 0.3) if home is None else 0.5}
    j1 = 0.3 + 0.05 * (3.0 - 0.3) if home is None else 0.0
    q = other.q_of({**expected, "j0": 0.1 + 2.0 * expected["j2"], "j1": j1})
    np.testing.assert_allclose(robot.placements(robot.home)["l2"], other.placements(q)["l2"], atol=1e-12)


def test_the_default_home_is_one_posture_in_both_modes_and_inside_all_limits():
    """j0 = 0.1 + 2 j2, led by the later joint; and a follower whose limits move its leader."""
    ties = (Coupling("j0", "j2", 2.0, 0.1),)
    homes = [Robot.from_tree("r", chain(3), couplings=ties, mimic=mimic) for mimic in ("coupling", "reduce")]
    np.testing.assert_allclose(*(r.placements(r.home)["l2"] for r in homes), atol=1e-12)
    free, tight = chain(2)[0], chain(2, lower=0.5, upper=2.0)[1]
    for mimic in ("coupling", "reduce"):
        robot = Robot.from_tree("r", [free, tight], couplings=(Coupling("j1", "j0", 2.0, 0.3),), mimic=mimic)
        assert robot.home[0] == pytest.approx(0.1 + 0.05 * (0.85 - 0.1))


def test_a_floating_base_needs_a_joint_that_floats():
    with pytest.raises(ModelError, match="no such joint carries it"):
        Robot.from_tree("r", chain(), base="floating")
    with pytest.raises(SurefootError, match="did you mean `floating`"):
        Robot.from_tree("r", chain(), base="flaoting")
    robot = Robot.from_dh("dh", [DHRow(mass=1.0, inertia=np.eye(3)), DHRow(a=0.4, mass=1.0)], base="floating")
    assert robot.tree.kinds == ("free", "revolute", "revolute")


def test_the_base_joint_is_found_wherever_it_stands():
    """A link on the world before the robot: home lifts the robot, not that link."""
    ball = Geometry("b", "foot", Sphere(0.05))
    hip = Joint("hip", "revolute", placement((0, 0, -0.5)))
    links = [
        Link("door", None, Joint("hinge", "revolute"), 1.0, inertia=np.eye(3)),
        Link("torso", mass=5.0, inertia=np.eye(3)),
        Link("foot", "torso", hip, 1.0, inertia=np.eye(3), collisions=(ball,)),
    ]
    robot = Robot.from_tree("r", links, "floating")
    assert robot.joint_names[robot.base_joint] == "root_joint"
    assert robot.home[0] == 0.0
    assert robot.placements(robot.home)["torso"][2, 3] == pytest.approx(0.55)
    with pytest.raises(SurefootError, match="base has shape"):
        robot.q_of({}, base=[1.0, 2.0])


def test_a_joint_called_root_joint_is_kept_apart(tmp_path):
    robot = load(write(tmp_path, "arm.urdf", ARM_URDF.replace('"shoulder"', '"root_joint"')), base="floating")
    assert len(set(robot.joint_names)) == 4
    assert robot.driven.min() == 6


def test_a_file_with_its_own_floating_joint(tmp_path):
    """World link and floating joint, as many exporters write it: one free joint, whatever base is asked for."""
    joint = '<joint name="float" type="floating"><parent link="world"/><child link="base"/></joint>'
    urdf = ARM_URDF.replace('<link name="base"/>', f'<link name="world"/><link name="base"/>{joint}')
    for base in ("auto", "floating"):
        robot = load(write(tmp_path, "arm.urdf", urdf), base=base)
        assert (robot.base, robot.nv, robot.tree.kinds[0]) == ("floating", 9, "free")
        assert "float" not in [drive.joint for drive in robot.drives]


def test_what_is_fixed_to_the_world_is_no_foot():
    pad = Geometry("pad", "pad", Box((1.0, 1.0, 0.1)), placement((0, 0, -1.0)))
    sole = Geometry("sole", "foot", Box((0.2, 0.1, 0.02)), placement((0, 0, -0.1)))
    hip = Joint("hip", "revolute", placement((0, 0, -0.5)))
    links = [
        Link("pad", None, Joint("fix", "fixed"), collisions=(pad,)),
        Link("torso", mass=5.0, inertia=np.eye(3)),
        Link("foot", "torso", hip, 1.0, inertia=np.eye(3), collisions=(sole,)),
    ]
    assert list(Robot.from_tree("r", links, "floating").contacts) == ["foot"]


def test_wrong_names_are_found_in_loops_and_shapes():
    with pytest.raises(SurefootError, match="no frame `nope`"):
        Robot.from_tree("r", chain(), loops=(Loop("x", "nope", "l0"),))
    with pytest.raises(SurefootError, match="no frame `nope`"):
        Robot.from_tree("r", chain(), collisions=(Geometry("g", "nope", Sphere(0.1)),))
    with pytest.raises(ModelError, match="mass"):
        Link("a", mass=-1.0)


def test_inertias_that_no_body_has_load_and_are_reported(tmp_path):
    urdf = ARM_URDF.replace('ixx="0.02"', 'ixx="-0.02"')
    write(tmp_path, "arm.surefoot.toml", '[joints.elbow]\nkind = "spherical"\n')
    assert load(write(tmp_path, "arm.urdf", urdf)).tree.inertias[0, 0, 0] < 0.0


def test_drives_and_limits_say_the_same(tmp_path):
    write(
        tmp_path,
        "arm.surefoot.toml",
        "[drives.shoulder]\ntorque_limit = 3.0\nspeed_limit = 1.0\nviscous_friction = 0.5\n",
    )
    robot = load(write(tmp_path, "arm.urdf", ARM_URDF))
    assert (robot.limits.effort[0], robot.limits.velocity[0], robot.model.damping[0]) == (3.0, 1.0, 0.5)


def test_a_gear_ratio_alone_keeps_the_inertia_at_the_joint(tmp_path):
    write(tmp_path, "arm.surefoot.toml", "[drives.shoulder]\ngear_ratio = 100.0\n")
    robot = load(write(tmp_path, "arm.xml", ARM_MJCF))
    assert robot.drives[0].armature == pytest.approx(0.02)
    assert robot.drives[0].gear_ratio == 100.0
    for wrong in ("gear_ratio = 0.0", "gear_ratio = -1.0"):
        write(tmp_path, "arm.surefoot.toml", f"[drives.shoulder]\n{wrong}\n")
        with pytest.raises(SurefootError, match="greater than 0"):
            load(tmp_path / "arm.xml")


def test_joint_kinds_of_a_side_file_are_for_urdf(tmp_path):
    write(tmp_path, "arm.surefoot.toml", '[joints.shoulder]\nkind = "spherical"\n')
    with pytest.raises(SurefootError, match="is for URDF"):
        load(write(tmp_path, "arm.xml", ARM_MJCF))


def test_torque_falls_with_speed():
    drive = Drive("j", torque_limit=10.0, speed_limit=5.0, corner_speed=3.0)
    assert [drive.torque_at_speed(v) for v in (-9.0, 0.0, 3.0, 4.0, 5.0, 6.0)] == [10.0, 10.0, 10.0, 5.0, 0.0, 0.0]
    step = Drive("j", torque_limit=10.0, speed_limit=5.0)
    assert [step.torque_at_speed(v) for v in (5.0, 6.0)] == [10.0, 0.0]
    assert Drive("j", torque_limit=10.0).torque_at_speed(1e9) == 10.0
    assert Drive("j", torque_limit=10.0, speed_limit=5.0, corner_speed=5.0).torque_at_speed(5.5) == 0.0


def test_robots_are_compared_by_identity():
    a, b = Robot.from_tree("a", chain()), Robot.from_tree("a", chain())
    assert a == a
    assert a != b
    assert len({a, b}) == 2


def test_loading_in_threads_gives_stderr_back():
    before = os.fstat(2)
    threads = [threading.Thread(target=lambda: [zoo.load("solo12") for _ in range(5)]) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert os.fstat(2).st_ino == before.st_ino
    assert os.fstat(2).st_dev == before.st_dev


def test_robots_go_through_pickle_and_copy():
    for name in ("anymal", "baxter"):
        robot = zoo.load(name)
        for twin in (pickle.loads(pickle.dumps(robot)), copy.deepcopy(robot)):
            assert (twin.name, twin.joint_names, list(twin.contacts)) == (
                robot.name,
                robot.joint_names,
                list(robot.contacts),
            )
            frames, others = robot.placements(robot.home), twin.placements(twin.home)
            assert all(np.array_equal(frames[key], others[key]) for key in frames)
    with pytest.raises(SurefootError, match="cannot be pickled"):
        pickle.dumps(zoo.load("baxter", mimic="reduce"))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Robot.from_tree("r", []), "at least one link"),
        (lambda: Robot.from_tree("r", chain(), colour="red"), "no field of a robot `colour`"),
        (lambda: Link(""), "no name"),
        (lambda: Link("a", inertia=np.array([[1, 2, 0], [0, 1, 0], [0, 0, 1.0]])), "not symmetric"),
        (lambda: Joint("j", "revolute", lower=2.0, upper=1.0), "contradict"),
        (lambda: Joint("j", "revolute", lower=np.nan), "contradict"),
        (lambda: Joint("j", "revolute", effort=-1.0), "contradict"),
        (lambda: Joint("j", "revolute", 2.0 * np.eye(4)), "not a rigid displacement"),
        (lambda: Joint("j", "universal", axis=(0, 1, 0), second_axis=(0, 2, 0)), "parallel"),
        (lambda: Geometry("g", "l", Sphere(1.0), np.diag([1.0, 1.0, -1.0, 1.0])), "not a rigid displacement"),
    ],
)
def test_nonsense_in_code_is_refused(build, message):
    with pytest.raises(SurefootError, match=message):
        build()


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_symmetric_robots_whose_moments_cancel_are_read(tmp_path, base, rng):
    """Two readings differ by rounding where fixed parts cancel; that is no difference."""
    for _ in range(40):
        x, y, m = rng.integers(1, 500, 3) / 1000.0
        inertia = '<inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/>'
        inertial = f'<inertial><mass value="{m}"/>{inertia}</inertial>'
        arms = "".join(
            f'<link name="a{i}">{inertial}</link><joint name="f{i}" type="fixed"><origin xyz="{sx * x} {sy * y} 0"/>'
            f'<parent link="hub"/><child link="a{i}"/></joint>'
            for i, (sx, sy) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1)))
        )
        spin = (
            '<joint name="spin" type="continuous"><parent link="base"/><child link="hub"/><axis xyz="0 0 1"/></joint>'
        )
        links = f'<link name="base">{inertial}</link><link name="hub">{inertial}</link>'
        robot = load(write(tmp_path, "quad.urdf", f'<robot name="q">{links}{spin}{arms}</robot>'), base=base)
        assert robot.tree.masses[-1] == pytest.approx(5 * m)
        np.testing.assert_allclose(robot.tree.coms[-1], 0.0, atol=1e-15)


def test_a_floating_joint_needs_no_axis(tmp_path):
    joint = '<joint name="fl" type="floating"><parent link="slider"/><child link="tip"/><axis xyz="0 0 0"/></joint>'
    head, tail = ARM_URDF.split('  <joint name="tool"')
    urdf = head + joint + tail.split("</joint>", 1)[1]
    assert load(write(tmp_path, "arm.urdf", urdf)).tree.kinds[-1] == "free"
