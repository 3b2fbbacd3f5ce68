"""SDF → links. The first joint that reaches a link moves it; further joints on it close chains.

A model without a joint to the world floats. `gearbox` joints are couplings, θ₂ = −ratio θ₁ (SDFormat specification).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import FileFormatError, MissingMeshError, ModelError, NotSupportedError, ShapeError, one_of
from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from surefoot.robot.build import MAX_BODIES, Parts
from surefoot.robot.model import Coupling, Finding, Geometry, Joint, JointKind, Link, Loop, Spring, placement
from surefoot.robot.packages import find_file
from surefoot.robot.sdf.poses import Frames, text_of, values_of
from surefoot.robot.urdf import MESH_MODES
from surefoot.robot.xml_guard import Element
from surefoot.words import listed

_KINDS: dict[str, JointKind] = {
    "revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "ball": "spherical",
    "universal": "universal", "fixed": "fixed", "screw": "helical",
}  # fmt: skip
# Directions (x, y, z, rx, ry, rz) that a joint leaves free, with z along its axis.
_FREE = {"revolute": "Z", "continuous": "Z", "prismatic": "z", "ball": "XYZ", "fixed": ""}
_UNBOUNDED = 1e15  # SDF writes 1e16 for no limit
_WORLD = "world"


@dataclass(frozen=True, eq=False)
class SdfRobot:
    """A robot as read from an SDF file.

    Args:
        name: Name of the model.
        links: The links with their joints and shapes, parents first.
        base: "fixed" if it is static or a joint ties it to the world, else "floating".
        parts: Loops, couplings, springs and notes.
    """

    name: str
    links: list[Link]
    base: str
    parts: Parts


@dataclass
class _Model:
    """State while reading."""

    root: Element
    file: str
    frames: Frames
    links: dict[str, Element]
    joints: list[Element]
    notes: list[Finding] = field(default_factory=list)

    def say(self, line: int, message: str) -> None:
        self.notes.append(Finding("warning", f"{self.file}:{line}", message, line))

    def ends(self, joint: Element) -> tuple[str, str]:
        """Names of parent and child link."""
        names = (text_of(joint, "parent"), text_of(joint, "child"))
        for name in names:
            if name not in self.links and name != _WORLD:
                raise one_of("link", name, self.links).with_place(self.file, joint.line)
        return names


def sdf_links(
    root: Element, file: str | Path, meshes: str = "warn", package_dirs: Sequence[str | Path] = ()
) -> SdfRobot:
    """The links and parts of the first model in an SDF file.

    Args:
        root: The `<sdf>` element.
        file: The file, for messages and meshes.
        meshes: What to do about missing meshes: "require", "warn" or "skip".
        package_dirs: Where packages and models are.

    Raises:
        FileFormatError: There is no model, or a number is none.
        ModelError: The model contradicts itself.
        NotSupportedError: A kind of joint that robots do not have here.
    """
    model = _model_of(root, str(file))
    tree, rest = _spanning_tree(model)
    collisions, visuals = (shapes_of(model.links, tag, model.frames, file, meshes, package_dirs, model.notes)
                           for tag in ("collision", "visual"))  # fmt: skip
    links: list[Link] = []
    for name, joint in tree:
        links += _links(model, name, joint, tuple(collisions[name]), tuple(visuals[name]))
    is_fixed = text_of(model.root, "static") in ("1", "true") or any(
        joint is not None and _WORLD in model.ends(joint) for _, joint in tree
    )
    moving = {str(joint.attributes["name"]): joint for _, joint in tree if joint is not None}
    parts = Parts(
        loops=tuple(_loop(model, joint) for joint in rest if joint.attributes["type"] != "gearbox"),
        couplings=tuple(_gear(model, joint, moving) for joint in rest if joint.attributes["type"] == "gearbox"),
        home=_as_drawn(links) if any(joint.attributes["type"] != "gearbox" for joint in rest) else None,
        springs=tuple(spring for joint in moving.values() if (spring := _spring(model, joint)) is not None),
        notes=tuple(model.notes),
        source=str(file),
    )
    return SdfRobot(
        model.root.attributes.get("name") or Path(file).stem, links, "fixed" if is_fixed else "floating", parts
    )


def _as_drawn(links: Sequence[Link]) -> dict[str, float]:
    """The posture of the file, in which its chains are closed, also where it is outside of the limits."""
    kinds = ("revolute", "continuous", "prismatic", "helical")
    return {link.joint.name: 0.0 for link in links if link.joint is not None and link.joint.kind in kinds}


def _model_of(root: Element, file: str) -> _Model:
    found = [element for element in root.walk() if element.tag == "model"]
    if not found:
        raise FileFormatError("there is no <model>", file=file, line=root.line)
    model = found[0]
    try:
        version = float(root.attributes.get("version", "1.6"))
    except ValueError:
        raise FileFormatError("`version` is not a number", file=file, line=root.line) from None
    links = {_name(x, file): x for x in model.all("link")}
    joints = model.all("joint")
    names = [_name(x, file) for x in joints]
    if len(links) < len(model.all("link")) or len(set(names)) < len(names):
        raise ModelError("a name of a link or joint repeats", file=file, line=model.line)
    if not links or len(links) > MAX_BODIES:
        raise ModelError(f"{len(links)} links: expected 1 to {MAX_BODIES}", file=file, line=model.line)
    out = _Model(model, file, Frames(model, version, file), links, joints)
    for element in found[1:] + [x for x in model.children if x.tag == "include"]:
        out.say(element.line, f"<{element.tag}> is not read: only the first model, without what it includes")
    return out


def _name(element: Element, file: str) -> str:
    name = element.attributes.get("name", "")
    if not name:
        raise FileFormatError(f"a <{element.tag}> has no name", file=file, line=element.line)
    return name


def _spanning_tree(model: _Model) -> tuple[list[tuple[str, Element | None]], list[Element]]:
    """Links, parents first, each with the joint that moves it (None: on the base); and the joints that are left."""
    usable = [joint for joint in model.joints if joint.attributes.get("type") != "gearbox"]
    for joint in usable:
        if joint.attributes.get("type") not in _KINDS:
            raise NotSupportedError(
                f"joint `{joint.attributes['name']}` has type `{joint.attributes.get('type')}`",
                file=model.file, line=joint.line, evidence={"types": [*_KINDS, "gearbox"]},
            )  # fmt: skip
    children = {model.ends(joint)[1] for joint in usable}
    roots = [name for name in model.links if name not in children] or [next(iter(model.links))]
    on_world = [joint for joint in usable if model.ends(joint)[0] == _WORLD]
    out: list[tuple[str, Element | None]] = [] if on_world else [(roots[0], None)]
    reached, used = {_WORLD if on_world else roots[0]}, set[int]()
    while found := [x for x in usable if id(x) not in used and _reaches(model, x, reached)]:
        used.add(id(found[0]))
        reached.add(model.ends(found[0])[1])
        out.append((model.ends(found[0])[1], found[0]))
    lost = [name for name in model.links if name not in reached]
    if lost:
        line = model.links[lost[0]].line
        model.say(line, f"{listed([f'`{name}`' for name in lost])}: no joint ties it to `{out[0][0]}`; dropped")
        model.links = {name: element for name, element in model.links.items() if name not in lost}
    rest = [x for x in model.joints if id(x) not in used and not set(_ends(x)) & set(lost)]
    return out, rest


def _ends(joint: Element) -> tuple[str, str]:
    return text_of(joint, "parent"), text_of(joint, "child")


def _reaches(model: _Model, joint: Element, reached: set[str]) -> bool:
    parent, child = model.ends(joint)
    return parent in reached and child not in reached


def _links(model: _Model, name: str, joint: Element | None, collisions: Any, visuals: Any) -> list[Link]:
    """A link, with one before it where its joint is not in its frame."""
    mass, com, inertia = _inertia(model, model.links[name])
    body = {"mass": mass, "com": com, "inertia": inertia, "collisions": collisions, "visuals": visuals}
    if joint is None:
        return [Link(name, **body)]
    own = str(joint.attributes["name"])
    parent = model.ends(joint)[0]
    T_model_joint, T_model_link = model.frames.of(own), model.frames.of(name)
    T_model_parent = model.frames.of(parent) if parent != _WORLD else placement()
    made = _joint(model, joint, np.linalg.inv(T_model_parent) @ T_model_joint)
    above = parent if parent != _WORLD else None
    back = np.linalg.inv(T_model_joint) @ T_model_link
    if np.allclose(back, np.eye(4), atol=1e-12):
        return [Link(name, above, made, **body)]
    return [
        Link(f"{name}__{own}", above, made),
        Link(name, f"{name}__{own}", Joint(f"{name}__fixed", "fixed", back), **body),
    ]


def _joint(model: _Model, joint: Element, T: Array) -> Joint:
    axis = joint.first("axis")

    def number(path: tuple[str, ...], default: float) -> float:
        return float(values_of(axis, path, (default,), model.file)[0])

    lower, upper = number(("limit", "lower"), -np.inf), number(("limit", "upper"), np.inf)
    effort, speed = number(("limit", "effort"), -1.0), number(("limit", "velocity"), -1.0)
    kind = _KINDS[joint.attributes["type"]]
    turns = float(values_of(joint, ("screw_thread_pitch",), (0.0,), model.file)[0])
    bounded = kind in ("revolute", "prismatic", "helical")
    return Joint(
        str(joint.attributes["name"]), kind, T, model.frames.axis(joint, "axis"),
        lower=lower if bounded and lower > -_UNBOUNDED else -np.inf,
        upper=upper if bounded and upper < _UNBOUNDED else np.inf,
        effort=effort if effort >= 0.0 else np.inf, velocity=speed if speed >= 0.0 else np.inf,
        damping=number(("dynamics", "damping"), 0.0), friction=number(("dynamics", "friction"), 0.0),
        pitch=turns / (2.0 * np.pi),
        second_axis=model.frames.axis(joint, "axis2") if kind == "universal" else (1.0, 0.0, 0.0),
    )  # fmt: skip


def _inertia(model: _Model, link: Element) -> tuple[float, Array, Array]:
    """Mass, centre of mass, and inertia about it in the axes of the link; SDF's defaults are 1 kg and 1 kg m²."""
    inertial = link.first("inertial")
    if inertial is None:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    T = model.frames.local_pose(inertial)
    mass = float(values_of(inertial, ("mass",), (1.0,), model.file)[0])

    def entry(tag: str) -> float:
        return float(values_of(inertial, ("inertia", tag), (1.0 if tag[1] == tag[2] else 0.0,), model.file)[0])

    xx, yy, zz, xy, xz, yz = (entry(tag) for tag in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
    moments = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return mass, T[:3, 3], T[:3, :3] @ moments @ T[:3, :3].T


def _loop(model: _Model, joint: Element) -> Loop:
    """A closed chain: parent and child are tied in what the joint does not leave free."""
    name, kind = str(joint.attributes["name"]), str(joint.attributes["type"])
    if kind not in _FREE:
        raise NotSupportedError(f"joint `{name}` of type `{kind}` closes a chain", file=model.file, line=joint.line)
    axis = model.frames.axis(joint, "axis")
    # A rotation whose z is an axis
    across = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(across, axis)
    x /= np.linalg.norm(x)
    T = model.frames.of(name) @ placement(rotation=np.column_stack([x, np.cross(axis, x), axis]))
    parent, child = model.ends(joint)
    on = [np.linalg.inv(model.frames.of(x) if x != _WORLD else placement()) @ T for x in (parent, child)]
    held = tuple(letter not in _FREE[kind] for letter in "xyzXYZ")
    frame = "universe" if parent == _WORLD else parent
    return Loop(name, child, frame, on[1], on[0], held)  # type: ignore[arg-type]


def _gear(model: _Model, joint: Element, moving: dict[str, Element]) -> Coupling:
    """θ₂ = −ratio θ₁: of the child and of the parent against the reference body."""
    reference = text_of(joint, "gearbox_reference_body")
    ratio = float(values_of(joint, ("gearbox_ratio",), (1.0,), model.file)[0])
    parent, child = model.ends(joint)
    first, second = (
        next((name for name, x in moving.items() if model.ends(x) == (reference, link)), None)
        for link in (parent, child)
    )
    if first is None or second is None or ratio == 0.0:
        raise ModelError(
            f"gearbox `{joint.attributes['name']}` is not between two joints on `{reference}`",
            file=model.file,
            line=joint.line,
        )
    signs = [
        float(np.sign(_in_model(model, moving[name], "axis") @ _in_model(model, joint, tag)))
        for name, tag in ((first, "axis"), (second, "axis2"))
    ]
    return Coupling(first, second, -signs[0] * signs[1] / ratio)


def _in_model(model: _Model, joint: Element, tag: str) -> Array:
    return np.asarray(model.frames.of(str(joint.attributes["name"]))[:3, :3] @ model.frames.axis(joint, tag))


def _spring(model: _Model, joint: Element) -> Spring | None:
    """The spring of a joint with one position."""
    dynamics = ("dynamics", "spring_stiffness"), ("dynamics", "spring_reference")
    stiffness, rest = (float(values_of(joint.first("axis"), path, (0.0,), model.file)[0]) for path in dynamics)
    if not stiffness:
        return None
    name = str(joint.attributes["name"])
    if joint.attributes["type"] not in ("revolute", "prismatic"):
        model.say(joint.line, f"spring of joint `{name}` dropped: it has no single position")
        return None
    return Spring(name, {name: 1.0}, stiffness, 0.0, (rest, rest))


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
            try:
                return None if path is None else Mesh(str(path), (sx, sy, sz))
            except ShapeError as error:
                raise error.with_place(file, element.line) from None
    return None
