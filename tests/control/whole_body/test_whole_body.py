"""Whole-body control against Pinocchio's dynamics, its own limits, and closed loops in MuJoCo."""

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.contact import wrench_cone
from surefoot.control.whole_body import NamedProblem, WholeBody, WholeBodySettings
from surefoot.errors import FileFormatError
from surefoot.tasks import CenterOfMass, FramePosition, Posture

ROBOTS = ["g1", "anymal", *(pytest.param(name, marks=pytest.mark.slow) for name in ("lola", "talos_full"))]


def standing(name: str, lift: float = 0.0) -> tuple[sf.Robot, WholeBody]:
    robot = sf.load(name)
    com = np.array(pin.centerOfMass(robot.model, robot.model.createData(), np.array(robot.home)))
    body = WholeBody(robot, [[], [CenterOfMass(com + np.array([0.0, 0.0, lift]))], [Posture(robot)]])
    body["com"].set_gains(50.0)
    body["posture"].set_gains(50.0)
    for contact in robot.contacts:
        body.contact(contact).set_gains(0.0, 20.0)
    return robot, body


def state(robot: sf.Robot, seed: int = 0, speed: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    step = 0.02 * rng.standard_normal(robot.nv)
    v = speed * rng.standard_normal(robot.nv)
    for item in robot.couplings:
        i, j = (int(robot.tree.v_index[robot.joint_index(x)]) for x in (item.joint, item.source))
        step[i], v[i] = item.ratio * step[j], item.ratio * v[j]
    return pin.integrate(robot.model, np.array(robot.home), step), v


def spring_forces_ahead(robot: sf.Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Passive forces, those of springs of passive joints after the time that control gives them."""
    T, forces = WholeBodySettings().spring_time, np.array(robot.passive_forces(q, v))
    for spring in robot.springs:
        for joint in set(spring.joints) - {drive.joint for drive in robot.drives}:
            i = robot.joint_index(joint)
            row, entry = int(robot.tree.v_index[i]), int(robot.tree.q_index[i])
            later, rate = q.copy(), v.copy()
            later[entry] += T * v[row] + 0.5 * T**2 * a[row]
            rate[row] += T * a[row]
            forces[row] = robot.passive_forces(later, rate)[row]
    return forces


@pytest.mark.parametrize("name", [*ROBOTS, pytest.param("humanoid:elastic-ankle", marks=pytest.mark.slow)])
def test_solution_obeys_the_dynamics_of_pinocchio(name: str) -> None:
    robot, body = standing(name)
    q, v = state(robot)
    found = body.solve(q, v)
    assert found.trouble is None
    data = robot.model.createData()
    a = found.acceleration
    force = np.array(pin.rnea(robot.model, data, q, v, a)) - spring_forces_ahead(robot, q, v, a)
    for contact, wrench in found.wrenches.items():
        surface = robot.contacts[contact]
        frame = robot.frame_id(surface.frame)
        J = pin.computeFrameJacobian(robot.model, data, q, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        target = robot.placements(robot.home)[surface.frame] @ surface.placement
        R = target[:3, :3]  # wrenches are in the axes of the target, at the contact frame
        pin.framesForwardKinematics(robot.model, data, q)
        arm = data.oMf[frame].rotation @ surface.placement[:3, 3]
        f, m = R @ wrench[:3], R @ wrench[3:]
        force -= J.T @ np.r_[f, m + np.cross(arm, f)]
    for item in robot.couplings:  # a follower passes its load to its leader
        i, j = (int(robot.tree.v_index[robot.joint_index(x)]) for x in (item.joint, item.source))
        force[j] += item.ratio * force[i]
        force[i] = 0.0
    expected = np.zeros(robot.nv)
    expected[robot.driven] = found.torques
    np.testing.assert_allclose(force, expected, atol=1e-6 * robot.mass)


@pytest.mark.parametrize("name", ROBOTS)
def test_wrenches_and_torques_stay_within_their_limits(name: str) -> None:
    robot, body = standing(name, lift=0.05)
    for seed in range(5):
        q, v = state(robot, seed, speed=0.3)
        body["com"].acceleration[:] = np.random.default_rng(seed).normal(size=3) * 4.0
        found = body.solve(q, v)
        assert found.violation < 1e-6
        assert (np.abs(found.torques) <= [drive.torque_limit + 1e-9 for drive in robot.drives]).all()
        for contact, wrench in found.wrenches.items():
            cone = wrench_cone(robot.contacts[contact], 0.6)
            assert cone.margin(wrench) >= -1e-6 * robot.mass


def test_centre_of_mass_accelerates_as_asked_and_an_unloaded_foot_carries_nothing() -> None:
    robot, body = standing("g1")
    left, right = robot.contacts
    body.contact(left).carries = False
    body["com"].set_gains(0.0)
    body["com"].acceleration[:] = asked = [0.1, 0.9, 0.2]  # towards the left, as a robot on its right foot falls
    found = body.solve(np.array(robot.home), np.zeros(robot.nv))
    data = robot.model.createData()
    pin.centerOfMass(robot.model, data, np.array(robot.home), np.zeros(robot.nv), found.acceleration)
    np.testing.assert_allclose(data.acom[0], asked, atol=1e-8)
    assert not found.wrenches[left].any()
    np.testing.assert_allclose(
        found.wrenches[right][:3], robot.mass * (np.array(asked) - robot.tree.gravity), rtol=1e-6
    )


def test_first_level_wins() -> None:
    robot = sf.load("g1")
    hand = FramePosition("left_rubber_hand", [0.0, 0.0, 0.0])
    body = WholeBody(robot, [[], [hand], [Posture(robot)]])
    body["left_rubber_hand"].set_gains(0.0)
    body["left_rubber_hand"].acceleration[:] = asked = [0.5, -0.5, 1.0]
    body["posture"].set_gains(100.0)
    q, v = state(robot)
    found = body.solve(q, v)
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q, v, found.acceleration)
    frame, axes = robot.frame_id("left_rubber_hand"), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    reached = pin.getFrameClassicalAcceleration(robot.model, data, frame, axes).linear
    np.testing.assert_allclose(reached, asked, atol=1e-7)


def test_joint_near_its_limit_is_slowed_down() -> None:
    robot, body = standing("g1")
    joint = robot.joint_index("left_elbow_joint")
    entry, row = int(robot.tree.q_index[joint]), int(robot.tree.v_index[joint])
    q, v = np.array(robot.home), np.zeros(robot.nv)
    q[entry], v[row] = robot.limits.upper[entry] - 0.02, 1.5
    assert body.solve(q, v).acceleration[row] < -10.0


def test_a_number_that_is_not_finite_is_reported() -> None:
    robot, body = standing("g1")
    body["com"].acceleration[:] = np.nan
    found = body.solve(np.array(robot.home), np.zeros(robot.nv))
    assert found.trouble is not None
    assert not found.torques.any()


def test_a_task_fades() -> None:
    robot = sf.load("g1")
    body = WholeBody(robot, [[], [FramePosition("left_rubber_hand", [0.4, 0.3, 1.0])], [Posture(robot)]])
    body["left_rubber_hand"].set_gains(10.0)
    q, v = np.array(robot.home), np.zeros(robot.nv)
    moved = np.abs(body.solve(q, v).acceleration).max()
    body["left_rubber_hand"].set_activation(0.0)
    assert np.abs(body.solve(q, v).acceleration).max() < 1e-6 < moved


def test_a_stored_problem_gives_the_same_solution_and_names_what_conflicts(tmp_path) -> None:
    robot, body = standing("g1")
    body["com"].set_gains(0.0)
    body["com"].acceleration[:] = [30.0, 0.0, 0.0]  # far beyond what friction and the soles allow
    found = body.solve(np.array(robot.home), np.zeros(robot.nv))
    body.named_problem().save(tmp_path / "tick.npz")
    problem = NamedProblem.load(tmp_path / "tick.npz")
    np.testing.assert_allclose(problem.solution.x[: robot.nv], found.acceleration, atol=1e-6)
    conflicts = {item.name: item for item in problem.explain()}
    assert conflicts["com"].missed > 5.0
    assert any(name.startswith("cone ") for name, _ in conflicts["com"].against)
    assert "com (level" in str(conflicts["com"])
    (tmp_path / "other.npz").write_bytes(b"nothing")
    with pytest.raises(FileFormatError, match="numpy archive"):
        NamedProblem.load(tmp_path / "other.npz")


def test_a_task_on_a_level_of_its_own_fades_in_steadily() -> None:
    robot = sf.load("g1")
    body = WholeBody(robot, [[], [FramePosition("left_rubber_hand", [0.4, 0.3, 1.0])], [Posture(robot)]])
    hand = body["left_rubber_hand"]
    hand.set_gains(0.0)
    hand.acceleration[:] = [8.0, 0.0, 0.0]
    q, v = np.array(robot.home), np.zeros(robot.nv)
    sizes = []
    for activation in np.linspace(0.0, 1.0, 21):
        hand.set_activation(float(activation))
        sizes.append(np.abs(body.solve(q, v).acceleration).max())
    assert sizes[0] < 1e-6
    assert 0.2 < sizes[14] / sizes[-1] < 0.8
    assert (np.diff(sizes) > -1e-9).all()
    assert np.diff(sizes).max() < 0.5 * sizes[-1]


@pytest.mark.parametrize(
    ("change", "trouble"),
    [
        ({"least": 1e7}, "crossed bounds"),
        ({"least": 5e4}, "infeasible stance"),
    ],
)
def test_impossible_forces_are_named(change: dict[str, float], trouble: str) -> None:
    robot, body = standing("g1")
    for name in robot.contacts:
        for key, value in change.items():
            setattr(body.contact(name), key, value)
    assert body.solve(np.array(robot.home), np.zeros(robot.nv)).trouble == trouble


def test_a_tick_that_could_not_be_solved_does_not_slow_down_the_next_one() -> None:
    robot, body = standing("g1")
    q, v = np.array(robot.home), np.zeros(robot.nv)
    usual = body.solve(q, v)
    for name in robot.contacts:
        body.contact(name).least = 5e4
    assert body.solve(q, v).passes > 20
    for name in robot.contacts:
        body.contact(name).least = 0.0
    after = body.solve(q, v)
    assert after.passes <= 2  # 220 from what bound when nothing could be held
    np.testing.assert_allclose(after.torques, usual.torques, atol=1e-6)


def test_absurd_states_and_few_passes_are_named() -> None:
    robot, body = standing("g1")
    assert body.solve(np.array(robot.home), np.full(robot.nv, 1e200)).trouble == "implausible state"
    assert body.solve(2.0 * np.array(robot.home), np.zeros(robot.nv)).trouble == "implausible state"
    few = WholeBody(robot, [[], [CenterOfMass()], [Posture(robot)]], settings=WholeBodySettings(passes=1))
    few["com"].acceleration[:] = [30.0, 0.0, 0.0]
    assert few.solve(np.array(robot.home), np.zeros(robot.nv)).trouble == "pass limit"


def test_a_contact_tips_over_its_edge() -> None:
    """The pressure is on the edge, the edge stays at rest by Pinocchio's kinematics, and the sole may turn."""
    robot, body = standing("g1")
    q, v = np.array(robot.home), np.zeros(robot.nv)
    name = next(iter(robot.contacts))
    edge = robot.contacts[name].corners[:, 1].max()
    body.contact(name).pivot = (3, 0.9 * edge)
    body["com"].acceleration[:] = 0.0, 0.5, 0.0
    found = body.solve(q, v)
    assert found.trouble is None
    wrench, surface, data = found.wrenches[name], robot.contacts[name], robot.model.createData()
    assert wrench[3] == pytest.approx(0.9 * edge * wrench[2], abs=1e-6)
    pin.forwardKinematics(robot.model, data, q, v, found.acceleration)
    pin.updateFramePlacements(robot.model, data)
    frame = robot.frame_id(surface.frame)
    alpha = pin.getFrameAcceleration(robot.model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    arm = data.oMf[frame].rotation @ (surface.placement @ [0.0, 0.9 * edge, 0.0, 1.0])[:3]
    assert abs((alpha.linear + np.cross(alpha.angular, arm))[2]) < 1e-6
    body.contact(name).pivot = None
    flat = body.solve(q, v).wrenches[name]
    assert flat[3] != pytest.approx(0.9 * edge * flat[2], abs=1e-3)
