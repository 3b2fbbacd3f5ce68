"""One step of a periodic walk with free times: single support, impact, double support (Koch, chapter 7)."""

from __future__ import annotations

import numpy as np

from surefoot import ops
from surefoot.errors import NotSupportedError, one_of
from surefoot.motion.exchange import mirror_of
from surefoot.ocp import blocks
from surefoot.ocp.node import Node
from surefoot.ocp.problem import Problem
from surefoot.ops import Array as AnyArray
from surefoot.robot import Robot

OBJECTIVES = ("torque", "speed", "postural", "efficiency", "joint_speed")
_CLEARANCE = 0.02  # m of the swing foot at mid-swing
_ZMP_SHARE = 0.35  # of half the sole in which strict ZMPs lie


def walk_step(
    robot: Robot,
    objective: str = "torque",
    *,
    strict_zmp: bool = True,
    free_foot: bool = False,
    step: float = 0.15,
    intervals: tuple[int, int] = (16, 6),
) -> Problem:
    """Half a cycle: the second foot swings, lands with an impact, and takes over the load; its end mirrors its start.

    Args:
        robot: A robot with two flat feet that is its own mirror image.
        objective: "torque", "speed", "postural", "efficiency" or "joint_speed" (Koch, (7.2)–(7.6)).
        strict_zmp: Whether centres of pressure stay in the inner part of the soles.
        free_foot: Whether step length and width are free; else length is `step` and width that at home.
        step: Step length [m]; with a free foot the guess.
        intervals: Of single and double support.
    """
    if objective not in OBJECTIVES:
        raise one_of("objective", objective, OBJECTIVES)
    feet = list(robot.contacts)
    if len(feet) != 2:
        raise NotSupportedError(f"a walk needs two feet; `{robot.name}` has {len(feet)}")
    stance, swing = feet
    if mirror_of(robot).contacts[stance] != swing:
        raise NotSupportedError(f"the feet of `{robot.name}` are not mirror images")
    problem = Problem(robot)
    half = np.ptp(np.asarray(robot.contacts[stance].corners), axis=0)[:2].min() / 2.0
    problem.limits(sole_margin=(1.0 - _ZMP_SHARE) * half if strict_zmp else 0.0)
    free = {stance: (2, 3, 4, 5), swing: (0, 1) if free_foot else ()}  # the stance foot rests by periodicity
    problem.phase("single", [stance], intervals[0], (0.3, 0.63, 1.2), free={stance: free[stance]})
    ahead = {name: np.array(pose) for name, pose in _spots(robot, feet).items()}
    ahead[swing][0, 3] += step
    problem.phase("double", feet, intervals[1], (0.05, 0.2, 0.6), spots=ahead, free=free, transition="impact")
    problem.periodic(mirror=True, omit=("x", "y"))
    problem.fix("start", "x", position=float(robot.home[0]) - 0.25 * step)
    lift = _CLEARANCE
    total = problem.phases[0].duration[1]

    def clear(node: Node, least: AnyArray) -> AnyArray:
        return blocks.height_rows(robot.contacts[swing])(node) - least[0]

    problem.constrain(
        "foot clearance", clear, 0.0, phases=["single"],
        reference=lambda t: [lift * max(0.0, np.sin(np.pi * min(t / total, 1.0)))],
        key=("clear", swing, np.asarray(robot.contacts[swing].corners).tobytes()),
    )  # fmt: skip
    if free_foot:
        _step_ends(problem, stance, swing)
    _objective(problem, objective)
    _guess(problem, step)
    return problem


def _spots(robot: Robot, feet: list[str]) -> dict[str, np.ndarray]:
    places = robot.placements(robot.home)
    return {name: places[robot.contacts[name].frame] @ robot.contacts[name].placement for name in feet}


def _step_ends(problem: Problem, stance: str, swing: str) -> None:
    """Bounds of the free length and width of the step."""

    def gap(node: Node) -> AnyArray:
        a, b = node.placement(stance), node.placement(swing)
        return ops.stack([b[0, 3] - a[0, 3], b[1, 3] - a[1, 3]])

    spots = _spots(problem.robot, [stance, swing])
    width = float(spots[swing][1, 3] - spots[stance][1, 3])
    across = sorted((0.6 * width, 1.4 * width))
    problem.constrain("step", gap, [0.02, across[0]], [0.6, across[1]], at="end", key=("step", stance, swing))


def _objective(problem: Problem, objective: str) -> None:
    robot = problem.robot
    weight = robot.mass * float(np.linalg.norm(robot.tree.gravity))
    small = 0.02 if objective == "speed" else 0.05
    problem.cost("torque", (20.0 if objective == "torque" else small * 20.0) * robot.nu / weight**2)
    problem.cost("acceleration", 1e-4)
    problem.cost("contact_force", 0.01 / weight**2)
    problem.cost("joint_speed", 2.0 if objective == "joint_speed" else 1e-3)
    if objective == "speed":
        problem.cost("time", 5.0)
    if objective == "postural":
        problem.cost("pressure", 1e3)
    if objective == "efficiency":
        problem.cost("power", 0.1 / weight * 10.0)


def _guess(problem: Problem, step: float) -> None:
    """The home posture, moving ahead evenly."""
    home = np.array(problem.robot.home)
    total = sum(phase.duration[1] for phase in problem.phases)

    def at(t: float) -> np.ndarray:
        q = home.copy()
        q[0] += step * (t / total - 0.25)
        return q

    problem.guess(at)
