"""Links → Pinocchio model, bodies in depth-first order, as the algorithms of Pinocchio and MuJoCo need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pinocchio as pin

from surefoot.errors import ModelError, one_of
from surefoot.robot.model import Coupling, Joint, JointKind, Link, NamedFrame, placement

MAX_BODIES = 2000
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def build_model(name: str, links: Sequence[Link], base: str, frames: Sequence[NamedFrame] = ()) -> pin.Model:
    """The Pinocchio model of a list of links.

    Args:
        name: Name of the robot.
        links: Links in any order; the first one without joint hangs on the base.
        base: Joint between the world and links without joint: "floating", "planar" or "fixed".
        frames: Further frames on links.
    """
    if base not in _ROOT_KIND:
        raise one_of("base", base, _ROOT_KIND)
    model = pin.Model()
    model.name = name
    place_of: dict[str, tuple[int, pin.SE3, int]] = {}
    for link in _depth_first(links):
        joint = link.joint or Joint(_root_joint_name(links, link), _ROOT_KIND[base])
        parent = place_of[link.parent] if link.parent is not None else (0, pin.SE3.Identity(), 0)
        for part in _one_axis_parts(joint):
            parent = _add_joint(model, part, parent)
        body, offset, _ = parent
        if link.mass or link.inertia.any():
            # Mass properties as they are: also those that no rigid body has, which `check` reports
            inertia = pin.Inertia.Zero()
            symmetric = 0.5 * (link.inertia + link.inertia.T)  # to the last bit, which Pinocchio demands
            inertia.mass, inertia.lever, inertia.inertia = link.mass, link.com, symmetric
            model.appendBodyToJoint(body, inertia, offset)
        frame = model.addBodyFrame(link.name, body, offset, parent[2])
        place_of[link.name] = (body, offset, frame)
    for item in frames:
        if item.link not in place_of:
            raise one_of("link", item.link, place_of)
        body, offset, frame = place_of[item.link]
        model.addFrame(pin.Frame(item.name, body, frame, offset * pin.SE3(item.placement), pin.FrameType.OP_FRAME))
    return model


_ROOT_KIND: dict[str, JointKind] = {"floating": "free", "planar": "planar", "fixed": "fixed"}


def root_joint(base: str) -> pin.JointModel | None:
    """The Pinocchio joint of a base kind; None for a fixed base."""
    return {"floating": pin.JointModelFreeFlyer(), "planar": pin.JointModelPlanar(), "fixed": None}[base]


def _root_joint_name(links: Sequence[Link], link: Link) -> str:
    """`root_joint`, or with the link's name if several links hang on the base or a joint has that name."""
    roots = [item for item in links if item.joint is None]
    taken = any(item.joint is not None and item.joint.name == "root_joint" for item in links)
    return "root_joint" if len(roots) == 1 and not taken else f"root_joint_{link.name}"


def _depth_first(links: Sequence[Link]) -> list[Link]:
    """The links, each before its children, every subtree in one piece; siblings keep their order.

    Raises:
        ModelError: Names repeat, a parent does not exist, or links hang on themselves.
    """
    if not links:
        raise ModelError("a robot needs at least one link")
    if len(links) > MAX_BODIES:
        raise ModelError(f"{len(links)} links are more than the {MAX_BODIES} that are allowed")
    by_name = {link.name: link for link in links}
    if len(by_name) != len(links):
        names = [link.name for link in links]
        raise ModelError("link names repeat", evidence={"repeated": sorted({n for n in names if names.count(n) > 1})})
    children: dict[str | None, list[Link]] = {}
    for link in links:
        if link.parent is not None and link.parent not in by_name:
            raise one_of("link", link.parent, by_name)
        children.setdefault(link.parent, []).append(link)
    out: list[Link] = []
    waiting = list(reversed(children.get(None, [])))
    while waiting:
        out.append(link := waiting.pop())
        waiting.extend(reversed(children.get(link.name, [])))
    if len(out) < len(links):
        lost = sorted(set(by_name) - {link.name for link in out})
        raise ModelError("links hang on each other in a cycle", evidence={"links": lost[:10]})
    return out


