"""Collision and visual shapes of SDF links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from surefoot.errors import MissingMeshError, one_of
from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from surefoot.robot.model import Finding, Geometry
from surefoot.robot.packages import find_file
from surefoot.robot.sdf.poses import Frames, text_of, values_of
from surefoot.robot.urdf import MESH_MODES
from surefoot.robot.xml_guard import Element


def shapes_of(
    links: Mapping[str, Element],
    tag: str,
    frames: Frames,
    file: str | Path,
    meshes: str,
    package_dirs: Sequence[str | Path],
    notes: list[Finding],
) -> dict[str, list[Geometry]]:
    """The shapes of the links, by link.

    Args:
        links: The link elements.
        tag: "collision" or "visual".
        frames: Of the model.
        file: For messages and meshes.
        meshes: "require", "warn" or "skip".
        package_dirs: Where packages and models are.
        notes: Takes findings on shapes that are dropped.
    """
    if meshes not in MESH_MODES:
        raise one_of("mesh mode", meshes, MESH_MODES)
    out: dict[str, list[Geometry]] = {}
    for link, element in links.items():
        out[link] = []
        for i, holder in enumerate(element.all(tag)):
            geometry = holder.first("geometry")
            drawn = geometry.children[0] if geometry and geometry.children else None
            shape = _shape(drawn, file, package_dirs) if drawn is not None else None
            if shape is None:
                _report(holder, drawn, link, file, meshes, notes, is_bare=tag == "collision")
                continue
            mu = values_of(holder, ("surface", "friction", "ode", "mu"), (-1.0,), file)[0]
            name = f"{link}_{tag}_{i}"
            friction = float(mu) if mu >= 0.0 else None
            out[link].append(
                Geometry(name, link, shape, frames.local_pose(holder), friction=friction, color=_colour(holder, file))
            )
    return out


def _colour(holder: Element, file: str | Path) -> tuple[float, float, float, float] | None:
    material = holder.first("material")
    for key in ("diffuse", "ambient"):
        if text_of(material, key):
            red, green, blue, alpha = values_of(material, (key,), (0.0,) * 4, file)
            return float(red), float(green), float(blue), float(alpha)
    return None


def _report(
    holder: Element,
    drawn: Element | None,
    link: str,
    file: str | Path,
    meshes: str,
    notes: list[Finding],
    is_bare: bool,
) -> None:
    what = "no shape" if drawn is None else f"<{drawn.tag}>"
    if drawn is not None and drawn.tag == "mesh":
        what = f"mesh `{text_of(drawn, 'uri')}`, which is missing"
        if meshes == "require":
            raise MissingMeshError(
                f"link `{link}` has {what}", file=file, line=holder.line, next_step="give package_dirs"
            )
        if meshes == "skip":
            return
    bare = (link,) if is_bare else ()
    notes.append(Finding("warning", f"{file}:{holder.line}", f"link `{link}`: {what}; omitted", holder.line, bare))


def _shape(element: Element, file: str | Path, package_dirs: Sequence[str | Path]) -> Shape | None:
    def number(tag: str) -> float:
        return float(values_of(element, (tag,), (1.0,), file)[0])

    match element.tag:
        case "box":
            x, y, z = (float(value) for value in values_of(element, ("size",), (1.0, 1.0, 1.0), file))
            return Box((x, y, z))
        case "sphere":
            return Sphere(number("radius"))
        case "cylinder":
            return Cylinder(number("radius"), number("length"))
        case "capsule":
            return Capsule(number("radius"), number("length"))
        case "ellipsoid":
            a, b, c = (float(value) for value in values_of(element, ("radii",), (1.0, 1.0, 1.0), file))
            return Ellipsoid((a, b, c))
        case "mesh":
            path = find_file(text_of(element, "uri"), file, package_dirs)
            sx, sy, sz = (float(value) for value in values_of(element, ("scale",), (1.0, 1.0, 1.0), file))
            return None if path is None else Mesh(str(path), (sx, sy, sz))
    return None
