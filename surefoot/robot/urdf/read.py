"""URDF → model: our own scan first, then Pinocchio on exactly the scanned elements."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import pinocchio as pin

from surefoot.errors import ModelError
from surefoot.robot.build import UNBOUNDED, build_model, root_joint
from surefoot.robot.model import Coupling, Joint, JointKind, Link
from surefoot.robot.urdf.scan import UrdfDocument
from surefoot.robot.urdf.shapes import origin_of
from surefoot.robot.xml_guard import Element, numbers

_ONE_AT_A_TIME = threading.RLock()


def require_sound(document: UrdfDocument) -> None:
    """Raise the first defect of a document, with the others as evidence."""
    errors = document.errors
    if errors:
        first, more = errors[0], errors[1:]
        evidence: dict[str, str] = {}
        for item in more[:8]:
            place = f"line {item.line}"
            evidence[place] = f"{evidence[place]}; {item.message}" if place in evidence else item.message
        if len(more) > 8:
            evidence["…"] = f"{len(more) - 8} more"
        raise ModelError(
            first.message, evidence=evidence, file=document.file, line=first.line,
            next_step=f"fix the file; `surefoot check {document.file}` lists everything",
        )  # fmt: skip


def urdf_model(document: UrdfDocument, base: str) -> pin.Model:
    """The Pinocchio model of a sound URDF, mimics not applied.

    Args:
        document: The scanned URDF.
        base: "floating", "planar" or "fixed".

    Raises:
        ModelError: The document has defects, or Pinocchio's model differs from the file.
    """
    require_sound(document)
    joint = root_joint(base)
    text = _clean_urdf(document)
    with _caught_stderr() as printed:
        try:
            root = (joint, _root_name(document)) if joint is not None else ()
            model = pin.buildModelFromXML(text, *root)
        except (ValueError, RuntimeError) as error:
            raise ModelError(
                "Pinocchio refuses the model", file=document.file, evidence={"reason": error, "printed": printed}
            ) from error
    _require_same(document, model, base, printed)
    return model


def _root_name(document: UrdfDocument) -> str:
    """Name of the base joint: one that no joint of the file has."""
    name = "root_joint"
    while name in document.joints:
        name = f"{name}_{document.root}"
    return name


def _require_same(document: UrdfDocument, model: pin.Model, base: str, printed: list[str]) -> None:
    """Compare Pinocchio's model with our own reading of the file, number by number."""
    ours = build_model(document.name, urdf_links(document), base)
    wrong = [name for name in ours.names if not model.existJointName(name)]
    for i, name in enumerate(model.names if not wrong else ()):
        k = ours.getJointId(name) if i else 0
        same = _same_inertia(ours.inertias[k], model.inertias[i]) and _same_placement(
            ours.jointPlacements[k], model.jointPlacements[i]
        )
        wrong += [] if same else [str(name)]
    for key in ("lowerPositionLimit", "upperPositionLimit", "velocityLimit", "effortLimit", "damping"):
        rows = [j for j in range(1, model.njoints) if not wrong and model.joints[j].nq == 1]
        wrong += [str(model.names[j]) for j in rows if _joint_number(model, key, j) != _joint_number(ours, key, j)]
    if wrong:
        raise ModelError(
            "Pinocchio's model differs from the file",
            evidence={"joints": sorted(set(wrong))[:8], "printed": printed[:5]},
            file=document.file,
            line=document.joints[wrong[0]].line if wrong[0] in document.joints else None,
        )


def _same_inertia(a: pin.Inertia, b: pin.Inertia) -> bool:
    """Mass, first and second moments about the joint agree up to rounding, also where the moments of parts cancel."""
    A, B = a.matrix(), b.matrix()
    reach = 1.0 + float(np.linalg.norm(a.lever))
    blocks = ((slice(0, 3), slice(0, 3), 1.0), (slice(0, 3), slice(3, 6), reach))
    first = all(np.abs(A[i, j] - B[i, j]).max() <= 1e-9 * a.mass * scale + 1e-300 for i, j, scale in blocks)
    return first and bool(np.abs(A[3:, 3:] - B[3:, 3:]).max() <= 1e-9 * np.abs(A[3:, 3:]).max() + 1e-300)


def _same_placement(a: pin.SE3, b: pin.SE3) -> bool:
    reach = 1.0 + float(np.linalg.norm(a.translation))
    return bool(np.abs(a.homogeneous - b.homogeneous).max() <= 1e-9 * reach)


def _joint_number(model: pin.Model, key: str, joint: int) -> float:
    at = model.joints[joint]
    value = float(getattr(model, key)[at.idx_q if "Position" in key else at.idx_v])
    return value if abs(value) < UNBOUNDED else float(np.copysign(np.inf, value))


def _mass(link: Element) -> float:
    inertial = link.first("inertial")
    mass = inertial.first("mass") if inertial else None
    return (numbers(mass.attributes["value"], 1) or [0.0])[0] if mass else 0.0


def _clean_urdf(document: UrdfDocument) -> str:
    """The URDF reduced to the elements of a model (no shapes, no extensions), and numbers that all readers agree on."""
    parts = [f"<robot name={_quoted(document.name)}>"]
    for name, link in document.links.items():
        inertial = link.first("inertial")
        parts.append(f"<link name={_quoted(name)}>{_copy(inertial) if inertial else ''}</link>")
    for name, joint in document.joints.items():
        head = f"<joint name={_quoted(name)} type={_quoted(joint.attributes['type'])}>"
        inner = "".join(
            _copy(child)
            for tag in ("origin", "parent", "child", "axis", "limit", "dynamics")
            if (child := joint.first(tag))
        )
        parts.append(f"{head}{inner}</joint>")
    return "\n".join([*parts, "</robot>"])


