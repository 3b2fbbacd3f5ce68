"""Geoms of a compiled MuJoCo model → collision and visual shapes of the links."""

from __future__ import annotations

import mujoco
import numpy as np

from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from surefoot.robot.mjcf.names import Names, pose
from surefoot.robot.mjcf.notes import Remark
from surefoot.robot.model import Geometry

_DEFAULT_COLOR = (0.5, 0.5, 0.5, 1.0)  # of MuJoCo; a material goes before it
BodyShapes = dict[int, list[Geometry]]


def shapes_of(model: mujoco.MjModel, names: Names) -> tuple[BodyShapes, BodyShapes, list[Remark]]:
    """Collision shapes and visual shapes by body, and notes on geoms that have no shape here.

    A geom that can touch nothing (contype and conaffinity 0, in no contact pair) is to look at. Those of the world are
    omitted. The friction of a pair with the world is that of the geom.
    """
    collisions: BodyShapes = {}
    visuals: BodyShapes = {}
    notes: list[Remark] = []
    frictions = _pair_frictions(model)
    for i in range(model.ngeom):
        body = int(model.geom_bodyid[i])
        if body == 0:
            continue
        shape = _shape(model, i)
        if shape is None:
            notes.append(Remark("warning", "geom", names.geoms[i], "unsupported shape; dropped"))
            continue
        touches = bool(model.geom_contype[i] or model.geom_conaffinity[i] or i in frictions)
        friction = frictions.get(i, float(model.geom_friction[i, 0]))
        (collisions if touches else visuals).setdefault(body, []).append(_geometry(model, names, i, shape, friction))
    if model.npair:
        text = "contact pairs: their geoms can touch, with the friction of pairs with the world; other settings dropped"
        notes.append(Remark("note", "", "", f"{model.npair} {text}"))
    return collisions, visuals, notes


def _pair_frictions(model: mujoco.MjModel) -> dict[int, float]:
    """Friction of the geoms in contact pairs: the least of pairs with the world, else their own."""
    out: dict[int, float] = {}
    for pair in range(model.npair):
        geoms = int(model.pair_geom1[pair]), int(model.pair_geom2[pair])
        for geom, other in (geoms, geoms[::-1]):
            own = out.get(geom, float(model.geom_friction[geom, 0]))
            with_world = float(model.pair_friction[pair, 0])
            is_world = model.geom_bodyid[other] == 0
            out[geom] = min(with_world, out.get(geom, with_world)) if is_world else own
    return out


def excludes_of(model: mujoco.MjModel, names: Names) -> tuple[tuple[tuple[str, str], ...], list[Remark]]:
    """Pairs of bodies that do not touch each other, and remarks on the others.

    They are those that the file excludes, those of bodies that touch by contact pairs alone with all others, and bodies
    of several joints with their parents: neighbours in MuJoCo, between which links without shapes lie here.
    """
    pairs: dict[tuple[int, int], None] = {}
    remarks = []
    for signature in model.exclude_signature:
        first, second = sorted((int(signature) >> 16, int(signature) & 0xFFFF))
        if first > 0:
            pairs[first, second] = None
        else:
            text = "excluded from contact with the world: dropped, the world is not part of the robot"
            remarks.append(Remark("note", "body", names.bodies[second], text))
    alone, touched = _touching_by_pairs(model)
    solid = {
        int(model.geom_bodyid[i]) for i in range(model.ngeom) if model.geom_contype[i] or model.geom_conaffinity[i]
    }
    for body in sorted(alone):
        pairs |= {
            (min(body, other), max(body, other)): None
            for other in sorted((alone | solid) - {0, body})
            if (min(body, other), max(body, other)) not in touched
        }
        text = "touches by contact pairs alone: other links are not held against it"
        remarks.append(Remark("note", "body", names.bodies[body], text))
    parents = model.body_parentid
    several = [b for b in np.flatnonzero(model.body_jntnum > 1).tolist() if model.body_weldid[parents[b]] > 0]
    pairs |= {(int(parents[b]), b): None for b in several if (parents[b], b) not in touched}
    return tuple((names.bodies[first], names.bodies[second]) for first, second in pairs), remarks


def _touching_by_pairs(model: mujoco.MjModel) -> tuple[set[int], set[tuple[int, int]]]:
    """Bodies whose geoms touch by contact pairs alone, and the pairs of bodies that touch by them."""
    able = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    bodies = model.geom_bodyid[np.column_stack([model.pair_geom1, model.pair_geom2])].reshape(-1, 2)
    alone = {int(body) for body in bodies.ravel()} - {0} - {int(body) for body in model.geom_bodyid[able]}
    return alone, {(int(min(pair)), int(max(pair))) for pair in bodies}


def world_note(model: mujoco.MjModel, names: Names) -> list[Remark]:
    """A note that lists the geoms of the world, if there are any."""
    world = [names.geoms[i] for i in range(model.ngeom) if model.geom_bodyid[i] == 0]
    if not world:
        return []
    return [Remark("note", "geom", name, "ground and other world geometry: not part of the robot") for name in world]


def _geometry(model: mujoco.MjModel, names: Names, i: int, shape: Shape, friction: float) -> Geometry:
    material = int(model.geom_matid[i])
    plain = np.array_equal(model.geom_rgba[i], _DEFAULT_COLOR)
    red, green, blue, alpha = model.mat_rgba[material] if material >= 0 and plain else model.geom_rgba[i]
    return Geometry(
        names.geoms[i],
        names.bodies[model.geom_bodyid[i]],
        shape,
        pose(model.geom_pos[i], model.geom_quat[i]),
        friction=friction,
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
            mesh = int(model.geom_dataid[i])
            start = int(model.mesh_vertadr[mesh])
            points = np.array(model.mesh_vert[start : start + int(model.mesh_vertnum[mesh])], dtype=float)
            points.setflags(write=False)
            first = int(model.mesh_faceadr[mesh])
            return Mesh(points=points, faces=model.mesh_face[first : first + int(model.mesh_facenum[mesh])])
        case _:
            return None
