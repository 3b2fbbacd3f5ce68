"""The home posture of a compiled MuJoCo model: a keyframe, or the posture in which it is written down."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.arrays import Array
from surefoot.robot.findings import Finding
from surefoot.robot.home import well_inside
from surefoot.robot.mjcf_names import Names
from surefoot.robot.mjcf_tree import free_pose, is_one_axis

__all__ = ["Home", "home_of", "root_is_free"]


@dataclass(frozen=True)
class Home:
    """A home posture.

    Args:
        joints: Positions of the one-axis joints by name; None where the description has nothing to say.
        base: Pose of the floating base, (7,), quaternion xyzw; None to put the feet on the ground.
        notes: What could not be kept.
    """

    joints: dict[str, float] | None
    base: tuple[float, ...] | None
    notes: tuple[Finding, ...] = ()


def root_is_free(model: mujoco.MjModel) -> bool:
    """Whether the first joint is that of a floating base."""
    return bool(model.njnt and model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE)


def home_of(model: mujoco.MjModel, names: Names) -> Home:
    """The keyframe `home`, else one named `stand…`, else the first; without any, the initial configuration.

    Args:
        model: The compiled model.
        names: Its names.
    """
    key = _key(model)
    if key is None:
        return _initial(model, names)
    qpos = np.array(model.key_qpos[key])
    base = tuple(free_pose(model, 0, qpos).tolist()) if root_is_free(model) else None
    return Home(_positions(model, names, qpos), base, _lost(model, names, qpos))


def _key(model: mujoco.MjModel) -> int | None:
    labels = [str(model.key(i).name).lower() for i in range(model.nkey)]
    ranked = sorted(range(model.nkey), key=lambda i: (labels[i] != "home", not labels[i].startswith("stand"), i))
    return ranked[0] if ranked else None


def _initial(model: mujoco.MjModel, names: Names) -> Home:
    """The initial configuration, well inside the limits where it is outside; nothing where all of it is zero."""
    qpos = np.array(model.qpos0)
    for k in range(model.njnt):
        if model.jnt_limited[k] and is_one_axis(model, k):
            low, high = (float(bound) for bound in model.jnt_range[k])
            qpos[model.jnt_qposadr[k]] = well_inside(float(qpos[model.jnt_qposadr[k]]), low, high)
    positions = _positions(model, names, qpos)
    base = free_pose(model, 0, qpos) if root_is_free(model) else None
    turned = base is not None and not np.allclose(base[3:6], 0.0, atol=1e-12)
    return Home(
        positions if any(positions.values()) else None,
        tuple(base.tolist()) if base is not None and turned else None,
        _lost(model, names, qpos),
    )


def _positions(model: mujoco.MjModel, names: Names, qpos: Array) -> dict[str, float]:
    rows = [k for k in range(model.njnt) if is_one_axis(model, k)]
    return {names.joints[k]: float(qpos[model.jnt_qposadr[k]]) for k in rows}


def _lost(model: mujoco.MjModel, names: Names, qpos: Array) -> tuple[Finding, ...]:
    """Joints of several axes, beside the base, that do not stand at zero at home."""
    out = []
    for k in range(1 if root_is_free(model) else 0, model.njnt):
        if is_one_axis(model, k):
            continue
        size = 7 if model.jnt_type[k] == mujoco.mjtJoint.mjJNT_FREE else 4
        neutral = np.eye(size)[size - 4]
        if not np.allclose(qpos[model.jnt_qposadr[k] :][:size], neutral, atol=1e-9):
            message = "its home position is not kept: the joint has several axes"
            out.append(Finding("warning", names.joints[k], message))
    return tuple(out)