def _one_axis_parts(joint: Joint) -> list[Joint]:
    """A universal joint as two one-axis joints; every other joint as itself."""
    if joint.kind != "universal":
        return [joint]
    first = replace(joint, name=f"{joint.name}_1", kind="revolute")
    second = replace(first, name=f"{joint.name}_2", placement=placement(), axis=joint.second_axis)
    return [first, second]


def _add_joint(model: pin.Model, joint: Joint, parent: tuple[int, pin.SE3, int]) -> tuple[int, pin.SE3, int]:
    """Add a joint and its frame; a fixed one only moves the offset. Returns body, offset on it and frame."""
    body, offset, frame = parent
    here = offset * pin.SE3(joint.placement)
    if joint.kind == "fixed":
        fixed = pin.Frame(joint.name, body, frame, here, pin.FrameType.FIXED_JOINT)
        return body, here, model.addFrame(fixed)
    if model.existJointName(joint.name):
        raise ModelError(f"joint name `{joint.name}` repeats")
    kind = _pinocchio_joint(joint)
    ones = np.ones(kind.nv)
    low, high = _position_limits(joint, kind.nq)
    index = model.addJoint(
        body, kind, here, joint.name, -joint.effort * ones, joint.effort * ones, -joint.velocity * ones,
        joint.velocity * ones, low, high, -joint.friction * ones, joint.friction * ones, joint.damping * ones,
    )  # fmt: skip
    start = model.joints[index].idx_v
    model.armature[start : start + kind.nv] = joint.armature
    return index, pin.SE3.Identity(), model.addJointFrame(index, frame)


def _position_limits(joint: Joint, nq: int) -> tuple[np.ndarray, np.ndarray]:
    if nq == 1:
        return np.array([joint.lower]), np.array([joint.upper])
    if joint.kind == "continuous":
        return -1.01 * np.ones(2), 1.01 * np.ones(2)
    bound = np.full(nq, np.inf)
    unit = {"spherical": slice(0, 4), "planar": slice(2, 4), "free": slice(3, 7)}.get(joint.kind, slice(0, 0))
    bound[unit] = 1.01
    return -bound, bound


def _pinocchio_joint(joint: Joint) -> pin.JointModel:
    simple = {"spherical": pin.JointModelSpherical, "planar": pin.JointModelPlanar, "free": pin.JointModelFreeFlyer,
              "translation": pin.JointModelTranslation}  # fmt: skip
    if joint.kind in simple:
        return simple[joint.kind]()
    axis = np.array(joint.axis)
    aligned = next((letter for letter, unit in _AXES.items() if np.array_equal(axis, unit)), None)
    if joint.kind == "helical":
        return (
            getattr(pin, f"JointModelH{aligned}")(joint.pitch)
            if aligned
            else pin.JointModelHelicalUnaligned(axis, joint.pitch)
        )
    if joint.kind == "continuous":
        return getattr(pin, f"JointModelRUB{aligned}")() if aligned else _unbounded(axis)
    letter, unaligned = {
        "revolute": ("R", pin.JointModelRevoluteUnaligned),
        "prismatic": ("P", pin.JointModelPrismaticUnaligned),
    }[joint.kind]
    return getattr(pin, f"JointModel{letter}{aligned}")() if aligned else unaligned(axis)


def _unbounded(axis: np.ndarray) -> pin.JointModel:
    """A continuous joint about any axis: Pinocchio's Python offers it only through its URDF reader."""
    xyz = " ".join(repr(float(x)) for x in axis)
    text = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        f'<parent link="a"/><child link="b"/><axis xyz="{xyz}"/></joint></robot>'
    )
    return pin.buildModelFromXML(text).joints[1]


def reduce_couplings(model: pin.Model, couplings: Sequence[Coupling]) -> pin.Model:
    """The model in which every coupled joint copies its source and has no coordinate of its own."""
    for item in couplings:
        leader, follower = model.getJointId(item.source), model.getJointId(item.joint)
        model = pin.transformJointIntoMimic(model, leader, follower, item.ratio, item.offset)
    return model
