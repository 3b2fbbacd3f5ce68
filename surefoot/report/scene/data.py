"""Data of the 3-D replay: robot, motion, ground, obstacles and objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.errors import FileFormatError, MissingMeshError
from surefoot.geometry import Box, Plane
from surefoot.motion import Ground, GroundBox, GroundPlane, HeightField, MovableObject, Obstacle
from surefoot.report.evidence import EventMark, Evidence, spans
from surefoot.report.packing import packed, quantised, rounded
from surefoot.report.scene.mesh import SceneMesh, collision_meshes, robot_meshes
from surefoot.report.scene.shape_mesh import Triangles, decimated, shape_triangles, volume_triangles
from surefoot.robot import Robot

_MOST_CELLS = 160
_MOST_TRIANGLES = 4000


def world_data(evidence: Evidence, rows: NDArray[np.int64]) -> dict[str, Any]:
    """`ground`, `obstacles` and `objects`, empty where there is no world.

    Args:
        evidence: The motion.
        rows: Rows that the replay shows.
    """
    world = evidence.world
    if world is None:
        return {"ground": [], "obstacles": [], "objects": []}
    return {
        "ground": [_ground(piece) for piece in world.ground],
        "obstacles": [_thing(item) | ({"touchable": True} if item.touchable else {}) for item in world.obstacles],
        "objects": [_thing(item) | _moves(evidence, item, rows) for item in world.objects],
    }


def _ground(piece: Ground) -> dict[str, Any]:
    match piece:
        case GroundPlane():
            return {"kind": "plane", "point": rounded(piece.point), "normal": rounded(piece.normal, 6)}
        case GroundBox():
            return {"kind": "box", "pose": _pose(piece.pose), **_packed_mesh(shape_triangles(Box(piece.size)))}
        case HeightField():
            return {"kind": "field", "pose": _pose(np.eye(4)), **_packed_mesh(field_triangles(piece))}


def field_triangles(field: HeightField) -> Triangles:
    """The surface of a height field, in world; of a fine one every second, third, … grid point."""
    every = max(1, int(np.ceil(max(field.heights.shape) / _MOST_CELLS)))
    rows, columns = (np.unique([*range(0, n, every), n - 1]) for n in field.heights.shape)
    x, y = np.meshgrid(rows * field.cell, columns * field.cell, indexing="ij")
    points = np.stack([x, y, field.heights[np.ix_(rows, columns)]], axis=-1).reshape(-1, 3) + field.origin
    index = np.arange(len(points)).reshape(len(rows), len(columns))
    a, b, c, d = (part.ravel() for part in (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]))
    return points, np.vstack([np.column_stack([a, b, c]), np.column_stack([a, c, d])]).astype(np.int64)


def _thing(item: Obstacle | MovableObject) -> dict[str, Any]:
    found = {"name": item.name, "pose": _pose(item.pose)}
    if isinstance(item.shape, Plane):
        return found | {"kind": "plane"}
    return found | {"kind": "mesh", **_packed_mesh(decimated(shape_triangles(item.shape), _MOST_TRIANGLES))}


def _moves(evidence: Evidence, item: MovableObject, rows: NDArray[np.int64]) -> dict[str, Any]:
    """Positions and quaternions of an object at the frames, where they are known."""
    if item.name not in evidence.objects:
        return {}
    T = evidence.objects[item.name][rows]
    turns = Rotation.from_matrix(T[:, :3, :3]).as_quat()
    return {"positions": packed(T[:, :3, 3], "f4"), "turns": packed(np.round(turns * 32767), "i2")}


def _packed_mesh(mesh: Triangles) -> dict[str, Any]:
    vertices, faces = mesh
    wide = len(vertices) > 65535
    return {"vertices": quantised(vertices), "faces": packed(faces, "u4" if wide else "u2"), "wide": wide}


def _pose(T: Array) -> list[float]:
    """Column after column, as three.js has it."""
    return rounded(np.asarray(T).T.ravel(), 6)


Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]
_RATE = 50.0  # frames per second
_MOST_FRAMES = 3000


def frame_rows(time: Array) -> Rows:
    """Rows of the frames to show: at most 50 per second and 3000 in total, including the first and last.

    Args:
        time: (n,) [s].
    """
    count = int(np.clip((time[-1] - time[0]) * _RATE + 1.0, 2, _MOST_FRAMES))
    wanted = np.linspace(time[0], time[-1], count)
    return np.unique(np.searchsorted(time, wanted - 1e-9).clip(0, len(time) - 1)).astype(np.int64)


def scene_data(evidence: Evidence, rows: Rows, activity: Mapping[str, Flags]) -> dict[str, Any]:
    """Bodies, their motion, the world and the layers.

    Args:
        evidence: The motion.
        rows: Rows to show.
        activity: When each contact carries, (n,).
    """
    robot = evidence.robot
    placements = poses(robot, evidence.q[rows])
    meshes, trouble = _meshes(robot)
    points = {name: getattr(evidence, name) for name in ("com", "zmp", "capture_point")}
    return {
        "floats": robot.base == "floating",
        "weight": max(robot.mass * float(np.linalg.norm(robot.tree.gravity)), 1e-6),
        "bodies": list(robot.tree.body_names),
        "joints": list(robot.tree.joint_names),
        "links": {name: robot.body_of(name) for name in robot.link_names},
        "time": packed(evidence.time[rows], "f8"),
        **_motion(placements),
        "meshes": mesh_data(meshes),
        "collision": mesh_data(_collision(evidence)),
        "collision_kind": "shapes" if evidence.volumes is None else "volumes",
        **world_data(evidence, rows),
        "contacts": _contacts(evidence, rows, activity),
        "footprints": _footprints(evidence, activity),
        "outlines": [{"name": outline.name, "corners": rounded(outline.corners)} for outline in evidence.outlines],
        "points": {name: packed(values[rows], "f4") for name, values in points.items() if values is not None},
        "ghosts": [_ghost(evidence, k) for k in range(len(evidence.ghosts))],
        "events": [_event(robot, mark) for mark in evidence.events],
        "trouble": trouble,
    }


def _event(robot: Robot, mark: EventMark) -> dict[str, Any]:
    """An event; its force acts at the centre of mass of the body that carries the link."""
    body = robot.body_of(mark.link) if mark.link else -1
    at = robot.tree.coms[body] if body >= 0 else np.zeros(3)
    return {"name": mark.name, "start": mark.start, "end": mark.end, "body": body, "at": rounded(at, 5),
            "force": rounded(np.array(mark.force), 5)}  # fmt: skip


def poses(robot: Robot, q: Array) -> Array:
    """T_world_body (m, n, 4, 4) of all bodies.

    Args:
        robot: The robot.
        q: (m, nq).
    """
    if robot.tree.n == 0:
        return np.zeros((len(q), 0, 4, 4))
    return np.asarray(compile_robot(robot).placements(q)).reshape(len(q), robot.tree.n, 4, 4)


def mesh_data(meshes: Sequence[SceneMesh]) -> list[dict[str, Any]]:
    """Meshes with positions in 16 bits; those of one body and one colour become one."""
    groups: dict[tuple[Any, ...], list[SceneMesh]] = {}
    for mesh in meshes:
        groups.setdefault((mesh.body, mesh.colour), []).append(mesh)
    out = []
    for (body, colour), group in groups.items():
        starts = np.cumsum([0, *(len(mesh.vertices) for mesh in group)])
        faces = np.vstack([mesh.faces + start for mesh, start in zip(group, starts, strict=False)])
        wide = bool(starts[-1] > 65535)
        out.append(
            {
                "body": body,
                "colour": rounded(colour, 3),
                "vertices": quantised(np.vstack([mesh.vertices for mesh in group])),
                "faces": packed(faces, "u4" if wide else "u2"),
                "wide": wide,
            }
        )
    return out


def _meshes(robot: Robot) -> tuple[Sequence[SceneMesh], str]:
    """The meshes of a robot, or its skeleton and the reason if a file can no longer be read."""
    try:
        return robot_meshes(robot), ""
    except (FileFormatError, MissingMeshError) as error:
        return robot_meshes(robot.replace(visuals=(), collisions=())), f"drawn without meshes: {error.message}"


def _collision(evidence: Evidence) -> Sequence[SceneMesh]:
    if evidence.volumes is None:
        try:
            return collision_meshes(evidence.robot)
        except (FileFormatError, MissingMeshError):  # told where the robot itself is drawn
            return ()
    made = ((item, volume_triangles(item.volume)) for item in evidence.volumes)
    return [SceneMesh(i.link, i.body, v, f, (0.9, 0.55, 0.1, 1.0)) for i, (v, f) in made]


def _motion(placements: Array) -> dict[str, str]:
    """Positions and quaternions xyzw (in 1/32767) of all bodies at all frames."""
    count = placements.shape[0] * placements.shape[1]
    turns = np.zeros((0, 4))
    if count:
        turns = Rotation.from_matrix(placements[..., :3, :3].reshape(count, 3, 3)).as_quat()
    return {"positions": packed(placements[..., :3, 3], "f4"), "turns": packed(np.round(turns * 32767), "i2")}


def _contacts(evidence: Evidence, rows: Rows, activity: Mapping[str, Flags]) -> list[dict[str, Any]]:
    robot, out = evidence.robot, []
    for name, contact in robot.contacts.items():
        T = robot.model.frames[robot.frame_id(contact.frame)].placement.homogeneous @ contact.placement
        item: dict[str, Any] = {
            "name": name,
            "body": robot.body_of(contact.frame),
            "placement": rounded(T.T.ravel(), 6),
        }
        item["corners"] = rounded(contact.corners, 6)
        if name in evidence.wrenches:
            item["wrench"] = packed(evidence.wrenches[name][rows], "f4")
        if name in activity:
            item["active"] = packed(activity[name][rows], "u1")
            item["spans"] = spans(evidence.time, activity[name])
        out.append(item)
    return out


def _footprints(evidence: Evidence, activity: Mapping[str, Flags]) -> list[dict[str, Any]]:
    """Outlines of contacts on the ground, one for each time that they stand."""
    robot, out = evidence.robot, []
    for name, flags in activity.items():
        for start, end in spans(evidence.time, flags):
            row = int(np.searchsorted(evidence.time, 0.5 * (start + end)).clip(0, len(evidence.time) - 1))
            corners = robot.contact_corners(evidence.q[row])[name]
            out.append({"contact": name, "start": start, "end": end, "corners": rounded(corners)})
    return out


def _ghost(evidence: Evidence, k: int) -> dict[str, Any]:
    """Another motion; its meshes are omitted if it is the same robot."""
    ghost = evidence.ghosts[k]
    rows = frame_rows(ghost.time)
    same = ghost.robot is evidence.robot
    return {
        "name": ghost.name,
        "time": packed(ghost.time[rows], "f8"),
        **_motion(poses(ghost.robot, ghost.q[rows])),
        "bodies": list(ghost.robot.tree.body_names),
        "meshes": None if same else mesh_data(_meshes(ghost.robot)[0]),
    }
