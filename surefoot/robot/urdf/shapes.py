"""Collision and visual shapes of a scanned URDF, and where its meshes lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.errors import MissingMeshError, ShapeError, one_of
from surefoot.geometry import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from surefoot.robot.model import Geometry, placement
from surefoot.robot.packages import find_file
from surefoot.robot.urdf.scan import SHAPES, UrdfDocument
from surefoot.robot.xml_guard import Element, numbers
from surefoot.words import are_missing

MESH_MODES = ("require", "warn", "skip")


def origin_of(element: Element) -> Array:
    """T (4, 4) from the `<origin>` child of an element: R = Rz(yaw) Ry(pitch) Rx(roll); identity without one."""
    origin = element.first("origin")
    if origin is None:
        return placement()
    xyz = numbers(origin.attributes.get("xyz", "0 0 0"), 3) or [0.0] * 3
    rpy = numbers(origin.attributes.get("rpy", "0 0 0"), 3) or [0.0] * 3
    return placement(xyz, pin.rpy.rpyToMatrix(np.array(rpy)))


def urdf_geometries(document: UrdfDocument, tag: str, meshes: str = "warn") -> tuple[Geometry, ...]:
    """The shapes of all links, in the order of the file.

    Args:
        document: The scanned URDF.
        tag: "collision" or "visual".
        meshes: What to do when a mesh is missing: "require" raises, "warn" notes it on the document, "skip" is silent.
    """
    if meshes not in MESH_MODES:
        raise one_of("mesh mode", meshes, MESH_MODES)
    out: list[Geometry] = []
    missing: dict[str, int] = {}
    users: dict[str, list[str]] = {}
    for link, element in document.links.items():
        for i, holder in enumerate(element.all(tag)):
            geometry = holder.first("geometry")
            drawn = next((child for child in geometry.children if child.tag in SHAPES), None) if geometry else None
            shape = _shape(document, drawn, missing) if drawn else None
            if shape is not None:
                colour = _colour(document, holder)
                out.append(Geometry(f"{link}_{i}", link, shape, origin_of(holder), color=colour))
            elif drawn:
                users.setdefault(drawn.attributes["filename"], []).append(link)
    if missing:
        _report_missing(document, missing, meshes, users if tag == "collision" else {})
    return tuple(out)


def _colour(document: UrdfDocument, holder: Element) -> tuple[float, float, float, float] | None:
    """RGBA of a shape: its own, or that of the material of the robot that it names; None where there is none."""
    material = holder.first("material")
    if material is None:
        return None
    known = document.materials.get(material.attributes.get("name", ""))
    found = material.first("color") or (known.first("color") if known is not None else None)
    if found is None:
        return None
    rgba = numbers(found.attributes.get("rgba", ""), 4)
    if rgba is None or not all(0.0 <= value <= 1.0 for value in rgba):
        document.say("warning", found.line, "the colour is not four numbers between 0 and 1; it is ignored")
        return None
    return rgba[0], rgba[1], rgba[2], rgba[3]


def _report_missing(
    document: UrdfDocument, missing: dict[str, int], meshes: str, users: Mapping[str, Sequence[str]]
) -> None:
    if meshes == "require":
        raise MissingMeshError(
            are_missing(len(missing), "mesh file"),
            evidence={f"line {line}": name for name, line in list(missing.items())[:10]},
            next_step='put them there, give `package_dirs`, set ROS_PACKAGE_PATH, or load with meshes="warn"',
            file=document.file,
            line=next(iter(missing.values())),
        )
    if meshes == "warn":
        for name, line in missing.items():
            bare = tuple(dict.fromkeys(users.get(name, ())))
            document.say("warning", line, f"mesh `{name}` is missing; the shape is omitted", bare)


def _shape(document: UrdfDocument, element: Element, missing: dict[str, int]) -> Shape | None:
    def number(key: str) -> float:
        return (numbers(element.attributes[key], 1) or [0.0])[0]

    match element.tag:
        case "box":
            x, y, z = numbers(element.attributes["size"], 3) or [0.0] * 3
            return Box((x, y, z))
        case "sphere":
            return Sphere(number("radius"))
        case "cylinder":
            return Cylinder(number("radius"), number("length"))
        case "capsule":
            return Capsule(number("radius"), number("length"))
    name = element.attributes["filename"]
    path = find_file(name, document.file, document.package_dirs)
    if path is None:
        missing.setdefault(name, element.line)
        return None
    sx, sy, sz = numbers(element.attributes.get("scale", "1 1 1"), 3) or [1.0] * 3
    try:
        return Mesh(str(path), (sx, sy, sz))
    except ShapeError as error:
        raise error.with_place(document.file, element.line) from None
