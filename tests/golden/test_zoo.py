"""Numbers of the sources that the built robots must show."""

from math import comb

import numpy as np
import pinocchio as pin
import pytest

from surefoot.robot.zoo.built import build
from surefoot.robot.zoo.small_mechanisms import POINT_INERTIA

G = 9.81


def com(robot, q):
    return pin.centerOfMass(robot.model, robot.model.createData(), np.array(q))


@pytest.mark.parametrize("seed", range(5))
def test_cartpole_of_busenhart(seed):
    """Busenhart 1994, chapter 6: X21 = s − l sin φ, X22 = l cos φ (4.2) and the explicit equations of motion."""
    robot, rng = build("cartpole"), np.random.default_rng(seed)
    m1, m2, l = 1.0, 0.1, 1.0  # noqa: E741
    s, phi = rng.uniform(-5, 5), rng.uniform(-np.pi, np.pi)
    q, v = robot.q_of({"slide": s, "swing": phi}), rng.uniform(-3, 3, 2)
    u, w = rng.uniform(-20, 20), v[1]
    sin, cos = np.sin(phi), np.cos(phi)
    np.testing.assert_allclose(robot.placements(q)["tip"][:3, 3], [s - l * sin, 0.0, l * cos], atol=1e-12)
    data = robot.model.createData()
    M = [[m1 + m2, -m2 * l * cos], [-m2 * l * cos, m2 * l**2 + POINT_INERTIA]]
    np.testing.assert_allclose(pin.crba(robot.model, data, q), M, atol=1e-14)
    acceleration = pin.aba(robot.model, data, q, v, np.array([u, 0.0]))
    x = (u + m2 * G * sin * cos - m2 * l * w**2 * sin) / (m1 + m2 * sin**2)
    np.testing.assert_allclose(acceleration, [x, (cos * x + G * sin) / l], rtol=1e-4, atol=1e-4)


def test_cartpole_bounds():
    """Busenhart 1994: rail ±5 m, actuator ±20 N, only the cart is driven."""
    robot = build("cartpole")
    assert (robot.limits.lower[0], robot.limits.upper[0]) == (-5.0, 5.0)
    assert [(drive.joint, drive.torque_limit) for drive in robot.drives] == [("slide", 20.0)]


def test_pendulum_of_buschmann():
    """Buschmann 2014, section 3.4.1: m = 1, l = 1, g = 9.81; released from the horizontal: q̈ = −g/l sin q."""
    robot = build("pendulum")
    data = robot.model.createData()
    for q in (0.5 * np.pi, -0.3, 2.0):
        np.testing.assert_allclose(
            robot.placements(np.array([q]))["tip"][:3, 3], [np.sin(q), 0, -np.cos(q)], atol=1e-15
        )
        found = pin.aba(robot.model, data, np.array([q]), np.zeros(1), np.zeros(1))
        assert found[0] == pytest.approx(-G * np.sin(q), rel=2e-6)


@pytest.mark.parametrize("levels", range(8))
def test_dill_is_a_binomial_tree(levels):
    """Buschmann 2014, section 2.4: 2^L bodies, C(L, i) of them with i ancestors."""
    tree = build("dill", [str(levels)]).tree
    depths = [len(tree.ancestors(i)) for i in range(tree.n)]
    assert tree.n == 2**levels
    assert [depths.count(i) for i in range(levels + 1)] == [comb(levels, i) for i in range(levels + 1)]


def test_dill_5_mass_matrix_has_112_nonzeros():
    """Buschmann 2014, (3.33): α = (2 + L)/(1 + 2^L): 112 of 528 entries of the upper triangle, 0.2121."""
    robot = build("dill", ["5"])
    M = pin.crba(robot.model, robot.model.createData(), np.random.default_rng(0).uniform(-1, 1, 32))
    upper = np.triu(np.ones((32, 32), dtype=bool))
    assert np.count_nonzero(np.abs(M[upper]) > 1e-12) == 112
    assert upper.sum() == 528
    assert pytest.approx(0.2121, abs=5e-5) == 112 / 528


