"""Every robot that the package builds: sizes, physics, symmetry, home posture, and the words after its name."""

import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import ModelError, NotSupportedError, UnknownNameError
from surefoot.geometry import convex_hull
from surefoot.robot.build.contact_search import find_contacts
from surefoot.robot.zoo.built import BUILT, build
from surefoot.robot.zoo.humanoid import ANKLE_DAMPING, ANKLE_STIFFNESS, BUSHING_STIFFNESS, BUSHINGS
from surefoot.spatial import inertia
from tests.robot.zoo.standing import com, corners_in_world, height, overlapping_pairs, static_torques, support_margin

MIRROR = np.diag([1.0, -1.0, 1.0])
SIZES = {  # name: nq, nv, nu, bodies, mass [kg]
    "cartpole": (2, 2, 1, 2, 1.1), "cartpole:50": (2, 2, 1, 2, 1.1), "pendulum": (1, 1, 0, 1, 1.0),
    "arm4": (4, 4, 4, 4, 5.1), "harvester": (9, 9, 9, 9, 34.0),
    "coil": (8, 8, 8, 8, 1.0), "coil:3:driven": (6, 6, 3, 6, 1.1), "coil:1": (1, 1, 1, 1, 1.0),
    "dill": (32, 32, 32, 32, 9.4), "dill:0": (1, 1, 1, 1, 0.2), "dill:3:driven": (16, 16, 8, 16, 2.42),
    "block": (7, 6, 0, 1, 2.0), "block:0.5": (7, 6, 0, 1, 0.5), "v-support": (8, 7, 1, 2, 5.0),
    "v-support:45": (8, 7, 1, 2, 5.0),
    "four-bar": (3, 3, 1, 3, 4.6), "four-bar:2:1:1.5:1.8": (3, 3, 1, 3, 8.6), "four-bar:hinge": (3, 3, 1, 3, 4.6),
    "crank": (3, 3, 1, 3, 3.8), "crank:0.25:0": (3, 3, 1, 3, 3.8), "delta": (12, 12, 3, 10, 1.9),
    "delta:0.2:0.3:0.7:0.1": (12, 12, 3, 10, 1.9),
    "biped": (14, 13, 10, 11, 87.6), "hexapod": (25, 24, 18, 19, 2.2),
    "small-humanoid": (27, 26, 20, 21, 7.0), "small-humanoid:arms7": (33, 32, 26, 27, 7.0),
    "small-humanoid:soles": (27, 26, 20, 21, 7.0), "small-humanoid:arms7:soles": (33, 32, 26, 27, 7.0),
    "humanoid": (37, 36, 30, 31, 58.0), "humanoid:elastic-ankle": (41, 40, 30, 35, 58.0),
    "humanoid:vertical": (43, 42, 30, 37, 58.0), "humanoid:elastic-ankle:bushings": (43, 42, 30, 37, 58.0),
    "lola": (31, 30, 24, 25, 60.0), "lola:elastic": (31, 30, 24, 25, 60.0),
}  # fmt: skip
LEGGED = ["biped", "hexapod", "small-humanoid", "small-humanoid:arms7", "small-humanoid:soles", "humanoid",
          "humanoid:elastic-ankle", "lola"]  # fmt: skip
ROBOTS = {text: build(text.split(":")[0], text.split(":")[1:]) for text in SIZES}


@pytest.mark.parametrize("text", SIZES)
def test_sizes(text):
    robot = ROBOTS[text]
    assert (robot.nq, robot.nv, robot.nu, robot.tree.n) == SIZES[text][:4]
    assert robot.mass == pytest.approx(SIZES[text][4], rel=1e-12)


def test_every_robot_of_the_table_is_tested():
    assert {text.split(":")[0] for text in SIZES} == set(BUILT)


@pytest.mark.parametrize("text", SIZES)
def test_inertias_are_those_of_solids(text):
    tree = ROBOTS[text].tree
    for i in range(tree.n):
        found = inertia.margins(inertia.make(tree.masses[i], tree.coms[i], tree.inertias[i]))
        assert found.mass > 0.0
        assert found.moment > 0.0
        assert found.triangle > -1e-15


