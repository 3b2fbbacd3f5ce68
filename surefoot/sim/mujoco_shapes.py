"""Shapes as MuJoCo geoms, and the soles that carry a robot."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Shape, Sphere, surface_points
from surefoot.robot import ContactSurface, Geometry
from surefoot.sim.mujoco_bodies import RobotBodies, quaternion_wxyz

__all__ = ["Meshes", "add_contacts", "add_robot_shapes", "add_shape", "friction_settings"]

Array = NDArray[np.float64]
HULL_VERTICES = 64
_NEAR_SOLE = 0.005  # a shape that reaches this close to the sole's plane makes the sole [m]
_RECESS = 0.002  # how far a mesh steps back behind the corner balls of its sole [m]
_CORNER_RADIUS = 0.005  # [m]
_MOST_CORNERS = 8
_THIN = 1e-4  # thickness that a flat mesh gets [m]


class Meshes:
    """Convex hulls of meshes; equal meshes share one asset.

    Args:
        spec: The specification that the assets are added to.
    """

    def __init__(self, spec: mujoco.MjSpec) -> None:
        self._spec = spec
        self._names: dict[Any, str] = {}

    def name_of(self, mesh: Mesh) -> str:
        """Name of the asset of a mesh."""
        key = (mesh.path, mesh.scale) if mesh.points is None else mesh.points.tobytes()
        if key not in self._names:
            name = f"hull {len(self._names)}"
            self._spec.add_mesh(
                name=name, uservert=_hull_points(mesh.vertices()).ravel(), maxhullvert=HULL_VERTICES,
                inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX,
            )  # fmt: skip
            self._names[key] = name
        return self._names[key]


def _hull_points(points: Array) -> Array:
    """Corners of the convex hull, (n, 3); flat sets are made a little thick."""
    points = np.unique(points, axis=0)
    try:
        return points[ConvexHull(points).vertices]
    except QhullError:  # flat or straight: no volume
        shifts = _THIN * (np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T - 0.5)
        thick = (points[:, None] + shifts[None]).reshape(-1, 3)
        return thick[ConvexHull(thick).vertices]


def add_shape(
    body: mujoco.MjsBody, meshes: Meshes, shape: Shape, T_body_shape: Array, **settings: Any
) -> mujoco.MjsGeom:
    """A geom on a body.

    Args:
        body: The MuJoCo body.
        meshes: Where hulls are kept.
        shape: The shape.
        T_body_shape: Where, (4, 4).
        **settings: Further attributes of the geom.
    """
    kinds = mujoco.mjtGeom
    geom = body.add_geom(pos=T_body_shape[:3, 3], quat=quaternion_wxyz(T_body_shape[:3, :3]), **settings)
    match shape:
        case Sphere(radius):
            geom.type, geom.size = kinds.mjGEOM_SPHERE, [radius, 0.0, 0.0]
        case Box(size):
            geom.type, geom.size = kinds.mjGEOM_BOX, 0.5 * np.array(size)
        case Cylinder(radius, length):
            geom.type, geom.size = kinds.mjGEOM_CYLINDER, [radius, 0.5 * length, 0.0]
        case Capsule(radius, length):
            geom.type, geom.size = kinds.mjGEOM_CAPSULE, [radius, 0.5 * length, 0.0]
        case Ellipsoid(radii):
            geom.type, geom.size = kinds.mjGEOM_ELLIPSOID, list(radii)
        case Plane():
            geom.type, geom.size = kinds.mjGEOM_PLANE, [0.0, 0.0, 1.0]
        case Mesh():
            geom.type, geom.meshname = kinds.mjGEOM_MESH, meshes.name_of(shape)
    return geom


def friction_settings(friction: float, torsional: float = 0.0) -> dict[str, Any]:
    """Attributes of a geom for a Coulomb coefficient.

    MuJoCo takes the numbers of the geom with the higher priority; with priorities that fall with the coefficient, the
    slipperier of two surfaces decides.

    Args:
        friction: Coulomb coefficient.
        torsional: Moment about the normal per normal force [m].
    """
    return {
        "friction": [friction, torsional, 0.0],
        "condim": 4 if torsional > 0.0 else 3 if friction > 0.0 else 1,
        "priority": -round(1e6 * friction),
    }


def add_robot_shapes(out: RobotBodies, meshes: Meshes, settings: dict[str, Any], friction: float) -> None:
    """The collision shapes of a robot; meshes that end in a sole step back behind it.

    Args:
        out: The robot in MuJoCo.
        meshes: Where hulls are kept.
        settings: What they collide with.
        friction: Coulomb coefficient of shapes that have none and are no contact surface.
    """
    for k, item in enumerate(out.robot.collisions):
        if isinstance(item.shape, Plane):
            continue
        body, T_body_link = out.place_of(item.link)
        T = T_body_link @ item.placement
        contact = next((c for c in out.robot.contacts.values() if _makes_sole(out, item, c)), None)
        if contact is not None and isinstance(item.shape, Mesh):
            T = T.copy()
            T[:3, 3] += _RECESS * _sole_placement(out, contact)[:3, 2]
        own = item.friction if item.friction is not None else friction
        grip = (contact.friction, contact.torsional_friction) if contact is not None else (own, 0.0)
        out.geoms.append(_shape_name(out, k, item))
        add_shape(body, meshes, item.shape, T, name=out.geoms[-1], **settings, **friction_settings(*grip))


def _shape_name(out: RobotBodies, k: int, item: Geometry) -> str:
    return out.named(f"shape {k} {item.name}")


def add_contacts(out: RobotBodies, meshes: Meshes, settings: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Make every contact surface touch: by the primitives that form it, or by small balls at its corners.

    MuJoCo gives a mesh on a plane three points at most, too few for a foot to stand on; hence the balls.

    Args:
        out: The robot in MuJoCo.
        meshes: Where hulls are kept.
        settings: What they collide with.

    Returns:
        Names of the geoms of each contact surface.
    """
    geoms: dict[str, tuple[str, ...]] = {}
    for contact in out.robot.contacts.values():
        shapes = [(k, item) for k, item in enumerate(out.robot.collisions) if _makes_sole(out, item, contact)]
        solid = [_shape_name(out, k, item) for k, item in shapes if not isinstance(item.shape, Mesh)]
        recessed = [_shape_name(out, k, item) for k, item in shapes if isinstance(item.shape, Mesh)]
        balls = [] if solid else _add_corner_balls(out, meshes, contact, settings)
        geoms[contact.name] = (*solid, *balls, *recessed)
    return geoms