@pytest.mark.parametrize(("levels", "share"), [(3, 0.5556), (5, 0.2121), (8, 0.0389)])
def test_dill_sparsity(levels, share):
    """Buschmann 2014, (3.33): nonzeros n_b + Σ N_p of the upper triangle."""
    tree = build("dill", [str(levels)]).tree
    nonzeros = tree.n + sum(len(tree.ancestors(i)) for i in range(tree.n))
    assert nonzeros / (tree.n * (tree.n + 1) / 2) == pytest.approx(share, abs=5e-5)


def test_coil_of_buschmann():
    """Buschmann 2014, section 2.4: d = 0, a = 1/n, α = 5π/n."""
    tree = build("coil", ["32"]).tree
    c, s = np.cos(5 * np.pi / 32), np.sin(5 * np.pi / 32)
    T = [[1, 0, 0, 1 / 32], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(tree.placements, np.broadcast_to(T, (32, 4, 4)), atol=1e-15)
    assert np.ptp(tree.masses) == 0.0
    assert (tree.parents == np.arange(-1, 31)).all()


BIPED = {  # Busenhart 1994, chapter 6: mass [kg] and inertia about the centre of mass [kg m²]
    "torso": (47.0, 2.25), "thigh": (9.0, 0.167), "shank": (5.0, 0.09), "foot": (1.6, 0.006),
    "upper_arm": (2.35, 0.019), "forearm": (2.35, 0.019),
}  # fmt: skip


def test_biped_bodies_of_busenhart():
    robot = build("biped")
    for i, name in enumerate(robot.tree.body_names):
        mass, moment = BIPED["torso" if i == 0 else name.split("_", 1)[1]]
        axis = np.array([0.0, 0.0, 1.0]) if i == 0 else np.array([0.0, 1.0, 0.0])  # the base body has y up
        assert robot.tree.masses[i] == mass
        assert axis @ robot.tree.inertias[i] @ axis == pytest.approx(moment)
    assert robot.mass == pytest.approx(87.6)
    foot = robot.tree.body_names.index("left_foot")
    about_heel = robot.tree.inertias[foot][1, 1] + 1.6 * robot.tree.coms[foot] @ robot.tree.coms[foot]
    assert about_heel == pytest.approx(0.022)


def test_biped_geometry_of_busenhart():
    """Straight legs put the torso's centre at 1.22 m; ankle over heel; foot of 0.2 m; shoulders 0.18 m up."""
    robot = build("biped")
    placements = robot.placements(robot.q_of({}, base=(0.0, 1.22, 1.0, 0.0)))
    np.testing.assert_allclose(placements["torso"][:3, :3], np.eye(3), atol=1e-12)
    assert placements["torso"][2, 3] == pytest.approx(1.22)
    for side in ("left", "right"):
        ball, heel = ((placements[f"{side}_foot"] @ robot.contacts[f"{side}_{name}"].placement)[:3, 3]
                      for name in ("ball", "heel"))  # fmt: skip
        np.testing.assert_allclose([ball[0], ball[2], heel[0], heel[2]], [0.2, 0.0, 0.0, 0.0], atol=1e-12)
        assert placements[f"{side}_upper_arm"][2, 3] == pytest.approx(1.40)
        assert placements[f"{side}_forearm"][2, 3] == pytest.approx(1.10)


def test_biped_hinges_of_busenhart():
    """Ranges of φ' and the order of u₁ … u₁₀; a bent knee takes the foot back, a bent elbow the hand forward."""
    robot = build("biped")
    ranges = {"hip": (-np.pi, np.pi), "knee": (-np.pi / 72, np.pi), "ankle": (-np.pi / 4, np.pi),
              "shoulder": (-np.pi, np.pi), "elbow": (-np.pi, 0.0)}  # fmt: skip
    order = [f"{side}_{name}" for side in ("right", "left") for name in ("hip", "knee", "ankle")]
    order += [f"{side}_{name}" for side in ("right", "left") for name in ("shoulder", "elbow")]
    assert [drive.joint for drive in robot.drives] == order
    for joint in order:
        row = robot.tree.q_index[robot.joint_index(joint)]
        assert (robot.limits.lower[row], robot.limits.upper[row]) == ranges[joint.split("_")[1]]
    bent = robot.placements(robot.q_of({"left_knee": 1.0, "left_elbow": -1.0}))
    assert bent["left_foot"][0, 3] < -0.3
    assert (bent["left_forearm"] @ [0.0, 0.0, -0.3, 1.0])[0] > 0.2


def test_biped_moves_in_the_vertical_plane():
    """x, z and the angle from x to z (about −y) of the torso are the first coordinates."""
    robot = build("biped")
    angle = 0.3
    T = robot.placements(robot.q_of({}, base=(0.5, 0.9, np.cos(angle), np.sin(angle))))["torso"]
    c, s = np.cos(angle), np.sin(angle)
    np.testing.assert_allclose(T, [[c, 0, -s, 0.5], [0, 1, 0, 0], [s, 0, c, 0.9], [0, 0, 0, 1]], atol=1e-12)
    assert robot.base == "planar"
    data = robot.model.createData()
    free_fall = pin.aba(robot.model, data, np.array(robot.home), np.zeros(13), np.zeros(13))
    np.testing.assert_allclose(free_fall, [0.0, -G, *np.zeros(11)], atol=1e-10)


@pytest.mark.parametrize("parameters", [[], ["arms7"]])
def test_small_humanoid_of_nenchev_and_konno(parameters):
    """7 kg; sole 58, −40, ±31.5 mm; steps 78 mm wide; π rad/s; centre of mass 264.5–266.5 mm upright, 242 bent."""
    robot = build("small-humanoid", parameters)
    assert robot.mass == pytest.approx(7.0)
    upright = np.array(robot.neutral)
    foot = robot.placements(upright)["left_foot"] @ robot.contacts["left_foot"].placement
    height = com(robot, upright)[2] - foot[2, 3]
    assert 0.2645 <= height <= 0.2665
    assert com(robot, robot.home)[2] == pytest.approx(0.242, abs=5e-4)
    assert 2.0 * foot[1, 3] == pytest.approx(0.078)
    corners = robot.contacts["left_foot"].corners
    np.testing.assert_allclose([*corners.min(axis=0)[:2], *corners.max(axis=0)[:2]], [-0.04, -0.0315, 0.058, 0.0315])
    np.testing.assert_allclose(robot.limits.velocity[6:], np.pi)


def test_hexapod_servos_of_wimmer():
    """Wimmer 2016, chapter 6: 6 × 3 servos, 0.59 N m at the body and 0.94 N m outside."""
    robot = build("hexapod")
    torques = {
        name: [d.torque_limit for d in robot.drives if d.joint.endswith(name)] for name in ("coxa", "femur", "tibia")
    }
    assert torques == {"coxa": [0.59] * 6, "femur": [0.94] * 6, "tibia": [0.94] * 6}
    assert robot.nv == 24


def test_drives_of_lola():
    """Buschmann 2014, Fig. 2.13: 24 drives: legs 2 × 7, arms 2 × 3, pelvis 2, head 2; 30 degrees of freedom."""
    robot = build("lola")
    legs = ("hip", "knee", "ankle", "toe")
    arms = ("shoulder", "elbow")
    count = {"legs": 0, "arms": 0, "pelvis": 0, "head": 0}
    for drive in robot.drives:
        part = drive.joint.removeprefix("left_").removeprefix("right_").split("_")[0]
        count["legs" if part in legs else "arms" if part in arms else part] += 1
    assert count == {"legs": 14, "arms": 6, "pelvis": 2, "head": 2}
    assert (robot.nv, robot.nu) == (30, 24)
