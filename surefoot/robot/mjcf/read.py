"""MJCF → robot. MuJoCo compiles the description; the links, loops and drives are read off the compiled model.

So defaults, frames, replicas, attachments and orientations have the meaning that MuJoCo gives them. The home posture is
a keyframe, or else the initial configuration, with the feet on the ground.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import mujoco
import numpy as np

from surefoot.arrays import Array
from surefoot.errors import ModelError, SurefootError, one_of
from surefoot.robot.build import Parts, well_inside
from surefoot.robot.mjcf.compile import compile_mjcf
from surefoot.robot.mjcf.drives import drives_of
from surefoot.robot.mjcf.guard import MjcfFiles, guard_mjcf
from surefoot.robot.mjcf.names import Names, names_of, pose, unused
from surefoot.robot.mjcf.notes import MOVES_OTHERWISE, Remark, grouped
from surefoot.robot.mjcf.shapes import excludes_of, shapes_of, world_note
from surefoot.robot.mjcf.ties import springs_of, ties_of
from surefoot.robot.mjcf.tree import free_pose, is_lopsided, is_one_axis, joint_force_range, links_of, safe_limit
from surefoot.robot.model import Finding, Joint, JointKind, Link, NamedFrame, placement
from surefoot.spatial import quaternion, se3

_KEYS = 8  # keyframes among which the home posture is looked for


@dataclass(frozen=True)
class Home:
    """A home posture.

    Args:
        joints: Positions of the joints by name, quaternions xyzw; None if the description has none.
        base: Pose of the floating base, (7,), quaternion xyzw; None to put the feet on the ground.
    """

    joints: dict[str, float | tuple[float, ...]] | None
    base: tuple[float, ...] | None


def _root_is_free(model: mujoco.MjModel) -> bool:
    """Whether the first joint is that of a floating base."""
    return bool(model.njnt and model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE)


def _homes_of(model: mujoco.MjModel, names: Names) -> list[Home]:
    """The keyframe `home` or the only one, else the initial configuration.

    With several keyframes of other names, they and the initial configuration: those named `stand…` first.
    """
    labels = [str(model.key(i).name).lower() for i in range(model.nkey)]
    ranked = sorted(range(model.nkey), key=lambda i: (labels[i] != "home", not labels[i].startswith("stand"), i))
    if not ranked:
        return [_initial(model, names)]
    is_open = len(ranked) > 1 and labels[ranked[0]] != "home"
    found = [_home_at(model, names, np.array(model.key_qpos[i])) for i in ranked[: _KEYS if is_open else 1]]
    return [*found, _initial(model, names)] if is_open else found


def _home_at(model: mujoco.MjModel, names: Names, qpos: Array) -> Home:
    base = tuple(free_pose(model, 0, qpos).tolist()) if _root_is_free(model) else None
    return Home(_positions(model, names, qpos), base)


def _initial(model: mujoco.MjModel, names: Names) -> Home:
    """The initial configuration, well inside the limits where it is outside; nothing where all of it is zero."""
    qpos = np.array(model.qpos0)
    for k in range(model.njnt):
        if model.jnt_limited[k] and is_one_axis(model, k):
            low, high = (float(bound) for bound in model.jnt_range[k])
            qpos[model.jnt_qposadr[k]] = well_inside(float(qpos[model.jnt_qposadr[k]]), low, high)
    positions = _positions(model, names, qpos)
    base = free_pose(model, 0, qpos) if _root_is_free(model) else None
    turned = base is not None and not np.allclose(base[3:6], 0.0, atol=1e-12)
    return Home(
        positions if any(np.any(np.asarray(x)[..., :-1] if np.ndim(x) else x) for x in positions.values()) else None,
        tuple(base.tolist()) if base is not None and turned else None,
    )


def _positions(model: mujoco.MjModel, names: Names, qpos: Array) -> dict[str, float | tuple[float, ...]]:
    """Positions of all joints except the base joint."""
    out: dict[str, float | tuple[float, ...]] = {}
    for k in range(1 if _root_is_free(model) else 0, model.njnt):
        start = int(model.jnt_qposadr[k])
        if is_one_axis(model, k):
            out[names.joints[k]] = float(qpos[start])
        elif model.jnt_type[k] == mujoco.mjtJoint.mjJNT_FREE:
            out[names.joints[k]] = tuple(free_pose(model, k, qpos).tolist())
        else:
            unit = quaternion.normalise(quaternion.from_wxyz(np.array(qpos[start : start + 4])))
            out[names.joints[k]] = tuple(unit.tolist())
    return out


_KIND_OF_BASE: dict[str, JointKind] = {"floating": "free", "planar": "planar", "fixed": "fixed"}


@dataclass(frozen=True, eq=False)
class MjcfRobot:
    """A robot as read from an MJCF file, before it becomes a model.

    Args:
        name: Name of the model, or of the file.
        links: The links with their joints and shapes, parents first; q of hinges and slides is MuJoCo's qpos.
        base: "floating" if the first joint is a free joint, else "fixed".
        parts: Frames, drives, loops, couplings, home and notes.
        start: T_world_root of the body on the base, where the file puts it, (4, 4).
    """

    name: str
    links: list[Link]
    base: str
    parts: Parts
    start: Array = field(default_factory=placement)


def mjcf_links(path: str | Path, meshes: str = "warn") -> MjcfRobot:
    """The links and parts in an MJCF file.

    Args:
        path: The file; its root element is `mujoco`.
        meshes: What to do about meshes that do not exist: "warn" or "skip" drops the shapes that use them if no inertia
            comes from them, "require" refuses.

    Raises:
        FileFormatError: A file cannot be read.
        ModelError: The description contradicts itself; `MissingMeshError` for a mesh that is required.
    """
    files = guard_mjcf(path)
    model, compiler_notes = compile_mjcf(files, meshes)
    try:
        names = names_of(model)
        # MuJoCo takes a range whose ends are swapped for no range at all
        for k in np.flatnonzero(model.jnt_range[:, 0] > model.jnt_range[:, 1]):
            raise ModelError(
                f"joint `{names.joints[k]}`: lower limit above upper limit", evidence={"range": model.jnt_range[k]}
            )
        return _robot_of(model, names, files, str(path), compiler_notes)
    except SurefootError as error:
        raise error.with_place(path) from None


def _robot_of(
    model: mujoco.MjModel, names: Names, files: MjcfFiles, source: str, compiler_notes: tuple[Finding, ...]
) -> MjcfRobot:
    collisions, visuals, shape_notes = shapes_of(model, names)
    loops, couplings, tie_notes = ties_of(model, names)
    springs, spring_notes = springs_of(model, names)
    drives, drive_notes = drives_of(model, names)
    excludes, exclude_notes = excludes_of(model, names)
    home, *others = _homes_of(model, names)
    remarks = (
        *world_note(model, names), *shape_notes, *exclude_notes, *tie_notes, *spring_notes, *drive_notes,
        *_dropped(model, names),
    )  # fmt: skip
    parts = Parts(
        frames=_frames(model, names),
        drives=drives,
        loops=loops,
        couplings=couplings,
        home=home.joints,
        home_base=home.base,
        grounded=True,
        other_homes=tuple((other.joints, other.base) for other in others),
        springs=springs,
        excludes=excludes,
        notes=(*compiler_notes, *grouped(remarks, files)),
        source=source,
    )
    links = links_of(model, names, collisions, visuals)
    root = int(model.jnt_bodyid[0]) if _root_is_free(model) else min(1, model.nbody - 1)
    start = pose(model.body_pos[root], model.body_quat[root])
    return MjcfRobot(files.name, links, "floating" if _root_is_free(model) else "fixed", parts, start)


def with_base(found: MjcfRobot, base: str) -> MjcfRobot:
    """The same robot on another base.

    The first link changes its joint. A fixed or planar base starts where the file puts the link; a planar one moves in
    the world's x–y plane, however the link is turned. A floating base stands at home as the file turns it.

    Args:
        found: The robot.
        base: "auto" for its own base, "floating", "planar" or "fixed".
    """
    if base not in ("auto", *_KIND_OF_BASE):
        raise one_of("base", base, ("auto", *_KIND_OF_BASE))
    if base in ("auto", found.base):
        return found
    root = _root(found)
    if root is None:
        raise ModelError(f"`{found.name}` has no first link that could be put on a {base} base")
    links = [*found.links[:root], *_on_base(found, root, base), *found.links[root + 1 :]]
    home_base = se3.to_pose(found.start).tolist() if base == "floating" and _is_turned(found.start) else None
    others = tuple((joints, home_base) for joints, _ in found.parts.other_homes)
    return replace(found, links=links, base=base, parts=replace(found.parts, home_base=home_base, other_homes=others))


def _on_base(found: MjcfRobot, root: int, base: str) -> list[Link]:
    """The root link on another base; a link before it carries a planar base where the root is turned."""
    link = found.links[root]
    taken = {item.name for item in found.links} | {item.joint.name for item in found.links if item.joint}
    own = link.joint
    name = own.name if own is not None and own.kind == "free" else unused("root_joint", taken)
    if base != "planar" or not _is_turned(found.start):
        return [
            replace(link, joint=Joint(name, _KIND_OF_BASE[base], placement() if base == "floating" else found.start))
        ]
    carrier = Link(unused(f"{link.name}__base", taken), None, Joint(name, "planar", placement(found.start[:3, 3])))
    turn = Joint(unused(f"{link.name}__turn", taken), "fixed", placement(rotation=found.start[:3, :3]))
    return [carrier, replace(link, parent=carrier.name, joint=turn)]


def _is_turned(start: Array) -> bool:
    return not np.allclose(start[:3, :3], np.eye(3), atol=1e-12)


def _root(found: MjcfRobot) -> int | None:
    """Index of the link that hangs on the base: the first one with a free joint, else the first if it is held fast."""
    kinds = [link.joint.kind if link.joint else "fixed" for link in found.links]
    if found.base == "floating":
        return kinds.index("free")
    return 0 if kinds and kinds[0] == "fixed" else None


def _frames(model: mujoco.MjModel, names: Names) -> tuple[NamedFrame, ...]:
    """The sites of the robot; those of the world are omitted."""
    return tuple(
        NamedFrame(names.sites[i], names.bodies[model.site_bodyid[i]], pose(model.site_pos[i], model.site_quat[i]))
        for i in range(model.nsite)
        if model.site_bodyid[i] > 0
    )


def _dropped(model: mujoco.MjModel, names: Names) -> list[Remark]:
    """Remarks on properties of the model that a robot does not have."""
    out: list[Remark] = []
    for k in range(model.njnt):
        if model.dof_dampingpoly[model.jnt_dofadr[k]].any():
            out.append(Remark("warning", "joint", names.joints[k], f"damping that is not linear {MOVES_OTHERWISE}"))
        if model.jnt_type[k] == mujoco.mjtJoint.mjJNT_BALL and model.jnt_limited[k]:
            out.append(Remark("warning", "joint", names.joints[k], "limit of the ball joint dropped"))
        if model.jnt_type[k] == mujoco.mjtJoint.mjJNT_FREE and model.dof_armature[model.jnt_dofadr[k]]:
            out.append(Remark("note", "joint", names.joints[k], "armature of the free joint dropped"))
        if is_lopsided(bounds := joint_force_range(model, k)):
            message = f"actuator force from {bounds[0]:g} to {bounds[1]:g}: its limit is the smaller one both ways"
            out.append(Remark("note", "joint", names.joints[k], f"{message}, ±{safe_limit(bounds):g}"))
    flexes = (mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_FLEX, i) or f"flex_{i}" for i in range(model.nflex))
    out += [Remark("warning", "deformable", name, "flex dropped") for name in flexes]
    moved = [names.bodies[i] for i in np.flatnonzero(model.body_mocapid >= 0)]
    out += [Remark("note", "body", name, "mocap body: held fast") for name in moved]
    floating = [names.bodies[i] for i in np.flatnonzero(model.body_gravcomp)]
    out += [Remark("warning", "body", name, f"gravity compensation {MOVES_OTHERWISE}") for name in floating]
    if not np.allclose(model.opt.gravity, (0.0, 0.0, -9.81)):
        text = f"gravity {model.opt.gravity.tolist()} dropped: it belongs to the world"
        out.append(Remark("note", "", "", text))
    if model.opt.viscosity or model.opt.density or np.any(model.opt.wind):
        out.append(Remark("warning", "", "", f"forces of the air {MOVES_OTHERWISE}"))
    return out
