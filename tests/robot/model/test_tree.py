"""Links → model → tree, for every joint kind, against kinematics written out here."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import ModelError, SurefootError
from surefoot.robot import Coupling, Joint, Link, Robot, placement
from surefoot.robot.model.links import JOINT_KINDS
from surefoot.robot.model.loops import resolve_couplings
from surefoot.robot.model.tree import NQ, NV
from surefoot.spatial import quaternion, se3, so3

AXIS = np.array([0.48, 0.6, 0.64])


def motion(kind: str, q: np.ndarray, axis: np.ndarray, pitch: float) -> np.ndarray:
    """T of a joint from its definition."""
    match kind:
        case "revolute":
            return placement(rotation=so3.exp(axis * q[0]))
        case "continuous":
            return placement(rotation=so3.exp(axis * np.arctan2(q[1], q[0])))
        case "prismatic":
            return placement(axis * q[0])
        case "helical":
            return placement(pitch * axis * q[0], so3.exp(axis * q[0]))
        case "spherical":
            return placement(rotation=quaternion.to_matrix(q))
        case "translation":
            return placement(q)
        case "planar":
            return placement((q[0], q[1], 0.0), so3.exp(np.array([0.0, 0.0, np.arctan2(q[3], q[2])])))
        case "free":
            return se3.from_pose(q)
    raise KeyError(kind)


def two_links(kind: str, rng: np.random.Generator) -> Robot:
    inertia = np.diag([0.02, 0.03, 0.04])
    first = Joint("j1", kind, se3.random(rng), AXIS, pitch=0.07)
    second = Joint("j2", kind, se3.random(rng), AXIS[::-1], pitch=-0.03)
    links = [
        Link("a", None, first, 1.0, np.array([0.1, 0.0, 0.2]), inertia),
        Link("b", "a", second, 2.0, np.array([0.0, 0.1, 0.0]), inertia),
        Link("tip", "b", Joint("fix", "fixed", se3.random(rng)), 0.5, np.zeros(3), inertia),
    ]
    return Robot.from_tree("two", links)


@pytest.mark.parametrize("kind", sorted(NQ))
def test_tree_and_model_move_as_the_kind_says(kind, rng):
    robot = two_links(kind, rng)
    tree = robot.tree
    assert tree.kinds == (kind, kind)
    assert (robot.nq, robot.nv) == (2 * NQ[kind], 2 * NV[kind])
    q = pin.integrate(robot.model, robot.neutral, rng.uniform(-1, 1, robot.nv))
    T = np.eye(4)
    for i in range(2):
        entries = q[tree.q_index[i] : tree.q_index[i] + NQ[kind]]
        T = T @ tree.placements[i] @ motion(kind, entries, tree.axes[i], tree.pitches[i])
        np.testing.assert_allclose(robot.placements(q)[tree.body_names[i]], T, atol=1e-12)


@pytest.mark.parametrize("kind", sorted(NQ))
def test_a_fixed_link_is_merged_with_its_mass(kind, rng):
    robot = two_links(kind, rng)
    assert robot.mass == pytest.approx(3.5)
    assert robot.tree.n == 2
    assert robot.tree.masses[1] == pytest.approx(2.5)
    T = robot.placements(robot.neutral)
    com = (1.0 * (T["a"] @ [0.1, 0, 0.2, 1]) + 2.0 * (T["b"] @ [0, 0.1, 0, 1]) + 0.5 * T["tip"][:, 3])[:3] / 3.5
    np.testing.assert_allclose(pin.centerOfMass(robot.model, robot.model.createData(), robot.neutral), com, atol=1e-13)


def test_a_universal_joint_is_two_one_axis_joints():
    joint = Joint("u", "universal", axis=(1, 0, 0), second_axis=(0, 1, 0))
    robot = Robot.from_tree("u", [Link("a", None, joint, 1.0, inertia=np.eye(3))])
    assert robot.joint_names == ("u_1", "u_2")
    q = robot.q_of({"u_1": 0.4, "u_2": -0.7})
    R = so3.exp(np.array([0.4, 0, 0])) @ so3.exp(np.array([0, -0.7, 0]))
    np.testing.assert_allclose(robot.placements(q)["a"][:3, :3], R, atol=1e-14)


def test_every_kind_is_known_to_the_tree():
    assert set(JOINT_KINDS) == set(NQ) | {"fixed", "universal"}


def test_subtrees_are_contiguous_whatever_the_order_of_the_links(rng):
    joint = [Joint(f"j{i}", "revolute", axis=(0, 0, 1)) for i in range(5)]
    rows = [("a", None), ("b", "a"), ("c", "a"), ("d", "b"), ("e", "c")]
    links = [Link(name, parent, joint[i], 1.0, inertia=np.eye(3)) for i, (name, parent) in enumerate(rows)]
    for _ in range(10):
        tree = Robot.from_tree("t", [links[i] for i in rng.permutation(5)]).tree
        for i in range(tree.n):
            below = [k for k in range(tree.n) if i in tree.ancestors(k)]
            assert below == list(range(i + 1, i + 1 + len(below)))


def test_arrays_are_frozen(rng):
    robot = two_links("revolute", rng)
    with pytest.raises(ValueError, match="read-only"):
        robot.tree.masses[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        robot.home[0] = 1.0
    with pytest.raises(AttributeError):
        robot.name = "other"


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ([Link("a"), Link("a")], "repeat"),
        ([Link("a", "b")], "no link `b`"),
        ([Link("a", "b", Joint("x", "fixed")), Link("b", "a", Joint("y", "fixed"))], "cycle"),
    ],
)
def test_wrong_trees_are_refused(links, message):
    with pytest.raises(SurefootError, match=message):
        Robot.from_tree("wrong", links)


def test_chained_couplings_lead_to_the_free_joint():
    chain = [Coupling("c", "b", 2.0, 0.1), Coupling("b", "a", 3.0, 0.2)]
    assert resolve_couplings(chain)[0] == Coupling("c", "a", 6.0, pytest.approx(0.1 + 2.0 * 0.2))
    with pytest.raises(ModelError, match="itself"):
        resolve_couplings([Coupling("a", "b"), Coupling("b", "a")])


def test_configurations_are_checked(rng):
    robot = two_links("spherical", rng)
    with pytest.raises(SurefootError, match="shape"):
        robot.placements(np.zeros(3))
    with pytest.raises(SurefootError, match="unit length"):
        robot.placements(np.zeros(8))
    with pytest.raises(SurefootError, match="finite"):
        robot.placements(np.full(8, np.nan))


def test_reduced_couplings_move_as_the_coupled_robot(rng):
    """Followers before and after their leader: the reduced robot goes where the coupled one goes."""
    joints = [Joint(f"j{i}", "revolute", se3.random(rng), AXIS, effort=10.0, velocity=2.0) for i in range(4)]
    links = [Link(f"l{i}", f"l{i - 1}" if i else None, joints[i], 1.0, inertia=np.eye(3)) for i in range(4)]
    ties = (Coupling("j0", "j2", 0.5, 0.1), Coupling("j3", "j2", -2.0, 0.3))
    full = Robot.from_tree("full", links, couplings=ties)
    small = Robot.from_tree("small", links, couplings=ties, mimic="reduce")
    assert (small.nv, small.nu, full.nv, full.nu) == (2, 2, 4, 2)
    j2, j1 = 0.7, -0.4
    q_full = full.q_of({"j0": 0.1 + 0.5 * j2, "j1": j1, "j2": j2, "j3": 0.3 - 2.0 * j2})
    q_small = small.q_of({"j0": 0.1 + 0.5 * j2, "j1": j1})
    np.testing.assert_allclose(small.placements(q_small)["l3"], full.placements(q_full)["l3"], atol=1e-13)
    # G maps the small velocities (j0, j1) to the full ones; power must agree: M_small = GᵀMG
    G = np.array([[1, 0], [0, 1], [2, 0], [-4, 0]], dtype=float)
    M = [np.array(pin.crba(r.model, r.model.createData(), q)) for r, q in ((full, q_full), (small, q_small))]
    M = [np.triu(m) + np.triu(m, 1).T for m in M]
    np.testing.assert_allclose(M[1], G.T @ M[0] @ G, atol=1e-10)
    lead = next(drive for drive in small.drives if drive.joint == "j0")
    assert (lead.torque_limit, lead.speed_limit) == (20.0, 1.0)


def test_denavit_hartenberg_rows_become_a_robot():
    from surefoot.robot import DHRow

    robot = Robot.from_dh("rr", [DHRow(mass=1.0, inertia=np.eye(3)), DHRow(a=0.5, mass=1.0, inertia=np.eye(3))])
    tip = robot.placements(robot.q_of({"joint1": np.pi / 2}))[robot.link_names[-1]]
    np.testing.assert_allclose(tip[:3, 3], [0.0, 0.5, 0.0], atol=1e-15)
