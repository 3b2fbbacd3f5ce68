"""`mimic="reduce"`: followers lose their coordinate; what they bring is seen at the joint that leads them.

With q_f = c + n q_s the follower's inertia, damping and friction count at the leader as n² J, n² d and |n| f (equal
power), its limits bound the leader to (q − c)/n and v/|n|, and its drive acts there with |n| τ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pinocchio as pin

from surefoot.errors import ModelError
from surefoot.robot.build import reduce_couplings
from surefoot.robot.drives import Drive
from surefoot.robot.loops import Coupling
from surefoot.robot.tree import Tree, tree_of_model

__all__ = ["drives_on_leaders", "reduced"]


def reduced(model: pin.Model, tree: Tree, ties: Sequence[Coupling]) -> tuple[pin.Model, Tree]:
    """The model and tree without the coordinates of the followers.

    Args:
        model: The whole model.
        tree: Its tree.
        ties: Couplings, each led by the joint that comes first (`loops.led_by_first`).

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
    """What one follower brings, at its leader."""
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
    """The drives as the leaders feel them; a leader with several gets one that does what they do together.

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
