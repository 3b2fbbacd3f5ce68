"""Motions in which every foot goes where it is told, made by inverse kinematics sample by sample."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin

import surefoot as sf
from surefoot.motion import Trajectory
from surefoot.robot import Robot
from surefoot.tasks import FramePose, FramePosition, Task

Array = np.ndarray


def smooth(t: Array, start: float, end: float) -> Array:
    """0 before `start`, 1 after `end`, with two continuous derivatives."""
    x = np.clip((t - start) / (end - start), 0.0, 1.0)
    return np.asarray(10.0 * x**3 - 15.0 * x**4 + 6.0 * x**5)


def on_ground(robot: Robot) -> Array:
    """The home posture with the lowest corner of all contacts on z = 0."""
    q = np.array(robot.home)
    q[2] -= min(corners[:, 2].min() for corners in robot.contact_corners(q).values())
    return q


def feet_motion(
    robot: Robot,
    t: Array,
    moved: Mapping[str, Array] | None = None,
    tilt: float = 0.1,
    turned: Mapping[str, Array] | None = None,
) -> Trajectory:
    """The base sinks, sways and tilts and comes back; feet stand, but for those that are moved by (n, 3) in world.

    `turned` are rotations (n, 4, 4) of a foot in its contact frame. Velocities are central differences.
    """
    q0, n = on_ground(robot), len(t)
    root = next(link for link in robot.link_names if robot.body_of(link) == robot.base_joint)
    there = 0.5 * (1.0 - np.cos(2.0 * np.pi * (t - t[0]) / (t[-1] - t[0])))
    targets = {"base": np.tile(robot.placements(q0)[root], (n, 1, 1))}
    targets["base"][:, 1, 3] += 0.02 * there * np.sin(2.0 * np.pi * (t - t[0]) / (t[-1] - t[0]))
    targets["base"][:, 2, 3] -= 0.07 * q0[2] * there + 0.05 * q0[2]
    for k in range(n):
        targets["base"][k, :3, :3] = pin.exp3(there[k] * tilt * np.array([0.0, 1.0, 0.3])) @ targets["base"][k, :3, :3]
    tasks: list[Task] = [FramePose(root, name="base")]
    for name, surface in robot.contacts.items():
        T = np.tile(robot.placements(q0)[surface.frame] @ surface.placement, (n, 1, 1)) @ (turned or {}).get(
            name, np.eye(4)
        )
        T[:, :3, 3] += (moved or {}).get(name, 0.0)
        own = surface.frame if name in robot.frame_names else name  # a link goes before a surface of the same name
        T = T @ np.linalg.inv(surface.placement) if name in robot.frame_names else T
        point = surface.kind == "point"
        tasks.append(FramePosition(own, name=name) if point else FramePose(own, name=name))
        targets[name] = T[:, :3, 3] if point else T
    found = sf.ik.solve_batch(
        robot, tasks, targets, np.tile(q0, (n, 1)), limits=False, tolerances={"m": 1e-8, "rad": 1e-8}
    )
    if not found.success.all():
        raise RuntimeError(f"{robot.name}: {np.mean(found.success)}")
    return Trajectory.of(robot, t, found.q, central_rates(robot, t, found.q))


def central_rates(robot: Robot, t: Array, q: Array) -> Array:
    """(n, nv) central differences on the manifold, one-sided at the ends."""
    n = len(t)
    ends = [(max(k - 1, 0), min(k + 1, n - 1)) for k in range(n)]
    return np.array([pin.difference(robot.model, q[a], q[b]) / (t[b] - t[a]) for a, b in ends])