@pytest.mark.parametrize("text", SIZES)
def test_home_is_inside_the_limits(text):
    robot = ROBOTS[text]
    assert (robot.home >= robot.limits.lower).all()
    assert (robot.home <= robot.limits.upper).all()
    robot.checked_q(robot.home)
    assert overlapping_pairs(robot, robot.home) == []


@pytest.mark.parametrize("text", SIZES)
def test_drives_have_the_limits_of_their_joints(text):
    robot = ROBOTS[text]
    np.testing.assert_array_equal([d.torque_limit for d in robot.drives], robot.limits.effort[robot.driven])
    np.testing.assert_array_equal([d.speed_limit for d in robot.drives], robot.limits.velocity[robot.driven])


def twin(name):
    """The same on the other side."""
    swap = {"left": "right", "right": "left"}
    return next((name.replace(a, b) for a, b in swap.items() if a in name), name)


def mirror_posture(robot, q):
    """Left and right exchanged; roll and yaw change sign. The base stays where it is."""
    out = np.array(q)
    for i, name in enumerate(robot.joint_names):
        if robot.tree.nv_of(i) != 1:
            continue
        sign = 1.0 if abs(robot.tree.axes[i][1]) == 1.0 else -1.0
        out[robot.tree.q_index[robot.joint_index(twin(name))]] = sign * q[robot.tree.q_index[i]]
    return out


