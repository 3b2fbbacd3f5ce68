"""Build the initial `State` of a scenario."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.dynamics import close
from surefoot.errors import NotSupportedError
from surefoot.motion import State, World
from surefoot.motion.world import NOWHERE, contact_planes
from surefoot.robot import Robot, anatomy
from surefoot.scenario.schema import InitialTable
from surefoot.spatial import so3

__all__ = ["build_initial", "pressed"]

_TOUCH = 1e-4  # how far soles that stand begin below the ground [m]


def build_initial(table: InitialTable, robot: Robot, world: World) -> State:
    """The first state; a robot that floats stands on the ground of the world, closed chains are closed.

    Args:
        table: What the scenario says.
        robot: The robot.
        world: The world.
    """
    q, v = _with_joints(robot, table), np.zeros(robot.nv)
    base = robot.base_joint
    if base is None or robot.tree.kinds[base] != "free":
        placed_elsewhere = table.position is not None or table.heading is not None or table.on_slope
        if table.lift or any(table.velocity) or placed_elsewhere:
            raise NotSupportedError(f"`{robot.name}` has a {robot.base} base; it cannot be placed elsewhere or thrown")
        return State(0.0, q, v)
    pose, start = slice(int(robot.tree.q_index[base]), int(robot.tree.q_index[base]) + 7), robot.tree.placements[base]
    T = pin.SE3(np.array(start)) * pin.XYZQUATToSE3(q[pose])
    if table.position is not None:
        T.translation[:2] = table.position
    if table.heading is not None:
        x, y, _ = anatomy(robot).forward
        T.rotation = so3.exp(np.array([0.0, 0.0, table.heading - np.arctan2(y, x)])) @ T.rotation
    if table.on_slope:
        T.rotation = so3.turn_to(contact_planes(world, T.translation)[0, :3]) @ T.rotation

    def placed() -> Array:
        q[pose] = pin.SE3ToXYZQUAT(pin.SE3(np.array(start)).actInv(T))
        return q

    if table != InitialTable(lift=table.lift, velocity=table.velocity):
        gap = _clearance(robot, placed(), world)
        T.translation[2] -= gap if np.isfinite(gap) else 0.0
    T.translation[2] += table.lift
    v[robot.base_rows[:3]] = T.rotation.T @ np.array(table.velocity)
    return State(0.0, placed(), v)


def pressed(robot: Robot, state: State, world: World) -> State:
    """The state with soles a little below the ground, if the robot rests on it.

    A light foot that merely touches the ground is moved by its drives before it is loaded: it slips and turns.

    Args:
        robot: The robot.
        state: Its first state.
        world: The world.
    """
    q, base = np.array(state.q), robot.base_joint
    is_free = base is not None and robot.tree.kinds[base] == "free"
    if not is_free or np.any(state.v) or not robot.contacts or abs(_clearance(robot, q, world)) > _TOUCH:
        return state
    column = int(robot.tree.q_index[base])
    q[column : column + 3] -= robot.tree.placements[base][:3, :3].T @ [0.0, 0.0, _TOUCH]
    return State(state.t, q, state.v)


def _with_joints(robot: Robot, table: InitialTable) -> Array:
    q = np.array(robot.home)
    for name, position in table.joints.items():
        i = robot.joint_index(name)
        if robot.tree.nq_of(i) != 1:
            raise NotSupportedError(f"joint `{name}` is {robot.tree.kinds[i]}and needs more than one number")
        row = int(robot.tree.q_index[i])
        if not robot.limits.lower[row] <= position <= robot.limits.upper[row]:
            raise NotSupportedError(
                f"joint `{name}` starts at {position:g}, outside its limits",
                evidence={"limits": [float(robot.limits.lower[row]), float(robot.limits.upper[row])]},
                next_step="change `initial.joints`",
            )
        q[row] = position
    if table.joints and (robot.loops or robot.couplings):
        return close(robot, None, q, hold=tuple(table.joints))
    return q


def _clearance(robot: Robot, q: Array, world: World) -> float:
    """Height [m] by which the robot can be lowered until a contact corner is on the ground; infinite without either."""
    corners = np.vstack([*robot.contact_corners(q).values(), np.zeros((0, 3))])
    planes = contact_planes(world, corners)
    there = planes[:, 3] > NOWHERE
    if not there.any():
        return np.inf
    height = (np.sum(planes[:, :3] * corners, axis=1) - planes[:, 3]) / planes[:, 2]
    return float(height[there & (planes[:, 2] > 0.0)].min())
