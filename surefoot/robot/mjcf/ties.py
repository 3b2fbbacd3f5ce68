"""Equality constraints of a compiled MuJoCo model → loops and couplings."""

from __future__ import annotations

import mujoco
import numpy as np

from surefoot.robot.mjcf.names import Names, pose
from surefoot.robot.model import Coupling, Finding, Loop, placement

__all__ = ["ties_of"]

_EQ = mujoco.mjtEq
_SAME = 1e-6  # a ratio and its inverse are written with some six digits
_POINT = (True, True, True, False, False, False)


def ties_of(model: mujoco.MjModel, names: Names) -> tuple[tuple[Loop, ...], tuple[Coupling, ...], list[Finding]]:
    """Closed chains, couplings of joints, and notes on the constraints that are neither.

    Args:
        model: The compiled model.
        names: Its names.
    """
    loops, notes = [], []
    couplings: dict[str, Coupling] = {}
    for i in range(model.neq):
        reason = _why_dropped(model, i)
        if reason:
            notes.append(Finding("warning", names.equalities[i], f"equality constraint dropped: {reason}"))
        elif model.eq_type[i] == _EQ.mjEQ_JOINT:
            found = _coupling(model, names, i)
            same = next((name for name, item in couplings.items() if _are_equivalent(item, found)), None)
            if same is None:
                couplings[names.equalities[i]] = found
            else:
                notes.append(Finding("note", names.equalities[i], f"equivalent to `{same}`; merged with it"))
        else:
            loops.append(_loop(model, names, i))
    return tuple(loops), tuple(couplings.values()), notes


def _why_dropped(model: mujoco.MjModel, i: int) -> str:
    """Why a constraint is neither loop nor coupling; empty if it is."""
    kind = int(model.eq_type[i])
    if not model.eq_active0[i]:
        return "it is not active"
    if kind in (_EQ.mjEQ_CONNECT, _EQ.mjEQ_WELD):
        return ""
    if kind != _EQ.mjEQ_JOINT:
        return f"{mujoco.mjtEq(kind).name.removeprefix('mjEQ_').lower()} constraints are not supported"
    if model.eq_obj2id[i] < 0:
        return "it holds one joint still"
    if model.eq_data[i, 1] == 0.0 and not model.eq_data[i, 2:5].any():
        return "it holds one joint still: the other one has no share"
    return "a polynomial of higher degree than 1" if model.eq_data[i, 2:5].any() else ""


def _coupling(model: mujoco.MjModel, names: Names, i: int) -> Coupling:
    """q₁ − ref₁ = c₀ + c₁ (q₂ − ref₂) as q₁ = offset + c₁ q₂ (MuJoCo, `mj_instantiateEquality`)."""
    follower, leader = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
    shift, ratio = (float(c) for c in model.eq_data[i, :2])
    rest = [float(model.qpos0[model.jnt_qposadr[k]]) for k in (follower, leader)]
    return Coupling(names.joints[follower], names.joints[leader], ratio, rest[0] + shift - ratio * rest[1])


def _are_equivalent(a: Coupling, b: Coupling) -> bool:
    """Whether two couplings tie the same two joints in the same way, whichever of the two follows."""
    if (a.joint, a.source) == (b.source, b.joint):
        b = Coupling(b.source, b.joint, 1.0 / b.ratio, -b.offset / b.ratio)
    return (a.joint, a.source) == (b.joint, b.source) and np.allclose(
        (a.ratio, a.offset), (b.ratio, b.offset), rtol=_SAME, atol=_SAME
    )


def _loop(model: mujoco.MjModel, names: Names, i: int) -> Loop:
    """A connect or weld constraint.

    MuJoCo's data are (anchor on a, anchor on b) for a connect, and (anchor on b, anchor on a, rotation of b in a) for
    a weld (`mj_instantiateEquality`); with sites, the sites are the tied frames.
    """
    first, second = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
    directions = _POINT if model.eq_type[i] == _EQ.mjEQ_CONNECT else (True,) * 6
    data = np.array(model.eq_data[i])
    if model.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE:
        on_a, on_b = (pose(model.site_pos[k], model.site_quat[k]) for k in (first, second))
        first, second = int(model.site_bodyid[first]), int(model.site_bodyid[second])
    elif model.eq_type[i] == _EQ.mjEQ_CONNECT:
        on_a, on_b = placement(data[:3]), placement(data[3:6])
    else:
        on_a, on_b = pose(data[3:6], data[6:10]), placement(data[:3])
    return Loop(names.equalities[i], names.bodies[first], names.bodies[second], on_a, on_b, directions)
