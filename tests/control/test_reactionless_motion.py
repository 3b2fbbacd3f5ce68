import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.control import JointPath, ReactionlessMotion
from surefoot.control.joint_follower import weightless
from surefoot.dynamics.forms import angular_reaction_null_space, reaction_null_space
from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from surefoot.robot.loading import load
from tests.control.following import assert_smooth, run

ROBOT = load("small-humanoid:arms7")
START = {
    "left_shoulder_roll": 0.8, "left_shoulder_pitch": -0.4, "left_elbow": -1.0, "left_wrist_pitch": 0.3,
    "right_shoulder_roll": -0.8, "right_elbow": -1.0,
}  # fmt: skip
ARM = [
    d.joint
    for d in ROBOT.drives
    if d.joint.startswith("left_") and d.joint.split("_")[1] in ("shoulder", "elbow", "wrist")
]
ARMS = [d.joint for d in ROBOT.drives if d.joint.split("_")[1] in ("shoulder", "elbow")]
CASES = {  # joints, angular only, dimension of the null space
    "one arm": (ARM, False, 1),
    "two arms": (ARMS, False, 2),
    "four joints": (ARM[:4], True, 1),
    "one arm, attitude": (ARM, True, 4),
}


@pytest.fixture(scope="module", params=CASES)
def motion(request):
    joints, angular_only, _ = CASES[request.param]
    return ReactionlessMotion(ROBOT, joints, 1.0, angular_only, length=0.2, start=0.1, q0=START)


@pytest.fixture(scope="module")
def moments(motion):
    """Times on the way forth and back, its ends included; one stroke takes 1.875 · 0.2 s."""
    return [0.1, 0.2, 0.35, 0.475, 0.6, 0.85]


def test_rates_are_in_the_null_space(motion, moments):
    angular = motion._rows.start == 3
    basis_of = angular_reaction_null_space if angular else reaction_null_space
    for t in moments:
        q, v, _ = motion.reference(t)
        basis, rates = basis_of(ROBOT.tree, q), v[6:]
        assert_allclose(basis @ (basis.T @ rates), rates, atol=1e-10)


def test_base_feels_nothing_along_the_reference(motion, moments):
    """Inverse dynamics of Pinocchio without gravity: no wrench on the base, momentum zero, centre of mass at rest."""
    robot = weightless(ROBOT)
    data = robot.model.createData()
    centre = np.array(pin.centerOfMass(robot.model, data, np.array(motion.q0)))
    for t in moments:
        q, v, a = motion.reference(t)
        assert_allclose(pin.rnea(robot.model, data, q, v, a)[:6], 0.0, atol=1e-10)
        assert_allclose(pin.computeCentroidalMomentum(robot.model, data, q, v).vector, 0.0, atol=1e-10)
        assert_allclose(pin.centerOfMass(robot.model, data, q), centre, atol=1e-10)
        assert_allclose(q[3:7], motion.q0[3:7], atol=1e-12)


def test_is_smooth(motion, moments):
    assert_smooth(motion, [0.0, *moments, 1.0])


def test_goes_forth_and_back_at_its_speed(motion):
    q, v, _ = motion.reference(0.1 + 1.875 * 0.1)  # in the middle of the first stroke
    assert_allclose(np.linalg.norm(v[6:]), 1.0, rtol=1e-9)
    back = motion.reference(0.1 + 3 * 1.875 * 0.1)
    assert_allclose(back[0], q, atol=1e-12)
    assert_allclose(back[1], -v, atol=1e-12)
    assert_allclose(motion.reference(2.0)[0], motion.q0, atol=1e-12)


@pytest.mark.parametrize("case", ["one arm", "four joints"])
def test_base_does_not_drift_in_exact_dynamics(case):
    joints, angular_only, _ = CASES[case]
    motion = ReactionlessMotion(ROBOT, joints, 1.5, angular_only, length=0.2, q0=START)
    _, _, path = run(motion, 0.5, dt=2e-3)
    moved = np.abs(path[:, 7:] - path[0, 7:]).max()
    assert moved > 0.1
    assert np.abs(path[:, 3:6] - path[0, 3:6]).max() < 1e-7
    drift = np.abs(path[:, :3] - path[0, :3]).max()
    assert (1e-5 < drift < 1e-3) if angular_only else drift < 1e-8


def test_other_motions_do_move_the_base():
    """The same arm along a path that is not reactionless."""
    path = run(JointPath(ROBOT, [(0.25, {"left_elbow": -0.8})], q0=START, gravity=False), 0.5, dt=2e-3)[2]
    assert np.abs(path[:, 3:6] - path[0, 3:6]).max() > 1e-4


def test_direction_is_followed_as_nearly_as_it_can_be():
    wish = {"left_elbow": 1.0}
    motion = ReactionlessMotion(ROBOT, ARMS, 1.0, length=0.1, direction=wish, q0=START)
    other = ReactionlessMotion(ROBOT, ARMS, 1.0, length=0.1, direction={"left_elbow": -1.0}, q0=START)
    elbow = ROBOT.tree.v_index[ROBOT.joint_index("left_elbow")]
    t = 0.05
    assert motion.reference(t)[1][elbow] > 0.0
    assert_allclose(other.reference(t)[1][6:], -motion.reference(t)[1][6:], atol=1e-2)


@pytest.mark.parametrize(
    ("joints", "options", "kind"),
    [
        (ARM[:4], {}, NotSupportedError),
        (ARM[:3], {"angular_only": True}, NotSupportedError),
        (ARM, {"length": 20.0}, (ShapeError, NotSupportedError)),
        (ARM, {"direction": {"left_knee": 1.0}}, ShapeError),
        (ARM, {"speed": 0.0}, ShapeError),
        (ARM, {"strokes": 0.5}, ShapeError),
        (["left_wing"], {}, UnknownNameError),
    ],
)
def test_motions_that_cannot_be(joints, options, kind):
    with pytest.raises(kind):
        ReactionlessMotion(ROBOT, joints, **({"speed": 1.0, "q0": START} | options))


def test_base_must_float():
    with pytest.raises(NotSupportedError, match="base"):
        ReactionlessMotion(load("panda"), ["panda_joint1"], 1.0)
