"""A pass of our own over a URDF, before Pinocchio sees it: every number, name, type and reference, each with its line.

urdfdom answers a mass of `abc` by dropping the whole inertial and calls that success; here it is a defect.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from surefoot.robot.model import Finding, Level
from surefoot.robot.xml_guard import Element, numbers

_MAX_LINKS = 2000

_JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")

# Attributes with their number of values; "!" marks those that must be there. Other attributes are texts.
_ATTRIBUTES: dict[str, dict[str, str]] = {
    "origin": {"xyz": "3", "rpy": "3"},
    "mass": {"value": "1!"},
    "inertia": dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), "1!"),
    "box": {"size": "3!"},
    "sphere": {"radius": "1!"},
    "cylinder": {"radius": "1!", "length": "1!"},
    "capsule": {"radius": "1!", "length": "1!"},
    "mesh": {"filename": "text!", "scale": "3"},
    "axis": {"xyz": "3!"},
    "limit": {"lower": "1", "upper": "1", "effort": "1!", "velocity": "1!"},
    "dynamics": {"damping": "1", "friction": "1"},
    "mimic": {"joint": "text!", "multiplier": "1", "offset": "1"},
    "safety_controller": {"soft_lower_limit": "1", "soft_upper_limit": "1", "k_position": "1", "k_velocity": "1!"},
    "calibration": {"rising": "1", "falling": "1", "reference_position": "1"},
    "parent": {"link": "text!"},
    "child": {"link": "text!"},
}
SHAPES = ("box", "sphere", "cylinder", "capsule", "mesh")
# Elements with their children; "+" marks those that may stand more than once, "!" those that must be there.
_CHILDREN: dict[str, tuple[str, ...]] = {
    "robot": ("link+", "joint+", "material+", "transmission+", "gazebo+"),
    "link": ("inertial", "visual+", "collision+"),
    "inertial": ("origin", "mass!", "inertia!"),
    "visual": ("origin", "geometry!", "material+"),
    "collision": ("origin", "geometry!", "material+", "verbose"),
    "geometry": SHAPES,
    "joint": ("origin", "parent!", "child!", "axis", "limit", "dynamics", "mimic", "safety_controller", "calibration"),
}
_POSITIVE = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length")}
_LARGEST = 1e12  # of lengths, masses and inertias: beyond it their products lose all meaning
_UNSCALED = ("limit", "safety_controller", "calibration")
_FOREIGN = ("material", "transmission", "gazebo", "verbose")


@dataclass
class UrdfDocument:
    """A scanned URDF: its elements by name, the root link and the findings.

    Args:
        name: Name of the robot.
        file: The file, for messages.
        links: Link elements by name.
        joints: Joint elements by name.
        findings: Defects and doubts; any of level "error" makes the robot unusable.
        root: Name of the root link.
        materials: Materials of the whole robot by name.
        package_dirs: Where packages are.
    """

    name: str
    file: str
    links: dict[str, Element] = field(default_factory=dict)
    joints: dict[str, Element] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    root: str = ""
    materials: dict[str, Element] = field(default_factory=dict)
    package_dirs: Sequence[str | Path] = ()

    def say(self, level: Level, line: int, message: str, bare: tuple[str, ...] = ()) -> None:
        """Note a finding at a line; with links that lost a collision shape by it."""
        self.findings.append(Finding(level, f"{self.file}:{line}", message, line, bare))

    @property
    def errors(self) -> list[Finding]:
        """The findings that make it unusable."""
        return [item for item in self.findings if item.level == "error"]

    def parent_of(self, joint: str) -> str:
        """Name of the parent link of a joint."""
        return _reference(self.joints[joint], "parent")

    def child_of(self, joint: str) -> str:
        """Name of the child link of a joint."""
        return _reference(self.joints[joint], "child")


def scan_urdf(root: Element, file: str) -> UrdfDocument:
    """Check a URDF and index its links and joints.

    Args:
        root: The `<robot>` element.
        file: The file, for messages.
    """
    document = UrdfDocument(root.attributes.get("name", ""), file)
    if not document.name:
        document.say("error", root.line, "<robot> has no name")
    _index(document, root)
    if len(document.links) > _MAX_LINKS:
        document.say("error", root.line, f"{len(document.links)} links are more than the {_MAX_LINKS} that are allowed")
        return document
    _check_element(document, root)
    for name, joint in document.joints.items():
        _check_joint(document, name, joint)
    for name, link in document.links.items():
        _check_link(document, name, link)
    if not document.errors:
        _check_tree(document)
        _check_mimics(document)
    document.findings.sort(key=lambda item: item.line)
    return document


def _reference(joint: Element, tag: str) -> str:
    child = joint.first(tag)
    return child.attributes.get("link", "") if child else ""


def _index(document: UrdfDocument, root: Element) -> None:
    for tag, table in (("link", document.links), ("joint", document.joints)):
        for element in root.all(tag):
            name = element.attributes.get("name", "")
            if not name.strip():
                document.say("error", element.line, f"<{tag}> has no name")
            elif name in table:
                document.say("error", element.line, f"{tag} name `{name}` repeats (first in line {table[name].line})")
            else:
                table[name] = element
    for element in root.all("material"):
        document.materials.setdefault(element.attributes.get("name", ""), element)
    if not document.links:
        document.say("error", root.line, "there is no <link>")


def _check_element(document: UrdfDocument, element: Element) -> None:
    """Tags, attributes and numbers of an element and of all that it may hold."""
    waiting = [element]
    while waiting:
        item = waiting.pop()
        _check_attributes(document, item)
        if item.tag in _CHILDREN:
            _check_children(document, item)
            known = [rule.rstrip("+!") for rule in _CHILDREN[item.tag]]
            waiting.extend(child for child in item.children if child.tag in known and child.tag not in _FOREIGN)


def _check_children(document: UrdfDocument, element: Element) -> None:
    rules = {rule.rstrip("+!"): rule for rule in _CHILDREN[element.tag]}
    counts: dict[str, int] = {}
    for child in element.children:
        counts[child.tag] = counts.get(child.tag, 0) + 1
        if child.tag not in rules:
            _unknown(document, child.line, f"<{child.tag}> in <{element.tag}>", child.tag, rules)
        elif counts[child.tag] == 2 and "+" not in rules[child.tag]:
            document.say("error", child.line, f"<{element.tag}> holds <{child.tag}> twice")
    for tag, rule in rules.items():
        if "!" in rule and tag not in counts:
            document.say("error", element.line, f"<{element.tag}> has no <{tag}>")


def _check_attributes(document: UrdfDocument, element: Element) -> None:
    rules = _ATTRIBUTES.get(element.tag)
    if rules is None:
        return
    for key, value in element.attributes.items():
        rule = rules.get(key)
        if rule is None:
            _unknown(document, element.line, f"attribute `{key}` of <{element.tag}>", key, rules)
        elif not rule.startswith("text"):
            _check_number(document, element, key, value, int(rule[0]))
    for key, rule in rules.items():
        if "!" in rule and key not in element.attributes:
            document.say("error", element.line, f"<{element.tag}> has no `{key}`")


def _check_number(document: UrdfDocument, element: Element, key: str, text: str, count: int) -> None:
    values, given = numbers(text, count), f"`{key}` of <{element.tag}> is `{_short(text)}`"
    if values is None:
        what = "a finite number" if count == 1 else f"{count} finite numbers"
        document.say("error", element.line, f"{given}, expected {what}")
    elif element.tag not in _UNSCALED and max(abs(value) for value in values) > _LARGEST:
        document.say("error", element.line, f"{given}, too large to compute with")
    elif key in _POSITIVE.get(element.tag, ()) and min(values) <= 0.0:
        document.say("error", element.line, f"{given}, expected positive")


def _unknown(document: UrdfDocument, line: int, what: str, name: str, known: Mapping[str, str]) -> None:
    """A name that is nearly a known one is a misspelling, which would drop data; another is only ignored."""
    if name.startswith("xacro:"):
        document.say("error", line, f"<{name}>: expand xacro first (`xacro FILE.xacro > FILE.urdf`)")
        return
    near = next((item for item in known if _is_slip(name.lower(), item)), None)
    if near:
        document.say("error", line, f"{what} is unknown; did you mean `{near}`?")
    else:
        document.say("note", line, f"{what} is not part of URDF and ignored")


def _is_slip(name: str, known: str) -> bool:
    """Whether a name is a known one with letters swapped, or one letter wrong (two in longer names)."""
    return sorted(name) == sorted(known) or _slips(name, known) <= (1 if len(known) <= 4 else 2)


def _slips(a: str, b: str) -> int:
    """Letters to change, add or drop to get from a to b (Levenshtein 1966); 3 stands for more."""
    if abs(len(a) - len(b)) > 2:
        return 3
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def _check_link(document: UrdfDocument, name: str, link: Element) -> None:
    inertial = link.first("inertial")
    mass = inertial.first("mass") if inertial else None
    value = numbers(mass.attributes.get("value", ""), 1) if mass else None
    if mass and value and value[0] < 0.0:
        document.say("error", mass.line, f"link `{name}` has negative mass {value[0]:g} kg")
    for holder in (*link.all("visual"), *link.all("collision")):
        geometry = holder.first("geometry")
        shapes = [child for child in geometry.children if child.tag in SHAPES] if geometry else []
        if geometry and len(shapes) != 1:
            document.say(
                "error", geometry.line, f"<geometry> of link `{name}` holds {len(shapes)} shapes, expected one"
            )


def _check_joint(document: UrdfDocument, name: str, joint: Element) -> None:
    kind = joint.attributes.get("type", "")
    if kind not in _JOINT_TYPES:
        near = difflib.get_close_matches(kind, _JOINT_TYPES, n=1)
        hint = f"; did you mean `{near[0]}`?" if near else f"; expected one of {', '.join(_JOINT_TYPES)}"
        document.say("error", joint.line, f"joint `{name}` has type `{kind}`{hint}")
    for tag in ("parent", "child"):
        link = _reference(joint, tag)
        if link and link not in document.links:
            near = difflib.get_close_matches(link, list(document.links), n=1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            document.say("error", joint.line, f"{tag} link `{link}` of joint `{name}` does not exist{hint}")
    _check_axis(document, name, kind, joint)
    _check_limit(document, name, kind, joint)
    _check_dynamics(document, name, joint)


def _check_axis(document: UrdfDocument, name: str, kind: str, joint: Element) -> None:
    axis = joint.first("axis")
    values = numbers(axis.attributes.get("xyz", ""), 3) if axis else None
    if axis is None or values is None or kind in ("fixed", "floating"):
        return
    length = sum(value * value for value in values) ** 0.5
    if not 1e-9 < length < 1e9:
        document.say("error", axis.line, f"axis of joint `{name}` has length {length:g} and no direction")
    elif abs(length - 1.0) > 1e-3:
        document.say("warning", axis.line, f"axis of joint `{name}` has length {length:g}; it is taken as a direction")
    if kind == "planar" and (values[0] or values[1] or values[2] < 0.0):
        document.say("error", axis.line, f"planar joint `{name}`: only the normal 0 0 1 is supported; turn its origin")


def _check_limit(document: UrdfDocument, name: str, kind: str, joint: Element) -> None:
    limit = joint.first("limit")
    if limit is None:
        if kind in ("revolute", "prismatic"):
            document.say("error", joint.line, f"{kind} joint `{name}` has no <limit>")
        return
    values = {
        key: (numbers(limit.attributes.get(key, "0"), 1) or [0.0])[0]
        for key in ("lower", "upper", "effort", "velocity")
    }
    if kind in ("revolute", "prismatic") and values["lower"] > values["upper"]:
        document.say(
            "error", limit.line, f"joint `{name}`: lower limit {values['lower']:g} > upper {values['upper']:g}"
        )
    for key in ("effort", "velocity"):
        if values[key] < 0.0:
            document.say("error", limit.line, f"joint `{name}`: {key} limit {values[key]:g} is negative")


def _check_dynamics(document: UrdfDocument, name: str, joint: Element) -> None:
    dynamics = joint.first("dynamics")
    for key in ("damping", "friction"):
        values = numbers(dynamics.attributes.get(key, "0"), 1) if dynamics else None
        if dynamics and values and values[0] < 0.0:
            document.say("error", dynamics.line, f"joint `{name}`: {key} {values[0]:g} is negative")


def _check_tree(document: UrdfDocument) -> None:
    """Every link has one parent joint, but for one root, from which all are reached."""
    parent_joint: dict[str, str] = {}
    children: dict[str, list[str]] = {}
    for name, joint in document.joints.items():
        child, parent = document.child_of(name), document.parent_of(name)
        if child in parent_joint:
            document.say(
                "error", joint.line, f"link `{child}` is the child of two joints, `{parent_joint[child]}` and `{name}`"
            )
        parent_joint.setdefault(child, name)
        children.setdefault(parent, []).append(child)
    roots = [link for link in document.links if link not in parent_joint]
    if len(roots) > 1:
        lines = ", ".join(f"`{link}` (line {document.links[link].line})" for link in roots[:5])
        document.say(
            "error", document.links[roots[1]].line, f"{len(roots)} links have no parent: {lines}; expected one root"
        )
    if document.errors:
        return
    reached, waiting = set(roots), list(roots)
    while waiting:
        for child in children.get(waiting.pop(), []):
            reached.add(child)
            waiting.append(child)
    lost = [link for link in document.links if link not in reached]
    if lost:
        line = document.links[lost[0]].line
        document.say("error", line, f"links form a cycle that is not connected to a root: {', '.join(lost[:8])}")
    elif roots:
        document.root = roots[0]


def _check_mimics(document: UrdfDocument) -> None:
    source = {}
    for name, joint in document.joints.items():
        mimic = joint.first("mimic")
        if mimic is None:
            continue
        source[name] = mimic.attributes["joint"]
        if source[name] not in document.joints:
            document.say(
                "warning", mimic.line, f"joint `{name}` mimics `{source[name]}`, which does not exist; left free"
            )
    for name in source:
        seen, at = {name}, source[name]
        while at in source and at not in seen:
            seen.add(at)
            at = source[at]
        if at in seen:
            document.say("error", document.joints[name].line, f"joint `{name}` mimics itself")


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "…"
