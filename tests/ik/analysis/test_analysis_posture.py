"""Table 3.1 of Nenchev & Konno 2019 as predicates, on postures whose class is known."""

from dataclasses import replace

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.ik.analysis.posture import classify_posture
from surefoot.kinematics import contact_frame, frame_jacobian

FEET = ("left_foot", "right_foot")


@pytest.fixture(scope="module")
def humanoid():
    return sf.load("humanoid")


def with_contact(robot, name, **changes):
    return robot.replace(contacts=dict(robot.contacts) | {name: replace(robot.contacts[name], **changes)})


def test_double_stance(humanoid):
    """Section 4 of the table's chapter: c = 12 on two feet, six internal wrenches."""
    found = classify_posture(humanoid, humanoid.home, FEET)
    assert (found.constraints, found.constrained, found.regular) == (12, "over", True)
    assert found.internal_wrenches.shape == (12, 6)
    assert found.base_freedom.shape[1] == 0
    assert found.structural.shape[1] == 0
    n = humanoid.nv - 6
    assert found.stationary_base.shape == (n, n - 12)  # legs are held, all else is free
    assert found.stationary_ends.shape[1] == 6  # the base moves in six directions over resting feet
    assert found.labels[:2] == ("regular", "over constrained")


def test_single_stance(humanoid):
    found = classify_posture(humanoid, humanoid.home, FEET[:1])
    assert (found.constraints, found.constrained, found.internal_wrenches.shape[1]) == (6, "fully", 0)
    assert "internal wrench" not in found.labels
    assert "stationary end links" in found.labels


def test_stretched_legs_are_singular_and_bear_the_weight_as_a_column(humanoid):
    """Straight legs bear one base wrench without any torque; on both feet it lies in the frontal plane, upwards."""
    found = classify_posture(humanoid, humanoid.neutral, FEET[:1])
    assert not found.regular
    assert found.labels[0] == "singular"
    assert "structural force" in found.labels
    assert found.structural.shape == (6, 1)
    J = frame_jacobian(humanoid.tree, contact_frame(humanoid, "left_foot"), humanoid.neutral, "local")
    reaction = np.linalg.solve(J[:, :6].T, found.structural[:, 0])
    np.testing.assert_allclose(J[:, 6:].T @ reaction, 0.0, atol=1e-9)
    assert abs(found.structural[2, 0]) > 0.9 * np.linalg.norm(found.structural[:3, 0])


def test_one_straight_leg_makes_double_stance_singular(humanoid):
    q = np.array(humanoid.home)
    for name in ("hip_pitch", "knee", "ankle_pitch"):
        q[humanoid.tree.q_index[humanoid.joint_index(f"left_{name}")]] = 0.0
    assert not classify_posture(humanoid, q, FEET).regular


def test_point_contact_leaves_the_base_free(humanoid):
    """One frictional point ties three directions: the base may turn about it with the joints at rest."""
    robot = with_contact(humanoid, "left_foot", kind="point", corners=np.zeros((1, 3)))
    found = classify_posture(robot, robot.home, FEET[:1])
    assert (found.constraints, found.constrained) == (3, "under")
    assert found.base_freedom.shape == (6, 3)
    T = robot.placements(robot.home)
    point = (np.linalg.inv(T["pelvis"]) @ T["left_foot"] @ robot.contacts["left_foot"].placement)[:3, 3]
    for twist in found.base_freedom.T:  # in the base's axes
        np.testing.assert_allclose(twist[:3] + np.cross(twist[3:], point), 0.0, atol=1e-9)


def test_frictionless_feet_can_slide(humanoid):
    robot = humanoid
    for foot in FEET:
        robot = with_contact(robot, foot, friction=0.0)
    found = classify_posture(robot, robot.home, FEET)
    assert found.constraints == 6
    assert found.base_freedom.shape[1] == 3


def test_bases_are_what_they_say(humanoid):
    found = classify_posture(humanoid, humanoid.home, FEET)
    J = np.vstack([frame_jacobian(humanoid.tree, contact_frame(humanoid, f), humanoid.home, "local") for f in FEET])
    np.testing.assert_allclose(J[:, :6].T @ found.internal_wrenches, 0.0, atol=1e-9)
    np.testing.assert_allclose(J[:, 6:] @ found.stationary_base, 0.0, atol=1e-9)
    np.testing.assert_allclose(J @ found.stationary_ends, 0.0, atol=1e-9)
    assert np.linalg.matrix_rank(found.stationary_ends[:6]) == 6
    np.testing.assert_allclose(found.internal_torques.T @ J[:, 6:].T, 0.0, atol=1e-9)


def test_what_cannot_be_classified_is_refused(humanoid):
    with pytest.raises(NotSupportedError):
        classify_posture(humanoid, humanoid.home, ())
    with pytest.raises(NotSupportedError):
        classify_posture(sf.load("arm4"), sf.load("arm4").home, ("tip",))
    with pytest.raises(UnknownNameError):
        classify_posture(humanoid, humanoid.home, ("tail",))


def test_internal_wrenches_belong_to_the_load(humanoid):
    """Standing on both feet all six have a range; with the weight over the outer edge of one foot none has."""
    standing = classify_posture(humanoid, humanoid.home, FEET)
    assert standing.internal_range.held
    assert standing.internal_range.interior
    assert standing.internal_range.admissible.all()
    assert (standing.internal_range.lower < standing.internal_range.upper).all()
    assert "internal wrench" in standing.labels
    floating = classify_posture(humanoid, humanoid.home, FEET, load=np.zeros(6))
    assert floating.internal_range.held
    assert not floating.internal_range.interior
    assert "internal wrench" not in floating.labels
    assert floating.internal_wrenches.shape == standing.internal_wrenches.shape
    lifted = classify_posture(humanoid, humanoid.home, FEET, load=[0.0, 0.0, -100.0, 0.0, 0.0, 0.0])
    assert not lifted.internal_range.held


def test_ranges_are_attained_inside_the_cones(humanoid):
    """Wrenches at half of each range, with the other directions free, still hold the weight within friction."""
    import pinocchio as pin
    from scipy.optimize import linprog

    from surefoot.contact import wrench_cone

    found = classify_posture(humanoid, humanoid.home, FEET)
    J = np.vstack([frame_jacobian(humanoid.tree, contact_frame(humanoid, f), humanoid.home, "local") for f in FEET])
    C, N = J[:, :6].T, found.internal_wrenches
    weight = pin.computeGeneralizedGravity(humanoid.model, humanoid.model.createData(), np.array(humanoid.home))[:6]
    cone = wrench_cone(humanoid.contacts["left_foot"], sides=8, inscribed=True).faces
    faces = np.kron(np.eye(2), cone)
    start = np.linalg.pinv(C) @ weight
    for i in range(6):
        for sign, end in ((1.0, found.internal_range.lower[i]), (-1.0, found.internal_range.upper[i])):
            best = linprog(sign * np.eye(6)[i], A_ub=-faces @ N, b_ub=faces @ start, bounds=(None, None))
            np.testing.assert_allclose(best.x[i], end, rtol=1e-5, atol=1e-5)
