"""Build the `BalanceController` of a scenario."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.control.balance import (
    UNLOAD_TIME,
    BalanceController,
    BalanceSettings,
    HoldOrientation,
    HoldPosition,
    Lean,
    Lift,
    LookAt,
    Move,
    Reach,
    Squat,
    StepRecovery,
    TimedTask,
    Wipe,
)
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.kinematics.frames import frame_of
from surefoot.motion import World
from surefoot.robot import Robot, anatomy
from surefoot.scenario.blame import blaming
from surefoot.scenario.build.events import way_to_edge
from surefoot.scenario.build.hands import hand_of
from surefoot.scenario.schema import BalanceTable, MoveTable, TaskTable

_DEPTH, _LIFT, _LEAN = 0.12, 0.05, 0.25  # defaults, shares of the height and of the way to the edge
_REACH, _WIPE, _STROKE = (0.15, 0.05, 0.2), (0.1, 0.0, 0.05), (0.0, 0.08, 0.0)  # the same of that height


def build_balance(table: BalanceTable, robot: Robot, q: Array, world: World | None = None) -> BalanceController:
    """The controller, with its moves.

    Args:
        table: What the scenario says.
        robot: The robot.
        q: (nq,) its first posture.
        world: Whose obstacles are kept off.
    """
    moves = []
    for number, move in enumerate(table.moves):
        with blaming("balance", "moves", number):
            moves.append(_move(move, robot, q))
    moves += _lifts(table, robot, q)
    tasks: list[TimedTask] = []
    for number, task in enumerate(table.tasks):
        with blaming("balance", "tasks", number):
            tasks.append(_task(task, robot, {other.name for other in tasks}))
    settings = BalanceSettings(output=table.output)
    settings = settings if table.gain is None else replace(settings, dcm_gain=table.gain)
    return (StepRecovery if table.steps else BalanceController)(robot, moves, settings, q, tasks=tasks, world=world)


def _task(table: TaskTable, robot: Robot, others: set[str]) -> TimedTask:
    name = table.name or f"{table.kind} {table.frame}"
    if name in others:
        raise ShapeError(f"there are two tasks `{name}`", next_step="give one of them another `name`")
    frame_of(robot, table.frame)
    goals = {"position": HoldPosition, "orientation": HoldOrientation, "look": LookAt}
    given = table.model_dump(include=table.KEYS[table.kind], exclude_none=True)
    goal = goals[table.kind](table.frame, **given)
    return TimedTask(goal, name, table.level, table.weight, table.stiffness, table.start, table.end, table.fade)


def _lifts(table: BalanceTable, robot: Robot, q: Array) -> list[Lift]:
    """The lifts that lead from stance to stance."""
    found, feet = [], [foot.name for foot in anatomy(robot).feet]
    stances = table.stances
    for number, (stance, after) in enumerate(zip(stances, [*stances[1:], None], strict=False)):
        with blaming("balance", "stances", number):
            for foot in stance.feet:
                if foot not in feet:
                    raise one_of("foot", foot, feet)
            if after is not None and after.start <= stance.start:
                raise ShapeError("stances must follow each other in time", next_step="order them by `start`")
            lifted = [foot for foot in feet if foot not in stance.feet]
            if not lifted:
                continue
            if len(lifted) > 1 or after is None or lifted[0] not in after.feet:
                raise NotSupportedError(
                    f"a stance without {' and '.join(lifted)} cannot be made: one foot is lifted at a time, and stands "
                    "in the next stance",
                    next_step="put a stance on all feet between those on fewer, and at the end",
                )
            move = Lift(lifted[0], stance.height or _LIFT * _height(robot, q), shift=stance.shift)
            begin, hold = stance.start - move.shift - UNLOAD_TIME, after.start - stance.start - 2.0 * move.swing
            if begin < 0.0 or hold < 0.0:
                why = "begins too early for the weight to be shifted" if begin < 0.0 else "is too short for a lift"
                raise ShapeError(f"a stance {why}", evidence={"missing [s]": -min(begin, hold)})
            found.append(replace(move, start=begin, hold=hold))
    return found


def _move(table: MoveTable, robot: Robot, q: Array) -> Move:
    given = table.model_dump(exclude_none=True, exclude={"kind"})
    match table.kind:
        case "squat":
            return Squat(**{"depth": _DEPTH * _height(robot, q), **given})
        case "lean":
            shift = given.pop("shift", None)
            return Lean(offset=_default_lean(robot, q) if shift is None else shift, **given)
        case "reach" | "hold":
            offset = _scaled(_REACH if table.kind == "reach" else (0.0, 0.0, 0.0), robot, q)
            return Reach(
                **{"frame": table.frame or hand_of(robot, 2 if table.kind == "reach" else 0), "offset": offset, **given}
            )
        case "lift":
            defaults = {"foot": _first_foot(robot), "height": _LIFT * _height(robot, q)}
            ways = {"shift": given.pop("ramp")} if "ramp" in given else {}
            return Lift(**{**defaults, **given, **ways})
        case "wipe":
            ways = {"offset": _scaled(_WIPE, robot, q), "stroke": _scaled(_STROKE, robot, q)}
            return Wipe(**{"contact": _palm(robot), **ways, **given})


def _height(robot: Robot, q: Array) -> float:
    """Of the centre of mass over the lowest corner of the contacts [m]."""
    return float(_com(robot, q)[2] - _corners(robot, q)[:, 2].min())


def _scaled(way: tuple[float, float, float], robot: Robot, q: Array) -> tuple[float, ...]:
    """A way [m] from shares of the height of the centre of mass."""
    return tuple(_height(robot, q) * x for x in way)


def _com(robot: Robot, q: Array) -> Array:
    return np.array(pin.centerOfMass(robot.model, robot.model.createData(), np.array(q)))


def _corners(robot: Robot, q: Array) -> Array:
    found, feet = robot.contact_corners(q), anatomy(robot).feet
    if not feet:
        raise NotSupportedError(
            f"`{robot.name}` has no feet",
            subject=robot.name,
            kind="robot",
            next_step="give `[contacts.NAME]` in its side file",
        )
    return np.vstack([found[name] for foot in feet for name in foot.contacts])


def _default_lean(robot: Robot, q: Array) -> tuple[float, float]:
    ahead = anatomy(robot).forward
    return _LEAN * way_to_edge(_corners(robot, q)[:, :2], _com(robot, q)[:2], ahead), 0.0


def _first_foot(robot: Robot) -> str:
    _corners(robot, robot.home)
    return anatomy(robot).feet[0].name


def _palm(robot: Robot) -> str:
    of_feet = {name for foot in anatomy(robot).feet for name in foot.contacts}
    others = [name for name in robot.contacts if name not in of_feet]
    if not others:
        raise NotSupportedError(
            f"`{robot.name}` has no contact surface besides its feet",
            subject=robot.name,
            kind="robot",
            next_step="give one in `[contacts.NAME]` of its side file",
        )
    return others[0]
