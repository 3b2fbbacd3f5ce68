"""Equality constraints, springs and tendons of a compiled MuJoCo model → loops, couplings and springs."""

from __future__ import annotations

import mujoco
import numpy as np

from surefoot.robot.mjcf.names import Names, pose, unused
from surefoot.robot.mjcf.notes import MOVES_OTHERWISE, Remark
from surefoot.robot.mjcf.tree import is_one_axis
from surefoot.robot.model import Coupling, Loop, Spring, placement

_EQ = mujoco.mjtEq
_SAME = 1e-6  # a ratio and its inverse are written with some six digits
_POINT = (True, True, True, False, False, False)


def ties_of(model: mujoco.MjModel, names: Names) -> tuple[tuple[Loop, ...], tuple[Coupling, ...], list[Remark]]:
    """Closed chains, couplings of joints, and notes on the constraints that are neither."""
    loops, notes = [], []
    couplings: dict[str, Coupling] = {}
    for i in range(model.neq):
        reason = _why_dropped(model, i)
        if reason:
            notes.append(Remark("warning", "equality", names.equalities[i], f"equality constraint dropped: {reason}"))
        elif model.eq_type[i] == _EQ.mjEQ_JOINT:
            # q₁ − ref₁ = c₀ + c₁ (q₂ − ref₂) as q₁ = offset + c₁ q₂ (MuJoCo, `mj_instantiateEquality`)
            follower, leader = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
            shift, ratio = (float(c) for c in model.eq_data[i, :2])
            rest = [float(model.qpos0[model.jnt_qposadr[k]]) for k in (follower, leader)]
            found = Coupling(names.joints[follower], names.joints[leader], ratio, rest[0] + shift - ratio * rest[1])
            same = next((name for name, item in couplings.items() if _are_equivalent(item, found)), None)
            if same is None:
                couplings[names.equalities[i]] = found
            else:
                notes.append(Remark("note", "equality", names.equalities[i], f"equivalent to `{same}`; merged with it"))
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


def springs_of(model: mujoco.MjModel, names: Names) -> tuple[tuple[Spring, ...], list[Remark]]:
    """Springs of hinges, slides and tendons over joints, and remarks on the springs and tendons that are dropped."""
    springs: list[Spring] = []
    remarks: list[Remark] = []
    for k in range(model.njnt):
        if model.jnt_stiffness[k] and not is_one_axis(model, k):
            remarks.append(
                Remark("warning", "joint", names.joints[k], f"spring of a ball or free joint {MOVES_OTHERWISE}")
            )
        elif model.jnt_stiffness[k]:
            rest = float(model.qpos_spring[model.jnt_qposadr[k]])
            stiffness = float(model.jnt_stiffness[k])
            springs.append(Spring(names.joints[k], {names.joints[k]: 1.0}, stiffness, 0.0, (rest, rest)))
        if model.jnt_stiffnesspoly[k].any():
            remarks.append(
                Remark("warning", "joint", names.joints[k], f"stiffness that is not linear {MOVES_OTHERWISE}")
            )
    for i in range(model.ntendon):
        name = model.tendon(i).name or f"tendon_{i}"
        remarks += [Remark("warning", "tendon", name, message) for message in _lost_of_tendon(model, i)]
        shares = _shares(model, names, i)
        if shares and (model.tendon_stiffness[i] or model.tendon_damping[i]):
            low, high = (float(x) for x in model.tendon_lengthspring[i])
            numbers = float(model.tendon_stiffness[i]), float(model.tendon_damping[i])
            springs.append(Spring(unused(name, {spring.name for spring in springs}), shares, *numbers, (low, high)))
    return tuple(springs), remarks


def _shares(model: mujoco.MjModel, names: Names, i: int) -> dict[str, float]:
    """Shares of the joints in the length of a tendon that runs over joints; empty for one that runs over sites."""
    first = int(model.tendon_adr[i])
    rows = range(first, first + int(model.tendon_num[i]))
    if any(model.wrap_type[k] != mujoco.mjtWrap.mjWRAP_JOINT for k in rows):
        return {}
    return {names.joints[int(model.wrap_objid[k])]: float(model.wrap_prm[k]) for k in rows}


def _lost_of_tendon(model: mujoco.MjModel, i: int) -> list[str]:
    """Properties of a tendon that the robot lacks."""
    if model.wrap_type[model.tendon_adr[i]] != mujoco.mjtWrap.mjWRAP_JOINT:
        return [f"tendon over sites {MOVES_OTHERWISE}"]
    lost = {
        "limit": model.tendon_limited[i],
        "dry friction": model.tendon_frictionloss[i],
        "armature": model.tendon_armature[i],
        "stiffness that is not linear": model.tendon_stiffnesspoly[i].any(),
        "damping that is not linear": model.tendon_dampingpoly[i].any(),
    }
    return [f"{what} of the tendon {MOVES_OTHERWISE}" for what, there in lost.items() if there]
