"""Which obstacles the robot hits in a replay, and what of them the replay does not show as described."""

from __future__ import annotations

import numpy as np

from surefoot.collision import ExactCollision
from surefoot.feasibility.case import Case
from surefoot.geometry import Mesh
from surefoot.motion import Log

__all__ = ["touch_notes"]

_EVERY = 0.01  # [s]: how often the robot is held against meshes
_TOUCH = 5e-4  # [m]: hulls that are nearer touch


def touch_notes(case: Case, log: Log) -> list[str]:
    """Sentences about obstacles: who hit them, when first, how hard; and meshes that are replayed as their hulls.

    Args:
        case: The motion.
        log: Of its replay, from time 0.
    """
    hulls = [note for note in log.metadata.get("notes", ()) if "convex hull" in note]
    return [*_loads(case, log), *_touched_meshes(case, log), *hulls]


def _loads(case: Case, log: Log) -> list[str]:
    """What the engine told: touches of obstacles that are no meshes."""
    start, found = case.trajectory.start, dict[str, tuple[float, float]]()
    for incident in log.metadata.get("incidents", ()):
        if incident["kind"] == "obstacle_touch":
            first, load = found.get(incident["where"], (incident["start"], 0.0))
            found[incident["where"]] = first, max(load, incident["worst"])
    return [f"touch of {where} from {first + start:.3f} s, {load:.3g} N" for where, (first, load) in found.items()]


def _touched_meshes(case: Case, log: Log) -> list[str]:
    """Touches of obstacles that are meshes, by the distances of hulls, which is what the engine lets touch."""
    robot = case.robot
    links = list(dict.fromkeys(item.link for item in robot.collisions if robot.body_of(item.link) >= 0))
    meshes = [thing for thing in case.world.obstacles if isinstance(thing.shape, Mesh)]
    if not links or not meshes:
        return []
    exact = ExactCollision(robot, [(link, thing.name) for thing in meshes for link in links], obstacles=meshes)
    times = np.asarray(log.time)
    step = max(1, round(_EVERY * (len(times) - 1) / max(float(times[-1] - times[0]), _EVERY)))
    touching = exact.distances(np.asarray(log["q"])[::step]) <= _TOUCH
    return [
        f"touch of {link} and {name} from {times[::step][np.argmax(touching[:, k])] + case.trajectory.start:.3f} s,"
        " seen by the distance of their hulls"
        for k, (link, name) in enumerate(exact.link_pairs)
        if touching[:, k].any()
    ]