@pytest.mark.parametrize("text", LEGGED)
def test_mirrored_postures(text):
    robot, rng = ROBOTS[text], np.random.default_rng(11)
    for _ in range(5):
        q = np.array(robot.neutral)
        free = slice(robot.tree.nq_of(0), None)
        q[free] = rng.uniform(robot.limits.lower[free], robot.limits.upper[free])
        other = mirror_posture(robot, q)
        assert (other >= robot.limits.lower).all()
        assert (other <= robot.limits.upper).all()
        np.testing.assert_allclose(com(robot, other), MIRROR @ com(robot, q), atol=1e-12)
        placements, reflected = robot.placements(q), robot.placements(other)
        for name in robot.link_names:
            np.testing.assert_allclose(reflected[twin(name)][:3, 3], MIRROR @ placements[name][:3, 3], atol=1e-12)
        M, mirrored_M = (pin.crba(robot.model, robot.model.createData(), x) for x in (q, other))
        np.testing.assert_allclose(np.linalg.eigvalsh(mirrored_M), np.linalg.eigvalsh(M), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("text", LEGGED)
def test_feet_stand_flat_on_the_ground(text):
    robot = ROBOTS[text]
    placements = robot.placements(robot.home)
    for contact in robot.contacts.values():
        np.testing.assert_allclose(corners_in_world(robot, robot.home, contact)[:, 2], 0.0, atol=1e-12)
        normal = (placements[contact.frame] @ contact.placement)[:3, 2]
        np.testing.assert_allclose(normal, [0.0, 0.0, 1.0], atol=1e-12)


@pytest.mark.parametrize("text", [text for text in LEGGED if text not in ("biped", "small-humanoid:soles")])
def test_given_contacts_are_those_that_the_search_finds(text):
    robot = ROBOTS[text]
    found = {contact.frame: contact for contact in find_contacts(robot, np.array(robot.home))}
    assert set(found) == {contact.frame for contact in robot.contacts.values()}
    for contact in robot.contacts.values():
        assert (found[contact.frame].kind, found[contact.frame].radius) == (contact.kind, contact.radius)
        sets = [np.round(corners_in_world(robot, robot.home, c), 9) + 0.0 for c in (contact, found[contact.frame])]
        np.testing.assert_allclose(*(s[np.lexsort(s.T)] for s in sets), atol=1e-9)


@pytest.mark.parametrize("text", LEGGED)
def test_stands_well_inside_its_support_with_half_its_torque(text):
    robot = ROBOTS[text]
    forces, tau = static_torques(robot, robot.home)
    np.testing.assert_allclose(forces.sum(axis=0), [0.0, 0.0, 9.81 * robot.mass], atol=1e-9 * robot.mass)
    assert (forces[:, 2] > 0.0).all()
    assert (np.abs(tau[robot.driven]) < 0.5 * robot.limits.effort[robot.driven]).all()
    if text == "biped":  # in the plane the support is a segment
        x = np.concatenate([corners_in_world(robot, robot.home, c)[:, 0] for c in robot.contacts.values()])
        margin = min(com(robot, robot.home)[0] - x.min(), x.max() - com(robot, robot.home)[0])
        assert margin > 0.07
    else:
        assert support_margin(robot, robot.home) > 0.05 * com(robot, robot.home)[2]


def test_elastic_ankles():
    robot = ROBOTS["humanoid:elastic-ankle"]
    passive = sorted(set(range(6, robot.nv)) - set(robot.driven.tolist()))
    assert [name for name in robot.joint_names if "flex" in name] == [
        "left_flex_roll", "left_flex_pitch", "right_flex_roll", "right_flex_pitch"]  # fmt: skip
    np.testing.assert_array_equal(robot.model.damping[passive], ANKLE_DAMPING)
    _, tau = static_torques(robot, robot.home)
    assert np.abs(tau[passive]).max() / ANKLE_STIFFNESS < np.deg2rad(1.0)
    assert 2.0 * robot.mass * 9.81 * com(robot, robot.home)[2] < ANKLE_STIFFNESS  # one foot holds it up
    assert [note.level for note in robot.notes] == ["note", "note"]
    rigid = ROBOTS["humanoid"]
    np.testing.assert_allclose(com(robot, robot.home), com(rigid, rigid.home), atol=1e-12)


def test_bushings_are_springs_at_their_places():
    """Forces of three bushings, each along the way of its own place, do the work of the coordinates."""
    robot = ROBOTS["humanoid:elastic-ankle:bushings"]
    bent = {"left_flex_vertical": -1e-3, "left_flex_roll": 4e-3, "left_flex_pitch": -6e-3}
    tau = robot.passive_forces(robot.q_of(bent), np.zeros(robot.nv))
    rows = [int(robot.tree.v_index[robot.tree.joint_names.index(name)]) for name in bent]
    places = np.array([[x, y, 0.0] for x, y in BUSHINGS])
    turn = np.array([bent["left_flex_roll"], bent["left_flex_pitch"], 0.0])
    forces = -BUSHING_STIFFNESS * (bent["left_flex_vertical"] + np.cross(turn, places)[:, 2])
    moments = np.cross(places, forces[:, None] * [0.0, 0.0, 1.0]).sum(axis=0)
    np.testing.assert_allclose(tau[rows], [forces.sum(), *moments[:2]], rtol=1e-12)
    assert robot.passive_forces(robot.home, np.zeros(robot.nv))[rows] == pytest.approx(0.0)


def test_gears_of_lola():
    rigid, elastic = ROBOTS["lola"], ROBOTS["lola:elastic"]
    assert (rigid.tree.armature[rigid.driven] > 0.0).all()
    np.testing.assert_allclose(
        rigid.tree.armature[rigid.driven], [d.gear_ratio**2 * d.rotor_inertia for d in rigid.drives]
    )
    assert not elastic.tree.armature.any()
    assert all(d.gear == "elastic" and d.stiffness > 0.0 and d.damping > 0.0 for d in elastic.drives)


@pytest.mark.parametrize(("name", "stature"), [("small-humanoid", 0.5), ("humanoid", 1.58), ("lola", 1.8)])
def test_stature(name, stature):
    assert height(ROBOTS[name], ROBOTS[name].neutral) == pytest.approx(stature, abs=1e-9)


@pytest.mark.parametrize("text", ["arm4", "harvester"])
def test_arms_hold_themselves_with_half_their_torque(text):
    robot, rng = ROBOTS[text], np.random.default_rng(2)
    data = robot.model.createData()
    for _ in range(200):
        q = rng.uniform(robot.limits.lower, robot.limits.upper)
        tau = pin.computeGeneralizedGravity(robot.model, data, q)
        assert (np.abs(tau) < 0.5 * robot.limits.effort).all()


def test_harvester_slides_and_reaches():
    robot = ROBOTS["harvester"]
    assert robot.tree.kinds == ("prismatic", *["revolute"] * 8)
    low, high = (robot.placements(robot.q_of({"lift": z}))["gripper"] for z in (0.0, 0.9))
    np.testing.assert_allclose(high[:3, 3] - low[:3, 3], [0.0, 0.0, 0.9], atol=1e-12)
    np.testing.assert_allclose(low[:3, 3], [1.3, 0.0, 0.62], atol=1e-12)  # stretched along x at q = 0


@pytest.mark.parametrize("text", ["coil:6:driven", "dill:3:driven"])
def test_reduced_gears_are_the_projected_tree(text):
    name, *parameters = text.split(":")
    whole, reduced = build(name, parameters), build(name, parameters, mimic="reduce")
    n = reduced.nv
    assert (whole.nv, reduced.tree.n, len(whole.couplings), len(reduced.couplings)) == (2 * n, 2 * n, n, 0)
    G = np.zeros((whole.nv, n))
    for joint in reduced.joint_names:
        row = reduced.tree.v_index[reduced.joint_index(joint)]
        source = joint.replace("rotor", "joint").removesuffix("_joint") if "rotor" in joint else joint
        column = reduced.tree.v_index[reduced.joint_index(source)]
        G[whole.tree.v_index[whole.joint_index(joint)], column] = 50.0 if "rotor" in joint else 1.0
        assert row == column
    q = np.random.default_rng(4).uniform(-1, 1, n)
    M = pin.crba(whole.model, whole.model.createData(), G @ q)
    np.testing.assert_allclose(pin.crba(reduced.model, reduced.model.createData(), q), G.T @ M @ G, atol=1e-10)


@pytest.mark.parametrize(
    ("name", "parameters", "kind"),
    [
        ("coil", ["0"], ModelError), ("coil", ["1001"], ModelError), ("coil", ["3.5"], ModelError),
        ("coil", ["-4"], ModelError), ("coil", ["nan"], ModelError), ("coil", ["１"], ModelError),
        ("coil", [""], ModelError),
        ("dill", ["10"], ModelError), ("dill", ["1e0"], ModelError), ("cartpole", ["0"], ModelError),
        ("cartpole", ["inf"], ModelError), ("dill", ["5", "drivn"], UnknownNameError),
        ("dill", ["driven", "driven"], UnknownNameError), ("dill", ["driven", "5"], UnknownNameError),
        ("small-humanoid", ["arms8"], UnknownNameError), ("hexapod", ["7"], UnknownNameError),
        ("four-bar", ["1", "0.4", "hing"], ModelError), ("four-bar", ["hinge", "1"], UnknownNameError),
        ("four-bar", ["1", "0.4", "1.1", "0.8", "3"], UnknownNameError), ("four-bar", ["9"], ModelError),
        ("delta", ["0.1", "-1"], ModelError), ("delta", ["0.1", "0.3", "0.2"], ModelError),
        ("block", ["0"], ModelError), ("v-support", ["61"], ModelError), ("v-support", ["-5"], ModelError),
        ("lola", ["elastic", "5"], UnknownNameError), ("dil", [], UnknownNameError),
    ],
)  # fmt: skip
def test_wrong_parameters(name, parameters, kind):
    with pytest.raises(kind) as caught:
        build(name, parameters)
    assert caught.value.next_step or "did you mean" in caught.value.message


def test_parameters_reach_the_robot():
    assert ROBOTS["cartpole:50"].drives[0].torque_limit == 50.0
    assert ROBOTS["cartpole"].drives[0].torque_limit == 20.0
    assert build("coil", ["driven"]).name == "coil-8-driven"
    assert BUILT["dill"].usage == "[:L][:driven]"
    assert BUILT["four-bar"].usage == "[:ground][:crank][:coupler][:rocker][:hinge]"


def test_other_bases():
    held = build("humanoid", base="fixed")
    assert (held.base, held.nv) == ("fixed", 30)
    with pytest.raises(NotSupportedError):
        build("arm4", base="floating")


def test_same_robot_every_time():
    one, two = build("lola"), build("lola")
    np.testing.assert_array_equal(one.tree.inertias, two.tree.inertias)
    np.testing.assert_array_equal(one.home, two.home)


def test_eight_points_of_each_sole():
    """The rectangle of the foot with its corners cut; left and right are mirror images."""
    robot, plain = ROBOTS["small-humanoid:soles"], ROBOTS["small-humanoid"]
    for side in ("left_foot", "right_foot"):
        corners, rectangle = robot.contacts[side].corners, plain.contacts[side].corners
        assert corners.shape == (8, 3)
        np.testing.assert_allclose(corners.min(axis=0), rectangle.min(axis=0), atol=1e-12)
        np.testing.assert_allclose(corners.max(axis=0), rectangle.max(axis=0), atol=1e-12)
        assert len(convex_hull(corners[:, :2])) == 8
        turns = np.roll(corners, -1, axis=0) - corners
        assert (np.cross(turns, np.roll(turns, -1, axis=0))[:, 2] > 0.0).all(), "not in order round the sole"
    left, right = (robot.contacts[f"{side}_foot"].corners for side in ("left", "right"))
    np.testing.assert_allclose(left[::-1] @ MIRROR, right, atol=1e-12)
    np.testing.assert_array_equal(robot.tree.inertias, plain.tree.inertias)
    np.testing.assert_array_equal(robot.home, plain.home)


def test_shape_of_the_soles_is_that_of_the_book():
    """Nenchev & Konno 2019, table 8.2: the right sole of the OP2, scaled to (-1, 1)."""
    corners = ROBOTS["small-humanoid:soles"].contacts["right_foot"].corners[:, :2]
    scaled = 2.0 * (corners - corners.min(axis=0)) / np.ptp(corners, axis=0) - 1.0
    book = np.array([[51.5, 19.62], [46.0, 31.0], [-46.0, 31.0], [-51.5, 19.62]])
    book = np.vstack([book, -book]) / [51.5, 31.0]
    np.testing.assert_allclose(scaled, book, atol=1e-12)


@pytest.mark.parametrize("text", ["v-support", "v-support:45"])
def test_feet_lie_in_the_v_shaped_support(text):
    """Flat on z = |y| tan(angle), mirror images, also when they are spread along the slopes."""
    robot = ROBOTS[text]
    slope = np.deg2rad(float(text.partition(":")[2] or 30.0))
    q = np.array(robot.home)
    q[7] = 0.1
    q[1], q[2] = 0.25, 0.25 * np.tan(slope)
    for posture in (robot.home, q):
        corners = robot.contact_corners(posture)
        for points in corners.values():
            np.testing.assert_allclose(points[:, 2], np.abs(points[:, 1]) * np.tan(slope), atol=1e-12)
        left, right = (np.sort(corners[f"{side}_foot"][:, 1]) for side in ("left", "right"))
        np.testing.assert_allclose(left, -right[::-1], atol=1e-12)
        assert com(robot, posture)[1] == pytest.approx(0.0, abs=1e-12)
    normals = [(robot.placements(q)[c.frame] @ c.placement)[:3, 2] for c in robot.contacts.values()]
    np.testing.assert_allclose(normals[0], [0.0, -np.sin(slope), np.cos(slope)], atol=1e-12)
    np.testing.assert_allclose(normals[1], MIRROR @ normals[0], atol=1e-12)


def test_drive_of_the_v_support_pushes_the_feet_apart():
    robot = ROBOTS["v-support"]
    data, tau = robot.model.createData(), np.zeros(7)
    tau[robot.driven] = 1.0
    model = robot.model.copy()
    model.gravity = pin.Motion.Zero()
    a = pin.aba(model, data, np.array(robot.home), np.zeros(7), tau)
    assert a[1] == pytest.approx(1.0 / 2.5)  # the left plate goes to +y, the right one as fast to -y
    assert a[6] == pytest.approx(2.0 / 2.5)


def test_sliding_bodies_can_be_held():
    assert build("v-support", base="fixed").nv == 1
    assert build("block", base="planar").nv == 3
