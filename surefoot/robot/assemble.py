"""From a Pinocchio model and what the readers found to a finished `Robot`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.errors import ModelError, one_of
from surefoot.robot.build import build_model, reduce_couplings
from surefoot.robot.contact_search import find_contacts, height_on_ground
from surefoot.robot.contacts import ContactSurface
from surefoot.robot.drives import Drive
from surefoot.robot.findings import Finding
from surefoot.robot.links import Geometry, Link, NamedFrame
from surefoot.robot.loops import Coupling, Loop, led_by_first, resolve_couplings
from surefoot.robot.robot import Limits, Robot
from surefoot.robot.tree import Tree, tree_of_model

__all__ = ["MIMIC_MODES", "Mimic", "Parts", "assemble", "assemble_links"]

Array = NDArray[np.float64]
Mimic = Literal["coupling", "reduce", "free"]
MIMIC_MODES: tuple[str, ...] = ("coupling", "reduce", "free")
_UNBOUNDED = float(np.finfo(float).max)  # what Pinocchio writes where there is no bound


@dataclass(frozen=True)
class Parts:
    """What belongs to a robot beside its model.

    Args:
        collisions: Collision shapes.
        visuals: Shapes to look at.
        frames: Added frames.
        contacts: Contact surfaces; None to find them from the collision shapes.
        drives: Drives; None for one on every joint that is neither base nor follower.
        loops: Closed chains.
        couplings: Joint couplings.
        home: Joint positions of the home posture by name; None for zero, moved inside the limits.
        home_base: First entries of q at home; None to put the feet on z = 0.
        notes: What the reader has to say.
        source: The file.
        adjust_drives: From the drives and the joint names to the final drives.
    """

    collisions: tuple[Geometry, ...] = ()
    visuals: tuple[Geometry, ...] = ()
    frames: tuple[NamedFrame, ...] = ()
    contacts: tuple[ContactSurface, ...] | None = None
    drives: tuple[Drive, ...] | None = None
    loops: tuple[Loop, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    home: Mapping[str, float] | None = None
    home_base: Sequence[float] | None = None
    notes: tuple[Finding, ...] = field(default=())
    source: str = ""
    adjust_drives: Callable[[tuple[Drive, ...], Sequence[str]], tuple[Drive, ...]] | None = None


def assemble_links(
    name: str,
    links: Sequence[Link],
    base: str = "fixed",
    *,
    mimic: Mimic = "coupling",
    parts: Parts | None = None,
    **extras: object,
) -> Robot:
    """A robot from links.

    Args:
        name: Its name.
        links: The links with their joints.
        base: Joint of links without joint: "floating", "planar" or "fixed".
        mimic: What to do with couplings, as in `surefoot.load`.
        parts: What belongs to it beside the links; or
        **extras: the fields of `Parts` by name.
    """
    parts = parts or Parts(**extras)  # type: ignore[arg-type]
    shapes = Parts(
        **{
            **parts.__dict__,
            "collisions": (*parts.collisions, *(g for link in links for g in link.collisions)),
            "visuals": (*parts.visuals, *(g for link in links for g in link.visuals)),
        }
    )
    return assemble(name, build_model(name, links, base, parts.frames), base, shapes, mimic)


def assemble(name: str, model: pin.Model, base: str, parts: Parts, mimic: Mimic = "coupling") -> Robot:
    """A finished robot.

    Args:
        name: Its name.
        model: Its model, couplings not yet applied.
        base: "floating", "planar" or "fixed".
        parts: The rest of it.
        mimic: "coupling" keeps followers as joints and lists the couplings; "reduce" takes their coordinates away;
            "free" forgets the couplings.
    """
    if mimic not in MIMIC_MODES:
        raise one_of("mimic mode", mimic, MIMIC_MODES)
    couplings = _checked_couplings(model, parts.couplings) if mimic != "free" else ()
    drives = _drives(model, parts.drives, {item.joint for item in couplings})
    if parts.adjust_drives is not None:
        drives = parts.adjust_drives(drives, [str(name) for name in model.names][1:])
    for drive in drives:
        _set_armature(model, drive)
    tree = tree_of_model(model)
    _require_finite(name, model, tree, parts.source)
    if mimic == "reduce" and couplings:
        ties = led_by_first(couplings, tree.joint_names)
        (model, tree), drives, couplings = _reduced(model, tree, ties), _on_leaders(drives, ties), ()
    neutral = pin.neutral(model)
    robot = Robot(
        name=name, model=model, tree=tree, base=base, limits=_limits(model), neutral=_read_only(neutral),
        home=_read_only(neutral), drives=drives, loops=parts.loops, couplings=tuple(couplings),
        collisions=parts.collisions, visuals=parts.visuals, frames=parts.frames, notes=parts.notes, source=parts.source,
    )  # fmt: skip
    return _with_home_and_contacts(robot, parts)


def _with_home_and_contacts(robot: Robot, parts: Parts) -> Robot:
    """Find what touches the ground in the home posture, and put it there."""
    posture = _posture(robot, parts)
    found = find_contacts(robot, posture) if parts.contacts is None else parts.contacts
    for contact in found:
        robot.frame_id(contact.frame)
    contacts = MappingProxyType({contact.name: contact for contact in found})
    if parts.home_base is None and robot.base == "floating":
        up = robot.tree.placements[0, :3, :3].T @ np.array([0.0, 0.0, 1.0])
        posture[:3] += height_on_ground(robot, posture, found) * up
    return robot.replace(contacts=contacts, home=_read_only(posture))


def _posture(robot: Robot, parts: Parts) -> Array:
    """The home posture; without one given, zero positions moved inside the limits."""
    if parts.home is not None:
        followers = {c.joint: c.offset + c.ratio * parts.home.get(c.source, 0.0) for c in robot.couplings}
        given = {name: value for name, value in parts.home.items() if _has_coordinate(robot, name)}
        return robot.q_of({**followers, **given}, parts.home_base)
    q = robot.q_of({}, parts.home_base)
    one_axis = [i for i, kind in enumerate(robot.tree.kinds) if kind in ("revolute", "prismatic", "helical")]
    rows = [int(robot.tree.q_index[i]) for i in one_axis if robot.tree.nq_of(i)]
    q[rows] = np.clip(q[rows], robot.limits.lower[rows], np.maximum(robot.limits.upper[rows], robot.limits.lower[rows]))
    return q


def _has_coordinate(robot: Robot, name: str) -> bool:
    return robot.tree.nq_of(robot.joint_index(name)) > 0


def _read_only(q: Array) -> Array:
    out = np.array(q, dtype=float)
    out.setflags(write=False)
    return out


def _limits(model: pin.Model) -> Limits:
    def bound(values: Array) -> Array:
        out = np.array(values, dtype=float)
        out[np.abs(out) >= _UNBOUNDED] = np.sign(out[np.abs(out) >= _UNBOUNDED]) * np.inf
        return _read_only(out)

    return Limits(
        bound(model.lowerPositionLimit),
        bound(model.upperPositionLimit),
        bound(model.velocityLimit),
        bound(model.effortLimit),
    )


def _drives(model: pin.Model, given: tuple[Drive, ...] | None, followers: set[str]) -> tuple[Drive, ...]:
    """The given drives, or one on every joint that is neither base nor follower."""
    if given is not None:
        for drive in given:
            if not model.existJointName(drive.joint):
                raise one_of("joint", drive.joint, list(model.names)[1:])
        return given
    out = []
    for i in range(1, model.njoints):
        joint, name = model.joints[i], str(model.names[i])
        is_base = model.parents[i] == 0 and joint.nv in (3, 6) and "Spherical" not in joint.shortname()
        if is_base or name in followers:
            continue
        row = joint.idx_v
        effort, speed = float(model.effortLimit[row]), float(model.velocityLimit[row])
        out.append(
            Drive(
                name,
                rotor_inertia=float(model.armature[row]),
                dry_friction=float(model.upperDryFrictionLimit[row]),
                viscous_friction=float(model.damping[row]),
                torque_limit=effort if 0.0 < effort < _UNBOUNDED else np.inf,
                speed_limit=speed if 0.0 < speed < _UNBOUNDED else np.inf,
            )
        )
    return tuple(out)


def _set_armature(model: pin.Model, drive: Drive) -> None:
    joint = model.joints[model.getJointId(drive.joint)]
    model.armature[joint.idx_v : joint.idx_v + joint.nv] = drive.armature
    model.rotorInertia[joint.idx_v : joint.idx_v + joint.nv] = drive.rotor_inertia
    model.rotorGearRatio[joint.idx_v : joint.idx_v + joint.nv] = drive.gear_ratio


def _checked_couplings(model: pin.Model, couplings: Sequence[Coupling]) -> tuple[Coupling, ...]:
    for item in couplings:
        for name in (item.joint, item.source):
            if not model.existJointName(name):
                raise one_of("joint", name, list(model.names)[1:])
            if model.joints[model.getJointId(name)].nv != 1:
                raise ModelError(f"coupling of `{item.joint}`: joint `{name}` has more than one axis")
    return resolve_couplings(couplings)


def _reduced(model: pin.Model, tree: Tree, couplings: Sequence[Coupling]) -> tuple[pin.Model, Tree]:
    """Take the coordinates of the followers away."""
    for item in couplings:
        for name in (item.joint, item.source):
            kind = tree.kinds[tree.joint_names.index(name)]
            if kind not in ("revolute", "prismatic"):
                raise ModelError(
                    f"joint `{name}` is {kind}; only revolute and prismatic joints can be coupled away",
                    next_step='load with mimic="coupling"',
                )
    followers = {item.joint: tree.joint_names.index(item.joint) for item in couplings}
    kinds = {name: (tree.kinds[i], tree.axes[i]) for name, i in followers.items()}
    model = reduce_couplings(model, couplings)
    return model, tree_of_model(model, kinds)


def _on_leaders(drives: tuple[Drive, ...], couplings: Sequence[Coupling]) -> tuple[Drive, ...]:
    """Drives of joints without coordinate, seen at the joint that leads them: tau_lead = n tau, v_lead = v/n."""
    by_joint = {item.joint: item for item in couplings}
    out = []
    for drive in drives:
        tie = by_joint.get(drive.joint)
        if tie is None:
            out.append(drive)
            continue
        n = abs(tie.ratio)
        out.append(
            replace(
                drive, joint=tie.source, gear_ratio=drive.gear_ratio * n, torque_limit=drive.torque_limit * n,
                speed_limit=drive.speed_limit / n, corner_speed=drive.corner_speed / n,
                dry_friction=drive.dry_friction * n, viscous_friction=drive.viscous_friction * n * n,
                stiffness=drive.stiffness * n * n, damping=drive.damping * n * n,
            )
        )  # fmt: skip
    return tuple(out)


def _require_finite(name: str, model: pin.Model, tree: Tree, source: str) -> None:
    """Refuse numbers that overflowed while bodies were merged."""
    for i in range(tree.n):
        numbers = (tree.masses[i], *tree.coms[i], *tree.inertias[i].ravel(), *tree.placements[i].ravel(), *tree.axes[i])
        if not np.isfinite(numbers).all():
            raise ModelError(
                f"numbers of link `{tree.body_names[i]}` are too large to compute with",
                evidence={"mass": tree.masses[i], "centre of mass": tree.coms[i], "inertia": tree.inertias[i].tolist()},
                next_step="check the units: kg, m, kg m²",
                file=source or None,
            )
    if not np.isfinite(tree.masses.sum()):
        raise ModelError(f"the total mass of `{name}` is not finite", file=source or None)
    if not (np.isfinite(model.damping).all() and np.isfinite(model.armature).all()):
        raise ModelError("damping or rotor inertia is not finite", file=source or None)