_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)


def _quoted(value: str) -> str:
    """An attribute's value as `xml.sax.saxutils.quoteattr` has it; that module would import `urllib` and `ssl`."""
    return f'"{value.translate(_ESCAPES)}"'


def _copy(element: Element) -> str:
    is_name = element.tag in ("parent", "child")
    values = {key: value if is_name else _plain(value) for key, value in element.attributes.items()}
    attributes = "".join(f" {key}={_quoted(value)}" for key, value in values.items())
    return f"<{element.tag}{attributes}>{''.join(_copy(child) for child in element.children)}</{element.tag}>"


def _plain(value: str) -> str:
    """Numbers in the shortest form that reads back to the same doubles; other texts as they are."""
    values = numbers(value) if value.strip() else None
    return value if values is None else " ".join(repr(x) for x in values)


def urdf_couplings(document: UrdfDocument) -> tuple[Coupling, ...]:
    """The `mimic` elements of moving joints that follow moving joints."""
    out = []
    for name, joint in document.joints.items():
        mimic = joint.first("mimic")
        if mimic is None:
            continue
        source = mimic.attributes["joint"]
        if source not in document.joints:
            continue
        if "fixed" in (joint.attributes["type"], document.joints[source].attributes["type"]):
            document.say("note", mimic.line, f"`{name}` mimics `{source}`, but one of them is fixed; ignored")
            continue
        ratio = (numbers(mimic.attributes.get("multiplier", "1"), 1) or [1.0])[0]
        offset = (numbers(mimic.attributes.get("offset", "0"), 1) or [0.0])[0]
        out.append(Coupling(name, source, ratio, offset))
    return tuple(out)


def without_subtree(document: UrdfDocument, joint: str) -> None:
    """Cut a joint and all that hangs on it off a document, in place."""
    waiting = [joint]
    while waiting:
        name = waiting.pop()
        child = document.child_of(name)
        waiting.extend(other for other in document.joints if document.parent_of(other) == child)
        del document.joints[name]
        del document.links[child]


def urdf_links(document: UrdfDocument, kinds: Mapping[str, Mapping[str, object]] | None = None) -> list[Link]:
    """The same robot as links of ours: for joint kinds that URDF lacks, and as a second reading of the file.

    Args:
        document: A sound URDF.
        kinds: By joint name, the fields of `Joint` that a side file changes (kind, pitch, axis, second_axis).
    """
    require_sound(document)
    parent = {document.child_of(name): name for name in document.joints}
    order = [document.root, *(document.child_of(name) for name in sorted(document.joints))]
    out = []
    for name in order:
        joint = parent.get(name)
        mass, com, inertia = _inertial(document.links[name])
        moved_by = _joint(joint, document.joints[joint], (kinds or {}).get(joint, {})) if joint else None
        out.append(Link(name, document.parent_of(joint) if joint else None, moved_by, mass, com, inertia))
    return out


_HAVE_AXIS = ("revolute", "continuous", "prismatic")
_KIND: dict[str, JointKind] = {
    "floating": "free", "planar": "planar", "revolute": "revolute",
    "continuous": "continuous", "prismatic": "prismatic", "fixed": "fixed",
}  # fmt: skip


def _joint(name: str, element: Element, changes: Mapping[str, object]) -> Joint:
    def value(tag: str, key: str, default: float) -> float:
        child = element.first(tag)
        text = child.attributes.get(key) if child else None
        return default if text is None else (numbers(text, 1) or [default])[0]

    kind = _KIND[element.attributes["type"]]
    axis = element.first("axis")
    bounded = kind in ("revolute", "prismatic")
    fields: dict[str, object] = {
        "kind": kind,
        "placement": origin_of(element),
        "axis": numbers(axis.attributes["xyz"], 3) if axis and kind in _HAVE_AXIS else (1.0, 0.0, 0.0),
        "lower": value("limit", "lower", 0.0) if bounded else -np.inf,
        "upper": value("limit", "upper", 0.0) if bounded else np.inf,
        "velocity": value("limit", "velocity", np.inf),
        "effort": value("limit", "effort", np.inf),
        "damping": value("dynamics", "damping", 0.0),
        "friction": value("dynamics", "friction", 0.0),
    }
    return Joint(name, **{**fields, **changes})  # type: ignore[arg-type]


def _inertial(link: Element) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia about it in the link's axes."""
    inertial = link.first("inertial")
    if inertial is None:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    T_link_com = origin_of(inertial)
    attributes = inertial.first("inertia").attributes  # type: ignore[union-attr]
    i = {key: (numbers(attributes[key], 1) or [0.0])[0] for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
    own = np.array([[i["ixx"], i["ixy"], i["ixz"]], [i["ixy"], i["iyy"], i["iyz"]], [i["ixz"], i["iyz"], i["izz"]]])
    R = T_link_com[:3, :3]
    return _mass(link), T_link_com[:3, 3], R @ own @ R.T


@contextmanager
def _caught_stderr() -> Iterator[list[str]]:
    """Lines that C++ libraries print to file descriptor 2 while inside, filled at the end. One thread at a time."""
    lines: list[str] = []
    sys.stderr.flush()
    with _ONE_AT_A_TIME, tempfile.TemporaryFile() as sink:
        saved = os.dup(2)
        try:
            os.dup2(sink.fileno(), 2)
            yield lines
        finally:
            sys.stderr.flush()
            os.dup2(saved, 2)
            os.close(saved)
            sink.seek(0)
            text = sink.read(100_000).decode("utf-8", "replace")
            lines.extend(line for line in text.splitlines() if line.strip())
