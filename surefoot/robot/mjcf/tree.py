"""Bodies and joints of a compiled MuJoCo model → links.

Each joint of a body moves it as T ← T · Trans(anchor) · Motion(q − ref) · Trans(−anchor) (MuJoCo's `mj_kinematics1`;
a slide has no use for the anchor). Neighbouring fixed factors merge into the placements, so that q equals MuJoCo's
qpos, and the last link of a body carries MuJoCo's body frame and the body's name.
Of a force range a robot keeps one limit for both directions.
"""

from __future__ import annotations

import mujoco
import numpy as np

from surefoot.arrays import Array
from surefoot.robot.mjcf.names import Names, pose, unused
from surefoot.robot.model import Geometry, Joint, JointKind, Link, placement
from surefoot.spatial import quaternion, so3

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
    """The range to which MuJoCo clamps the sum of all actuator forces on a joint.

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


_KINDS: dict[int, JointKind] = {
    int(mujoco.mjtJoint.mjJNT_HINGE): "revolute",
    int(mujoco.mjtJoint.mjJNT_SLIDE): "prismatic",
    int(mujoco.mjtJoint.mjJNT_BALL): "spherical",
    int(mujoco.mjtJoint.mjJNT_FREE): "free",
}


def links_of(
    model: mujoco.MjModel, names: Names, collisions: dict[int, list[Geometry]], visuals: dict[int, list[Geometry]]
) -> list[Link]:
    """The links of all bodies, parents first.

    Args:
        model: The compiled model.
        names: Its names.
        collisions: Collision shapes by body.
        visuals: Shapes to look at, by body.
    """
    taken = {*names.bodies, *names.joints}
    links: list[Link] = []
    for body in range(1, model.nbody):
        chain = _moving_links(model, names, body, taken)
        mass, com, inertia = _inertia(model, body)
        last = chain.pop()
        links += chain
        links.append(
            Link(
                last.name, last.parent, last.joint, mass, com, inertia,
                tuple(collisions.get(body, ())), tuple(visuals.get(body, ())),
            )
        )  # fmt: skip
    return links


def is_one_axis(model: mujoco.MjModel, joint: int) -> bool:
    """Whether a joint, by MuJoCo's index, is a hinge or a slide."""
    return _KINDS[int(model.jnt_type[joint])] in ("revolute", "prismatic")


def free_pose(model: mujoco.MjModel, joint: int, qpos: Array) -> Array:
    """The seven coordinates of a free joint, quaternion xyzw, from MuJoCo's.

    Args:
        model: The compiled model.
        joint: MuJoCo's index of the joint.
        qpos: (nq,) MuJoCo's configuration.
    """
    values = np.array(qpos[model.jnt_qposadr[joint] :][:7])
    values[3:] = quaternion.normalise(quaternion.from_wxyz(values[3:]))
    return values


def _moving_links(model: mujoco.MjModel, names: Names, body: int, taken: set[str]) -> list[Link]:
    """One link for each joint of a body; a last one, held fast, where the last joint is not in the body frame."""
    parent_body = int(model.body_parentid[body])
    parent = names.bodies[parent_body] if parent_body else None
    name = names.bodies[body]
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    joints = range(first, first + count) if count else ()
    fixed = pose(model.body_pos[body], model.body_quat[body])
    links: list[Link] = []
    for k in joints:
        joint, rest = _joint(model, names, k, fixed)
        is_last = k == first + count - 1 and np.array_equal(rest, np.eye(4))
        own = name if is_last else _take(f"{name}__{names.joints[k]}", taken)
        links.append(Link(own, parent, joint))
        parent, fixed = own, rest
    if not links or links[-1].name != name:
        held = Joint(_take(f"{name}__fixed", taken), "fixed", fixed)
        links.append(Link(name, parent, held))
    return links


def _take(name: str, taken: set[str]) -> str:
    free = unused(name, taken)
    taken.add(free)
    return free


def _joint(model: mujoco.MjModel, names: Names, k: int, fixed: Array) -> tuple[Joint, Array]:
    """Joint k, placed after a fixed transform, and the transform from its frame back to the body's."""
    kind, dof = _KINDS[int(model.jnt_type[k])], int(model.jnt_dofadr[k])
    axis, anchor = np.array(model.jnt_axis[k]), np.array(model.jnt_pos[k])
    reference = float(model.qpos0[model.jnt_qposadr[k]])
    there, back = placement(), placement()
    if kind in ("revolute", "spherical"):
        there, back = placement(anchor), placement(-anchor)
    if kind == "revolute" and reference:
        there = there @ placement(rotation=so3.exp(-reference * axis))
    if kind == "prismatic":
        there = placement(-reference * axis)
    limited = bool(model.jnt_limited[k]) and kind in ("revolute", "prismatic")
    lower, upper = model.jnt_range[k] if limited else (-np.inf, np.inf)
    joint = Joint(
        names.joints[k],
        kind,
        placement=placement() if kind == "free" else fixed @ there,
        axis=axis if kind in ("revolute", "prismatic") else (0.0, 0.0, 1.0),
        lower=float(lower),
        upper=float(upper),
        effort=safe_limit(joint_force_range(model, k)),
        damping=float(model.dof_damping[dof]),
        friction=float(model.dof_frictionloss[dof]),
        armature=0.0 if kind == "free" else float(model.dof_armature[dof]),  # of no drive: a mass without its ω × v
    )
    return joint, back


def _inertia(model: mujoco.MjModel, body: int) -> tuple[float, Array, Array]:
    """Mass, centre of mass, and inertia about it in body axes."""
    T_body_inertia = pose(model.body_ipos[body], model.body_iquat[body])
    R = T_body_inertia[:3, :3]
    return float(model.body_mass[body]), T_body_inertia[:3, 3], R @ np.diag(model.body_inertia[body]) @ R.T
