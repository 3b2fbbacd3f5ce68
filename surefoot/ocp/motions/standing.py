"""From the nodes of a solution to a motion that a robot can follow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.arrays import Array
from surefoot.kinematics import contact_frame, frame_jacobian, frame_placement, integrate
from surefoot.motion import Trajectory
from surefoot.ocp.solution import Solution
from surefoot.robot import Robot
from surefoot.spatial import so3

_STEPS, _MOST = 6, 0.05  # of Newton's method, and rad in each; feet are a few millimetres away
_DAMPING = 0.005  # [m/rad], beside which straight legs keep their length


def motion_to_follow(solution: Solution) -> Trajectory:
    """The trajectory of a solution with postures and rates of the same times, and contacts that stand still.

    Semi-implicit steps are leapfrog steps (Hairer, Lubich and Wanner 2003, section 1): the postures of their nodes are
    those of half an interval after the rates.

    Args:
        solution: A solution.
    """
    problem, motion = solution.problem, solution.trajectory
    if problem.formulation.integrator == "semi_implicit" and problem.formulation.dynamics != "centroidal":
        steps, q, v = np.diff(motion.time), np.asarray(motion.q), np.asarray(motion.v)
        around = np.r_[steps[-1], steps, steps[0]] if problem.coupling else np.r_[steps[0], steps, steps[-1]]
        back = -0.25 * (around[:-1] + around[1:])[:, None] * v
        q = np.array([integrate(problem.robot.tree, *row) for row in zip(q, back, strict=True)])
        motion = replace(motion, q=q)
    return stand_still(problem.robot, motion)


def stand_still(robot: Robot, motion: Trajectory) -> Trajectory:
    """The motion with joints turned so that contacts stay where they came down; the base moves as before.

    Contacts of semi-implicit steps rest to first order only: in 25 ms, quick joints carry a foot by millimetres, which
    a robot on the ground cannot follow.

    Args:
        robot: The robot.
        motion: A motion with rates and a contact schedule.
    """
    q, v, spots = np.array(motion.q), np.array(motion.v), dict[str, Array]()
    for phase in motion.schedule.phases if motion.schedule is not None else ():
        spots = {name: spots.get(name, spot.pose) for name, spot in phase.stance.spots.items()}
        for k in np.flatnonzero((motion.time > phase.start - 1e-9) & (motion.time < phase.end + 1e-9)):
            q[k], v[k] = _held(robot, q[k], v[k], spots)
    return replace(motion, q=q, v=v)


def _held(robot: Robot, q: Array, v: Array, spots: dict[str, Array]) -> tuple[Array, Array]:
    if not spots:
        return q, v
    for step in range(_STEPS + 1):
        J, error = (np.concatenate(parts) for parts in zip(*(_rows(robot, q, *x) for x in spots.items()), strict=True))
        K, change = J[:, robot.driven], np.zeros(robot.nv)
        left = error if step < _STEPS else J @ v
        change[robot.driven] = K.T @ np.linalg.solve(K @ K.T + _DAMPING**2 * np.eye(len(K)), left)
        if step < _STEPS:
            change *= min(1.0, _MOST / max(float(np.abs(change).max()), _MOST))
            q = np.clip(integrate(robot.tree, q, change), robot.limits.lower, robot.limits.upper)
    return q, v - change


def _rows(robot: Robot, q: Array, name: str, pose: Array) -> tuple[Array, Array]:
    """Jacobian and error of what a contact ties, in its own axes."""
    frame, tied = contact_frame(robot, name), np.array(robot.contacts[name].tied)
    T = np.asarray(frame_placement(robot.tree, frame, q))
    error = np.r_[T[:3, :3].T @ (pose[:3, 3] - T[:3, 3]), so3.log(T[:3, :3].T @ pose[:3, :3])]
    return np.asarray(frame_jacobian(robot.tree, frame, q, "local"))[tied], error[tied]
