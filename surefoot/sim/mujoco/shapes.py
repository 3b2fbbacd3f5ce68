"""Shapes as MuJoCo geoms, and the soles that carry a robot.

Convex pieces of the meshes of a scene, cut once and kept in surefoot's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from scipy.spatial import ConvexHull, QhullError

from surefoot.arrays import Array
from surefoot.codegen import cache, thread_count
from surefoot.errors import ShapeError
from surefoot.geometry import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Mesh,
    Plane,
    Shape,
    Sphere,
    convex_pieces,
    is_nearly_convex,
    method_version,
    pack_pieces,
    surface_points,
    unpack_pieces,
)
from surefoot.robot import ContactSurface, Geometry
from surefoot.sim.mujoco.bodies import RobotBodies, quaternion_wxyz

_MeshKey = tuple[object, ...]
Pieces = dict[_MeshKey, list[Array]]
Progress = Callable[[float], None]
_TOLERANCE, _MOST = 0.05, 16


def _mesh_key(mesh: Mesh) -> _MeshKey:
    """What equal meshes have in common."""
    if mesh.points is None:
        return mesh.path, mesh.scale
    return mesh.points.tobytes(), mesh.triangles().tobytes()


def cut_meshes(meshes: Iterable[Mesh], progress: Progress | None = None) -> Pieces:
    """The convex pieces of meshes by their keys, several meshes at a time.

    Args:
        meshes: The meshes; equal ones are cut once.
        progress: Called with the share that is done, 0…1, after each mesh.

    Raises:
        ModelError: A mesh cannot be cut.
    """
    distinct = {_mesh_key(mesh): mesh for mesh in meshes}
    with ThreadPoolExecutor(thread_count("all")) as pool:
        futures = {key: pool.submit(_kept_pieces, mesh) for key, mesh in distinct.items()}
        try:
            for done, future in enumerate(as_completed(futures.values()), 1):
                future.result()
                if progress is not None:
                    progress(done / len(futures))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return {key: future.result() for key, future in futures.items()}


def _kept_pieces(mesh: Mesh) -> list[Array]:
    """The pieces from the cache, else new ones, which are then kept."""
    if not len(mesh.triangles()) or is_nearly_convex(mesh):
        return convex_pieces(mesh, _TOLERANCE, _MOST)
    key = cache.key("convex pieces", method_version(), mesh.vertices(), mesh.triangles(), f"{_TOLERANCE!r} {_MOST}")
    content = cache.load(key)
    if content is not None:
        return unpack_pieces(content)
    pieces = convex_pieces(mesh, _TOLERANCE, _MOST)
    name = Path(mesh.path).name or "mesh without a file"
    cache.store(key, pack_pieces(pieces), {"robot": name, "algorithm": "convex pieces", "build": f"{len(pieces)}"})
    return pieces


HULL_VERTICES = 64
_NEAR_SOLE = 0.005  # a shape that reaches this close to the sole's plane makes the sole [m]
_RECESS = 0.002  # how far a mesh steps back behind the corner balls of its sole [m]
_CORNER_RADIUS = 0.005  # [m]
_MOST_CORNERS = 8
_THIN = 1e-4  # thickness that a flat mesh gets [m]


class Meshes:
    """Convex hulls or convex pieces of meshes; equal meshes share their assets.

    Args:
        spec: The specification that the assets are added to.
        pieces: Pieces of meshes; a mesh that is not among them is its hull.
    """

    def __init__(self, spec: mujoco.MjSpec, pieces: Pieces | None = None) -> None:
        self._spec = spec
        self._pieces = pieces or {}
        self._parts: dict[_MeshKey, list[tuple[str, float]]] = {}
        self._count = 0

    def parts_of(self, mesh: Mesh) -> list[tuple[str, float]]:
        """Names of the assets of a mesh, each with its share of their volume."""
        key = _mesh_key(mesh)
        if key not in self._parts:
            hulls = [_hull(points) for points in self._pieces.get(key, [mesh.vertices()])]
            total = sum(hull.volume for hull in hulls)
            self._parts[key] = [(self._add(hull), hull.volume / total) for hull in hulls]
        return self._parts[key]

    def _add(self, hull: ConvexHull) -> str:
        name = f"hull {self._count}"
        self._count += 1
        self._spec.add_mesh(
            name=name, uservert=hull.points[hull.vertices].ravel(), maxhullvert=HULL_VERTICES,
            inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX,
        )  # fmt: skip
        return name


def _hull(points: Array) -> ConvexHull:
    """The hull of points, each taken once; flat sets are made a little thick."""
    points = np.unique(points, axis=0)
    try:
        return ConvexHull(points)
    except QhullError:  # flat or straight: no volume
        shifts = _THIN * (np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T - 0.5)
        return ConvexHull((points[:, None] + shifts[None]).reshape(-1, 3))


def add_shape(
    body: mujoco.MjsBody,
    meshes: Meshes,
    shape: Shape,
    T_body_shape: Array,
    name: str,
    mass: float | None = None,
    **settings: Any,
) -> tuple[str, ...]:
    """A shape on a body: one geom, or one for each piece of a mesh.

    Args:
        body: The MuJoCo body.
        meshes: Where hulls and pieces are kept.
        shape: The shape.
        T_body_shape: Where, (4, 4).
        name: Of the geom; further pieces have their number added.
        mass: Of the shape [kg], homogeneous; None leaves it to MuJoCo.
        **settings: Further attributes of the geoms.

    Returns:
        Names of the geoms.
    """
    place = {"pos": T_body_shape[:3, 3], "quat": quaternion_wxyz(T_body_shape[:3, :3])}
    if not isinstance(shape, Mesh):
        geom = body.add_geom(name=name, **_weight(mass), **place, **settings)
        _set_primitive(geom, shape)
        return (name,)
    names = []
    for k, (part, share) in enumerate(meshes.parts_of(shape)):
        names.append(name if k == 0 else f"piece {k} of {name}")
        geom = body.add_geom(name=names[-1], **_weight(mass, share), **place, **settings)
        geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, part
    return tuple(names)


def _weight(mass: float | None, share: float = 1.0) -> dict[str, float]:
    return {} if mass is None else {"mass": share * mass}


def _set_primitive(geom: mujoco.MjsGeom, shape: Shape) -> None:
    """Kind and size of a geom; MuJoCo's sizes are half lengths."""
    kinds = mujoco.mjtGeom
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


