"""Assemble a finished `Robot` from a Pinocchio model and the parts that the readers found.

With `mimic="reduce"`, followers lose their coordinate and count at the joint that leads them: with q_f = c + n q_s the
follower's inertia, damping and friction count at the leader as n² J, n² d and |n| f (equal power), its limits bound the
leader to (q − c)/n and v/|n|, and its drive acts there with |n| τ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from types import MappingProxyType
from typing import Literal

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ModelError, one_of
from surefoot.robot.anatomy import anatomy
from surefoot.robot.build.contact_search import find_contacts
from surefoot.robot.build.drives import UNBOUNDED, default_drives, require_joints, write_drive, write_effort
from surefoot.robot.build.home import home_posture, on_ground, upright_one
from surefoot.robot.build.model import build_model, reduce_couplings
from surefoot.robot.model import (
    AnatomyHints,
    ContactSurface,
    Coupling,
    Drive,
    Finding,
    Geometry,
    Limits,
    Link,
    Loop,
    NamedFrame,
    Robot,
    Spring,
    Tree,
    makes_robots,
    resolve_couplings,
    tree_of_model,
)


def reduced(model: pin.Model, tree: Tree, ties: Sequence[Coupling]) -> tuple[pin.Model, Tree]:
    """The model and tree without the coordinates of the followers.

    Args:
        model: The whole model.
        tree: Its tree.
        ties: Couplings, each led by the joint that comes first (`led_by_first`).

    Raises:
        ModelError: A joint of them is neither revolute nor prismatic.
    """
    for name in dict.fromkeys(name for item in ties for name in (item.joint, item.source)):
        kind = tree.kinds[tree.joint_names.index(name)]
        if kind not in ("revolute", "prismatic"):
            raise ModelError(
                f"joint `{name}` is {kind}; only revolute and prismatic joints can be coupled away",
                next_step='load with mimic="coupling"',
            )
    followers = {item.joint: tree.joint_names.index(item.joint) for item in ties}
    kinds = {name: (tree.kinds[i], tree.axes[i]) for name, i in followers.items()}
    small = reduce_couplings(model, ties)
    _copy_joint_numbers(model, small)
    for tie in ties:
        _add_share(model, small, tie)
    return small, tree_of_model(small, kinds)


def _copy_joint_numbers(model: pin.Model, small: pin.Model) -> None:
    """Armature, damping and friction of the joints that keep their coordinate."""
    for i in range(1, small.njoints):
        old, new = model.joints[i], small.joints[i]
        if new.nv:
            here, there = slice(new.idx_v, new.idx_v + new.nv), slice(old.idx_v, old.idx_v + old.nv)
            for key in ("armature", "damping", "lowerDryFrictionLimit", "upperDryFrictionLimit"):
                getattr(small, key)[here] = getattr(model, key)[there]


def _add_share(model: pin.Model, small: pin.Model, tie: Coupling) -> None:
    """Contribution of one follower to its leader."""
    old, new = model.joints[model.getJointId(tie.joint)], small.joints[small.getJointId(tie.source)]
    f, s, n = old.idx_v, new.idx_v, abs(tie.ratio)
    small.armature[s] += n * n * model.armature[f]
    small.damping[s] += n * n * model.damping[f]
    small.upperDryFrictionLimit[s] += n * model.upperDryFrictionLimit[f]
    small.lowerDryFrictionLimit[s] += n * model.lowerDryFrictionLimit[f]
    if n == 0.0:
        return
    bounds = np.array([model.lowerPositionLimit[old.idx_q], model.upperPositionLimit[old.idx_q]])
    with np.errstate(over="ignore"):
        low, high = np.sort((bounds - tie.offset) / tie.ratio)
        speed = float(model.velocityLimit[f]) / n
    small.lowerPositionLimit[new.idx_q] = max(small.lowerPositionLimit[new.idx_q], low)
    small.upperPositionLimit[new.idx_q] = min(small.upperPositionLimit[new.idx_q], high)
    if 0.0 < speed < small.velocityLimit[s] or small.velocityLimit[s] == 0.0:
        small.velocityLimit[s] = speed


def drives_on_leaders(drives: Sequence[Drive], ties: Sequence[Coupling]) -> tuple[Drive, ...]:
    """The drives as the leaders feel them; several on one leader become one.

    A command acts on the leader's coordinate. A drive on a follower that does not move (ratio 0) is dropped.

    Args:
        drives: The drives of the whole robot.
        ties: Couplings, each led by the joint that comes first.
    """
    by_joint = {item.joint: item for item in ties}
    merged: dict[str, Drive] = {}
    for drive in drives:
        tie = by_joint.get(drive.joint)
        if tie is not None and tie.ratio == 0.0:
            continue
        seen = drive if tie is None else _seen_at_leader(drive, tie)
        merged[seen.joint] = _together(merged[seen.joint], seen) if seen.joint in merged else seen
    return tuple(merged.values())


def _seen_at_leader(drive: Drive, tie: Coupling) -> Drive:
    n = abs(tie.ratio)
    return replace(
        drive, joint=tie.source, gear_ratio=drive.gear_ratio * n, torque_limit=drive.torque_limit * n,
        speed_limit=drive.speed_limit / n, corner_speed=drive.corner_speed / n,
        dry_friction=drive.dry_friction * n, viscous_friction=drive.viscous_friction * n * n,
        stiffness=drive.stiffness * n * n, damping=drive.damping * n * n,
        servo_stiffness=drive.servo_stiffness * n * n, servo_damping=drive.servo_damping * n * n,
        servo_dead_band=drive.servo_dead_band / n, servo_step=drive.servo_step / n,
    )  # fmt: skip


def _together(a: Drive, b: Drive) -> Drive:
    """Two drives on one joint: torques, inertias and frictions add, the slower one bounds the speed."""
    return replace(
        a,
        rotor_inertia=(a.armature + b.armature) / a.gear_ratio**2,
        torque_limit=a.torque_limit + b.torque_limit,
        speed_limit=min(a.speed_limit, b.speed_limit),
        corner_speed=min(a.corner_speed, b.corner_speed),
        dry_friction=a.dry_friction + b.dry_friction,
        viscous_friction=a.viscous_friction + b.viscous_friction,
    )


def led_by_first(couplings: Sequence[Coupling], order: Sequence[str]) -> tuple[Coupling, ...]:
    """The same ties, each group led by its joint that comes first in the tree.

    A follower before its source takes the lead: from q_f = c + n q_s follows q_s = (q_f − c)/n.

    Args:
        couplings: Ties whose source leads freely (`resolve_couplings`).
        order: Joint names in the order of the tree.

    Raises:
        ModelError: A joint that must take the lead does not move with its source (n = 0).
    """
    out: list[Coupling] = []
    for source in dict.fromkeys(item.source for item in couplings):
        group = [Coupling(source, source), *(item for item in couplings if item.source == source)]
        first = min(group, key=lambda item: order.index(item.joint))
        if first.ratio == 0.0:
            raise ModelError(
                f"joint `{first.joint}` follows `{source}` with ratio 0 and comes before it in the tree",
                next_step='load with mimic="coupling"',
            )
        for item in group:
            if item.joint != first.joint:
                ratio = item.ratio / first.ratio
                out.append(Coupling(item.joint, first.joint, ratio, item.offset - ratio * first.offset))
    return tuple(out)


Mimic = Literal["coupling", "reduce", "free"]
MIMIC_MODES: tuple[str, ...] = ("coupling", "reduce", "free")
_UNIT_ENTRIES = {"continuous": slice(0, 2), "spherical": slice(0, 4), "planar": slice(2, 4), "free": slice(3, 7)}


@dataclass(frozen=True)
class Parts:
    """Parts of a robot besides its model.

    Args:
        collisions: Collision shapes.
        visuals: Shapes to look at.
        frames: Added frames.
        contacts: Contact surfaces; None to find them from the collision shapes.
        drives: Drives; None for one on every joint that is neither base nor follower.
        loops: Closed chains.
        couplings: Joint couplings.
        home: Joint positions of the home posture by name; None for zero, well inside the limits where zero is outside.
        home_base: First entries of q at home; None for neutral, with the feet on z = 0.
        grounded: Whether the feet are on z = 0 at home even if `home_base` is given.
        other_homes: Further `home` and `home_base`, where the file leaves open which posture is home.
        hints: What is given of its anatomy.
        notes: Findings of the reader.
        source: The file.
        adjust_drives: From the drives and the joint names to the final drives.
        springs: Springs and dampers.
        excludes: Pairs of links that never touch each other.
    """

    collisions: tuple[Geometry, ...] = ()
    visuals: tuple[Geometry, ...] = ()
    frames: tuple[NamedFrame, ...] = ()
    contacts: tuple[ContactSurface, ...] | None = None
    drives: tuple[Drive, ...] | None = None
    loops: tuple[Loop, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    home: Mapping[str, ArrayLike] | None = None
    home_base: Sequence[float] | None = None
    grounded: bool = False
    other_homes: tuple[tuple[Mapping[str, ArrayLike] | None, Sequence[float] | None], ...] = ()
    hints: AnatomyHints = field(default=AnatomyHints())
    notes: tuple[Finding, ...] = field(default=())
    source: str = ""
    adjust_drives: Callable[[tuple[Drive, ...], Sequence[str]], tuple[Drive, ...]] | None = None
    springs: tuple[Spring, ...] = ()
    excludes: tuple[tuple[str, str], ...] = ()


@makes_robots("assemble")
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
    known = {item.name for item in fields(Parts)}
    for key in extras:
        if key not in known:
            raise one_of("field of a robot", key, known)
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
    _require_base(name, model, base)
    couplings = _checked_couplings(model, parts.couplings) if mimic != "free" else ()
    drives = _finished_drives(model, parts, {item.joint for item in couplings})
    tree = tree_of_model(model)
    _require_finite(name, model, tree, parts.source)
    ties, springs = couplings, parts.springs
    _require_springs(tree, springs)
    if mimic == "reduce" and ties:
        led = led_by_first(ties, tree.joint_names)
        (model, tree), drives, couplings = reduced(model, tree, led), drives_on_leaders(drives, led), ()
        gone = {item.joint: (item.source, item.ratio, item.offset) for item in led}
        springs = tuple(spring for item in springs if (spring := item.without(gone)) is not None)
        for drive in drives:
            write_effort(model, drive)
    neutral = _read_only(pin.neutral(model))
    robot = Robot(
        name=name, model=model, tree=tree, base=base, limits=_limits(model, tree), neutral=neutral, home=neutral,
        drives=drives, loops=parts.loops, couplings=tuple(couplings), collisions=parts.collisions,
        visuals=parts.visuals, frames=parts.frames, hints=parts.hints, notes=parts.notes, source=parts.source,
        springs=springs, excludes=parts.excludes,
    )  # fmt: skip
    _require_frames(robot)
    return _with_home_and_contacts(robot, parts, ties)


def _with_home_and_contacts(robot: Robot, parts: Parts, ties: Sequence[Coupling]) -> Robot:
    """Find what touches the ground in the home posture, and put it there."""
    homes = ((parts.home, parts.home_base), *parts.other_homes)
    posture = upright_one(robot, [home_posture(robot, joints, base, ties) for joints, base in homes])
    found = find_contacts(robot, posture) if parts.contacts is None else parts.contacts
    for contact in found:
        robot.frame_id(contact.frame)
    robot = robot.replace(contacts=MappingProxyType({contact.name: contact for contact in found}))
    is_free = parts.grounded or parts.home_base is None
    robot = robot.replace(home=_read_only(on_ground(robot, posture) if is_free else posture))
    if robot.hints != AnatomyHints():
        anatomy(robot)  # refuses hints that are wrong
    return robot


def _finished_drives(model: pin.Model, parts: Parts, followers: set[str]) -> tuple[Drive, ...]:
    """The given or default drives, changed by the side file, and written into the model."""
    drives = parts.drives if parts.drives is not None else default_drives(model, followers)
    require_joints(model, drives)
    if parts.adjust_drives is not None:
        drives = parts.adjust_drives(drives, [str(name) for name in model.names][1:])
    for drive in drives:
        write_drive(model, drive)
    return drives


def _require_base(name: str, model: pin.Model, base: str) -> None:
    """A floating or planar robot has a joint on the world that carries it."""
    kind = {"floating": "JointModelFreeFlyer", "planar": "JointModelPlanar", "fixed": ""}.get(base)
    if kind is None:
        raise one_of("base", base, ("floating", "planar", "fixed"))
    on_world = [model.joints[i].shortname() for i in range(1, model.njoints) if model.parents[i] == 0]
    if kind and kind not in on_world:
        raise ModelError(
            f"`{name}` has base `{base}`, but no such joint carries it",
            evidence={"joints on the world": on_world},
            next_step="give one link no joint: it hangs on the base",
        )


def _require_springs(tree: Tree, springs: Sequence[Spring]) -> None:
    """Springs are on joints with one position."""
    for name in (joint for spring in springs for joint in spring.joints):
        if name not in tree.joint_names:
            raise one_of("joint", name, tree.joint_names)
        if tree.nq_of(tree.joint_names.index(name)) != 1:
            raise ModelError(f"a spring is on joint `{name}`, which has no single position")


def _require_frames(robot: Robot) -> None:
    """Loops and shapes name frames that exist."""
    for item in robot.loops:
        for frame in (item.frame_a, item.frame_b):
            robot.frame_id(frame)
    for link in (*(shape.link for shape in (*robot.collisions, *robot.visuals)), *chain(*robot.excludes)):
        robot.frame_id(link)


def _read_only(q: Array) -> Array:
    out = np.array(q, dtype=float)
    out.setflags(write=False)
    return out


def _limits(model: pin.Model, tree: Tree) -> Limits:
    """Bounds of a model: infinite where Pinocchio has its largest number, ±1.01 for entries of unit vectors."""

    def bound(values: Array) -> Array:
        out = np.array(values, dtype=float)
        far = np.abs(out) >= UNBOUNDED
        out[far] = np.sign(out[far]) * np.inf
        return out

    lower, upper = bound(model.lowerPositionLimit), bound(model.upperPositionLimit)
    for i, kind in enumerate(tree.kinds):
        if tree.nq_of(i) and kind in _UNIT_ENTRIES:
            start = int(tree.q_index[i])
            entries = slice(start + _UNIT_ENTRIES[kind].start, start + _UNIT_ENTRIES[kind].stop)
            lower[entries], upper[entries] = -1.01, 1.01
    velocity, effort = bound(model.velocityLimit), bound(model.effortLimit)
    return Limits(*(_read_only(values) for values in (lower, upper, velocity, effort)))


def _checked_couplings(model: pin.Model, couplings: Sequence[Coupling]) -> tuple[Coupling, ...]:
    for item in couplings:
        for name in (item.joint, item.source):
            if not model.existJointName(name):
                raise one_of("joint", name, list(model.names)[1:])
            if model.joints[model.getJointId(name)].nv != 1:
                raise ModelError(f"coupling of `{item.joint}`: joint `{name}` has more than one axis")
    return resolve_couplings(couplings)


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
