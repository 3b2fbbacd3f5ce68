"""`robot_meshes`: simplified meshes of a robot by body; capsules between the joints if it has no shapes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.codegen import cache
from surefoot.geometry import Mesh, Plane, Shape, SweptVolume
from surefoot.report.scene.chain_colours import Colour, chain_colours
from surefoot.report.scene.shape_mesh import Triangles, decimated, shape_triangles, shares, volume_triangles
from surefoot.robot import Geometry, Robot


def skeleton_triangles(robot: Robot) -> list[tuple[int, Triangles]]:
    """Bodies (−1: the world) and the bones that they carry, in their frames.

    Bones go from the origin of a body to the joints that it carries, to its contact surfaces and, at the end of a
    chain, to the farthest link that is fixed to it or to its centre of mass.
    """
    ends = {i: _ends(robot, i) for i in range(-1 if robot.base_joint is None else 0, robot.tree.n)}
    lengths = [float(np.linalg.norm(end)) for found in ends.values() for end in found]
    reach = sum(lengths) / max(1, len(lengths))
    radius = 0.08 * reach if reach > 0.0 else 0.02
    out = []
    for body, found in ends.items():
        for end in found:
            if np.linalg.norm(end) > 0.25 * radius:
                out.append((body, volume_triangles(SweptVolume(np.array([np.zeros(3), end]), radius))))
        if body >= 0:
            out.append((body, volume_triangles(SweptVolume(np.zeros((1, 3)), 1.35 * radius), 16)))
    return out


def _ends(robot: Robot, body: int) -> list[Array]:
    """Where the bones of a body end, (3,) in its frame."""
    tree = robot.tree
    ends = [tree.placements[child][:3, 3] for child in tree.children(body)]
    for contact in robot.contacts.values():
        if robot.body_of(contact.frame) == body:
            T = robot.model.frames[robot.frame_id(contact.frame)].placement.homogeneous @ contact.placement
            ends.append(T[:3, :3] @ contact.corners.mean(axis=0) + T[:3, 3])
    return ends or ([_tip(robot, body)] if body >= 0 else [])


def _tip(robot: Robot, body: int) -> Array:
    """The farthest link that is fixed to a body, or its centre of mass if that is farther."""
    fixed = [
        robot.model.frames[robot.frame_id(name)].placement.translation
        for name in robot.link_names
        if robot.body_of(name) == body
    ]
    return np.array(max([robot.tree.coms[body], *fixed], key=lambda point: float(np.linalg.norm(point))))


Faces = NDArray[np.int64]
_VERSION = "scene meshes 7"


@dataclass(frozen=True, eq=False)
class SceneMesh:
    """Triangles that a body carries.

    Args:
        link: The link that they show.
        body: Index of the body in the tree; −1 for the world.
        vertices: (n, 3) in the frame of the body [m].
        faces: (m, 3), counter-clockwise seen from outside.
        colour: Red, green, blue and opacity, 0…1.
    """

    link: str
    body: int
    vertices: Array
    faces: Faces
    colour: Colour


def robot_meshes(robot: Robot, triangles: int = 60_000) -> tuple[SceneMesh, ...]:
    """The visual shapes of a robot; collision shapes of links without any; capsules between joints if it has neither.

    Colours are those of the model; where it has none, or one for everything, limbs and their parts are told apart by
    colours of our own. What was simplified is kept in surefoot's cache.

    Args:
        robot: The robot.
        triangles: For all together, about; small parts keep enough to be known again, and meshes of many loose pieces
            keep more.

    Raises:
        FileFormatError: A mesh file cannot be read.
        MissingMeshError: A mesh file does not exist.
    """
    shapes = _shown(robot)
    if not shapes:
        colours, names = chain_colours(robot), {-1: "world", **dict(enumerate(robot.tree.body_names))}
        return tuple(
            SceneMesh(names[body], body, vertices, faces, colours[body])
            for body, (vertices, faces) in skeleton_triangles(robot)
        )
    # With colours of our own where the model has none, or the same for all
    meshes = _on_bodies(robot, shapes, _simplified(robot.name, shapes, triangles))
    given = {geometry.color for geometry in shapes}
    if len(given - {None}) > 1 and None not in given:
        return tuple(meshes)
    own = chain_colours(robot)
    painted = {} if len(given - {None}) <= 1 else {geometry.link: geometry.color for geometry in shapes}
    return tuple(replace(mesh, colour=painted.get(mesh.link) or own[mesh.body]) for mesh in meshes)


def collision_meshes(robot: Robot, triangles: int = 12_000) -> tuple[SceneMesh, ...]:
    """The collision shapes of a robot.

    Args:
        robot: The robot.
        triangles: Most triangles for all together.

    Raises:
        FileFormatError: A mesh file cannot be read.
        MissingMeshError: A mesh file does not exist.
    """
    shapes = [geometry for geometry in robot.collisions if not isinstance(geometry.shape, Plane)]
    return _on_bodies(robot, shapes, _simplified(robot.name, shapes, triangles))


def _shown(robot: Robot) -> list[Geometry]:
    """Visual shapes, and collision shapes of links that have no visual one."""
    seen = {geometry.link for geometry in robot.visuals}
    bare = [geometry for geometry in robot.collisions if geometry.link not in seen]
    return [geometry for geometry in (*robot.visuals, *bare) if not isinstance(geometry.shape, Plane)]


def _on_bodies(robot: Robot, shapes: Sequence[Geometry], found: Sequence[Triangles]) -> tuple[SceneMesh, ...]:
    """Triangles in the frames of the bodies; shapes without any are omitted."""
    grey = (0.6, 0.62, 0.66, 1.0)
    meshes = []
    for geometry, (vertices, faces) in zip(shapes, found, strict=True):
        T = robot.model.frames[robot.frame_id(geometry.link)].placement.homogeneous @ geometry.placement
        placed = vertices @ T[:3, :3].T + T[:3, 3]
        meshes.append(SceneMesh(geometry.link, robot.body_of(geometry.link), placed, faces, geometry.color or grey))
    return tuple(mesh for mesh in meshes if len(mesh.faces))


def _simplified(name: str, shapes: Sequence[Geometry], triangles: int) -> list[Triangles]:
    """The triangles of each shape in its own frame, from the cache where the same was simplified before."""
    if not any(isinstance(geometry.shape, Mesh) for geometry in shapes):
        return [shape_triangles(geometry.shape) for geometry in shapes]
    contents = [part for geometry in shapes for part in _content(geometry.shape)]
    key = cache.key(_VERSION, str(triangles), *contents)
    content = cache.load(key)
    if content is not None:
        # The triangles from `_packed`
        with np.load(io.BytesIO(content), allow_pickle=False) as data:
            ends = np.cumsum(data["counts"], axis=0)[:-1]
            vertices = np.split(data["vertices"].astype(float), ends[:, 0])
            faces = np.split(data["faces"].astype(np.int64), ends[:, 1])
        return list(zip(vertices, faces, strict=True))
    whole = [shape_triangles(geometry.shape) for geometry in shapes]
    found = [decimated(mesh, share) for mesh, share in zip(whole, shares(whole, triangles), strict=True)]
    cache.store(key, _packed(found), {"robot": name, "algorithm": "scene meshes", "build": f"{triangles}"})
    return found


def _content(shape: Shape) -> list[str | bytes | Array | Faces]:
    """Everything that determines the triangles of a shape; a missing file is reported when it is read."""
    if not isinstance(shape, Mesh):
        return [repr(shape)]
    if shape.points is not None:
        return ["points", shape.points, shape.triangles()]
    file = Path(shape.path)
    return [f"{file.suffix.lower()} {shape.scale}", file.read_bytes() if file.is_file() else b""]


def _packed(meshes: Sequence[Triangles]) -> bytes:
    out = io.BytesIO()
    np.savez(
        out,
        vertices=np.vstack([np.zeros((0, 3)), *(vertices for vertices, _ in meshes)]).astype(np.float32),
        faces=np.vstack([np.zeros((0, 3), dtype=np.int64), *(faces for _, faces in meshes)]).astype(np.int32),
        counts=np.array([(len(vertices), len(faces)) for vertices, faces in meshes], dtype=np.int64).reshape(-1, 2),
    )
    return out.getvalue()