_MOST_FRICTION = 1000.0  # priorities are integers of 32 bits, in millionths


def friction_settings(friction: float, torsional: float = 0.0) -> dict[str, Any]:
    """Attributes of a geom for a Coulomb coefficient.

    MuJoCo takes the numbers of the geom with the higher priority; with priorities that fall with the coefficient, the
    slipperier of two surfaces decides.

    Args:
        friction: Coulomb coefficient.
        torsional: Moment about the normal per normal force [m].

    Raises:
        ShapeError: It is larger than MuJoCo can tell from others.
    """
    if not friction <= _MOST_FRICTION:
        raise ShapeError(
            f"friction {friction:g} is too large for MuJoCo",
            evidence={"most": _MOST_FRICTION},
            next_step="use a smaller coefficient; above 10 nothing slides anyway",
        )
    return {
        "friction": [friction, torsional, 0.0],
        "condim": 4 if torsional > 0.0 else 3 if friction > 0.0 else 1,
        "priority": -round(1e6 * friction),
    }


def add_robot_shapes(
    out: RobotBodies, meshes: Meshes, settings: dict[str, Any], friction: float
) -> dict[int, tuple[str, ...]]:
    """The collision shapes of a robot; meshes that end in a sole step back behind it.

    Args:
        out: The robot in MuJoCo.
        meshes: Where hulls are kept.
        settings: What they collide with.
        friction: Coulomb coefficient of shapes without one that are not contact surfaces.

    Returns:
        Names of the geoms of each collision shape, by its index.
    """
    geoms: dict[int, tuple[str, ...]] = {}
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
        name = out.named(f"shape {k} {item.name}")
        geoms[k] = add_shape(body, meshes, item.shape, T, name, **settings, **friction_settings(*grip))
        out.geoms.extend(geoms[k])
    return geoms


def add_contacts(
    out: RobotBodies, meshes: Meshes, settings: dict[str, Any], shape_geoms: Mapping[int, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Make every contact surface touch: by the primitives that form it, or by small balls at its corners.

    MuJoCo gives a mesh on a plane three points at most, too few for a foot to stand on; hence the balls.

    Args:
        out: The robot in MuJoCo.
        meshes: Where hulls are kept.
        settings: What they collide with.
        shape_geoms: From `add_robot_shapes`.

    Returns:
        Names of the geoms of each contact surface.
    """
    geoms: dict[str, tuple[str, ...]] = {}
    for contact in out.robot.contacts.values():
        shapes = [(k, item) for k, item in enumerate(out.robot.collisions) if _makes_sole(out, item, contact)]
        solid = [name for k, item in shapes if not isinstance(item.shape, Mesh) for name in shape_geoms[k]]
        recessed = [name for k, item in shapes if isinstance(item.shape, Mesh) for name in shape_geoms[k]]
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
        add_shape(body, meshes, Sphere(radius), T_ball, names[-1], **settings, **grip)
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
