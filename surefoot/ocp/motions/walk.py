"""One step of a periodic walk with free times: single support, impact, double support (Koch, chapter 7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError, one_of
from surefoot.ik import solve_batch
from surefoot.motion.exchange import mirror_of
from surefoot.ocp import blocks
from surefoot.ocp.problem import Problem
from surefoot.ocp.solution import Solution
from surefoot.robot import Robot
from surefoot.solvers.staged import SolverOptions
from surefoot.tasks import FramePose, Posture

OBJECTIVES = ("torque", "speed", "postural", "efficiency", "joint_speed")
"""Least torque, largest speed, steadiest pressure, least cost of transport, least joint speed: Koch, (7.2)–(7.6)."""
_LENGTHS, _WIDEST = (0.05, 0.6), 1.5  # m, and share of the width at home: steps that the solver may choose
_CLEARANCE = 0.02  # m of the swing foot at mid-swing
_HIGHEST, _ASIDE = 0.15, 0.1  # m: how high a sole may rise, and how far aside it may go beyond the widest step
_BETWEEN = 0.01  # m between the inner edges of the soles
_ROOM = 0.15  # distance from position limits: knees stay bent, as a controller needs them [rad]
_TURN = 0.3  # yaw, pitch and roll of the base [rad]
_CROUCH = 0.9  # least height of the base over its height at home
_WAVE = 0.35  # how far arms, head and waist move from home [rad]
# Base, arms and ankles turn back at every impact: as fast as drives can, where nothing keeps them from it, and in
# less time than an interval has, and no robot follows.
_SPIN, _SWING = 1.0, 1.5  # rates of the base, and of arms, head and waist [rad/s]
_SMOOTH = 1e-5, 1e-3  # weights of accelerations: where they only make the motion unique, and where it is to be followed
_LAST = 0.1  # least double support of a walk that is to be followed [s]
_WIDE = 0.1  # first barrier parameter when these limits come in: far enough to leave a poor motion
_ANYWHERE = 10.0  # m: radius where the zero-moment point is free
_LIFT_OFF = 0.02  # of the weight: load at which a foot lifts off
_TIMES = {"single": (0.08, 0.63, 2.0), "double": (0.04, 0.2, 1.0)}  # s; guesses of Koch, table 7.1


@dataclass(frozen=True)
class Feet:
    """Who stands and who swings, and where they stand at home.

    Args:
        stance: Contact that stands.
        swing: Contact that swings.
        places: Their poses (4, 4) at home.
    """

    stance: str
    swing: str
    places: dict[str, Array]

    @property
    def width(self) -> float:
        """From the stance foot to the other, with a sign [m]."""
        return float(self.places[self.swing][1, 3] - self.places[self.stance][1, 3])


def walk_step(
    robot: Robot,
    objective: str = "torque",
    *,
    zmp_radius: float | None = 0.01,
    free_foot: bool = False,
    step: float = 0.15,
    intervals: tuple[int, int] = (24, 8),
    rounding: float = 1.0,
    calm: bool = True,
) -> Problem:
    """Half a cycle: the second foot swings, lands with an impact, and takes over the load; its end mirrors its start.

    All objectives and constraint sets share one structure: they differ in weights, bounds and numbers, so that a
    solution of one is a warm start for the others and nothing is compiled twice.

    Args:
        robot: A robot with two flat feet that is its own mirror image.
        objective: "torque", "speed", "postural", "efficiency" or "joint_speed".
        zmp_radius: How far the zero-moment point may be from the middle of the sole, or from the line between both
            middles [m]; None: anywhere in the soles.
        free_foot: Whether step length and width are free; else length is `step` and width that at home.
        step: Step length [m]; with a free foot the guess.
        intervals: Of single and double support.
        rounding: Within which of 0 the |power| of a drive is rounded [W], for "efficiency".
        calm: Whether base and arms turn slowly, joints accelerate gently and double support lasts 0.1 s at least, so
            that a robot can follow.
    """
    if objective not in OBJECTIVES:
        raise one_of("objective", objective, OBJECTIVES)
    feet = _feet(robot)
    problem = Problem(robot)
    problem.limits(position_margin=_ROOM)
    _calm(problem, feet, calm)
    stance, swing = feet.stance, feet.swing
    at_rest = {stance: (2, 3, 4, 5)}  # by periodicity: the place of the other foot at the end
    problem.phase("single", [stance], intervals[0], _TIMES["single"], free=at_rest)
    ahead = {name: pose.copy() for name, pose in feet.places.items()}
    ahead[swing][0, 3] += step
    least, guess, most = _TIMES["double"]
    problem.phase(
        "double", [stance, swing], intervals[1], (_LAST if calm else least, guess, most),
        spots=ahead, free=at_rest | {swing: (0, 1)}, transition="impact",
    )  # fmt: skip
    problem.periodic(mirror=True, omit=("x", "y"))
    _placement(problem, feet, step, free_foot)
    _swing(problem, feet)
    _balance(problem, feet, _ANYWHERE if zmp_radius is None else zmp_radius)
    _objective(problem, objective, rounding, _SMOOTH[calm])
    problem.guess(_kinematic_guess(problem, feet, step))
    return problem


def solve_walk(
    robot: Robot,
    objective: str = "torque",
    solver: str = "riccati",
    options: SolverOptions | None = None,
    warm: Solution | None = None,
    **others: Any,
) -> Solution:
    """Solve for a step over a ladder of easier ones: |power| has an edge at 0, and a calm step begins as a free one.

    Args:
        robot: As in `walk_step`.
        objective: As in `walk_step`.
        solver: As in `Problem.solve`.
        options: As in `Problem.solve`.
        warm: A solution of another objective or other constraints to start from; then there is no ladder.
        **others: As in `walk_step`.
    """
    calm, options = others.pop("calm", True), options or SolverOptions()
    rungs: list[dict[str, Any]] = []
    if warm is None and objective == "efficiency":
        rungs += [{"objective": "torque"}, {"objective": objective, "rounding": 5.0}]
    if warm is None and calm:
        rungs.append({"objective": objective})
    for rung in rungs:
        warm = walk_step(robot, **{**others, **rung}, calm=False).solve(solver, options, warm=warm)
    if rungs and calm:
        options = replace(options, barrier=options.barrier or _WIDE)
    return walk_step(robot, objective, **others, calm=calm).solve(solver, options, warm=warm)


def _feet(robot: Robot) -> Feet:
    names = list(robot.contacts)
    if robot.base != "floating" or len(names) != 2:
        raise NotSupportedError(
            f"a walk needs two feet; `{robot.name}` has {len(names)}", next_step="use a biped such as humanoid"
        )
    stance, swing = names
    if mirror_of(robot).contacts[stance] != swing:
        raise NotSupportedError(f"the feet of `{robot.name}` are not mirror images")
    if any(len(robot.contacts[name].corners) < 3 for name in names):
        raise NotSupportedError(f"the feet of `{robot.name}` are not flat")
    frames = robot.placements(robot.home)
    places = {name: frames[robot.contacts[name].frame] @ robot.contacts[name].placement for name in names}
    return Feet(stance, swing, places)


def _calm(problem: Problem, feet: Feet, slow: bool) -> None:
    """The trunk stays upright and does not sink; joints that are not in the legs stay near home; both move slowly."""
    robot, home = problem.robot, problem.chart.coordinates(problem.robot.home)
    for name in ("yaw", "pitch", "roll"):
        problem.bound(name, -_TURN, _TURN)
        if slow:
            problem.bound(f"d {name}", -_SPIN, _SPIN)
    ground = min(float(pose[2, 3]) for pose in feet.places.values())
    problem.bound("z", ground + _CROUCH * (home[2] - ground))
    ends = [robot.body_of(robot.contacts[name].frame) for name in feet.places]
    legs = {robot.tree.joint_names[i] for end in ends for i in (end, *robot.tree.ancestors(end))}
    for k in robot.driven:
        name = problem.chart.names[k]
        if name not in legs:
            problem.bound(name, home[k] - _WAVE, home[k] + _WAVE)
            if slow:
                problem.bound(f"d {name}", -_SWING, _SWING)


def _placement(problem: Problem, feet: Feet, step: float, free: bool) -> None:
    """Length and width of the step as parameters: fixed, or free within bounds."""
    lengths = (min(_LENGTHS[0], step), max(_LENGTHS[1], step)) if free else (step, step)
    sole = float(np.ptp(np.asarray(problem.robot.contacts[feet.swing].corners)[:, 1]))
    side, home = np.sign(feet.width), abs(feet.width)
    narrow, wide = sorted(side * w for w in ((sole + _BETWEEN, _WIDEST * home) if free else (home, home)))
    problem.parameter("step_length", *lengths, step)
    problem.parameter("step_width", narrow, wide, feet.width)
    names = (feet.stance, feet.swing)
    problem.constrain("step", blocks.step_rows(*names), 0.0, 0.0, at="end", key=("step", *names))


def _swing(problem: Problem, feet: Feet) -> None:
    """The foot swings above the ground and beside the other one."""
    surface, other = (problem.robot.contacts[name] for name in (feet.swing, feet.stance))
    key = (feet.swing, np.asarray(surface.corners).tobytes())
    total, side = problem.phases[0].duration[1], float(np.sign(feet.width))
    inner = max(side * (feet.places[feet.stance] @ np.r_[corner, 1.0])[1] for corner in np.asarray(other.corners))
    most = _WIDEST * abs(feet.width) + _ASIDE
    problem.constrain(
        "foot clearance", blocks.above_rows(surface), 0.0, _HIGHEST, phases=["single"], key=("above", *key),
        reference=lambda t: [_CLEARANCE * max(0.0, np.sin(np.pi * min(t / total, 1.0)))],
    )  # fmt: skip
    problem.constrain(
        "feet apart", blocks.beside_rows(surface, side), 0.0, most, phases=["single"], key=("beside", side, *key),
        reference=[side * (inner + _BETWEEN)],
    )  # fmt: skip


def _balance(problem: Problem, feet: Feet, radius: float) -> None:
    """Region of the zero-moment point, and the stance foot unloaded when it lifts off."""
    both = (feet.stance, feet.swing)
    for phase, contacts in (("single", both[:1]), ("double", both)):
        problem.constrain(
            f"zmp {phase}", blocks.zmp_rows(contacts), 0.0, reference=[radius], phases=[phase], key=("zmp", *contacts)
        )
    single, double = (phase.duration[1] for phase in problem.phases)
    last = single + double * (1.0 - 1.5 / problem.phases[1].intervals)
    problem.constrain(
        "lift-off", blocks.load_rows(feet.stance), upper=0.0, phases=["double"], key=("load", feet.stance),
        reference=lambda t: [_LIFT_OFF if t > last else 10.0],
    )  # fmt: skip


def _objective(problem: Problem, objective: str, rounding: float, smooth: float) -> None:
    """The objective, and small shares of others that make the motion unique."""
    robot = problem.robot
    weight = robot.mass * float(np.linalg.norm(robot.tree.gravity))
    chosen = {name: float(name == objective) for name in OBJECTIVES}
    problem.cost("torque", (200.0 * chosen["torque"] + 1.0) * robot.nu / weight**2)
    problem.cost("acceleration", smooth)
    problem.cost("contact_force", 0.01 / weight**2)
    problem.cost("joint_speed", 2.0 * chosen["joint_speed"] + 1e-3)
    problem.cost("joint_posture", 0.02, reference=problem.chart.coordinates(robot.home)[robot.driven])
    problem.cost("base_turn", 0.1)
    problem.cost("pressure", 2e3 * chosen["postural"])
    problem.cost("slowness", chosen["speed"])
    problem.cost("transport", 10.0 * chosen["efficiency"], reference=[rounding])


def _kinematic_guess(problem: Problem, feet: Feet, step: float) -> Callable[[float], Array]:
    """Feet on their way, the base ahead evenly and swaying over the stance foot; joints by inverse kinematics."""
    robot = problem.robot
    single, double = (phase.duration[1] for phase in problem.phases)
    total, home = single + double, np.array(robot.home)
    times = np.linspace(0.0, total, 81)
    phase = np.clip(times / single, 0.0, 1.0)
    way = phase - np.sin(2.0 * np.pi * phase) / (2.0 * np.pi)
    placed = {name: np.repeat(pose[None], len(times), axis=0) for name, pose in feet.places.items()}
    placed[feet.swing][:, 0, 3] += step * (2.0 * way - 1.0)
    placed[feet.swing][:, 2, 3] += 2.0 * _CLEARANCE * np.sin(np.pi * phase) ** 2
    base = np.repeat(robot.placements(home)[robot.tree.body_names[0]][None], len(times), axis=0)
    base[:, 0, 3] += step * (times - 0.5 * single) / total
    base[:, 1, 3] -= 0.2 * feet.width * np.sin(np.pi * (times + 0.5 * double) / total)
    base[:, 2, 3] -= 0.02 * base[:, 2, 3]
    tasks, targets = [FramePose(robot.tree.body_names[0], name="base")], {"base": base}
    for name, pose in placed.items():
        surface = robot.contacts[name]
        tasks.append(FramePose(surface.frame, name=name))
        targets[name] = pose @ np.linalg.inv(surface.placement)
    found = solve_batch(robot, [*tasks, Posture(robot, home)], targets, home, restarts=0)
    if not found.success.all():
        raise NotSupportedError(
            f"`{robot.name}` cannot take a step of {step:.2f} m in its home posture",
            next_step="shorten the step (motion.length in a scenario)",
        )
    q = found.q
    return lambda t: q[int(np.clip(round(t / total * 80), 0, 80))]
