"""Targets of inverse kinematics that are reachable by construction: each is read off a posture inside the limits."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.benchmarks.bare_urdf import write_bare_urdf
from surefoot.errors import SurefootError, one_of
from surefoot.geometry.polygon import convex_hull
from surefoot.robot import Robot
from surefoot.robot.load import load

__all__ = ["IK_CASES", "IkCase", "IkProblems", "bench_robot", "make_problems"]

Array = NDArray[np.float64]
_STARTS = 512
_ROUNDS = 30
_CLOSED = 1e-10  # of the feet [m], [rad]
_DRAWS = 50  # for each target
_BASE_LOW = np.array([-0.06, -0.06, -0.12, -0.15, -0.15, -0.25])  # [m], [rad]
_BASE_HIGH = np.array([0.06, 0.06, 0.01, 0.15, 0.25, 0.25])


@dataclass(frozen=True)
class IkCase:
    """A robot and what it shall do.

    Args:
        robot: Name in the zoo.
        hand: The link whose pose is given.
        feet: Links that stay where `home` has them; the centre of mass has a target if there are any.
        trunk: Joints of the trunk, which are drawn from the inner part of their range.
        fixed: Joints that do not move at all.
    """

    robot: str
    hand: str
    feet: tuple[str, ...] = ()
    trunk: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()


IK_CASES = {
    "panda": IkCase("panda", "panda_hand_tcp", fixed=("panda_finger_joint1", "panda_finger_joint2")),
    "talos": IkCase(
        "talos", "gripper_left_base_link", ("leg_left_6_link", "leg_right_6_link"), ("torso_1_joint", "torso_2_joint")
    ),
    "g1": IkCase(
        "g1", "left_rubber_hand", ("left_ankle_roll_link", "right_ankle_roll_link"),
        ("waist_yaw_joint", "waist_roll_joint", "waist_pitch_joint"),
    ),
}  # fmt: skip
_TRUNK_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class IkProblems:
    """n problems of one robot; the tolerances are those of the judge.

    Args:
        case: Robot and frames.
        robot: The robot of `bench_robot`.
        urdf: The file that everybody reads.
        feet: Pose in world (4, 4) of each foot.
        hand: (n, 4, 4) pose of the hand in world.
        com: (n, 3) centre of mass in world [m]; None for a robot without feet.
        answers: (n, nq) the postures that the targets were read off.
        starts: (m, nq) random configurations inside the limits, base at home, from which peers start again.
    """

    case: IkCase
    robot: Robot
    urdf: str
    feet: Mapping[str, Array]
    hand: Array
    com: Array | None
    answers: Array
    starts: Array

    def __len__(self) -> int:
        return len(self.hand)

    @property
    def home(self) -> Array:
        """(nq,) where every solver starts."""
        return self.robot.home


def bench_robot(case: IkCase) -> tuple[Robot, str]:
    """The robot as everybody has it, without shapes, and its URDF.

    Args:
        case: Which.
    """
    known = load(case.robot)
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / f"{case.robot}.urdf"
        write_bare_urdf(Path(known.source), file, case.fixed)
        robot, text = load(file, base=known.base, mimic="free"), file.read_text(encoding="utf-8")
    moving = {name: i for i, name in enumerate(known.joint_names) if name not in case.fixed}
    rows = [int(known.tree.q_index[i]) + k for i in moving.values() for k in range(known.tree.nq_of(i))]
    if tuple(moving) != robot.joint_names:
        raise SurefootError(f"`{case.robot}` without shapes has other joints", evidence={"joints": robot.joint_names})
    return robot.replace(home=known.home[rows], contacts=known.contacts, source=""), text


def make_problems(name: str, n: int, seed: int) -> IkProblems:
    """Random reachable targets: same seed, same targets.

    An arm on the ground: joints uniform inside their limits. A robot on its feet: arms and head uniform inside their
    limits, the trunk in the inner third of its range, the base some centimetres and degrees off; then the legs bring
    the feet back, and postures that leave the limits or whose centre of mass is not over the feet are drawn again.

    Args:
        name: A key of `IK_CASES`.
        n: How many.
        seed: Of the draw.
    """
    if name not in IK_CASES:
        raise one_of("case of inverse kinematics", name, IK_CASES)
    case = IK_CASES[name]
    robot, urdf = bench_robot(case)
    rng = np.random.default_rng(seed)
    feet = {foot: robot.placements(robot.home)[foot] for foot in case.feet}
    draw = _Standing(robot, case, feet).draw if feet else _uniform
    answers = np.array([draw(robot, rng) for _ in range(n)]).reshape(n, robot.nq)
    starts = np.array([_uniform(robot, rng) for _ in range(_STARTS)])
    data, hand = robot.model.createData(), robot.frame_id(case.hand)
    poses, centres = np.zeros((n, 4, 4)), np.zeros((n, 3))
    for k, q in enumerate(answers):
        pin.framesForwardKinematics(robot.model, data, q)
        poses[k] = data.oMf[hand].homogeneous
        centres[k] = pin.centerOfMass(robot.model, data, q)
    return IkProblems(case, robot, urdf, feet, poses, centres if feet else None, answers, starts)


def _uniform(robot: Robot, rng: np.random.Generator) -> Array:
    """Joints uniform inside their limits, base at home."""
    q = np.array(robot.home)
    start = 0 if robot.base_joint is None else robot.tree.nq_of(robot.base_joint)
    q[start:] = rng.uniform(robot.limits.lower[start:], robot.limits.upper[start:])
    return q


class _Standing:
    """Postures on two fixed feet."""

    def __init__(self, robot: Robot, case: IkCase, feet: Mapping[str, Array]) -> None:
        self.robot, self.data = robot, robot.model.createData()
        self.feet = {robot.frame_id(foot): pin.SE3(T) for foot, T in feet.items()}
        tree = robot.tree
        legs = {j for foot in case.feet for j in _carriers(robot, foot)} - {robot.base_joint}
        self.legs = np.array(sorted(int(tree.v_index[j]) for j in legs))
        self.leg_rows = np.array(sorted(int(tree.q_index[j]) for j in legs))
        self.trunk = [int(tree.q_index[robot.joint_index(name)]) for name in case.trunk]
        corners = robot.contact_corners(robot.home)
        self.support = convex_hull(np.vstack([corners[foot][:, :2] for foot in case.feet]))

    def draw(self, robot: Robot, rng: np.random.Generator) -> Array:
        for _ in range(_DRAWS):
            q = self.closed(self.bent(robot, rng))
            if q is not None and self.balanced(q):
                return q
        raise SurefootError(f"`{robot.name}`: no posture on both feet after {_DRAWS} draws")

    def bent(self, robot: Robot, rng: np.random.Generator) -> Array:
        """Upper body and base drawn, legs as at home."""
        q, home = _uniform(robot, rng), robot.home
        q[self.trunk] = home[self.trunk] + _TRUNK_SHARE * (q[self.trunk] - home[self.trunk])
        q[self.leg_rows] = home[self.leg_rows]
        step = np.zeros(robot.nv)
        step[robot.base_rows] = rng.uniform(_BASE_LOW, _BASE_HIGH)
        return np.asarray(pin.integrate(robot.model, q, step))

    def closed(self, q: Array) -> Array | None:
        """The legs moved by Newton's method until the feet are back; None if that fails or leaves the limits."""
        model, limits, rows = self.robot.model, self.robot.limits, self.leg_rows
        for _ in range(_ROUNDS):
            pin.computeJointJacobians(model, self.data, q)
            pin.updateFramePlacements(model, self.data)
            error = np.concatenate([pin.log6(self.data.oMf[i].actInv(T)).vector for i, T in self.feet.items()])
            if np.abs(error).max() < _CLOSED:
                inside = (q[rows] >= limits.lower[rows]) & (q[rows] <= limits.upper[rows])
                return q if inside.all() else None
            J = np.vstack([pin.getFrameJacobian(model, self.data, i, pin.LOCAL) for i in self.feet])
            step = np.linalg.lstsq(J[:, self.legs], error, rcond=1e-6)[0]
            q = q.copy()
            q[rows] += step * min(1.0, 1.0 / np.abs(step).max())
        return None

    def balanced(self, q: Array) -> bool:
        """Whether the centre of mass is over the hull of the feet."""
        centre, hull = pin.centerOfMass(self.robot.model, self.data, q)[:2], self.support
        edges, to = np.roll(hull, -1, axis=0) - hull, centre - hull
        return bool((edges[:, 0] * to[:, 1] - edges[:, 1] * to[:, 0] > 0.0).all())


def _carriers(robot: Robot, frame: str) -> list[int]:
    """The joints that carry a frame."""
    found, j = [], robot.body_of(frame)
    while j >= 0:
        found.append(j)
        j = int(robot.tree.parents[j])
    return found
