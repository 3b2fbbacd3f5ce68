"""Geoms of a compiled MuJoCo model → collision and visual shapes of the links."""

from __future__ import annotations

import mujoco
import numpy as np

from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from surefoot.robot.mjcf.names import Names, pose
from surefoot.robot.model import Finding, Geometry

__all__ = ["BodyShapes", "shapes_of", "world_note"]

_DEFAULT_COLOR = (0.5, 0.5, 0.5, 1.0)  # of MuJoCo; a material goes before it
BodyShapes = dict[int, list[Geometry]]


def shapes_of(model: mujoco.MjModel, names: Names) -> tuple[BodyShapes, BodyShapes, list[Finding]]:
    """Collision shapes and visual shapes by body, and notes on geoms that have no shape here.

    A geom that can touch nothing (contype and conaffinity 0) is to look at. Those of the world are omitted.

    Args:
        model: The compiled model.
        names: Its names.
    """
    collisions: BodyShapes = {}
    visuals: BodyShapes = {}
    notes = []
    for i in range(model.ngeom):
        body = int(model.geom_bodyid[i])
        if body == 0:
            continue
        shape = _shape(model, i)
        if shape is None:
            notes.append(
                Finding("warning", names.bodies[body], f"geom `{names.geoms[i]}` has an unsupported shape; dropped")
            )
            continue
        touches = bool(model.geom_contype[i] or model.geom_conaffinity[i])
        (collisions if touches else visuals).setdefault(body, []).append(_geometry(model, names, i, shape))
    return collisions, visuals, notes


def world_note(model: mujoco.MjModel, names: Names) -> list[Finding]:
    """A note that lists the geoms of the world, if there are any."""
    world = [names.geoms[i] for i in range(model.ngeom) if model.geom_bodyid[i] == 0]
    if not world:
        return []
    listing = ", ".join(world[:10]) + (", …" if len(world) > 10 else "")
    return [Finding("note", "world", f"the ground and other world geometry ({listing}): not part of the robot")]


def _geometry(model: mujoco.MjModel, names: Names, i: int, shape: Shape) -> Geometry:
    material = int(model.geom_matid[i])
    plain = np.array_equal(model.geom_rgba[i], _DEFAULT_COLOR)
    red, green, blue, alpha = model.mat_rgba[material] if material >= 0 and plain else model.geom_rgba[i]
    return Geometry(
        names.geoms[i],
        names.bodies[model.geom_bodyid[i]],
        shape,
        pose(model.geom_pos[i], model.geom_quat[i]),
        friction=float(model.geom_friction[i, 0]),
        color=(float(red), float(green), float(blue), float(alpha)),
    )


def _shape(model: mujoco.MjModel, i: int) -> Shape | None:
    """The shape of a geom; MuJoCo's sizes are half lengths. None for kinds that links cannot carry."""
    a, b, c = (float(x) for x in model.geom_size[i])
    match mujoco.mjtGeom(int(model.geom_type[i])):
        case mujoco.mjtGeom.mjGEOM_SPHERE:
            return Sphere(a)
        case mujoco.mjtGeom.mjGEOM_CAPSULE:
            return Capsule(a, 2.0 * b)
        case mujoco.mjtGeom.mjGEOM_CYLINDER:
            return Cylinder(a, 2.0 * b)
        case mujoco.mjtGeom.mjGEOM_BOX:
            return Box((2.0 * a, 2.0 * b, 2.0 * c))
        case mujoco.mjtGeom.mjGEOM_ELLIPSOID:
            return Ellipsoid((a, b, c))
        case mujoco.mjtGeom.mjGEOM_MESH | mujoco.mjtGeom.mjGEOM_SDF if model.geom_dataid[i] >= 0:
            return _mesh(model, int(model.geom_dataid[i]))
        case _:
            return None


def _mesh(model: mujoco.MjModel, mesh: int) -> Mesh:
    start = int(model.mesh_vertadr[mesh])
    points = np.array(model.mesh_vert[start : start + int(model.mesh_vertnum[mesh])], dtype=float)
    points.setflags(write=False)
    first = int(model.mesh_faceadr[mesh])
    return Mesh(points=points, faces=model.mesh_face[first : first + int(model.mesh_facenum[mesh])])
