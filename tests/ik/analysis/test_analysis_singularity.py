"""Types of singularity on arms whose singular postures are known."""

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError
from surefoot.ik.analysis.singularity import singularity
from surefoot.robot import Joint, Link, Robot
from surefoot.robot.model.links import NamedFrame, placement

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def arm(*hinges, tip=(0.0, 0.0, 0.1)):
    """An arm from (axis, offset from the hinge before) of its hinges, upright at q = 0; its end is `tip`."""
    links, parent = [], None
    for i, (axis, offset) in enumerate(hinges, start=1):
        joint = Joint(f"j{i}", "revolute", placement(offset), AXES[axis], lower=-3.0, upper=3.0)
        links.append(Link(f"l{i}", parent, joint, mass=1.0, inertia=0.01 * np.eye(3)))
        parent = links[-1].name
    return Robot.from_tree("arm", links, frames=[NamedFrame("tip", parent, placement(tip))])


O = (0.0, 0.0, 0.0)  # noqa: E741
SIX = arm(("z", O), ("y", O), ("y", (0, 0, 0.5)), ("z", O), ("y", (0, 0, 0.5)), ("z", O))
SEVEN = arm(("z", O), ("y", O), ("z", O), ("y", (0, 0, 0.5)), ("z", O), ("y", (0, 0, 0.5)), ("z", O))


def test_regular_posture():
    found = singularity(SIX, [0.3, 0.5, 1.1, 0.2, 0.7, 0.1], "tip")
    assert found.kind == "regular"
    assert found.rank == found.full_rank == 6
    assert found.avoidable is None
    assert not len(found.lost)
    assert not found.aligned
    assert not found.moving


def test_stretched_elbow_is_the_edge_of_the_workspace():
    q = [0.3, 0.5, 0.0, 0.2, 0.7, 0.1]
    found = singularity(SIX, q, "tip")
    assert found.kind == "stretched"
    assert found.rank == 5
    assert found.avoidable is False
    T = SIX.placements(np.array(q, dtype=float))
    limb = T["l5"][:3, 3] - T["l2"][:3, 3]
    assert abs(found.lost[0][:3] @ limb) == pytest.approx(np.linalg.norm(limb) * np.linalg.norm(found.lost[0][:3]))
    J = sf.compile(SIX).jacobian(np.array(q, dtype=float), "tip")
    np.testing.assert_allclose(found.lost @ J, 0.0, atol=1e-9)


def test_folded_elbow():
    folded = arm(("z", O), ("y", O), ("y", (0, 0, 0.5)), ("z", O), ("y", (0, 0, 0.3)), ("z", O))
    found = singularity(folded, [0.3, 0.5, np.pi, 0.2, 0.7, 0.1], "tip")
    assert found.kind == "folded"
    assert found.avoidable is False


def test_wrist_with_two_axes_on_one_line():
    found = singularity(SIX, [0.3, 0.5, 1.1, 0.2, 0.0, 0.1], "tip")
    assert found.kind == "aligned"
    assert found.rank == 5
    assert found.avoidable is False
    assert found.aligned == (("j4", "j6"),)
    assert found.moving == ("j4", "j6")


def test_wrist_centre_over_the_first_axis():
    """The shoulder singularity of an arm of six joints: the direction normal to the arm's plane is lost."""
    bend = 2.0  # equal links: the wrist is over the shoulder if the elbow's triangle is symmetric about the vertical
    q = np.array([0.3, -bend / 2, bend, 0.2, 0.7, 0.1])
    found = singularity(SIX, q, "tip")
    assert found.kind == "interior"
    assert found.avoidable is False
    assert "j1" in found.moving
    normal = np.array([-np.sin(0.3), np.cos(0.3), 0.0])
    force = found.lost[0][:3] / np.linalg.norm(found.lost[0][:3])
    assert abs(force @ normal) == pytest.approx(1.0)


