"""Step over an obstacle that lies across the way: two steps from rest to rest (Koch, chapters 8 to 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from surefoot import ops
from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.kinematics import com
from surefoot.ocp import blocks
from surefoot.ocp.node import Node
from surefoot.ocp.postures import leg_volumes, obstacle_rows
from surefoot.ocp.problem import Problem
from surefoot.ocp.shape import Block
from surefoot.ocp.solution import Solution
from surefoot.ops import Array as AnyArray
from surefoot.robot import Robot
from surefoot.solvers.staged import Progress, SolverOptions

HEIGHT, DISTANCE = "obstacle height", "obstacle distance"
"""Free parameters: height of the obstacle, and where its middle is ahead of the robot's first place [m]."""
_LIFT = 0.2  # how far soles rise in the first problem [m]
_RISE = 0.2  # share of a swing in which soles rise to `ground`, and in which they come down
_NEAR = (0.02, 1e-3)  # first barrier parameters of the second problem and of those after it
_REACHED = 1e-3  # by how much a height may be missed [m]
_LOW = 0.05  # height of the obstacle from which it grows [m]
_RUNGS = (0.2, 0.12)  # height of the second problem, and by how much it grows from problem to problem [m]
_TIMES = {"shift": (0.4, 0.7, 1.5), "lead": (0.6, 1.3, 2.5), "straddle": (0.3, 0.4, 1.2), "trail": (0.6, 1.3, 2.5)}
_TIMES["settle"] = (0.5, 0.8, 1.0)


@dataclass(frozen=True)
class Overstep:
    """What is stepped over, and how carefully.

    Args:
        height: Of the obstacle [m]; the highest that the robot can step over, if that is lower.
        width: Along the way [m].
        distance: From the middle between the feet at home to that of the obstacle [m]; None: the solver chooses.
        length: First guess of the step length [m].
        margin: Distance of legs and obstacle at the nodes [m].
        sole_margin: How far centres of pressure stay inside the soles [m]; a quarter of their width at most.
        ground: How high soles rise above the ground before they move ahead [m].
        pressure_box: Half the side of the square below an ankle in which the centre of pressure of its foot stays [m].
        intervals: Of the five phases.
        time: Cost of a second.
    """

    height: float = 0.2
    width: float = 0.11
    distance: float | None = None
    length: float = 0.5
    margin: float = 0.02
    sole_margin: float = 0.03
    ground: float = 0.03
    pressure_box: float | None = None
    intervals: tuple[int, int, int, int, int] = (8, 18, 6, 18, 8)
    time: float = 1.0


def overstep(robot: Robot, task: Overstep | None = None, *, is_first: bool = False) -> Problem:
    """Two steps over an obstacle, from rest to rest: shift the weight, swing, straddle, swing the other leg, settle.

    Args:
        robot: A biped with flat feet.
        task: The obstacle.
        is_first: Whether the obstacle is replaced by the height of the soles over time: a first problem whose motion
            leads over the obstacle.
    """
    task = task or Overstep()
    trail, lead = _feet(robot)
    problem = Problem(robot)
    narrow = min(float(np.ptp(np.asarray(robot.contacts[foot].corners)[:, :2], axis=0).min()) for foot in (lead, trail))
    problem.limits(sole_margin=min(task.sole_margin, 0.25 * narrow), position_margin=0.03)
    _phases(problem, task, lead, trail)
    problem.start(robot.home)
    problem.end()
    low = min(_LOW, task.height)
    problem.parameter(HEIGHT, low, low if is_first else task.height, low)
    middle = 0.5 * task.length if task.distance is None else task.distance
    is_free = task.distance is None and not is_first
    problem.parameter(DISTANCE, *((0.0, 2.0 * task.length) if is_free else (middle, middle)), middle)
    _beyond(problem, task, lead, ("straddle", "trail"))
    _beyond(problem, task, trail, ("settle",))
    _soften(problem, lead, trail)
    if task.pressure_box is not None:
        for foot in (lead, trail):
            _press_inside(problem, foot, task.pressure_box)
    _costs(problem, task)
    _guess(problem, task.length)
    _lift(problem, lead, trail, *((_LIFT, 0.5) if is_first else (task.ground, _RISE)))
    if not is_first:
        _obstacle(problem, task, lead, trail)
        problem.maximise(HEIGHT, 300.0)
    return problem


