"""States, accelerations and joint forces of a robot and of its model (`model_of`), each in terms of the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.kinematics.bodies import bodies, joint_motion
from surefoot.kinematics.fk import body_placements
from surefoot.redundant.chains import link_spinors
from surefoot.redundant.from_robot import joint_freedoms, joint_in_parent, principal_frames
from surefoot.redundant.layout import Layout, Model
from surefoot.redundant.projection import project_velocities
from surefoot.redundant.spinors import matrices
from surefoot.redundant.state import State, rest_state
from surefoot.robot.robot import Robot
from surefoot.robot.tree import Tree
from surefoot.spatial import spinor

__all__ = ["inputs_of", "joint_accelerations", "state_of"]


def state_of(robot: Robot, model: Model, q: Array, v: Array) -> State:
    """The state of the model at a configuration and velocity of the robot.

    Args:
        robot: The robot.
        model: From `model_of`.
        q: (nq,) configuration; closed loops must be closed.
        v: (nv,) velocity, consistent with the loops.
    """
    layout, tree = model.layout, robot.tree
    placed = _placed(layout, tree, robot.checked_q(q))
    rates, weights = np.zeros(len(layout.freedoms.names)), np.zeros(layout.motion_places["slides"].stop)
    for i in range(tree.n):
        own = _freedom_rows(layout, tree, i)
        rates[own] = _to_freedoms(robot, i, q) @ _entries(tree, i, v)
        weights[layout.motion_places["turns"].start + own] = 1.0
    return project_velocities(model, replace(placed, rates=rates), weights, solver="dense")


def joint_accelerations(robot: Robot, model: Model, q: Array, v: Array, freedoms: Array) -> Array:
    """The accelerations (nv,) of the robot, rad/s² or m/s².

    Args:
        robot: The robot.
        model: From `model_of`.
        q: (nq,) configuration.
        v: (nv,) velocity.
        freedoms: (m,) accelerations of the freedoms, as in `Dynamics.freedoms`.
    """
    tree, out = robot.tree, np.zeros(robot.nv)
    for i in range(tree.n):
        own, T = _entries(tree, i, v), _to_freedoms(robot, i, q)
        a = T.T @ freedoms[_freedom_rows(model.layout, tree, i)]
        match tree.kinds[i]:
            case "free":
                a[:3] -= np.cross(own[3:], own[:3])
            case "planar":
                a[:2] -= own[2] * np.array([-own[1], own[0]])
        out[int(tree.v_index[i]) : int(tree.v_index[i]) + len(own)] = a
    return out


def inputs_of(robot: Robot, q: Array, tau: Array) -> Array:
    """The actuator forces (nv,) of the model that are the joint forces of the robot.

    Args:
        robot: The robot.
        q: (nq,) configuration.
        tau: (nv,) joint forces [N m] or [N].
    """
    tree, order = robot.tree, np.argsort(robot.tree.v_index)
    parts = [_to_freedoms(robot, int(i), q) @ _entries(tree, int(i), tau) for i in order]
    return np.concatenate([np.zeros(0), *parts])


def _entries(tree: Tree, i: int, v: Array) -> Array:
    """The entries of joint i in v."""
    start = int(tree.v_index[i])
    return np.asarray(v, dtype=float)[start : start + tree.nv_of(i)]


def _freedom_rows(layout: Layout, tree: Tree, i: int) -> NDArray[np.int64]:
    """Where the freedoms of joint i stand, in the order of its entries of v."""
    return np.array([layout.freedoms.names.index(name) for name in joint_freedoms(tree, i)], dtype=np.int64)


def _to_freedoms(robot: Robot, i: int, q: Array) -> Array:
    """T (k, k), orthogonal: rates of the freedoms from the entries of v, which are in axes of the child."""
    tree, start = robot.tree, int(robot.tree.q_index[i])
    turned, _ = joint_motion(bodies(tree)[i], np.asarray(q, dtype=float)[start : start + tree.nq_of(i)])
    R, _ = joint_in_parent(tree, i, principal_frames(tree))
    T = np.eye(tree.nv_of(i))
    match tree.kinds[i]:
        case "spherical":
            T[:] = R @ turned
        case "free":
            T[:3, :3], T[3:, 3:] = turned, R @ turned
        case "planar":
            T[:2, :2] = turned[:2, :2]
    return T


def _placed(layout: Layout, tree: Tree, q: Array) -> State:
    """The coordinates of bodies and freedoms, at rest."""
    still = rest_state(layout)
    placements, frames = body_placements(tree, q), principal_frames(tree)
    R = np.array([R @ frame.R for (R, _), frame in zip(placements, frames, strict=True)]).reshape(-1, 3, 3)
    X = np.array([p + R @ frame.p for (R, p), frame in zip(placements, frames, strict=True)]).reshape(-1, 3)
    spinors = np.array([spinor.from_matrix(own) for own in R]).reshape(-1, 4)
    state = replace(still, spinors=spinors, positions=X)
    links, (motion, offset) = layout.links, _motions(layout, state)
    angles, slides = np.zeros_like(state.angles), np.zeros_like(state.slides)
    turned = [spinor.from_matrix(own) for own in motion]
    for k, (hinge, axis) in enumerate(zip(links.pin_at[1], links.pin_axes, strict=True)):
        angles[k] = 2.0 * np.arctan2(turned[hinge][1:] @ axis, turned[hinge][0])
    for k, (hinge, axis) in enumerate(zip(links.slide_at[1], links.slide_axes, strict=True)):
        slides[k] = axis @ offset[hinge]
    for k, name in enumerate(np.array(layout.freedoms.names)[links.pin_rows]):
        if name in tree.joint_names and tree.kinds[tree.joint_names.index(name)] == "revolute":
            angles[k] = q[int(tree.q_index[tree.joint_names.index(name)])]
    balls = np.array([turned[hinge] for hinge in links.ball_at[1]]).reshape(-1, 4)
    return replace(state, angles=angles, slides=slides, balls=balls)


def _motions(layout: Layout, state: State) -> tuple[Array, Array]:
    """Rotation (n, 3, 3) and translation (n, 3), less its constant part, of the moving link of every hinge.

    R_tail = R_head R_motion R_fixed and X_tail = X_head + R_head (R_motion p_fixed + offset + translation).
    """
    unit = np.array([[1.0, 0.0, 0.0, 0.0]])
    R = matrices(np.concatenate([state.spinors, unit]))
    X = np.concatenate([state.positions, np.zeros((1, 3))])
    fixed = matrices(link_spinors(layout.links, rest_state(layout)))[1]
    R_head = R[layout.head].transpose(0, 2, 1)
    motion = R_head @ R[layout.tail] @ fixed.transpose(0, 2, 1)
    shift = (R_head @ (X[layout.tail] - X[layout.head])[..., None])[..., 0]
    carried = (motion @ layout.links.offsets[1][..., None])[..., 0]
    return motion, shift - carried - layout.links.offsets[0]