def _sole_placement(out: RobotBodies, contact: ContactSurface) -> Array:
    """T_body_contact, (4, 4)."""
    return out.place_of(contact.frame)[1] @ contact.placement


def _makes_sole(out: RobotBodies, item: Geometry, contact: ContactSurface) -> bool:
    """Whether a shape sits on the body of a contact surface and ends in its plane, over its corners."""
    if isinstance(item.shape, Plane) or out.place_of(item.link)[0] != out.place_of(contact.frame)[0]:
        return False
    T = np.linalg.inv(_sole_placement(out, contact)) @ out.place_of(item.link)[1] @ item.placement
    points = surface_points(item.shape) @ T[:3, :3].T + T[:3, 3]
    low = points[points[:, 2] <= points[:, 2].min() + _NEAR_SOLE]
    reach = np.abs(contact.corners).max() + contact.radius + _NEAR_SOLE
    return abs(float(points[:, 2].min())) <= _NEAR_SOLE and bool(
        (np.linalg.norm(low[:, :2], axis=1) <= 2.0 * reach).any()
    )


def _add_corner_balls(
    out: RobotBodies, meshes: Meshes, contact: ContactSurface, settings: dict[str, Any]
) -> tuple[str, ...]:
    body, T = out.place_of(contact.frame)[0], _sole_placement(out, contact)
    radius = contact.radius or _CORNER_RADIUS
    grip = friction_settings(contact.friction, contact.torsional_friction)
    names = []
    for k, corner in enumerate(_spread_corners(contact.corners)):
        T_ball = T.copy()
        T_ball[:3, 3] += T[:3, :3] @ np.add(corner, [0.0, 0.0, radius])
        names.append(out.named(f"contact {contact.name} {k}"))
        add_shape(body, meshes, Sphere(radius), T_ball, name=names[-1], **settings, **grip)
    out.geoms.extend(names)
    return tuple(names)


def _spread_corners(corners: Array) -> Array:
    """The corners, or if there are many the few that lie farthest from each other, one after another."""
    if len(corners) <= _MOST_CORNERS:
        return corners
    chosen = [int(np.argmax(np.linalg.norm(corners - corners.mean(axis=0), axis=1)))]
    while len(chosen) < _MOST_CORNERS:
        distance = np.linalg.norm(corners[:, None] - corners[None, chosen], axis=2).min(axis=1)
        chosen.append(int(np.argmax(distance)))
    return corners[sorted(chosen)]
