"""The step of centroidal dynamics with full kinematics (Dai, Valenzuela and Tedrake 2014; Sleiman et al. 2021).

x = (y, h / m) with the momentum h about the centre of mass c in world axes, u = (ẏ, contact wrenches):

    h⁺ = h + Δt (m g + Σ f,  Σ (p − c) × f + n),     y⁺ = y + Δt ẏ,     A(y) v(ẏ) = h⁺,     J v = 0     [ocp.centroidal]

The momentum equations are those of the whole body: a motion of the whole-body problem meets them up to the length of a
step. Accelerations of single joints and their torques are not part of the model; `tau` of a node are the torques that
hold the contact wrenches and the weight at rest.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot import dynamics, ops
from surefoot.ocp.node import Node, external_wrenches, passive_forces
from surefoot.ocp.shape import StageShape
from surefoot.ops import Array

Step = tuple[Array, list[tuple[Node, float, bool]], list[tuple[str, Array]]]


def centroidal_step(shape: StageShape, x: Array, u: Array, p: Array, d: Array) -> Step:
    """Next state, the node with its weight, and the rows of momentum and contacts.

    Args:
        shape: Robot, contacts and sizes.
        x: (nv + 6,) coordinates and momentum over mass.
        u: (nv + forces,) rates and contact forces in units of `shape.scale`, and slacks.
        p: Duration of the phase and parameters.
        d: Share of the interval and spots.
    """
    robot, n, h = shape.robot, shape.robot.nv, p[0] * d[0]
    y, dy, mass = x[:n], u[:n], robot.mass
    wrenches, _ = shape.split_forces(u[n : n + shape.forces])
    node = shape.moment(y, dy, p, d, contact_wrenches=wrenches, own_momentum=mass * x[n:])
    external = external_wrenches(robot, wrenches) if wrenches else None
    rest = np.zeros(n)
    tau = dynamics.rnea(robot.tree, node.q, rest, rest, external) - passive_forces(robot, node.q, rest)
    after = x[n:] + h * momentum_rate(node) * (1.0 / mass)
    own = dynamics.centroidal_momentum(robot.tree, node.q, node.v) * (1.0 / mass)
    node = replace(node, forces=tau[robot.driven])
    rows = [("momentum", own - after), *shape.resting(node, node.v, d)]
    return ops.concatenate([y + h * dy, after]), [(node, 1.0, True)], rows


def momentum_rate(node: Node) -> Array:
    """Rate (6,) of the momentum about the centre of mass, in world axes, linear first: weight and contact wrenches.

    Args:
        node: With contact wrenches.
    """
    force = node.robot.mass * np.asarray(node.robot.tree.gravity)
    moment: Array = np.zeros(3)
    for name, wrench in node.wrenches.items():
        T = node.placement(name)
        push = T[:3, :3] @ wrench[:3]
        force = force + push
        moment = moment + ops.cross(T[:3, 3] - node.com, push) + T[:3, :3] @ wrench[3:]
    return ops.concatenate([force, moment])
