"""`robot_volumes`: few swept volumes for every link of a robot, on the bodies that carry them.

Swept volumes of shapes, fitted once and kept in surefoot's cache (`surefoot.codegen.cache`).
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from surefoot.arrays import Array
from surefoot.codegen import cache
from surefoot.collision.volumes.hulls import method_version, shape_content, stored_hull
from surefoot.errors import ModelError, ShapeError
from surefoot.geometry import Mesh, Plane, Shape, SweptFit, SweptVolume
from surefoot.geometry.fit import DEFAULT_GAIN, DEFAULT_MOST, capsule_around, capsule_around_points, fit_shapes
from surefoot.robot import BodyVolume, Finding, Geometry, Robot
from surefoot.spatial import se3


def stored_fit(shapes: Sequence[tuple[Shape, Array]], most: int, gain: float, name: str) -> SweptFit:
    """As `fit_shapes`, from the cache where the same was fitted before.

    Args:
        shapes: Shapes, each with its placement T (4, 4).
        most: Most volumes.
        gain: As for `fit_shapes`.
        name: What `surefoot cache` shows beside it.

    Raises:
        SurefootError: As `fit_shapes`.
    """
    parts = [part for shape, T in shapes for part in (*shape_content(shape), np.asarray(T, dtype=float))]
    key = cache.key("swept volumes", method_version(), f"{most} {gain!r}", *parts)
    content = cache.load(key)
    if content is not None:
        # The fit from `_packed`
        with np.load(io.BytesIO(content), allow_pickle=False) as data:
            vertices = np.split(data["vertices"], np.cumsum(data["counts"])[:-1])
            radii, (outside, excess) = data["radii"], data["bounds"]
        volumes = tuple(SweptVolume(v, float(r)) for v, r in zip(vertices, radii, strict=True))
        return SweptFit(volumes, float(outside), float(excess))
    fit = fit_shapes(shapes, most, gain)
    cache.store(key, _packed(fit), {"robot": name, "algorithm": "swept volumes", "build": f"{len(fit.volumes)}"})
    return fit


def _packed(fit: SweptFit) -> bytes:
    """A fit as bytes, numbers only."""
    out = io.BytesIO()
    np.savez(
        out,
        vertices=np.vstack([volume.vertices for volume in fit.volumes]),
        counts=np.array([len(volume.vertices) for volume in fit.volumes]),
        radii=np.array([volume.radius for volume in fit.volumes]),
        bounds=np.array([fit.outside, fit.excess]),
    )
    return out.getvalue()


Progress = Callable[[int, int, str], None]
_MOST_SHAPES = 4  # of a link, each with a quick volume of its own


@dataclass(frozen=True, eq=False)
class RobotVolumes:
    """The swept volumes of a robot, with their bounds.

    Args:
        volumes: In the frames of the bodies of the tree, in the order of the links.
        outside: By link: no point of its shapes is farther outside of its volumes than this [m].
        excess: By link: no point of its volumes is farther from its shapes than this [m].
        notes: Links and shapes that no volume stands for.
    """

    volumes: tuple[BodyVolume, ...]
    outside: Mapping[str, float]
    excess: Mapping[str, float]
    notes: tuple[Finding, ...] = ()


def robot_volumes(
    robot: Robot,
    most_per_link: int = DEFAULT_MOST,
    gain: float = DEFAULT_GAIN,
    *,
    visuals: bool = False,
    progress: Progress | None = None,
) -> RobotVolumes:
    """Few swept volumes that contain the collision shapes of every link.

    A link that a fixed joint holds has volumes of its own, in the frame of the body that carries it. Fits are kept in
    surefoot's cache: the first call takes some ten seconds for a robot with meshes, longer with very fine ones; later
    ones part of a second.

    Args:
        robot: The robot.
        most_per_link: Most volumes for a link.
        gain: Share of the volume that a further volume, or a further vertex of a volume, must save.
        visuals: Take the visual shapes of links that have no collision shape.
        progress: Called before each link with the number of links done, the number of all, and the link.

    Raises:
        ShapeError: The settings are out of range, or sizes or points of a shape are not finite.
        FileFormatError: A mesh file cannot be read.
    """
    shapes, notes = _shapes_of_links(robot, visuals=visuals)
    volumes: list[BodyVolume] = []
    outside, excess = {}, {}
    for done, (link, geometries) in enumerate(shapes.items()):
        if progress is not None:
            progress(done, len(shapes), link)
        fit = _fitted(geometries, most_per_link, gain, f"{robot.name} {link}")
        T_body_link = robot.model.frames[robot.frame_id(link)].placement.homogeneous
        placed = (volume.placed(T_body_link @ geometries[0].placement) for volume in fit.volumes)
        volumes += [BodyVolume(robot.body_of(link), volume, link) for volume in placed]
        outside[link], excess[link] = fit.outside, fit.excess
    return RobotVolumes(tuple(volumes), MappingProxyType(outside), MappingProxyType(excess), tuple(notes))


def quick_volumes(robot: Robot) -> tuple[BodyVolume, ...]:
    """A ball or capsule round every collision shape: a few milliseconds a mesh, but not as tight as `robot_volumes`.

    Links with many shapes have one round them all.

    Raises:
        ModelError: There are no collision shapes, or some cannot have volumes.
        ShapeError: As `robot_volumes`.
        FileFormatError: As `robot_volumes`.
    """
    shapes, notes = _shapes_of_links(robot, visuals=False)
    volumes = []
    for link, geometries in shapes.items():
        T_body_link = robot.model.frames[robot.frame_id(link)].placement.homogeneous
        placed = [_capsule(g.shape).placed(T_body_link @ g.placement) for g in geometries]
        if len(placed) > _MOST_SHAPES:
            placed = [_around_all(placed)]
        volumes += [BodyVolume(robot.body_of(link), volume, link) for volume in placed]
    return _complete(robot, volumes, notes)


def required_volumes(robot: Robot) -> tuple[BodyVolume, ...]:
    """The volumes of a robot of which nothing is missing: what has no volume would never be seen to collide.

    Raises:
        ModelError: There are no collision shapes, or some cannot have volumes.
        ShapeError: As `robot_volumes`.
        FileFormatError: As `robot_volumes`.
    """
    found = robot_volumes(robot)
    return _complete(robot, found.volumes, found.notes)


def _complete(robot: Robot, volumes: Sequence[BodyVolume], notes: Sequence[Finding]) -> tuple[BodyVolume, ...]:
    """The volumes, if none is missing."""
    missing = [f"{note.place}: {note.message}" for note in notes if note.level == "warning"]
    if missing:
        raise ModelError(
            f"shapes of `{robot.name}` have no volumes",
            evidence={"links": missing},
            next_step="repair them, or give `volumes=robot_volumes(robot).volumes` to omit them",
        )
    if not volumes:
        raise ModelError(
            f"`{robot.name}` has no collision shapes",
            next_step="give `volumes`, such as `robot_volumes(robot, visuals=True).volumes`",
        )
    return tuple(volumes)


def _capsule(shape: Shape) -> SweptVolume:
    """A ball or capsule round a shape; round the hull of a mesh, which is in the cache, if it has one."""
    if not isinstance(shape, Mesh):
        return capsule_around(shape)
    try:
        return stored_hull(shape).capsule
    except ShapeError:  # all points in one plane
        return capsule_around(shape)


def _around_all(volumes: Sequence[SweptVolume]) -> SweptVolume:
    """A capsule round balls and capsules: round their axes, and by the largest radius thicker."""
    inner = capsule_around_points(np.vstack([volume.vertices for volume in volumes]))
    return SweptVolume(inner.vertices, inner.radius + max(volume.radius for volume in volumes))


def _fitted(geometries: Sequence[Geometry], most: int, gain: float, name: str) -> SweptFit:
    """The fit in the frame of the first shape, so that equal links share it; a link with one mirrored mesh as well."""
    T_first_link, shape = se3.inverse(geometries[0].placement), geometries[0].shape
    if len(geometries) == 1 and isinstance(shape, Mesh) and shape.points is None:
        sign = np.where(np.array(shape.scale) < 0.0, -1.0, 1.0)
        x, y, z = np.abs(shape.scale)
        fit = stored_fit([(Mesh(shape.path, (float(x), float(y), float(z))), np.eye(4))], most, gain, name)
        mirrored = tuple(SweptVolume(volume.vertices * sign, volume.radius) for volume in fit.volumes)
        return SweptFit(mirrored, fit.outside, fit.excess)
    others = [(g.shape, T_first_link @ g.placement) for g in geometries[1:]]
    return stored_fit([(shape, np.eye(4)), *others], most, gain, name)


def _shapes_of_links(robot: Robot, *, visuals: bool) -> tuple[dict[str, list[Geometry]], list[Finding]]:
    """The shapes that count, by link in the order of the links, and notes about the others."""
    shapes: dict[str, list[Geometry]] = {}
    notes = []
    # The collision shapes, and where asked for the visual shapes of links that have none
    covered = {geometry.link for geometry in robot.collisions}
    for geometry in [*robot.collisions, *(g for g in robot.visuals if visuals and g.link not in covered)]:
        defect = _defect(geometry.shape)
        if defect:
            message = f"no volume stands for shape `{geometry.name}`: {defect}"
            notes.append(Finding("warning", geometry.link, message))
        else:
            shapes.setdefault(geometry.link, []).append(geometry)
    bare = [link for link in robot.link_names if link not in shapes]
    if bare:
        notes.append(Finding("note", robot.name, f"no volume stands for links without shapes: {', '.join(bare)}"))
    return {link: shapes[link] for link in robot.link_names if link in shapes}, notes


def _defect(shape: Shape) -> str:
    """Why a shape can have no volume, or ""."""
    if isinstance(shape, Plane):
        return "a plane has no end"
    if isinstance(shape, Mesh) and shape.points is None and not Path(shape.path).is_file():
        return f"mesh `{shape.path}` does not exist"
    return ""
