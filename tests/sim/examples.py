"""Robots and helpers that the tests of this room share."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.geometry import Box
from surefoot.robot import ContactSurface, Drive, Geometry, Joint, Link, Robot, placement
from surefoot.robot.loading import load
from surefoot.robot.model.robot import Robot as RobotType
from surefoot.sim.mujoco.inertia import lifted_inertia
from surefoot.sim.mujoco.model import MujocoModel, qpos_qvel


def turned(rng: np.random.Generator, position=(0.1, -0.2, 0.3)) -> np.ndarray:
    return placement(position, pin.exp3(rng.standard_normal(3)))


def solid(rng: np.random.Generator, mass: float = 1.3) -> dict:
    """Mass, centre and inertia of some real body: points with weights."""
    points = 0.2 * rng.standard_normal((12, 3))
    com = points.mean(axis=0)
    r = points - com
    inertia = mass / 12 * (np.sum(r * r) * np.eye(3) - r.T @ r)
    return {"mass": mass, "com": com, "inertia": inertia}


def every_joint(kinds=("spherical", "planar", "prismatic", "continuous", "translation", "revolute")) -> RobotType:
    """A floating robot with a chain of joints of these kinds, skew axes and placements."""
    rng = np.random.default_rng(5)
    links = [Link("base", **solid(rng, 4.0))]
    for k, kind in enumerate(kinds):
        joint = Joint(f"j{k}", kind, turned(rng), axis=rng.standard_normal(3), armature=0.0, pitch=0.1)
        parent = "base" if k % 3 == 0 else f"l{k - 1}"
        links.append(Link(f"l{k}", parent, joint, **solid(rng)))
    return Robot.from_tree("every-joint", links, "floating", drives=())


def block(mass: float = 2.0, edge: float = 0.2) -> RobotType:
    """A floating box with a sole."""
    inertia = mass * edge**2 / 6.0 * np.eye(3)
    shape = Geometry("box", "box", Box((edge, edge, edge)))
    corners = 0.5 * edge * np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
    sole = ContactSurface("sole", "box", "rectangle", placement((0.0, 0.0, -0.5 * edge)), corners)
    body = Link("box", mass=mass, inertia=inertia, collisions=(shape,))
    return Robot.from_tree("block", [body], "floating", contacts=(sole,))


def pendulum(mass: float = 1.5, length: float = 0.8, damping: float = 0.0) -> RobotType:
    """A point mass on a massless rod, turning about y."""
    joint = Joint("hinge", "revolute", axis=(0.0, 1.0, 0.0), damping=damping)
    bob = Link("bob", "frame", joint, mass=mass, com=np.array([0.0, 0.0, -length]), inertia=1e-8 * np.eye(3))
    fixed = Link("frame")
    return Robot.from_tree("pendulum-example", [fixed, bob], "fixed")


def wheel(kind: str = "continuous", limit: float = np.inf) -> RobotType:
    """A body of 0.5 kg m² that turns about z."""
    joint = Joint("j", kind, axis=(0.0, 0.0, 1.0))
    body = Link("w", "a", joint, mass=1.0, inertia=0.5 * np.eye(3))
    return Robot.from_tree("wheel", [Link("a"), body], drives=(Drive("j", torque_limit=limit),))


def lifted_model(model: MujocoModel) -> pin.Model:
    """A Pinocchio model with the inertias that MuJoCo got, locked joints fixed at home."""
    robot = model.robot
    copy = robot.model.copy()
    for i in range(robot.tree.n):
        massless = robot.tree.masses[i] == 0.0 and robot.tree.joint_names[i] in model.locked
        found = lifted_inertia(robot.tree, i)
        turn = found.axes
        full = turn @ np.diag(found.moments) @ turn.T
        copy.inertias[i + 1] = pin.Inertia.Zero() if massless else pin.Inertia(found.mass, found.com, full)
    return copy


def moving_rows(model: MujocoModel) -> np.ndarray:
    """Entries of v that are not locked."""
    keep = np.ones(model.robot.nv, dtype=bool)
    tree = model.robot.tree
    for name in model.locked:
        i = tree.joint_names.index(name)
        keep[tree.v_index[i] : tree.v_index[i] + tree.nv_of(i)] = False
    return np.flatnonzero(keep)


def velocity_map(model: MujocoModel, q: np.ndarray) -> np.ndarray:
    """W (nv of MuJoCo, moving rows) with qvel = W v."""
    rows = moving_rows(model)
    return np.column_stack([qpos_qvel(model, q, np.eye(model.robot.nv)[k])[1] for k in rows])


def some_state(model: MujocoModel, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A random configuration inside the limits and a velocity; locked joints at home and at rest."""
    robot, rng = model.robot, np.random.default_rng(seed)
    q = pin.integrate(robot.model, np.array(robot.neutral), rng.uniform(-1.5, 1.5, robot.nv))
    v = rng.standard_normal(robot.nv)
    for name in model.locked:
        i = robot.joint_index(name)
        rows = slice(robot.tree.q_index[i], robot.tree.q_index[i] + robot.tree.nq_of(i))
        q[rows] = robot.home[rows]
        v[robot.tree.v_index[i]] = 0.0
    return q, v


__all__ = [
    "block",
    "every_joint",
    "lifted_model",
    "load",
    "moving_rows",
    "pendulum",
    "some_state",
    "velocity_map",
    "wheel",
]
