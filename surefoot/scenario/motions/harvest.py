"""`harvest`: an arm moves its hand from point to point among obstacles, with and without looking ahead.

Buschmann 2014, section 5.6.4: where an arm looks 2 s ahead its pseudo-energy has no peaks; where it resolves its
redundancy in the moment, or looks 0.15 s ahead, it has. Both are computed; one is followed in physics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.collision import CollisionModel
from surefoot.ik.predictive import History, Study, compare, follow, predictive_ik
from surefoot.motion import Trajectory, World
from surefoot.report import Plot
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings
from surefoot.scenario.motions.harvest_scene import HarvestSettings, harvest_scene
from surefoot.scenario.motions.plan import Plan
from surefoot.scenario.schema import MotionTable

_PREDICTIVE = "predictive {:g} s"


def harvest(table: MotionTable, robot: Robot, world: World) -> Plan:
    """Plan with every method along the same way; the trajectory is that of the method that the table names.

    Args:
        table: Of the kind "harvest".
        robot: An arm whose joints turn or slide.
        world: Its obstacles and objects are kept clear of.

    Raises:
        ScenarioError: A value of the table makes no sense.
        NotSupportedError: The robot is not an arm.
        UnknownNameError: It has no such frame or joint.
    """
    given = HarvestSettings(**table.model_dump(exclude_none=True, exclude={"kind"}))
    study = harvest_scene(given, robot, world)
    found = _histories(given, study)
    ahead = _PREDICTIVE.format(given.horizon)
    chosen = found[ahead if given.method == "predictive" else given.method]
    audit = _Audit(given, study, CollisionModel(robot, world))
    planned = audit.judged(chosen.time, chosen.q, "plan")
    trouble = planned.trouble or _beyond_limits(robot, chosen) or _no_gain(found, ahead)
    return Plan(
        _trajectory(robot, chosen),
        {**_metrics(found), **planned.metrics},
        trouble,
        _curves(found),
        lambda _, log: audit.judged(log.time, np.asarray(log["q"]), "run"),
    )


def _histories(given: HarvestSettings, study: Study) -> dict[str, History]:
    """Motions by method: "unaware", "local", and "predictive 2 s" for every horizon."""
    found = compare(study, ())
    smooth = study.predictive.change > 0.0
    for horizon in dict.fromkeys((*given.other_horizons, given.horizon)):
        found[_PREDICTIVE.format(horizon)] = follow(study, predictive_ik(study, horizon, smooth=smooth))
    return found


def _trajectory(robot: Robot, history: History) -> Trajectory:
    v = np.gradient(history.q, history.time, axis=0)
    v[0], v[-1] = 0.0, 0.0
    return Trajectory.of(robot, history.time, history.q, v, a=np.gradient(v, history.time, axis=0))


def _metrics(found: Mapping[str, History]) -> dict[str, Any]:
    """Peaks of the pseudo-energy [rad²/s²], and smallest distances of what was kept clear [m]."""
    names = {name: name.replace(" s", "s").replace(" ", "_") for name in found}
    peaks = {f"energy_{names[name]}": history.peak for name, history in found.items()}
    gaps = {f"gap_{names[name]}_m": float(x.distances.min()) for name, x in found.items() if x.distances.size}
    return {**peaks, **gaps}


def _curves(found: Mapping[str, History]) -> tuple[Plot, ...]:
    """Over the times of the postures; what holds within a step is drawn at its start."""
    energies = {name: np.append(x.pseudo_energy, x.pseudo_energy[-1]) for name, x in found.items()}
    errors = {name: 1e3 * x.error for name, x in found.items()}
    gaps = {name: x.distances.min(axis=1) for name, x in found.items() if x.distances.size}
    curves = (
        Plot("pseudo-energy: squared joint velocities", "rad²/s²", energies),
        Plot("planned tip error, largest component", "mm", errors),
    )
    return (*curves, Plot("smallest monitored distance", "m", gaps)) if gaps else curves


def _no_gain(found: Mapping[str, History], ahead: str) -> str | None:
    peak, local = found[ahead].peak, found["local"].peak
    if peak < local:
        return None
    return f"looking ahead gains nothing: peak pseudo-energy {peak:.3g} rad²/s², {local:.3g} by the local method"


def _beyond_limits(robot: Robot, history: History) -> str | None:
    """Which joint the motion takes out of its limits, or faster than it can."""
    excess = np.maximum(robot.limits.lower - history.q, history.q - robot.limits.upper).max(axis=0)
    speed = np.abs(history.v).max(axis=0) / np.where(robot.limits.velocity > 0.0, robot.limits.velocity, np.inf)
    if not excess[j := int(np.argmax(excess))] <= 0.0:
        return f"joint `{robot.joint_names[j]}` would leave its limits by {excess[j]:.3g}"
    if not speed[j := int(np.argmax(speed))] <= 1.0:
        return f"joint `{robot.joint_names[j]}` would move at {speed[j]:.3g} of its speed limit"
    return None


@dataclass(frozen=True, eq=False)
class _Audit:
    """Judges a motion: everything of the robot against itself and the world, and the tip against its way."""

    given: HarvestSettings
    study: Study
    model: CollisionModel

    def judged(self, time: Array, q: Array, what: str) -> Findings:
        off = self._tip_error(time, q)
        metrics: dict[str, Any] = {f"tip_error_{what}_m": off}
        trouble = f"the tip is {off:.3g} m off in the {what}" if not off <= self.given.tolerance else None
        if self.model.names:
            distances = self.model.distances(q)
            row, column = np.unravel_index(int(np.argmin(distances)), distances.shape)
            gap, names = float(distances[row, column]), self.model.names[column]
            metrics |= {f"gap_{what}_m": gap, f"nearest_in_{what}": " – ".join(names)}
            if gap <= 0.0 and trouble is None:
                trouble = f"`{names[0]}` may touch `{names[1]}` at {time[row]:.2f} s of the {what}"
        return Findings(metrics, trouble)

    def _tip_error(self, time: Array, q: Array) -> float:
        wanted = self.study.reference(time)[0][:, :3, 3]
        places = np.array([self.study.robot.placements(x)[self.study.frame][:3, 3] for x in q])
        return float(np.linalg.norm(wanted - places, axis=1).max())
