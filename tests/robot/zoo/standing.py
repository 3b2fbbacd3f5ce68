"""Oracles for robots that stand: support polygon, static torques, overlap of shapes."""

import coal
import numpy as np
import pinocchio as pin

from surefoot.geometry import Box, Capsule, Cylinder, Sphere, convex_hull, surface_points
from surefoot.robot import ContactSurface, Robot


def corners_in_world(robot: Robot, q, contact: ContactSurface):
    """(k, 3) corners of a contact [m]."""
    T = robot.placements(q)[contact.frame] @ contact.placement
    return contact.corners @ T[:3, :3].T + T[:3, 3]


def com(robot: Robot, q):
    return pin.centerOfMass(robot.model, robot.model.createData(), np.array(q))


def support_margin(robot: Robot, q) -> float:
    """Distance of the projected centre of mass to the nearest edge of the hull of all corners [m]; inside > 0."""
    hull = convex_hull(np.vstack([corners_in_world(robot, q, c) for c in robot.contacts.values()])[:, :2])
    point = com(robot, q)[:2]
    margins = []
    for a, b in zip(hull, np.roll(hull, -1, axis=0), strict=True):
        edge = (b - a) / np.linalg.norm(b - a)
        margins.append(edge[0] * (point - a)[1] - edge[1] * (point - a)[0])
    return float(min(margins))


def static_torques(robot: Robot, q):
    """(forces (k, 3) at the corners, τ (nv,)): the smallest forces that hold the base, and the torques beside them."""
    q = np.array(q)
    data = robot.model.createData()
    gravity = pin.computeGeneralizedGravity(robot.model, data, q)
    pin.computeJointJacobians(robot.model, data, q)
    pin.updateFramePlacements(robot.model, data)
    rows = []
    for contact in robot.contacts.values():
        frame = robot.frame_id(contact.frame)
        J = pin.getFrameJacobian(robot.model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        origin = data.oMf[frame].translation
        rows += [J[:3] - pin.skew(corner - origin) @ J[3:] for corner in corners_in_world(robot, q, contact)]
    J = np.vstack(rows)
    base = robot.tree.nv_of(0)
    forces, *_ = np.linalg.lstsq(J[:, :base].T, gravity[:base], rcond=None)
    return forces.reshape(-1, 3), gravity - J.T @ forces


def overlapping_pairs(robot: Robot, q) -> list[tuple[str, str]]:
    """Collision shapes that overlap, of bodies that are not joined by a joint."""
    placements = robot.placements(q)
    body = {g.name: int(robot.model.frames[robot.frame_id(g.link)].parentJoint) for g in robot.collisions}
    out = []
    for i, a in enumerate(robot.collisions):
        for b in robot.collisions[:i]:
            one, two = body[a.name], body[b.name]
            if one == two or one == robot.model.parents[two] or two == robot.model.parents[one]:
                continue
            T_a, T_b = placements[a.link] @ a.placement, placements[b.link] @ b.placement
            if _distance(a.shape, T_a, b.shape, T_b) < 0.0:
                out.append((a.name, b.name))
    return out


def _distance(a, T_a, b, T_b) -> float:
    result = coal.DistanceResult()
    place = [coal.Transform3s(np.array(T[:3, :3]), np.array(T[:3, 3])) for T in (T_a, T_b)]
    coal.distance(_coal(a), place[0], _coal(b), place[1], coal.DistanceRequest(), result)
    return float(result.min_distance)


def _coal(shape):
    match shape:
        case Box(size):
            return coal.Box(*size)
        case Sphere(radius):
            return coal.Sphere(radius)
        case Capsule(radius, length):
            return coal.Capsule(radius, length)
        case Cylinder(radius, length):
            return coal.Cylinder(radius, length)


def height(robot: Robot, q) -> float:
    """From the lowest to the highest point of the collision shapes [m]."""
    placements = robot.placements(q)
    z = [(surface_points(g.shape) @ T[:3, :3].T + T[:3, 3])[:, 2]
         for g in robot.collisions for T in [placements[g.link] @ g.placement]]  # fmt: skip
    return float(np.concatenate(z).max() - np.concatenate(z).min())
