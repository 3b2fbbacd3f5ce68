"""The walk of Crocoddyl's biped example as one of our problems, and its motion as Crocoddyl sees it.

Two steps of 0.3 m and 0.6 m within 75 intervals of 30 ms: costs with the weights of `SimpleBipedGaitProblem`, ½ w |…|²
on the centre of mass, the swinging sole, base turn, joints, velocities and torques. Cones of contacts, which are costs
there, and limits of joints, speeds and drives, which are not there at all, are hard constraints here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.arrays import Array
from surefoot.ik import solve
from surefoot.ocp import Formulation, Node, Problem, Solution
from surefoot.ops import Array as AnyArray
from surefoot.robot import Robot
from surefoot.tasks import CenterOfMass, FrameOrientation, FramePose, Posture

Swing = tuple[str, str, float, float, Array, Array]
"""Phase, foot, beginning [s], length [m]; sole and centre of mass before it [m]."""

__all__ = ["crocoddyl_motion", "walk_problem"]

LEFT, RIGHT = "leg_left_6_link", "leg_right_6_link"
SOLES = {LEFT: "left_sole_link", RIGHT: "right_sole_link"}
FREE = dict.fromkeys(SOLES, range(6))  # soles rest where they land, and costs say where
STEP, LENGTH, LIFT = 0.03, 0.6, 0.1
SUPPORT, SWING = 12, 25
_HIGH = np.array([0.0, 0.0, LIFT / SWING * 2.0])  # where its last swing task, which landings share, is over the ground
_COM, _FOOT, _LANDING, _TORQUE = 1e6, 1e6, 1e8, 1e-1
_TURN, _JOINTS, _SPEED, _LAST = 10.0 * 500.0**2, 10.0 * 0.01**2, 10.0 * 10.0**2, 10.0
_SOLE = np.array([[x, y, 0.0] for x in (-0.05, 0.05) for y in (-0.025, 0.025)])  # its WrenchCone halves the box


def walk_problem(robot: Robot) -> Problem:
    """The problem of a robot with TALOS's legs, from its home posture."""
    small = {name: replace(surface, corners=_SOLE) for name, surface in robot.contacts.items()}
    robot = robot.replace(contacts=small)
    problem = Problem(robot, formulation=Formulation(contacts="acceleration"))
    places = robot.placements(robot.home)
    soles = {foot: places[SOLES[foot]][:3, 3].copy() for foot in SOLES}
    com = np.r_[0.5 * (soles[LEFT] + soles[RIGHT])[:2], _com(robot)[2]]
    swings: list[Swing] = []
    start = 0.0
    for number, (stance, swing, length) in enumerate(((LEFT, RIGHT, 0.5 * LENGTH), (RIGHT, LEFT, LENGTH))):
        transition: Any = "soft" if number else "continuous"
        problem.phase(f"support {number}", [LEFT, RIGHT], SUPPORT, SUPPORT * STEP, free=FREE, transition=transition)
        start += SUPPORT * STEP
        problem.phase(f"swing {number}", [stance], SWING, SWING * STEP, free=FREE)
        swings.append((f"swing {number}", swing, start, length, soles[swing].copy(), com.copy()))
        start += SWING * STEP
        soles[swing][0] += length
        com[0] += 0.5 * length
    problem.start(robot.home)
    _costs(problem)
    for item in swings:
        _lead(problem, *item)
    landing = (SUPPORT + SWING) * STEP

    def arrived(t: float) -> Array:
        return np.r_[soles[RIGHT] + _HIGH, float(abs(t - landing) < 0.5 * STEP)]

    problem.cost(
        "landing 0", _LANDING / STEP, _sole(RIGHT), reference=arrived, phases=["support 1"], key=("sole", RIGHT)
    )
    problem.cost(
        "landing 1", _LANDING, _sole(LEFT), reference=np.r_[soles[LEFT] + _HIGH, 1.0], at="end", key=("sole", LEFT)
    )
    problem.cost(
        "landing velocity", _SPEED / STEP, lambda node, reference: reference[0] * node.v, phases=["support 1"],
        reference=lambda t: arrived(t)[3:], key=("velocity then",),
    )  # fmt: skip
    problem.cost("last velocity", _SPEED, lambda node: node.v, at="end", key=("velocity",))
    problem.cost("last turn", _LAST, lambda node: node.y[3:6], at="end", key=("turn",))
    _guess(problem, swings)
    return problem


