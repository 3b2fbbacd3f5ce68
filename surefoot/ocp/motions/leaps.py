"""Squats, jumps and bounds of robots with feet, by direct inverse dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from surefoot import ops
from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.kinematics import Frame, com, frame_placement
from surefoot.ocp import blocks
from surefoot.ocp.formulation import Formulation
from surefoot.ocp.node import Node
from surefoot.ocp.postures import leg_volumes
from surefoot.ocp.problem import Problem
from surefoot.ocp.solution import Solution
from surefoot.ops import Array as AnyArray
from surefoot.robot import Robot, Tree
from surefoot.solvers.staged import Progress, SolverOptions

_SHARE = 0.03  # m: border of the soles that does not carry
_ROOM = 0.05  # distance from position limits, which a follower needs [rad]
_DRIVES = 0.85  # share of speeds and forces of the drives
_GRIP = 0.8  # share of the friction that leaps use
_BRAKE, _SLOWS = 3.0, 6  # deceleration of feet before they land, share of gravity, and in how many intervals
_LIFT = 0.1  # how high feet rise in a jump at least, share of the height of the centre of mass
_SINKS, _PITCH, _TILT = 0.35, 0.4, 0.05  # how far the base sinks in a leap (share of its height) and turns [rad]
_OFF, _KNEES = 0.03, 0.25  # m of knees above the ground; how high at home, share of the height of the centre of mass
_NEAR = 0.01  # first barrier parameter of the second problem
_LANDING = "landing "
_UNLOADS = 4  # intervals in which feet are unloaded before they leave the ground
_FAR, _FAST = 10.0, 100.0  # bounds where they do not matter: height of the centre of mass [m], speed [m/s]


def squat(
    robot: Robot, depth: float | None = None, intervals: int = 30, duration: float | Sequence[float] = 1.0,
    formulation: Formulation | None = None,
) -> Problem:  # fmt: skip
    """Down and up again on all contacts, at rest at both ends.

    Args:
        robot: The robot; it stands on its contacts at home.
        depth: How far the centre of mass is lowered at half time [m]; 12 % of its height if None.
        intervals: Number of intervals.
        duration: [s], or bounds, with time as a further cost.
        formulation: Direct inverse dynamics with semi-implicit steps if None.
    """
    problem, feet = _standing(robot, formulation)
    problem.phase("squat", feet, intervals, duration)
    problem.start(robot.home)
    problem.end(robot.home)
    height = float(_com(robot)[2])
    deep = height - (0.12 * height if depth is None else depth)
    step = problem.phases[0].duration[1] / intervals
    middle = step * (intervals // 2)
    problem.constrain(
        "depth", blocks.com_height, upper=0.0, key=("com_height",),
        reference=lambda t: [deep if abs(t - middle) < 0.5 * step else _FAR],
    )  # fmt: skip
    _calm(problem)
    if problem.phases[0].duration[0] < problem.phases[0].duration[2]:
        problem.cost("time", 10.0)
    return problem


def jump(
    robot: Robot,
    height: float = 0.1,
    density: float = 1.0,
    friction: float | None = None,
    soft: bool = True,
) -> Problem:
    """Jump on the spot: push off, fly, land, stand.

    Args:
        robot: The robot; it stands on its contacts at home.
        height: How far the centre of mass rises between take-off and apex [m].
        density: Number of intervals as a multiple of the usual one, which makes them 12.5 ms long.
        friction: Of the ground as the motion uses it; 80 % of that of the soles if None: landings need the rest.
        soft: Whether feet are unloaded before they leave the ground, rise from it, and come to rest on it gently; else
            they land as hard as friction and the robot allow.
    """
    gravity = float(np.linalg.norm(robot.tree.gravity))
    if gravity == 0.0:
        raise NotSupportedError("without gravity nobody lands")
    flight = 2.0 * float(np.sqrt(2.0 * height / gravity))
    problem, feet = _standing(robot, share=_DRIVES)
    _keep_upright(problem, feet)
    step = 0.0125 / density
    if friction is None:
        friction = _GRIP * min(robot.contacts[name].friction for name in feet)
    count = max(4, round(flight / step))
    problem.phase("push", feet, max(8, round(0.5 / step)), (0.25, 0.5, 0.8), friction=friction)
    problem.phase("flight", (), count, (flight, flight, 1.3 * flight))
    problem.phase(
        "land",
        feet,
        max(10, round(0.7 / step)),
        (0.5, 0.7, 1.0),
        friction=friction,
        transition="soft" if soft else "impact",
    )
    problem.start(robot.home)
    problem.end(robot.home)
    for name in feet:
        problem.clearance(name, _LIFT * float(_com(robot)[2]) if soft else 0.0)
        if soft:
            _leave(problem, name, 0)
    if soft:
        _land(problem)
    _calm(problem)
    problem.cost("time", 1.0)
    return problem


def bound(
    robot: Robot, length: float = 0.2, density: float = 1.0, grip: float = _GRIP, lift: float = 0.15,
) -> Problem:  # fmt: skip
    """One bound of a quadruped: all feet push, the hind feet push, it flies, and it lands `length` ahead.

    Args:
        robot: A robot with two front and two hind feet.
        length: How far it comes [m].
        density: Number of intervals as a multiple of the usual one, which makes them 10 ms long.
        grip: Share of the friction that is used; the rest is for what the motion does not foresee.
        lift: How high feet rise in the air at least, share of the height of the centre of mass.
    """
    problem, feet = _standing(robot, share=_DRIVES)
    _keep_upright(problem, feet)
    if len(feet) != 4:
        raise NotSupportedError(
            f"a bound needs four feet; `{robot.name}` has {len(feet)}", next_step="use a quadruped such as go2"
        )
    height, step = float(_com(robot)[2]), 0.01 / density
    places = robot.placements(robot.home)
    ahead = {name: float(places[robot.contacts[name].frame][0, 3]) for name in feet}
    order = sorted(feet, key=lambda name: ahead[name])
    hind = [name for name in feet if name in order[:2]]
    friction = grip * min(robot.contacts[name].friction for name in feet)
    problem.phase("push", feet, max(6, round(0.3 / step)), (0.15, 0.3, 0.5), friction=friction)
    problem.phase("hind push", hind, max(4, round(0.12 / step)), (0.06, 0.12, 0.25), friction=friction)
    problem.phase("flight", (), max(4, round(0.16 / step)), (0.1, 0.16, 0.3))
    shift = np.eye(4)
    shift[0, 3] = length
    spots = {name: shift @ problem.phases[0].spots[name] for name in feet}
    problem.phase(
        "land", feet, max(8, round(0.5 / step)), (0.3, 0.5, 0.8), spots=spots, transition="soft", friction=friction
    )
    problem.start(robot.home)
    q = np.array(robot.home)
    q[0] += length
    problem.end(q)
    for name in feet:
        _leave(problem, name, 1 if name in hind else 0)
        problem.clearance(name, lift * height)
    _land(problem)
    _calm(problem)
    problem.cost("time", 1.0)
    return problem


def solve_leap(
    problem: Problem, solver: str = "riccati", options: SolverOptions | None = None, progress: Progress | None = None
) -> Solution:
    """Solve for a jump or a bound: first with feet that land at any speed, then with those that slow down before.

    Bodies are kept apart.

    Args:
        problem: Of `jump` or `bound`.
        solver: As for `Problem.solve`.
        options: As for `Problem.solve`.
        progress: As for `Problem.solve`.
    """
    slow = {name: ends for name, ends in problem.bounds.items() if name.startswith(_LANDING)}
    problem.bounds |= {name: (np.full_like(low, -np.inf), high) for name, (low, high) in slow.items()}
    solve = problem.solve_apart if problem.robot.collisions else problem.solve
    quick = solve(solver, options, progress)
    problem.bounds |= slow
    if not quick.success or not slow:
        return quick
    return solve(solver, replace(options or SolverOptions(), barrier=_NEAR), progress, quick)


def _keep_upright(problem: Problem, feet: Sequence[str]) -> None:
    """The base neither sinks nor turns far, and nothing but feet comes to the ground."""
    _keep_off_the_ground(problem, feet)
    problem.bound("z", (1.0 - _SINKS) * float(problem.robot.home[2]))
    for name, most in (("pitch", _PITCH), ("roll", _TILT), ("yaw", _TILT)):
        problem.bound(name, -most, most)


def _keep_off_the_ground(problem: Problem, feet: Sequence[str]) -> None:
    """Knees do not come to the ground: what is well above it at home, in links of legs."""
    robot = problem.robot
    high = _KNEES * float(_com(robot)[2])

    def height(tree: Tree, q: AnyArray, body: int, point: Array, radius: float) -> AnyArray:
        T = frame_placement(tree, Frame(body), q)
        return T[2, :3] @ point + T[2, 3] - radius

    for foot in feet if robot.collisions else ():
        for link, volumes in leg_volumes(robot, foot).items():
            points = [(x.body, p, x.volume.radius) for x in volumes for p in x.volume.vertices]
            points = [point for point in points if float(height(robot.tree, np.array(robot.home), *point)) > high]

            def rows(node: Node, points: list[tuple[int, Array, float]] = points) -> AnyArray:
                return ops.stack([height(node.tree, node.q, *point) for point in points])

            if points:
                key = ("off", *(repr(point) for point in points))
                problem.constrain(f"{link} of {foot} above the ground", rows, _OFF, key=key, of_posture=True)


def _leave(problem: Problem, foot: str, phase: int) -> None:
    """The foot is unloaded within the last intervals of a phase."""
    spec, robot = problem.phases[phase], problem.robot
    end = sum(item.duration[1] for item in problem.phases[: phase + 1])
    step, weight = spec.duration[1] / spec.intervals, robot.mass * float(np.linalg.norm(robot.tree.gravity))

    def most(t: float) -> list[float]:
        left = (end - t) / step
        return [left / len(spec.contacts) if left < _UNLOADS + 0.5 else _FAR]

    problem.constrain(
        f"unload {foot}", lambda node, most: node.wrenches[foot][2:3] / weight - most, upper=0.0, reference=most,
        phases=[spec.name], key=("load", foot),
    )  # fmt: skip


def _land(problem: Problem) -> None:
    """Feet that land come to rest gently, which forgives them if they are early: speeds at most b t, t before."""
    robot, k = problem.robot, len(problem.phases) - 2
    gravity, spec = float(np.linalg.norm(robot.tree.gravity)), problem.phases[k]
    end, step = sum(item.duration[1] for item in problem.phases[: k + 1]), spec.duration[1] / spec.intervals
    for foot, surface in robot.contacts.items():
        problem.constrain(
            _LANDING + foot, blocks.speed_rows(surface), 0.0, phases=[spec.name], key=("slow", foot),
            reference=lambda t: [_BRAKE * gravity * (end - t) if end - t < (_SLOWS + 0.5) * step else _FAST],
        )  # fmt: skip


def _standing(robot: Robot, formulation: Formulation | None = None, share: float = 1.0) -> tuple[Problem, list[str]]:
    feet = list(robot.contacts)
    if robot.base != "floating" or not feet:
        raise NotSupportedError(
            f"`{robot.name}` does not stand on contacts", next_step="use a robot with a floating base and feet"
        )
    problem = Problem(robot, formulation=formulation)
    flat = all(len(robot.contacts[name].corners) > 2 for name in feet)
    problem.limits(sole_margin=_SHARE if flat else 0.0, position_margin=_ROOM, drive_share=share)
    return problem, feet


def _calm(problem: Problem) -> None:
    """Small costs that make the motion unique: torques relative to the weight, accelerations, forces, posture."""
    robot = problem.robot
    weight = robot.mass * float(np.linalg.norm(robot.tree.gravity))
    lever = float(_com(robot)[2])
    home = problem.chart.coordinates(robot.home)
    problem.cost("torque", 10.0 / (weight * lever) ** 2 * robot.nu)
    problem.cost("acceleration", 2e-3)
    problem.cost("contact_force", 0.1 / weight**2)
    problem.cost("joint_posture", 1.0, reference=home[robot.driven])


def _com(robot: Robot) -> Array:
    return np.asarray(com(robot.tree, np.array(robot.home)), dtype=float)
