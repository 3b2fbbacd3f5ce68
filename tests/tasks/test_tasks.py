"""Every task: its Jacobian is the rate of its value, its bias the rate of J v, and odd input is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.errors import ShapeError, SurefootError, UnknownNameError
from surefoot.geometry import SweptVolume
from surefoot.robot import BodyVolume, Robot
from surefoot.tasks import (
    AngularMomentum,
    CenterOfMass,
    Clearance,
    Contact,
    FrameOrientation,
    FramePose,
    FramePosition,
    Gaze,
    JointCoupling,
    JointLimits,
    JointSpeeds,
    LoopClosure,
    Manipulability,
    Posture,
    Support,
    Task,
    TaskSet,
    loop_tasks,
)

H = 1e-6


@pytest.fixture(scope="module")
def g1() -> Robot:
    return sf.load("g1")


def state(robot: Robot, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return pin.integrate(robot.model, robot.home, 0.3 * rng.normal(size=robot.nv)), rng.normal(size=robot.nv)


def volume(robot: Robot, frame: str, radius: float = 0.03) -> BodyVolume:
    return BodyVolume(robot.body_of(frame), SweptVolume(np.array([[0.0, 0.0, 0.0], [0.05, 0.0, 0.02]]), radius), frame)


def made(robot: Robot, q: np.ndarray) -> dict[str, Task]:
    """One task of each kind whose value is near its target at q."""
    at = robot.placements(q)
    hand, foot = "left_rubber_hand", "right_ankle_roll_link"
    relative = np.linalg.inv(at[foot]) @ at[hand]
    surface = next(iter(robot.contacts))
    contact = robot.contacts[surface]
    pairs = [(volume(robot, hand), volume(robot, "right_rubber_hand")), (volume(robot, hand), volume(robot, foot))]
    tasks: list[Task] = [
        FramePose(hand, at[hand], name="pose"),
        FramePose(hand, at[hand], name="pose in its axes", axes="target", mask="xzY"),
        FramePosition(hand, at[hand][:3, 3] + 0.1, name="position", mask="xz"),
        FrameOrientation(hand, at[hand][:3, :3], name="orientation", mask="XZ"),
        FramePose(hand, relative, name="relative", relative_to=foot),
        CenterOfMass([0.1, 0.2, 0.3]),
        CenterOfMass([0.0, 0.0, 0.7], name="com height", mask="z"),
        Posture(robot),
        JointLimits(robot, 0.01, name="limits"),
        JointCoupling(robot, "left_knee_joint", "right_knee_joint", 2.0, 0.1, name="coupling"),
        Gaze("torso_link", [2.0, 0.5, 1.0], [1.0, 0.0, 0.0]),
        Contact(robot, surface, at[contact.frame] @ contact.placement, name="contact"),
        Contact(robot, surface, at[contact.frame] @ contact.placement, name="sliding", slides=True),
        Manipulability(hand, 0.2),
        Clearance(pairs, 0.05),
        Clearance(pairs, 5.0, name="clearance together", together=True),
        Support(np.vstack(list(robot.contact_corners(robot.home).values())), 0.01),
    ]
    return {task.name: task for task in tasks}


NAMES = sorted(made(sf.load("g1"), sf.load("g1").home))


@pytest.mark.parametrize("name", NAMES)
def test_jacobian_and_bias_are_the_rates_of_the_value(g1: Robot, name: str) -> None:
    q, v = state(g1)
    tasks = TaskSet(g1, [made(g1, q)[name]])
    (here,) = tasks.evaluate(q, v)
    assert here.jacobian.shape == (tasks.tasks[0].rows, g1.nv)

    def at(sign: float) -> tuple[np.ndarray, np.ndarray]:
        (there,) = tasks.evaluate(pin.integrate(g1.model, q, sign * H * v))
        return there.error, there.jacobian @ v

    (e1, s1), (e0, s0) = at(1.0), at(-1.0)
    scale = 1.0 + np.abs(here.jacobian @ v).max()
    np.testing.assert_allclose(here.jacobian @ v, -(e1 - e0) / (2 * H), atol=1e-7 * scale)
    assert here.bias is not None
    np.testing.assert_allclose(here.bias, (s1 - s0) / (2 * H), atol=3e-6 * (1.0 + np.abs(here.bias).max()))


def test_angular_momentum_is_pinocchios(g1: Robot) -> None:
    q, v = state(g1, 1)
    (terms,) = TaskSet(g1, [AngularMomentum(name="spin", mask="z")]).evaluate(q, v)
    data = g1.model.createData()
    momentum = pin.computeCentroidalMomentum(g1.model, data, q, v)
    np.testing.assert_allclose(terms.jacobian @ v, [momentum.angular[2]], atol=1e-10)
    pin.computeCentroidalMomentumTimeVariation(g1.model, data, q, v, np.zeros(g1.nv))
    assert terms.bias is not None
    np.testing.assert_allclose(terms.bias, [data.dhg.angular[2]], atol=1e-9)


def test_speeds_of_joints(g1: Robot) -> None:
    q, v = state(g1, 2)
    task = JointSpeeds.limits(g1, 0.5, name="speeds")
    (terms,) = TaskSet(g1, [task]).evaluate(q)
    np.testing.assert_array_equal(terms.jacobian @ v, v[6:])
    np.testing.assert_array_equal(terms.error, 0.0)
    np.testing.assert_array_equal(task.margins[0], 0.5 * g1.limits.velocity[6:])
    assert task.order == 1


@pytest.mark.parametrize("axes", ["reference", "target"])
def test_rotation_error_shrinks_along_itself(g1: Robot, axes: str) -> None:
    """Far from the target, too: turning the hand by its error brings it there."""
    q, _ = state(g1, 3)
    R = pin.exp3(np.array([1.0, -0.7, 0.9]))
    T = g1.placements(q)["left_rubber_hand"][:3, :3]
    (terms,) = TaskSet(g1, [FrameOrientation("left_rubber_hand", R, name="hand", axes=axes)]).evaluate(q)
    turn = terms.error if axes == "reference" else R @ terms.error
    np.testing.assert_allclose(pin.exp3(turn) @ T, R, atol=1e-12)


def test_limits_hold_between_the_limits(g1: Robot) -> None:
    task = JointLimits(g1, name="limits")
    below, above = task.margins
    for share in (0.0, 0.3, 1.0):
        q = g1.home.copy()
        q[7:] = g1.limits.lower[7:] + share * (g1.limits.upper - g1.limits.lower)[7:]
        (terms,) = TaskSet(g1, [task]).evaluate(q)
        assert (terms.error <= below + 1e-12).all()
        assert (terms.error >= -above - 1e-12).all()


def test_a_loop_is_the_distance_of_its_ends(g1: Robot) -> None:
    """A rod between two links: the error is what is missing between its ends, in the axes of the first."""
    here, there = np.eye(4), np.eye(4)
    here[:3, 3], there[:3, 3] = [0.1, 0.0, 0.0], [0.0, 0.2, 0.0]
    ball = (True, True, True, False, False, False)
    robot = g1.replace(loops=(sf.Loop("rod", "left_knee_link", "left_hip_pitch_link", here, there, ball),))
    (task,) = loop_tasks(robot)
    q, v = state(robot, 4)
    (terms,) = TaskSet(robot, [task]).evaluate(q, v)

    def gap(q: np.ndarray) -> np.ndarray:
        at = robot.placements(q)
        a, b = at["left_knee_link"] @ here, at["left_hip_pitch_link"] @ there
        return a[:3, :3].T @ (a[:3, 3] - b[:3, 3])

    np.testing.assert_allclose(terms.error, gap(q), atol=1e-12)
    ahead, back = (gap(pin.integrate(robot.model, q, s * H * v)) for s in (1.0, -1.0))
    np.testing.assert_allclose(terms.jacobian @ v, -(ahead - back) / (2 * H), atol=1e-7)


def test_batches_are_rows_of_singles(g1: Robot) -> None:
    tasks = TaskSet(g1, [FramePose("left_rubber_hand", name="hand"), CenterOfMass()])
    Q = np.array([state(g1, k)[0] for k in range(5)])
    many = tasks.evaluate(Q)
    for k, q in enumerate(Q):
        for single, batch in zip(tasks.evaluate(q), many, strict=True):
            np.testing.assert_array_equal(batch.error[k], single.error)
            np.testing.assert_array_equal(batch.jacobian[k], single.jacobian)


def test_targets_are_run_time_numbers(g1: Robot) -> None:
    tasks = TaskSet(g1, [CenterOfMass(), FramePosition("left_rubber_hand", name="hand")])
    before = tasks.evaluate(g1.home)[0].error.copy()
    kernel = tasks.kernel
    tasks.set_target("com", [1.0, 0.0, 0.0])
    np.testing.assert_allclose(tasks.evaluate(g1.home)[0].error - before, [1.0, 0.0, 0.0])
    assert tasks.kernel is kernel


def test_structure_tells_all_apart_that_is_compiled_in(g1: Robot) -> None:
    """To the last bit, and by the class itself: what has one structure shares a kernel."""

    def weighted() -> type[Task]:
        @dataclass(frozen=True, eq=False)
        class Height(CenterOfMass):
            factors: np.ndarray = field(default_factory=lambda: np.ones(2000), kw_only=True)

        return Height

    first, second = weighted(), weighted()
    middle = np.ones(2000)
    middle[1000] = 2.0
    different = [
        Gaze("torso_link", axis=np.array([1.0, 0.0, 0.0])),
        Gaze("torso_link", axis=np.array([1.0, 1e-12, 0.0])),
        first(name="height"),
        second(name="height"),
        first(name="height", factors=middle),
        FramePose("torso_link", name="pose", mask="xyz"),
        FramePose("torso_link", name="pose", mask="xyz", below=0.1),
        Support([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
        Support([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], below=0.0),
    ]
    assert len({task.structure for task in different}) == len(different)
    same = [CenterOfMass([x, 0.0, 0.0], weight=x, gain=x) for x in (1.0, 2.0)]
    assert len({task.structure for task in same}) == 1


def test_activation_scales_weights_at_run_time(g1: Robot) -> None:
    tasks = TaskSet(g1, [CenterOfMass(weight=np.array([1.0, 2.0, 4.0])), Posture(g1, weight=3.0)])
    before, kernel = tasks.evaluate(g1.home), tasks.kernel
    tasks.set_activation("com", 0.5)
    tasks.set_activation("posture", 0.0)
    np.testing.assert_array_equal(tasks.weights, [0.5, 1.0, 2.0, *np.zeros(g1.nv - 6)])
    assert tasks.kernel is kernel
    for one, other in zip(tasks.evaluate(g1.home), before, strict=True):
        np.testing.assert_array_equal(one.error, other.error)
    assert len({CenterOfMass(activation=x).structure for x in (0.0, 0.3, 1.0)}) == 1


def test_the_widest_margin_of_a_support_is_its_inner_radius() -> None:
    """A right triangle with sides 3, 4, 5: (3 + 4 − 5) / 2; a long rectangle: half of its short side."""
    for points, radius in (([[0, 0], [3, 0], [0, 4]], 1.0), ([[0, 0], [9, 0], [9, 2], [0, 2]], 1.0)):
        Support(np.array(points, dtype=float), radius - 1e-6)
        with pytest.raises(ShapeError, match="wider than its polygon") as caught:
            Support(np.array(points, dtype=float), radius + 1e-6)
        assert caught.value.evidence["widest [m]"] == pytest.approx(radius)


WRONG: dict[str, Callable[[Robot], object]] = {
    "no name": lambda r: CenterOfMass(name=3),
    "priority": lambda r: CenterOfMass(priority=-1),
    "weight": lambda r: CenterOfMass(weight=-1.0),
    "weights": lambda r: CenterOfMass(weight=np.ones(2)),
    "endless weight": lambda r: CenterOfMass(weight=np.inf),
    "endless weights": lambda r: CenterOfMass(weight=np.array([1.0, np.inf, 1.0])),
    "words for weights": lambda r: CenterOfMass(weight="heavy"),  # type: ignore[arg-type]
    "yes for a priority": lambda r: CenterOfMass(priority=True),
    "activation above 1": lambda r: CenterOfMass(activation=1.1),
    "activation below 0": lambda r: CenterOfMass(activation=-0.1),
    "activation that is no number": lambda r: CenterOfMass(activation=np.nan),
    "words for an activation": lambda r: CenterOfMass(activation="half"),  # type: ignore[arg-type]
    "activations": lambda r: CenterOfMass(activation=np.ones(3)),  # type: ignore[arg-type]
    "nan": lambda r: CenterOfMass([0.0, np.nan, 0.0]),
    "mask": lambda r: CenterOfMass(mask="q"),
    "empty mask": lambda r: FramePose("left_rubber_hand", name="hand", mask=[False] * 6),
    "no rotation": lambda r: FramePose("left_rubber_hand", np.diag([2.0, 1.0, 1.0, 1.0]), name="hand"),
    "reflection": lambda r: FrameOrientation("left_rubber_hand", np.diag([1.0, 1.0, -1.0]), name="hand"),
    "axes": lambda r: FramePose("left_rubber_hand", name="hand", axes="wrist"),
    "frame": lambda r: TaskSet(r, [FramePose("third_hand", name="hand")]).evaluate(r.home),
    "contact": lambda r: Contact(r, "third_foot", name="foot"),
    "loop": lambda r: LoopClosure(r, "none", name="loop"),
    "joint": lambda r: Posture(r, joints=["tail"]),
    "free joint": lambda r: Posture(r, joints=[r.joint_names[0]]),
    "margin": lambda r: JointLimits(r, 10.0, name="limits"),
    "margin that is no number": lambda r: JointLimits(r, np.nan, name="limits"),
    "no volumes": lambda r: Clearance([(1, 2)]),  # type: ignore[list-item]
    "another robot": lambda r: TaskSet(r, [Posture(sf.load("ur5"))]),
    "points of three and two": lambda r: Support([[0.0, 0.0], [1.0, 0.0, 0.0]]),
    "one point": lambda r: Support([0.0, 0.0]),
    "points that are no numbers": lambda r: Support([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [np.nan, 0.0]]),
    "margin of a support": lambda r: Support([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], np.nan),
    "no pairs": lambda r: Clearance([]),
    "line": lambda r: Support([[0.0, 0.0], [1.0, 0.0]]),
    "no axis": lambda r: Gaze("torso_link", axis=[0.0, 0.0, 0.0]),
    "same names": lambda r: TaskSet(r, [CenterOfMass(), CenterOfMass()]),
    "none": lambda r: TaskSet(r, []),
    "no list": lambda r: TaskSet(r, CenterOfMass()),  # type: ignore[arg-type]
    "unknown": lambda r: TaskSet(r, [CenterOfMass()]).set_target("comm", [0.0, 0.0, 0.0]),
}


@pytest.mark.parametrize("what", sorted(WRONG))
def test_odd_input_is_refused(g1: Robot, what: str) -> None:
    with pytest.raises(SurefootError) as caught:
        WRONG[what](g1)
    assert isinstance(caught.value, ShapeError | UnknownNameError)


def test_names_default_to_the_frame_or_the_kind(g1: Robot) -> None:
    contact = next(iter(g1.contacts))
    tasks = {
        "torso_link": FramePosition("torso_link", [0.0, 0.0, 1.0]),
        contact: Contact(g1, contact),
        "com": CenterOfMass([0.0, 0.0, 0.7]),
        "posture": Posture(g1),
        "joint_limits": JointLimits(g1),
        "gaze": Gaze("torso_link"),
        "mine": FramePose("torso_link", name="mine"),
    }
    assert [task.name for task in tasks.values()] == list(tasks)