def solve_overstep(
    robot: Robot,
    task: Overstep | None = None,
    solver: str = "riccati",
    options: SolverOptions | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Solve in steps: soles that are lifted over time, a low obstacle, bodies kept apart, then higher and higher ones.

    Koch, 8.2.4 and 10.1. The ladder ends at the height of the task, or at the highest that the robot can do.

    Args:
        robot: A biped with flat feet.
        task: The obstacle.
        solver: As for `Problem.solve`.
        options: As for `Problem.solve`.
        progress: As for `Problem.solve`.
    """
    task, options = task or Overstep(), options or SolverOptions(tolerance=1e-4)
    first = overstep(robot, task, is_first=True).solve(solver, options, progress)
    if not first.success:
        return first
    problem, solution, barrier = overstep(robot, task), first, options.barrier or _NEAR[0]
    low, rung = problem.parameters[HEIGHT][0], _RUNGS[0]
    while True:
        problem.parameters[HEIGHT] = (low, low, min(rung, task.height))
        solution = problem.solve_apart(solver, replace(options, barrier=barrier), progress, start=solution)
        if not solution.success or rung >= task.height or solution.parameters[HEIGHT] < rung - _REACHED:
            return solution
        barrier, rung = _NEAR[1], rung + _RUNGS[1]


def step_sizes(solution: Solution) -> dict[str, float]:
    """Height and place of the obstacle, and how far the feet step [m].

    Args:
        solution: Of `solve_overstep`.
    """
    robot = solution.problem.robot
    trail, lead = _feet(robot)
    first, last = (
        {name: robot.placements(q)[c.frame] @ c.placement for name, c in robot.contacts.items()}
        for q in (solution.nodes["q"][0], solution.nodes["q"][-1])
    )
    return {
        "obstacle_height_m": solution.parameters[HEIGHT],
        "obstacle_distance_m": solution.parameters[DISTANCE],
        "step_length_m": float(last[lead][0, 3] - first[trail][0, 3]),
        "step_width_m": float(abs(last[lead][1, 3] - first[trail][1, 3])),
        "motion_duration_s": sum(solution.durations.values()),
    }


def _feet(robot: Robot) -> tuple[str, str]:
    """The foot that stands first, and the one that leads: left and right."""
    feet = sorted(robot.contacts, key=lambda name: -float(_spots(robot)[name][1, 3]))
    if len(feet) != 2 or any(len(robot.contacts[name].corners) < 3 for name in feet) or robot.base != "floating":
        raise NotSupportedError(
            f"`{robot.name}` cannot step over anything: it needs two flat feet",
            next_step="use a biped such as humanoid",
        )
    return feet[0], feet[1]


def _spots(robot: Robot) -> dict[str, Array]:
    places = robot.placements(robot.home)
    return {name: places[c.frame] @ c.placement for name, c in robot.contacts.items()}


def _phases(problem: Problem, task: Overstep, lead: str, trail: str) -> None:
    at_home = _spots(problem.robot)
    ahead = {name: np.array(pose) for name, pose in at_home.items()}
    for pose in ahead.values():
        pose[0, 3] += task.length
    free, count = (0, 1, 5), task.intervals
    both = [trail, lead]
    problem.phase("shift", both, count[0], _TIMES["shift"])
    problem.phase("lead", [trail], count[1], _TIMES["lead"])
    landed = {trail: at_home[trail], lead: ahead[lead]}
    problem.phase("straddle", both, count[2], _TIMES["straddle"], spots=landed, free={lead: free}, transition="soft")
    problem.phase("trail", [lead], count[3], _TIMES["trail"], spots={lead: ahead[lead]}, free={lead: free})
    problem.phase(
        "settle", both, count[4], _TIMES["settle"], spots=ahead, free=dict.fromkeys(both, free), transition="soft"
    )


def _beyond(problem: Problem, task: Overstep, foot: str, phases: Sequence[str]) -> None:
    """The sole is behind the obstacle, seen from the start."""
    surface = problem.robot.contacts[foot]

    def rows(node: Node) -> AnyArray:
        T = node.placement(foot)
        return ops.stack([T[0, :3] @ corner + T[0, 3] - node.parameters[DISTANCE] for corner in surface.corners])

    key = ("beyond", foot, np.asarray(surface.corners).tobytes())
    problem.constrain(f"beyond {foot}", rows, 0.5 * task.width, phases=phases, key=key, of_posture=True)


def _press_inside(problem: Problem, foot: str, half: float) -> None:
    """The centre of pressure of a foot stays in a square below its ankle: half · f_z ∓ m ≥ 0."""
    weight = problem.robot.mass * float(np.linalg.norm(problem.robot.tree.gravity))

    def rows(node: Node) -> AnyArray:
        f = node.wrenches[foot] * (100.0 / weight)
        return ops.stack([half * f[2] + sign * f[k] for k in (3, 4) for sign in (-1.0, 1.0)])

    phases = [phase.name for phase in problem.phases if foot in phase.contacts]
    problem.constrain(f"pressure {foot}", rows, 0.0, phases=phases, key=("pressure box", foot, half))


def _soften(problem: Problem, lead: str, trail: str) -> None:
    """Feet are unloaded before they rise, and loaded after they have landed, evenly: normal force / weight ≤ ramp."""
    weight = problem.robot.mass * float(np.linalg.norm(problem.robot.tree.gravity))
    starts = np.cumsum([0.0, *(phase.duration[1] for phase in problem.phases)])

    def ramp(foot: str, phase: int, falls: bool) -> None:
        spec = problem.phases[phase]

        def share(t: float) -> list[float]:
            k = round((t - starts[phase]) / spec.duration[1] * spec.intervals)
            rising = (k + 0.5) / spec.intervals
            return [1.2 * (1.0 - rising if falls else rising)]

        problem.constrain(
            f"{'unload' if falls else 'load'} {foot}", lambda node, most: node.wrenches[foot][2:3] / weight - most,
            upper=0.0, reference=share, phases=[spec.name], key=("load", foot),
        )  # fmt: skip

    ramp(lead, 0, True)
    ramp(lead, 2, False)
    ramp(trail, 2, True)
    ramp(trail, 4, False)


def _costs(problem: Problem, task: Overstep) -> None:
    robot = problem.robot
    weight = robot.mass * float(np.linalg.norm(robot.tree.gravity))
    lever = float(np.asarray(com(robot.tree, np.array(robot.home)), dtype=float)[2])
    home = problem.chart.coordinates(robot.home)[robot.driven]
    problem.cost("torque", 3.0 / (weight * lever) ** 2 * robot.nu)
    problem.cost("acceleration", 2e-3)
    problem.cost("contact_force", 0.1 / weight**2)
    problem.cost("joint_posture", 0.3, reference=home)
    problem.cost("base_turn", 2.0)
    problem.cost("time", task.time)
    problem.cost("last posture", 20.0, lambda node, goal: node.joints - goal, reference=home, at="end")
    problem.blocks[-1] = replace(problem.blocks[-1], key=("joint_posture",))


def _guess(problem: Problem, length: float) -> None:
    """The home posture, moving ahead evenly from the end of the first phase on."""
    home = np.array(problem.robot.home)
    durations = [phase.duration[1] for phase in problem.phases]
    begin, end = durations[0], sum(durations[:4])

    def at(t: float) -> Array:
        q = home.copy()
        q[0] += length * float(np.clip((t - begin) / (end - begin), 0.0, 1.0))
        return q

    problem.guess(at)


def _lift(problem: Problem, lead: str, trail: str, height: float, rise: float) -> None:
    """Least heights of the soles over time: up in a share `rise` of the swing, level, and down again.

    Above the obstacle they replace it in the first problem; a few centimetres let feet rise and land without sliding.
    """
    starts = np.cumsum([0.0, *(phase.duration[1] for phase in problem.phases)])
    for foot, phase in ((lead, 1), (trail, 3)):
        surface, spec = problem.robot.contacts[foot], problem.phases[phase]

        def least(t: float, begin: float = float(starts[phase]), length: float = spec.duration[1]) -> list[float]:
            s = float(np.clip((t - begin) / length, 0.0, 1.0))
            share = min(1.0, s / rise, (1.0 - s) / rise)
            return [height * float(np.sin(0.5 * np.pi * share) ** 2)]

        heights = blocks.height_rows(surface)
        problem.constrain(
            f"lift {foot}", lambda node, least, heights=heights: heights(node) - least[0], 0.0, reference=least,
            phases=[spec.name], key=("lift", foot, np.asarray(surface.corners).tobytes()), of_posture=True,
        )  # fmt: skip


# -- the obstacle -------------------------------------------------------------------------------------------------


def _obstacle(problem: Problem, task: Overstep, lead: str, trail: str) -> None:
    """Legs away from the obstacle."""
    for foot in (lead, trail):
        for link, volumes in leg_volumes(problem.robot, foot).items():
            rows = obstacle_rows(volumes, task.width, (DISTANCE, HEIGHT))
            numbers = ((v.body, v.volume.radius, v.volume.vertices.tobytes()) for v in volumes)
            key = ("obstacle", task.width, *numbers)
            block = Block(f"obstacle {link}", rows, "row", key=key, of_posture=True)
            problem.add_rows(block, task.margin)
