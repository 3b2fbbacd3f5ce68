import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.control import HandReach
from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from surefoot.motion import State
from surefoot.robot.loading import load
from tests.control.following import assert_smooth

START = {"left_shoulder_roll": 0.3, "left_elbow": -1.2}
WAY = (0.03, -0.03, 0.0)
ARM = ["left_shoulder_pitch", "left_shoulder_roll", "left_shoulder_yaw", "left_elbow"]


@pytest.fixture(scope="module", params=["small-humanoid:soles", "small-humanoid:arms7"])
def reach(request):
    """Nenchev & Konno 2019, section 8.4.7."""
    return HandReach(load(request.param), "left_grip", WAY, start=0.5, duration=2.0, q0=START)


def test_frame_runs_along_the_line(reach):
    """The quintic of the book: a3, a4, a5 of each coordinate."""
    place = reach.robot.placements(reach.q0)["left_grip"][:3, 3]
    for t in np.linspace(0.0, 3.0, 31):
        s = np.clip(t - 0.5, 0.0, 2.0)
        share = (0.0375 * s**3 - 0.028125 * s**4 + 0.005625 * s**5) / 0.03
        now = reach.robot.placements(reach.reference(t)[0])["left_grip"][:3, 3]
        assert_allclose(now, place + share * np.array(WAY), atol=1e-10)


def test_is_smooth(reach):
    assert_smooth(reach, [0.4, 0.5, 0.8, 1.5, 2.1, 2.5, 3.0])


def test_only_the_limb_moves_and_only_as_fast_as_it_must(reach):
    """The joint speeds are the least that move the hand so: they have no part in the null space of J."""
    robot = reach.robot
    q, v, _ = reach.reference(1.5)
    moving = {robot.joint_names[i] for i in range(robot.tree.n) if abs(v[robot.tree.v_index[i]]) > 1e-9}
    arm = {d.joint for d in robot.drives if d.joint.startswith("left_")} - {
        f"left_{name}" for name in ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
    }
    assert moving <= arm
    assert set(ARM) - moving == set()
    J = numeric_jacobian(robot, q, sorted(arm))
    rates = np.array([v[robot.tree.v_index[robot.joint_index(joint)]] for joint in sorted(arm)])
    assert_allclose(np.linalg.pinv(J) @ (J @ rates), rates, atol=1e-7)


def numeric_jacobian(robot, q, joints, h=1e-6):
    columns = []
    for joint in joints:
        row = robot.tree.q_index[robot.joint_index(joint)]
        ends = []
        for step in (h, -h):
            moved = np.array(q)
            moved[row] += step
            ends.append(robot.placements(moved)["left_grip"][:3, 3])
        columns.append((ends[0] - ends[1]) / (2.0 * h))
    return np.array(columns).T


def test_same_answer_in_any_order(reach):
    late, early = reach.reference(2.2)[0], reach.reference(0.9)[0]
    assert_allclose(reach.reference(2.2)[0], late, atol=0.0)
    assert_allclose(reach.reference(0.9)[0], early, atol=0.0)


def test_holds_its_weight(reach):
    command = reach.command(0.0, State.of(reach.robot, reach.q0))
    assert np.abs(command.torque).max() > 0.1
    assert_allclose(command.velocity, 0.0, atol=1e-12)


def test_limb_begins_at_the_branching_body():
    panda = load("panda")
    reach = HandReach(panda, "panda_hand", (0.0, 0.0, -0.05), duration=1.0)
    moving = np.abs(reach.reference(0.5)[1]) > 1e-9
    assert moving[:7].sum() >= 3
    assert not moving[7:].any()
    named = HandReach(panda, "panda_hand", (0.0, 0.0, -0.02), joints=[f"panda_joint{k}" for k in (2, 4, 6, 1)])
    assert_allclose(named.reference(1.0)[1][[2, 4, 6]], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("frame", "way", "options", "kind"),
    [
        ("left_grip", (0.5, 0.0, 0.0), {}, NotSupportedError),
        ("left_grip", WAY, {"joints": ARM[:2]}, NotSupportedError),
        ("left_grip", (0.0, -0.05, 0.0), {"q0": {"left_elbow": -1.2}}, ShapeError),
        ("left_grip", (0.1, 0.0), {}, ShapeError),
        ("left_grip", WAY, {"duration": 0.0}, ShapeError),
        ("left_gripper", WAY, {}, UnknownNameError),
        ("left_grip", WAY, {"joints": ["left_wrist"]}, UnknownNameError),
    ],
)
def test_ways_that_cannot_be_gone(frame, way, options, kind):
    with pytest.raises(kind):
        HandReach(load("small-humanoid"), frame, way, **({"q0": START} | options))
