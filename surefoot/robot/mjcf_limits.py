"""Force ranges of a compiled MuJoCo model, and the one limit for both directions that a robot keeps of them."""

from __future__ import annotations

import mujoco
import numpy as np

__all__ = ["Range", "actuator_force_range", "is_lopsided", "joint_force_range", "safe_limit"]

Range = tuple[float, float]
_UNBOUNDED: Range = (-np.inf, np.inf)


def safe_limit(bounds: Range) -> float:
    """The largest force that is there in both directions; of a range to one side only, that side.

    Args:
        bounds: Lowest and highest force [N m] or [N].
    """
    sizes = [abs(bound) for bound in bounds if bound]
    return min(sizes, default=0.0)


def is_lopsided(bounds: Range) -> bool:
    """Whether a range is not the same in both directions."""
    return bounds[0] != -bounds[1]


def joint_force_range(model: mujoco.MjModel, joint: int) -> Range:
    """What MuJoCo clamps the sum of all actuator forces on a joint to.

    Args:
        model: The compiled model.
        joint: MuJoCo's index of the joint.
    """
    return _ordered(*model.jnt_actfrcrange[joint]) if model.jnt_actfrclimited[joint] else _UNBOUNDED


def actuator_force_range(model: mujoco.MjModel, i: int, gear: float) -> Range:
    """The forces of an actuator at its joint: gear · clamp(gain · control, force range), as MuJoCo has it.

    Args:
        model: The compiled model.
        i: MuJoCo's index of the actuator.
        gear: Of the actuator, with its sign.
    """
    low, high = _control_force_range(model, i)
    if model.actuator_forcelimited[i]:
        low, high = np.clip((low, high), *model.actuator_forcerange[i])
    return _ordered(gear * low, gear * high)


def _control_force_range(model: mujoco.MjModel, i: int) -> Range:
    """Forces that the range of the control allows; without bounds for a servo or an actuator with dynamics."""
    control = int(model.actuator_ctrladr[i])
    is_plain = (
        model.actuator_gaintype[i] == mujoco.mjtGain.mjGAIN_FIXED
        and model.actuator_biastype[i] == mujoco.mjtBias.mjBIAS_NONE
        and model.actuator_dyntype[i] == mujoco.mjtDyn.mjDYN_NONE
    )
    if not is_plain or not model.actuator_ctrllimited[control]:
        return _UNBOUNDED
    return _ordered(*(model.actuator_gainprm[i, 0] * model.actuator_ctrlrange[control]))


def _ordered(a: float, b: float) -> Range:
    return (float(a), float(b)) if a <= b else (float(b), float(a))
