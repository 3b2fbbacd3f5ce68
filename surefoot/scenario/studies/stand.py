"""Whether a robot keeps its posture, also when it is pushed; how well it makes the moves of `[balance]`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.control.balance import BalanceController
from surefoot.motion import Log
from surefoot.robot import Robot, anatomy
from surefoot.scenario.findings import Findings, StudiedRun
from surefoot.scenario.studies.falls import fall_cause
from surefoot.sim import Push

LARGEST_DEVIATION = 0.35
"""How far a joint may be from its first position at the end [rad] or [m]."""
LARGEST_SLIP = 0.1
"""How far a foot may slide [m]."""
LEAST_HEIGHT = 0.8
"""Share of the height of the base before a push that must be left."""
LARGEST_TILT = np.deg2rad(20.0)
"""Tilt of the base that is allowed [rad]."""
LARGEST_COM_ERROR = 0.05
"""Distance of the centre of mass from its reference, over its height, apart from the time after pushes."""
LARGEST_HAND_ERROR = 0.03
"""Distance of a hand from its reference, over the height of the centre of mass."""
LARGEST_FORCE_ERROR = 0.3
"""Share by which the mean force of wiping may be off."""
RECOVERY = 3.0
"""Time after a push in which a robot recovers [s]."""
_BEFORE = 0.05  # [s]
_FALLING = 1.5  # a fall takes at most so long [s]


def stand(run: StudiedRun) -> Findings:
    """Height and tilt of the base after pushes, ground contact, slip and posture at the end."""
    robot, log = run.simulation.robot, run.log
    height = _least_height(log, run.simulation.events)
    tilt = float(log["base.tilt"].max())
    metrics = {"least_height_share": height, "largest_tilt_deg": float(np.rad2deg(tilt))}
    return Findings(metrics, _trouble(robot, log, height, tilt))


def balance(run: StudiedRun) -> Findings:
    """Errors of the centre of mass, of hands and of pressing forces, and whether all moves were made.

    Args:
        run: The run; its controller is `balance`.
    """
    controller, log, robot = run.simulation.controller, run.log, run.simulation.robot
    if not isinstance(controller, BalanceController):
        return Findings({}, "the controller does not balance")
    calm = _calm(log, run.simulation.events)
    offs = np.linalg.norm(log["control.com"] - log["control.com_reference"], axis=1)
    hand, force = log["control.hand_error"], _force_error(controller, log)
    metrics = {
        "com_error_max_m": float(np.max(offs, where=calm, initial=0.0)),
        "com_error_end_m": float(offs[-1]),
        "hand_error_max_m": float(np.max(hand, where=calm, initial=0.0)),
        "turn_error_max_rad": float(np.max(log["control.turn_error"], where=calm, initial=0.0)),
        "press_force_error": force,
        "moves_made": len(controller.timeline.ended),
        "steps": getattr(controller, "steps", 0),
        "largest_tilt_deg": float(np.rad2deg(log["base.tilt"].max())),
        "fallbacks": int(log["control.fallbacks"][-1]),
        "fall_cause": fall_cause(robot, log),
        "fall_foreseen_s": _foreseen(log),
        "fallback_reasons": dict(controller.body.troubles),
    }
    return Findings(metrics, _moves_trouble(robot, log, metrics, len(controller.timeline.moves)))


def _foreseen(log: Log) -> float | None:
    """How long before a fall the capture point first was where nothing catches it; None without a fall."""
    fall, time = log.metadata["fall_time_s"], np.asarray(log.time)
    if fall is None:
        return None
    lost = np.flatnonzero((time <= fall) & (time > fall - _FALLING) & (log["control.capturable"] == 0.0))
    return float(fall - time[lost[0]]) if len(lost) else 0.0


def _calm(log: Log, events: tuple[object, ...]) -> NDArray[np.bool_]:
    """When no push acts or has just acted."""
    calm = np.ones(len(log), dtype=bool)
    for event in events:
        if isinstance(event, Push):
            calm &= (log.time < event.time) | (log.time > event.time + event.duration + RECOVERY)
    return calm


def _force_error(controller: BalanceController, log: Log) -> float | None:
    """Relative error of the mean normal force while the full force is asked for; None if nothing presses."""
    errors = []
    for name in controller.body.hands:
        asked = log[f"control.press_{name}"]
        full = asked >= asked.max() - 1e-9
        if asked.max() > 0.0:
            errors.append(abs(_mean_normal_force(controller, log, name, full) / float(asked.max()) - 1.0))
    return max(errors, default=None)


def _mean_normal_force(controller: BalanceController, log: Log, name: str, when: Array) -> float:
    """Along the normal that the surface had at the beginning [N]."""
    robot, surface = controller.robot, controller.robot.contacts[name]

    def axes(q: Array) -> Array:
        return robot.placements(q)[surface.frame][:3, :3] @ surface.placement[:3, :3]

    normal = axes(log["q"][0])[:, 2]
    rows = np.flatnonzero(when)[::10]
    return float(np.mean([normal @ axes(log["q"][k]) @ log[f"contact.{name}.wrench"][k, :3] for k in rows]))


def _moves_trouble(robot: Robot, log: Log, found: dict[str, Any], moves: int) -> str | None:
    """Why the moves do not pass, other than by a fall."""
    for item in log.metadata["incidents"]:
        if item["kind"] == "position_limit":
            return f"joint {item['where']} hit its limit"
    height = float(log["control.com_reference"][0, 2])
    if float(log["base.tilt"][-1]) > LARGEST_TILT:
        return f"is tilted by {np.rad2deg(log['base.tilt'][-1]):.0f}° at the end"
    if found["moves_made"] < moves:
        return f"made {found['moves_made']} of {moves} moves"
    for key, share in (("com_error_max_m", LARGEST_COM_ERROR), ("com_error_end_m", LARGEST_COM_ERROR)):
        if found[key] > share * height:
            return f"the centre of mass was {100.0 * found[key]:.1f} cm from its reference"
    if found["hand_error_max_m"] > LARGEST_HAND_ERROR * height:
        return f"a hand was {100.0 * found['hand_error_max_m']:.1f} cm from its reference"
    if found["press_force_error"] is not None and found["press_force_error"] > LARGEST_FORCE_ERROR:
        return f"the pressing force was off by {found['press_force_error']:.0%}"
    slip = max(float(log[f"contact.{name}.slip"][-1]) for foot in anatomy(robot).feet for name in foot.contacts)
    return f"slid by {slip:.2f} m" if slip > LARGEST_SLIP else None


def _trouble(robot: Robot, log: Log, height: float, tilt: float) -> str | None:
    if robot.base_joint is not None and robot.contacts:
        if not _touches(robot, log):
            return "lost ground contact: no contact carries force at the end"
        if not (height >= LEAST_HEIGHT and tilt <= LARGEST_TILT):
            return f"did not stay upright: base at {height:.0%} of its height, tilted by {np.rad2deg(tilt):.0f}°"
    slip = max((float(log[f"contact.{name}.slip"][-1]) for name in robot.contacts), default=0.0)
    if not slip <= LARGEST_SLIP:
        return f"slid by {slip:.2f} m"
    joint, deviation = _largest_deviation(robot, log)
    if not deviation <= LARGEST_DEVIATION:
        return f"did not hold its posture: joint {joint} is off by {deviation:.2f} at the end"
    return None


def _least_height(log: Log, events: tuple[object, ...]) -> float:
    """Least height of the base from the first push on, over that just before; over the first one without pushes."""
    start = min((event.time for event in events if isinstance(event, Push)), default=0.0)
    before = max(0, int(np.searchsorted(log.time, start - _BEFORE, side="right")) - 1)
    reference = float(log["base.height"][before])
    return float(log["base.height"][before:].min()) / reference if reference > 0.0 else 1.0


def _touches(robot: Robot, log: Log) -> bool:
    """Whether any contact carried force in the last tenth of a second."""
    last = log.time >= log.time[-1] - 0.1
    return any(np.abs(log[f"contact.{name}.wrench"][last, :3]).max(initial=0.0) > 0.0 for name in robot.contacts)


def _largest_deviation(robot: Robot, log: Log) -> tuple[str, float]:
    """The joint, other than the base, that ended farthest from where it began, and by how much."""
    steps = np.abs(pin.difference(robot.model, np.array(log["q"][0]), np.array(log["q"][-1])))
    steps[robot.base_rows] = 0.0
    if not len(steps):
        return "", 0.0
    row = int(np.argmax(steps))
    joint = max(i for i in range(robot.tree.n) if robot.tree.nv_of(i) and robot.tree.v_index[i] <= row)
    return robot.tree.joint_names[joint], float(steps[row])
