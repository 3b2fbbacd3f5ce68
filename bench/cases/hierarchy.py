"""A control loop with ten tasks on three strict levels on a humanoid: time of a tick, priorities, limits.

Two motions: `reachable` squats up to nearly straight knees while both hands draw curves; `out of reach` asks for a
centre of mass above what straight legs allow and for a hand a metre away, and comes back. A tick is all that a loop
does: new targets, rows and Jacobians, the hierarchy, the next configuration. Each motion runs twice: first every tick
is checked, then the same ticks are timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from bench.check import WrongAnswerError
from bench.machine import header
from bench.page import Json, number_text, print_table
from bench.timing import pinned, tell, uncollected
from surefoot.compiler import compile_robot
from surefoot.ik import Stepper, StepResult
from surefoot.robot import Robot, load
from surefoot.solvers import HierarchySolver
from surefoot.solvers.hierarchy import StackedHierarchy
from surefoot.tasks import AngularMomentum, CenterOfMass, FrameOrientation, FramePose, FramePosition, Posture, Task

__all__ = ["MOTIONS", "run", "show"]

Array = NDArray[np.float64]
DT, GOAL_MS, STRICT = 1e-3, 0.25, 1e-9
_QUICK_SECONDS, _ACCELERATION = 0.5, 50.0  # [s], [rad/s²]
_FRAMES = ("left_sole_link", "right_sole_link", "torso_2_link", "gripper_left_base_link", "gripper_right_base_link")
_HEAD, _ELBOW = "head_2_link", "arm_right_4_link"
_SQUAT, _CURVE = 0.05, 0.06  # [m]
_ABOVE, _FAR = 0.12, np.array([0.7, -0.3, 0.3])  # [m]


def run(
    seconds: Annotated[float, typer.Option(help="Length of each motion [s].", min=0.01, max=3600.0)] = 4.0,
    quick: Annotated[bool, typer.Option("--quick", help="Half a second at most.")] = False,
) -> Json:
    """Measure; a lower level that changes a higher one by more than 1e-9, or a broken limit, is refused."""
    tell(0.0, "control loop")
    robot, length = load("talos"), min(seconds, _QUICK_SECONDS) if quick else seconds
    loops = {name: _Loop(robot, length, motion) for name, motion in MOTIONS.items()}
    result = header("hierarchy", 0) | {"quick": quick, "robot": robot.name, "dt_s": DT, "tasks": 10, "levels": 3}
    result |= {"goal_p95_ms": GOAL_MS, "acceleration": _ACCELERATION}
    with pinned():
        return result | {"motions": {name: loop.checked() | loop.timed() for name, loop in loops.items()}}


def show(result: Json) -> None:
    """Print times, and how strict priorities and limits were."""
    print(
        f"\n{result['robot']}: {result['tasks']} tasks on {result['levels']} strict levels, a tick every "
        f"{1e3 * result['dt_s']:g} ms; the aim is a p95 of {result['goal_p95_ms']:g} ms"
    )
    rows = [
        [name, *(number_text(x[f"{p}_ms"]) for p in ("p50", "p95", "p99", "max")), "yes" if x["reached"] else "no"]
        for name, x in result["motions"].items()
    ]
    print_table(("ms per tick", "p50", "p95", "p99", "longest", "p95 as wanted"), rows)
    for name, motion in result["motions"].items():
        print(
            f"{name}: lower levels change higher ones by {motion['largest_priority_violation']:.1e} at most; joint "
            f"limits bind in {motion['ticks_at_limits']} of {motion['ticks']} ticks; {motion['ticks_damped']} damped"
        )


def _tasks(robot: Robot) -> list[Task]:
    """Feet; then centre of mass, trunk and hands; then head, momentum, elbow and posture."""
    kernels, q = compile_robot(robot), robot.home
    left, right, trunk, hand, other = kernels.frames(q, _FRAMES)
    head, elbow = kernels.frames(q, (_HEAD, _ELBOW))
    return [
        FramePose(_FRAMES[0], left, name="left foot", gain=20.0),
        FramePose(_FRAMES[1], right, name="right foot", gain=20.0),
        CenterOfMass(kernels.com(q), priority=1, gain=10.0),
        FrameOrientation(_FRAMES[2], trunk[:3, :3], name="trunk", priority=1, gain=10.0),
        FramePose(_FRAMES[3], hand, name="hand", priority=1, gain=10.0),
        FramePosition(_FRAMES[4], other[:3, 3], name="other hand", priority=1, gain=10.0),
        FrameOrientation(_HEAD, head[:3, :3], "YZ", name="head", priority=2, gain=5.0),
        AngularMomentum(name="momentum", priority=2, weight=1e-3),
        FramePosition(_ELBOW, elbow[:3, 3], name="elbow", priority=2, gain=5.0, weight=0.1),
        Posture(robot, priority=2, gain=2.0, weight=0.01),
    ]


def _reachable(start: dict[str, Array], phase: float) -> dict[str, Array]:
    """Squat and draw, with knees that are nearly straight at the highest point."""
    s, c = np.sin(phase), 1.0 - np.cos(phase)
    hand = start["hand"].copy()
    hand[:3, 3] += _CURVE * np.array([c, s * s, s])
    return {
        "com": start["com"] + _SQUAT * np.array([0.0, 0.5 * s, s]),
        "hand": hand,
        "other hand": start["other hand"] + _CURVE * np.array([s * s, -c, s]),
    }


def _out_of_reach(start: dict[str, Array], phase: float) -> dict[str, Array]:
    """Higher than legs are long, and a hand out of reach; and back."""
    part = 0.5 - 0.5 * np.cos(phase)
    return {
        "com": start["com"] + np.array([0.0, 0.0, _ABOVE * part]),
        "hand": start["hand"],
        "other hand": start["other hand"] + part * _FAR,
    }


MOTIONS: dict[str, Callable[[dict[str, Array], float], dict[str, Array]]] = {
    "reachable": _reachable,
    "out of reach": _out_of_reach,
}
"""Targets of a motion, of those at the start and a phase from 0 to 2 π."""


class _Loop:
    """One motion of one robot."""

    def __init__(self, robot: Robot, seconds: float, motion: Callable[..., Any]) -> None:
        tasks = _tasks(robot)
        start: dict[str, Any] = {task.name: np.asarray(getattr(task, "target", ())) for task in tasks}
        self.robot, self.stepper = robot, Stepper(robot, tasks, DT, acceleration=_ACCELERATION)
        self.targets = [motion(start, phase) for phase in np.linspace(0.0, 2.0 * np.pi, int(seconds / DT))]

    def tick(self, k: int) -> StepResult:
        """New targets, and a step."""
        for name, target in self.targets[k].items():
            self.stepper.set_target(name, target)
        return self.stepper.step()

    def checked(self) -> Json:
        """The motion with every tick checked."""
        self.stepper.reset(self.robot.home)
        knee = int(self.robot.tree.q_index[self.robot.joint_index("leg_left_4_joint")])
        steps = [_checked(self.robot, self.tick(k)) for k in range(len(self.targets))]
        return {
            "ticks": len(steps),
            "largest_priority_violation": max(worst for worst, _ in steps),
            "ticks_at_limits": sum(bool(step.bounds_active.any()) for _, step in steps),
            "ticks_damped": sum(step.damped > 0 for _, step in steps),
            "ticks_of_one_pass": sum(step.passes == 1 for _, step in steps),
            "most_passes": max(step.passes for _, step in steps),
            "least_knee_angle": float(min(step.q_next[knee] for _, step in steps)),
        }

    def timed(self) -> Json:
        """The same ticks, timed [ms]."""
        self.stepper.reset(self.robot.home)
        times = np.empty(len(self.targets))
        with uncollected():
            for k in range(len(times)):
                begin = time.perf_counter()
                self.tick(k)
                times[k] = time.perf_counter() - begin
        p50, p95, p99, most = (1e3 * float(t) for t in np.quantile(times, [0.5, 0.95, 0.99, 1.0]))
        return {"p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "max_ms": most, "reached": p95 <= GOAL_MS}


def _checked(robot: Robot, step: StepResult) -> tuple[float, StepResult]:
    """The largest change that lower levels made to higher ones; refused if it, or a limit, is broken."""
    problem, x = step.problem, step.optimum.x
    worst = 0.0
    for levels in range(1, len(problem.starts) - 1):
        alone = HierarchySolver().solve_stacked(_without_lower(problem, levels)).x
        rows = problem.starts[levels]
        worst = max(worst, float(np.abs(_outside(problem, x, rows) - _outside(problem, alone, rows)).max()))
    q, limits = step.q_next, robot.limits
    inside = (q[7:] >= limits.lower[7:]).all() and (q[7:] <= limits.upper[7:]).all()
    if worst > STRICT or not inside or (np.abs(step.v[6:]) > limits.velocity[6:]).any():
        raise WrongAnswerError(
            "a tick of the control loop is wrong",
            evidence={"time": step.time, "priority violation": worst, "inside the limits": bool(inside)},
        )
    return worst, step


def _without_lower(problem: StackedHierarchy, levels: int) -> StackedHierarchy:
    """The first levels of a hierarchy, with the same bounds."""
    rows = problem.starts[levels]
    lower, upper = (np.concatenate([end[:rows], end[problem.rows :]]) for end in (problem.lower, problem.upper))
    return StackedHierarchy(problem.A[:rows], lower, upper, problem.starts[: levels + 1], problem.damping[:levels])


def _outside(problem: StackedHierarchy, x: Array, rows: int) -> Array:
    """How far the first rows are violated."""
    values = problem.A[:rows] @ x
    return values - np.clip(values, problem.lower[:rows], problem.upper[:rows])