def _guess(problem: Problem, swings: Sequence[Swing]) -> None:
    """Straight in coordinates between the postures at lift-off and at landing, by inverse kinematics."""
    robot, chart = problem.robot, problem.chart
    times, knots, q = [0.0], [chart.coordinates(robot.home)], np.array(robot.home)
    places = robot.placements(robot.home)
    for _, foot, start, length, _, com in swings:
        places[SOLES[foot]] = places[SOLES[foot]] + length * np.outer([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0])
        feet = [FramePose(name, places[name]) for name in SOLES.values()]
        trunk = FrameOrientation(robot.tree.body_names[0], np.eye(3))
        target = com + np.array([0.5 * length, 0.0, 0.0])
        q = np.array(solve(robot, [*feet, CenterOfMass(target), trunk, Posture(robot, robot.home)], q).q)
        times += [start, start + SWING * STEP]
        knots += [knots[-1], chart.coordinates(q)]
    table = np.array(knots)

    def at(t: float) -> Array:
        y = np.array([np.interp(t, times, column) for column in table.T])
        return np.asarray(chart.configuration(y), dtype=float)

    problem.guess(at)


def _costs(problem: Problem) -> None:
    home = problem.chart.coordinates(problem.robot.home)
    problem.cost("base_turn", _TURN)
    problem.cost("joint_posture", _JOINTS, reference=home[problem.robot.driven])
    problem.cost("velocity", _SPEED, lambda node: node.v, key=("velocity",))
    problem.cost("torque", _TORQUE)


def _lead(problem: Problem, phase: str, foot: str, start: float, length: float, sole: Array, com: Array) -> None:
    """Centre of mass and swinging sole, as `createFootstepModels` leads them."""

    def share(t: float) -> float:
        return (round((t - start) / STEP) + 1) / SWING

    def sole_at(t: float) -> Array:
        k, half = round((t - start) / STEP), SWING / 2
        rise = k / half if k < half else 1.0 - (k - half) / half
        return np.r_[sole + np.array([length * share(t), 0.0, LIFT * rise]), 1.0]

    def com_at(t: float) -> Array:
        return com + np.array([0.5 * length * share(t), 0.0, 0.0])

    problem.cost(f"com {phase}", _COM, _com_error, reference=com_at, phases=[phase], key=("com",))
    problem.cost(f"sole {phase}", _FOOT, _sole(foot), reference=sole_at, phases=[phase], key=("sole", foot))


def _com_error(node: Node, reference: AnyArray) -> AnyArray:
    return node.com - reference


def _sole(foot: str) -> Callable[..., AnyArray]:
    """Position against a reference, and turn, of a sole, times the last number of the reference."""

    def error(node: Node, reference: AnyArray) -> AnyArray:
        T = node.placement(SOLES[foot])
        turn = 0.5 * ops.array([T[2, 1] - T[1, 2], T[0, 2] - T[2, 0], T[1, 0] - T[0, 1]])
        return reference[3] * ops.concatenate([T[:3, :3].T @ (T[:3, 3] - reference[:3]), turn])

    return error


def _com(robot: Robot) -> Array:
    from surefoot.kinematics import com

    return np.asarray(com(robot.tree, np.array(robot.home)), dtype=float)


def crocoddyl_motion(solution: Solution) -> tuple[Array, Array]:
    """States (76, nq + nv) and torques (75, nu) in the order of Crocoddyl's nodes.

    Its impact has no torques, and changes nothing where the sole is at rest, as here.
    """
    nodes, landing = solution.nodes, SUPPORT + SWING
    states = np.hstack([nodes["q"], nodes["v"]])
    torques = np.insert(nodes["tau"][:-1], landing, 0.0, axis=0)
    return np.insert(states, landing, states[landing], axis=0), torques
