"""Rotors of geared drives as bodies: behind a rigid gear, or behind a spring.

A drive states the inertia of its rotor, and counts it as armature: N² J on the diagonal of the mass matrix. As a
body, on the link that carries the joint and turning about its axis N times as fast, the rotor also feels how that link
turns (Buschmann 2014, section 3.4.2, and our reading of it: q_rotor = N q).   [loops.gear]

It is a flat disc with J about the axis and J/2 across it; its mass is in the link that carries it already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot import ops
from surefoot.arrays import Array
from surefoot.errors import ModelError, NotSupportedError
from surefoot.ops import Array as Symbols
from surefoot.robot.build.assemble import Parts, assemble
from surefoot.robot.model import Coupling, Drive, Robot, Tree

_PER_VELOCITY = (
    "armature", "damping", "effortLimit", "lowerEffortLimit", "velocityLimit", "lowerVelocityLimit",
    "upperDryFrictionLimit", "lowerDryFrictionLimit", "rotorInertia", "rotorGearRatio",
)  # fmt: skip
_PER_POSITION = ("lowerPositionLimit", "upperPositionLimit")


def rotor_joint(joint: str) -> str:
    """The name of the joint of a rotor."""
    return f"{joint}_rotor_joint"


def geared(robot: Robot) -> Robot:
    """The robot with the rotor of every rigid gear as a body, tied to its joint; the armature is gone.   [loops.gear].

    Drives stay where they were, with their torques at the joint.

    Raises:
        NotSupportedError: No rigid gear has a rotor, or one is on a joint that cannot be tied.
    """
    rotors = _rotors(robot, "rigid")
    ties = tuple(Coupling(rotor_joint(drive.joint), drive.joint, drive.gear_ratio) for drive in rotors)
    drives = tuple(replace(drive, rotor_inertia=0.0) if drive in rotors else drive for drive in robot.drives)
    return _with_rotors(robot, f"{robot.name}-geared", rotors, drives, (*robot.couplings, *ties))


def elastic_gears(robot: Robot) -> Robot:
    """The robot with the rotor of every elastic gear as a body that turns freely: what ties it is `gear_springs`.

    Its drive acts on the rotor, with torque and speed there: τ/N and N v. Friction stays at the joint.

    Raises:
        NotSupportedError: No elastic gear has a rotor, or one is on a joint with several coordinates.
    """
    rotors = _rotors(robot, "elastic")
    drives = tuple(_at_motor(drive) if drive in rotors else drive for drive in robot.drives)
    return _with_rotors(robot, f"{robot.name}-rotors", rotors, drives, robot.couplings)


@dataclass(frozen=True, eq=False)
class GearSprings:
    """Springs and dampers between rotors and joints; k gears.

    Args:
        position: (2, k) rows of q: of the joints, and of the rotors.
        velocity: (2, k) rows of v.
        ratio: (k,) N.
        stiffness: (k,) at the joint [N m/rad].
        damping: (k,) at the joint [N m s/rad].
        nv: Size of v.
    """

    position: NDArray[np.int64]
    velocity: NDArray[np.int64]
    ratio: Array
    stiffness: Array
    damping: Array
    nv: int

    def torque(self, q: Symbols, v: Symbols) -> Symbols:
        """Joint forces (nv,): k (φ/N - q) + d (φ'/N - v) on a joint, and -1/N of it on its rotor.   Koch, (B.8).

        Args:
            q: (nq,) configuration, numbers or symbols.
            v: (nv,) velocity.
        """
        gap = q[self.position[1]] / self.ratio - q[self.position[0]]
        rate = v[self.velocity[1]] / self.ratio - v[self.velocity[0]]
        torque = self.stiffness * gap + self.damping * rate
        tau = ops.zeros(self.nv, like=[q, v])
        tau[self.velocity[0]], tau[self.velocity[1]] = torque, -torque / self.ratio
        return tau

    def energy(self, q: Symbols) -> Any:
        """Energy of the springs [J].

        Args:
            q: (nq,) configuration, numbers or symbols.
        """
        gap = q[self.position[1]] / self.ratio - q[self.position[0]]
        return 0.5 * (self.stiffness * gap) @ gap


def gear_springs(robot: Robot, drives: Sequence[Drive]) -> GearSprings:
    """The springs of a robot with rotors.

    Args:
        robot: What `elastic_gears` made.
        drives: The drives before, with ratio, stiffness and damping; those without a rotor in the robot are omitted.
    """
    known = [drive for drive in drives if rotor_joint(drive.joint) in robot.joint_names]
    pairs = [(robot.joint_index(drive.joint), robot.joint_index(rotor_joint(drive.joint))) for drive in known]
    bodies = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    ratio, stiffness, damping = np.array([(x.gear_ratio, x.stiffness, x.damping) for x in known]).reshape(-1, 3).T
    return GearSprings(robot.tree.q_index[bodies], robot.tree.v_index[bodies], ratio, stiffness, damping, robot.nv)


def _rotors(robot: Robot, gear: str) -> list[Drive]:
    """Drives whose rotor can be a body."""
    found = [drive for drive in robot.drives if drive.gear == gear and drive.rotor_inertia > 0.0]
    if not found:
        raise NotSupportedError(
            f"`{robot.name}` has no {gear} gear with a rotor",
            evidence={"drives": len(robot.drives)},
            next_step="give drives `rotor_inertia`, `gear_ratio`" + (", `stiffness`" if gear == "elastic" else ""),
        )
    if (robot.tree.mimic_source >= 0).any():
        raise NotSupportedError('rotors cannot be added to a robot with followers (mimic="reduce")')
    for drive in found:
        kind = robot.tree.kinds[robot.joint_index(drive.joint)]
        if kind not in ("revolute", "prismatic", "helical") or drive.gear_ratio == 0.0:
            raise NotSupportedError(
                f"joint `{drive.joint}` cannot have a rotor of its own",
                evidence={"kind": kind, "gear_ratio": drive.gear_ratio},
                next_step="drive joints with one coordinate, with a ratio that is not 0",
            )
    return found


def _at_motor(drive: Drive) -> Drive:
    """An elastic drive, as it acts on its rotor."""
    N = abs(drive.gear_ratio)
    return replace(
        drive, joint=rotor_joint(drive.joint), gear_ratio=1.0, rotor_inertia=0.0, gear="rigid", stiffness=0.0,
        damping=0.0, dry_friction=0.0, viscous_friction=0.0, torque_limit=drive.torque_limit / N,
        speed_limit=drive.speed_limit * N, corner_speed=drive.corner_speed * N,
        servo_stiffness=drive.servo_stiffness / N**2, servo_damping=drive.servo_damping / N**2,
        servo_dead_band=drive.servo_dead_band * N, servo_step=drive.servo_step * N,
    )  # fmt: skip


# -- the model with rotors --------------------------------------------------------------------------------------------


def _with_rotors(
    robot: Robot, name: str, rotors: Sequence[Drive], drives: tuple[Drive, ...], couplings: tuple[Coupling, ...]
) -> Robot:
    """The robot with a rotor before every joint that has one."""
    model = _model_with_rotors(robot, name, {drive.joint: drive for drive in rotors})
    parts = Parts(
        robot.collisions, robot.visuals, robot.frames, tuple(robot.contacts.values()), drives, robot.loops, couplings,
        notes=robot.notes, source=robot.source, springs=robot.springs, excludes=robot.excludes,
    )  # fmt: skip
    out = assemble(name, model, robot.base, parts)
    home = _posture(robot, out, robot.home, rotors)
    return out.replace(home=home)


def _model_with_rotors(robot: Robot, name: str, rotors: dict[str, Drive]) -> pin.Model:
    old, new = robot.model, pin.Model()
    new.name, new.gravity = name, old.gravity
    place = {0: 0}
    for i in range(1, old.njoints):
        parent, joint = place[old.parents[i]], str(old.names[i])
        if joint in rotors:
            _add_rotor(new, robot.tree, i - 1, parent, rotors[joint])
        place[i] = new.addJoint(parent, old.joints[i], old.jointPlacements[i], joint)
        new.appendBodyToJoint(place[i], old.inertias[i], pin.SE3.Identity())
        _copy_numbers(old, i, new, place[i])
    # Frames in their order, on the joints where they are now
    for frame in list(old.frames)[1:]:
        new.addFrame(
            pin.Frame(frame.name, place[frame.parentJoint], frame.parentFrame, frame.placement, frame.type), False
        )
    for drive in rotors.values():
        _add_rotor_frames(new, rotor_joint(drive.joint), f"{drive.joint}_rotor")
    return new


def _add_rotor(model: pin.Model, tree: Tree, i: int, parent: int, drive: Drive) -> None:
    """A disc on the parent of body i, about the axis of its joint."""
    if model.existJointName(rotor_joint(drive.joint)):
        raise ModelError(f"joint `{drive.joint}` has a rotor already")
    e, J = tree.axes[i], drive.rotor_inertia
    index = model.addJoint(
        parent, pin.JointModelRevoluteUnaligned(e), pin.SE3(tree.placements[i]), rotor_joint(drive.joint)
    )
    disc = pin.Inertia.Zero()
    disc.inertia = 0.5 * J * (np.eye(3) + np.outer(e, e))
    model.appendBodyToJoint(index, disc, pin.SE3.Identity())


def _copy_numbers(old: pin.Model, i: int, new: pin.Model, k: int) -> None:
    """Limits, friction and inertia of a joint."""
    one, other = old.joints[i], new.joints[k]
    for key in _PER_VELOCITY:
        getattr(new, key)[other.idx_v : other.idx_v + other.nv] = getattr(old, key)[one.idx_v : one.idx_v + one.nv]
    for key in _PER_POSITION:
        getattr(new, key)[other.idx_q : other.idx_q + other.nq] = getattr(old, key)[one.idx_q : one.idx_q + one.nq]


def _add_rotor_frames(model: pin.Model, joint: str, link: str) -> None:
    index = model.getJointId(joint)
    frame = model.addJointFrame(index)
    model.addBodyFrame(link, index, pin.SE3.Identity(), frame)


def _posture(robot: Robot, out: Robot, q: Array, rotors: Sequence[Drive]) -> Array:
    """The same posture, with every rotor where its gear has it."""
    found = np.array(out.neutral)
    for name in robot.joint_names:
        found[_entries(out, name)] = q[_entries(robot, name)]
    for drive in rotors:
        found[_entries(out, rotor_joint(drive.joint))] = drive.gear_ratio * q[_entries(robot, drive.joint)]
    found.setflags(write=False)
    return found


def _entries(robot: Robot, joint: str) -> slice:
    """Entries of q of a joint."""
    i = robot.joint_index(joint)
    start = int(robot.tree.q_index[i])
    return slice(start, start + robot.tree.nq_of(i))