def test_redundant_shoulder_is_escaped_by_self_motion():
    """Two shoulder axes in line, the elbow at a right angle: lost along the lower arm; avoidable."""
    q = np.array([0.4, 0.0, np.pi / 2, np.pi / 2, 0.3, 0.8, 0.2])
    found = singularity(SEVEN, q, "tip")
    assert found.kind == "aligned"
    assert ("j1", "j3") in found.aligned
    assert found.rank == 5
    T = SEVEN.placements(q)
    lower_arm = T["l6"][:3, 3] - T["l4"][:3, 3]
    force = found.lost[0][:3] / np.linalg.norm(found.lost[0][:3])
    assert abs(force @ lower_arm) / np.linalg.norm(lower_arm) == pytest.approx(1.0)
    assert found.avoidable
    k = sf.compile(SEVEN)
    np.testing.assert_allclose(k.frames(found.escape, ["tip"]), k.frames(q, ["tip"]), atol=1e-9)
    assert np.linalg.matrix_rank(k.jacobian(found.escape, "tip"), tol=1e-4) == 6


def test_stretched_redundant_arm_cannot_be_escaped():
    found = singularity(SEVEN, [0.4, 0.7, 0.2, 0.0, 0.3, 0.8, 0.2], "tip")
    assert found.kind == "stretched"
    assert found.avoidable is False
    assert ("j3", "j5") in found.aligned


@pytest.mark.parametrize("robot", ["humanoid", "lola"])
def test_upright_legs_have_rank_five(robot):
    """Nenchev & Konno 2019, section 2.5: each leg of an upright humanoid, base to foot, has lost one direction."""
    robot = sf.load(robot)
    found = singularity(robot, robot.neutral, "left_foot", "pelvis")
    assert (found.rank, found.full_rank, found.kind, found.avoidable) == (5, 6, "stretched", False)
    T = robot.placements(robot.neutral)
    leg = T["left_ankle_roll"][:3, 3] - T["left_hip_roll"][:3, 3]  # the line that meets both axes of roll
    force = found.lost[0][:3] / np.linalg.norm(found.lost[0][:3])
    assert abs(force @ leg) == pytest.approx(np.linalg.norm(leg))
    assert singularity(robot, robot.home, "left_foot", "pelvis").kind == "regular"


def test_singularities_add_up():
    """Hanging straight, the arm of six joints loses two directions: elbow stretched and both yaw axes in line."""
    robot = sf.load("humanoid")
    found = singularity(robot, robot.neutral, "left_palm", "torso")
    assert found.kind == "compound"
    assert found.full_rank - found.rank == 2
    assert ("left_shoulder_yaw", "left_wrist_yaw") in found.aligned


def test_planar_arm_loses_only_what_it_can_have():
    found = singularity(sf.load("arm4"), np.zeros(4), "tip")
    assert (found.rank, found.full_rank, found.kind) == (2, 3, "stretched")
    np.testing.assert_allclose(np.abs(found.lost[0]), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], atol=1e-9)


def test_second_order_form_tells_what_the_search_finds(rng):
    """Bedrossian's form of both signs is the criterion of an avoidable posture: against differences of J."""
    for q, avoidable in (([0.4, 0.0, np.pi / 2, np.pi / 2, 0.3, 0.8, 0.2], True),
                         ([0.4, 0.7, 0.2, 0.0, 0.3, 0.8, 0.2], False)):  # fmt: skip
        found, q, k = singularity(SEVEN, q, "tip"), np.array(q), sf.compile(SEVEN)
        N = np.linalg.svd(k.jacobian(q, "tip"))[2][5:].T
        change = np.array([(k.jacobian(q + h, "tip") - k.jacobian(q - h, "tip")) / 2e-6 for h in 1e-6 * np.eye(7)])
        Q = N.T @ np.einsum("i,jik->jk", found.lost[0], change) @ N
        curves = np.linalg.eigvalsh(0.5 * (Q + Q.T))
        assert ((curves > 1e-5).any() and (curves < -1e-5).any()) == avoidable == found.avoidable


def test_roots_that_do_not_carry_the_frame_are_refused():
    robot = sf.load("humanoid")
    with pytest.raises(NotSupportedError):
        singularity(robot, robot.home, "left_foot", "right_foot")
    assert singularity(robot, pin.neutral(robot.model), "left_foot").rank == 5  # the base is the root
