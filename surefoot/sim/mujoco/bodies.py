"""Bodies, joints, drives and ties of a robot as MuJoCo has them.

Which of MuJoCo's equalities a closed chain is: points that coincide, or frames that do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.dynamics import constraints_of
from surefoot.dynamics.constraints import Tie
from surefoot.errors import ModelError, NotSupportedError
from surefoot.kinematics import relative_jacobian
from surefoot.kinematics.frames import relative_placement
from surefoot.robot import Loop, Robot, Spring
from surefoot.sim.mujoco.inertia import LEAST, BodyInertia, lifted_inertia, massless_joints, without_mass
from surefoot.spatial import so3

_KINDS = (
    (frozenset(range(3)), mujoco.mjtEq.mjEQ_CONNECT),
    (frozenset(range(6)), mujoco.mjtEq.mjEQ_WELD),
)
_STILL = 1e-12  # [m] or [rad] per unit rate: no motion
_CLOSED = 1e-9  # [m] or [rad]
_TRIES = 3  # random postures in which a direction must not move


def equality_of(robot: Robot, loop: Loop) -> mujoco.mjtEq:
    """The equality that ties what the loop ties, and beyond it only directions in which nothing can move.

    So a planar mechanism may tie x and z, or all but the turn about y: the points are connected.

    Raises:
        NotSupportedError: It ties other directions than xyz or all six, and the rest can move.
    """
    held = {k for k in range(6) if loop.directions[k]}
    for tied, kind in _KINDS:
        if tied == held:
            return kind
    still = _still_directions(robot, loop)
    for tied, kind in _KINDS:
        if held - still <= tied <= held | still:
            return kind
    pattern = tuple(int(direction) for direction in loop.directions)
    raise NotSupportedError(
        f"loop `{loop.name}` ties directions {pattern} of (x, y, z, rx, ry, rz); MuJoCo ties xyz or all six",
        next_step="tie xyz at two points on the axis instead",
    )


def _still_directions(robot: Robot, loop: Loop) -> set[int]:
    """Directions of the loop that are closed and that no joint can open."""
    tie = constraints_of(robot, [loop]).parts[0]
    if not isinstance(tie, Tie):
        return set()
    first, second = tie.first, tie.second
    rng, still = np.random.default_rng(0), np.ones(6, dtype=bool)
    for _ in range(_TRIES):
        q = pin.integrate(robot.model, np.array(robot.neutral), rng.uniform(-1.0, 1.0, robot.nv))
        J = np.asarray(relative_jacobian(robot.tree, first, second, q), dtype=float)
        still &= np.abs(J).max(axis=1, initial=0.0) <= _STILL
    T = np.asarray(relative_placement(robot.tree, first, second, np.array(robot.home)), dtype=float)
    open_by = np.concatenate([T[:3, 3], np.asarray(so3.log(T[:3, :3]), dtype=float)])
    return set(np.flatnonzero(still & (np.abs(open_by) <= _CLOSED)).tolist())


_UNLIMITED = 1e10  # MuJoCo wants both ends of a range
_NO_PLAY = 1e-6  # half width of a range whose ends meet [rad] or [m]


@dataclass
class RobotBodies:
    """What was added to a specification for a robot.

    Args:
        robot: The robot.
        spec: The MuJoCo specification.
        base: The MuJoCo body that carries what is fixed to the world.
        prefix: Of all names of the robot in MuJoCo.
        bodies: MuJoCo bodies in tree order.
        joints: Names of the MuJoCo joints of each tree joint; none for a locked one.
        geoms: Names of all geoms.
        inertias: Of each body, as MuJoCo got it.
        lifted: Names of bodies whose inertia was lifted.
        locked: Indices of joints that are locked at home.
    """

    robot: Robot
    spec: mujoco.MjSpec
    base: mujoco.MjsBody
    prefix: str = ""
    bodies: list[mujoco.MjsBody] = field(default_factory=list)
    joints: list[tuple[str, ...]] = field(default_factory=list)
    geoms: list[str] = field(default_factory=list)
    inertias: list[BodyInertia] = field(default_factory=list)
    lifted: list[str] = field(default_factory=list)
    locked: tuple[int, ...] = ()

    def named(self, name: str) -> str:
        """A name of the robot as it is in MuJoCo."""
        return self.prefix + name

    def place_of(self, frame: str) -> tuple[mujoco.MjsBody, Array]:
        """The MuJoCo body that carries a frame, and T_body_frame (4, 4)."""
        i, found = self.robot.body_of(frame), self.robot.model.frames[self.robot.frame_id(frame)]
        return self.base if i < 0 else self.bodies[i], found.placement.homogeneous


def quaternion_wxyz(rotation: ArrayLike) -> Array:
    """Unit quaternion in MuJoCo's order w, x, y, z from a rotation matrix (3, 3)."""
    return np.roll(pin.Quaternion(np.array(rotation, dtype=float)).coeffs(), 1)


def add_bodies(spec: mujoco.MjSpec, robot: Robot, prefix: str = "", *, own_base: bool = False) -> RobotBodies:
    """Add every body with its joint and inertia, in the order of the tree.

    Args:
        spec: The specification to add to.
        robot: The robot.
        prefix: Of all its names in MuJoCo.
        own_base: Whether links that are fixed to the world get a body of their own there.

    Raises:
        NotSupportedError: A joint that MuJoCo does not have.
    """
    base = _add_base(spec, prefix) if own_base else spec.worldbody
    out = RobotBodies(robot, spec, base, prefix, locked=massless_joints(robot.tree))
    home = _joint_motions(robot, robot.home)
    for i, name in enumerate(_body_names(robot)):
        parent = int(robot.tree.parents[i])
        T = robot.tree.placements[i] @ (home[i] if i in out.locked else np.eye(4))
        body = (spec.worldbody if parent < 0 else out.bodies[parent]).add_body(
            name=out.named(name), pos=T[:3, 3], quat=quaternion_wxyz(T[:3, :3])
        )
        out.bodies.append(body)
        out.joints.append(() if i in out.locked else _add_joints(out, body, i))
        _add_inertia(out, i)
    return out


def _add_base(spec: mujoco.MjSpec, prefix: str) -> mujoco.MjsBody:
    """A body without mass that does not move."""
    base = spec.worldbody.add_body(name=f"{prefix}fixed to the world")
    base.explicitinertial, base.mass, base.inertia = True, 0.0, np.zeros(3)
    return base


def _body_names(robot: Robot) -> list[str]:
    """Names of the bodies; where one repeats or is MuJoCo's own, that of the joint goes with it."""
    names = robot.tree.body_names
    pairs = zip(names, robot.tree.joint_names, strict=True)
    return [f"{body}@{joint}" if names.count(body) > 1 or body == "world" else body for body, joint in pairs]


def _joint_motions(robot: Robot, q: Array) -> list[Array]:
    """T of every joint's own motion at q, (4, 4)."""
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, np.array(q))
    return [
        (robot.model.jointPlacements[i].inverse() * data.liMi[i]).homogeneous for i in range(1, robot.model.njoints)
    ]


def _add_inertia(out: RobotBodies, i: int) -> None:
    body, tree = out.bodies[i], out.robot.tree
    body.explicitinertial = True
    found = without_mass() if i in out.locked and tree.masses[i] < LEAST else lifted_inertia(tree, i)
    set_inertia(body, found)
    out.inertias.append(found)
    if found.lifted:
        out.lifted.append(tree.body_names[i])


def set_inertia(body: mujoco.MjsBody, found: BodyInertia) -> None:
    """Give a body its mass, centre of mass and principal moments."""
    body.mass, body.ipos, body.inertia, body.iquat = found.mass, found.com, found.moments, quaternion_wxyz(found.axes)


_AddJoint = Callable[[RobotBodies, mujoco.MjsBody, int], tuple[str, ...]]


def _hinge_or_slide(kind: mujoco.mjtJoint) -> _AddJoint:
    def add(out: RobotBodies, body: mujoco.MjsBody, i: int) -> tuple[str, ...]:
        tree = out.robot.tree
        name = out.named(tree.joint_names[i])
        joint = body.add_joint(name=name, type=kind, axis=tree.axes[i])
        if tree.kinds[i] != "continuous":
            _set_range(out.robot, joint, i)
        return (name,)

    return add


def _several(*parts: tuple[str, mujoco.mjtJoint, ArrayLike]) -> _AddJoint:
    def add(out: RobotBodies, body: mujoco.MjsBody, i: int) -> tuple[str, ...]:
        names = tuple(out.named(out.robot.tree.joint_names[i] + suffix) for suffix, _, _ in parts)
        for name, (_, kind, axis) in zip(names, parts, strict=True):
            body.add_joint(name=name, type=kind, axis=axis)
        return names

    return add


_HINGE, _SLIDE = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE
_X, _Y, _Z = np.eye(3)
_ADD_JOINT: Mapping[str, _AddJoint] = {
    "revolute": _hinge_or_slide(_HINGE),
    "continuous": _hinge_or_slide(_HINGE),
    "prismatic": _hinge_or_slide(_SLIDE),
    "spherical": _several(("", mujoco.mjtJoint.mjJNT_BALL, _Z)),
    "free": _several(("", mujoco.mjtJoint.mjJNT_FREE, _Z)),
    "planar": _several((".x", _SLIDE, _X), (".y", _SLIDE, _Y), (".turn", _HINGE, _Z)),
    "translation": _several((".x", _SLIDE, _X), (".y", _SLIDE, _Y), (".z", _SLIDE, _Z)),
}


def _add_joints(out: RobotBodies, body: mujoco.MjsBody, i: int) -> tuple[str, ...]:
    """The MuJoCo joints of one tree joint, with damping, dry friction and rotor inertia."""
    robot = out.robot
    name, kind = robot.tree.joint_names[i], robot.tree.kinds[i]
    if kind not in _ADD_JOINT:
        raise NotSupportedError(
            f"joint `{name}` is {kind}, which MuJoCo does not have",
            next_step="use a revolute or prismatic joint, or simulate another robot",
        )
    if kind == "free" and robot.tree.parents[i] >= 0:
        raise NotSupportedError(
            f"free joint `{name}` hangs on another body, which MuJoCo does not have",
            next_step="use a translation and a spherical joint",
        )
    names = _ADD_JOINT[kind](out, body, i)
    damping, friction, armature = _losses(robot, i)
    for joint in body.joints:
        joint.damping, joint.frictionloss, joint.armature = [damping, 0.0, 0.0], friction, armature
    return names


def _losses(robot: Robot, i: int) -> tuple[float, float, float]:
    """Viscous friction, dry friction and rotor inertia of a joint, as the model has them (with those of the drives)."""
    if robot.tree.mimic_source[i] >= 0:
        return 0.0, 0.0, 0.0  # the model holds the follower's share in its source
    row, model = int(robot.tree.v_index[i]), robot.model
    return float(model.damping[row]), float(model.upperDryFrictionLimit[row]), float(robot.tree.armature[row])


def _set_range(robot: Robot, joint: mujoco.MjsJoint, i: int) -> None:
    """Position limits of a one-axis joint; a follower has none of its own."""
    if robot.tree.mimic_source[i] >= 0:
        return
    row = int(robot.tree.q_index[i])
    lower, upper = float(robot.limits.lower[row]), float(robot.limits.upper[row])
    if lower > upper:
        raise ModelError(
            f"limits of joint `{robot.tree.joint_names[i]}` are crossed", evidence={"lower": lower, "upper": upper}
        )
    if np.isfinite(lower) or np.isfinite(upper):
        play = _NO_PLAY if upper - lower < 2.0 * _NO_PLAY else 0.0
        joint.limited = mujoco.mjtLimited.mjLIMITED_TRUE
        joint.range = [max(lower - play, -_UNLIMITED), min(upper + play, _UNLIMITED)]


def add_actuators(out: RobotBodies) -> NDArray[np.int64]:
    """A motor on every driven degree of freedom that is not locked.

    Force = ctrl − kp·position − kd·velocity, limited to the torque limit; kp and kd start at zero and are set by the
    engine, which integrates them implicitly and keeps the limits itself.

    Returns:
        (nu,) actuator of each entry of the command; −1 where the joint is locked.
    """
    robot = out.robot
    ids: list[int] = []
    count = len(out.spec.actuators)
    for drive in robot.drives:
        i = robot.joint_index(drive.joint)
        size = robot.tree.nv_of(i)
        if i in out.locked or size == 0:
            ids += [-1] * size
            continue
        for name, gear in _gears(robot, out.joints[i], i):
            _add_motor(out.spec, name, gear, drive.torque_limit)
        ids += range(count, count + size)
        count += size
    return np.array(ids, dtype=np.int64)


def _gears(robot: Robot, names: tuple[str, ...], i: int) -> list[tuple[str, Array]]:
    """MuJoCo joint and gear vector of each degree of freedom of a driven joint."""
    kind = robot.tree.kinds[i]
    if kind in ("free", "planar"):
        raise NotSupportedError(
            f"joint `{robot.tree.joint_names[i]}` is {kind} and driven; forces of such a drive are not simulated",
            next_step="use prismatic and revolute joints in a chain",
        )
    if kind == "spherical":
        return [(names[0], np.eye(6)[k]) for k in range(3)]
    return [(name, np.eye(6)[0]) for name in names]


def _add_motor(spec: mujoco.MjSpec, joint: str, gear: Array, limit: float) -> None:
    motor = spec.add_actuator(trntype=mujoco.mjtTrn.mjTRN_JOINT, target=joint, gear=gear)
    motor.gaintype, motor.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
    motor.gainprm = [1.0] + [0.0] * 9
    motor.biasprm = [0.0] * 10
    if np.isfinite(limit):
        motor.forcelimited, motor.forcerange = mujoco.mjtLimited.mjLIMITED_TRUE, [-limit, limit]


def add_ties(out: RobotBodies) -> None:
    """Couplings and followers as equalities of joint positions, closed chains as connections of two sites.

    Raises:
        NotSupportedError: A closed chain ties other directions than xyz or all six, and others can move.
    """
    tree = out.robot.tree
    for item in out.robot.couplings:
        _couple(out, out.robot.joint_index(item.joint), out.robot.joint_index(item.source), item.ratio, item.offset)
    for i in np.flatnonzero(tree.mimic_source >= 0):
        _couple(out, int(i), int(tree.mimic_source[i]), float(tree.mimic_ratio[i]), float(tree.mimic_offset[i]))
    for loop in out.robot.loops:
        _close(out, loop)
    for spring in out.robot.springs:
        _stretch(out, spring)


def _stretch(out: RobotBodies, spring: Spring) -> None:
    """A spring as a tendon over its joints; locked joints only shift its rest."""
    robot, index = out.robot, {name: out.robot.joint_index(name) for name in spring.joints}
    moving = {name: share for name, share in spring.joints.items() if index[name] not in out.locked}
    held = (share * robot.home[robot.tree.q_index[index[name]]] for name, share in spring.joints.items())
    shift = float(sum(x for x, name in zip(held, spring.joints, strict=True) if name not in moving))
    if not moving:
        return
    tendon = out.spec.add_tendon(name=out.named(f"spring {spring.name}"))
    tendon.stiffness = [spring.stiffness, *[0.0] * (len(tendon.stiffness) - 1)]
    tendon.damping = [spring.damping, *[0.0] * (len(tendon.damping) - 1)]
    tendon.springlength = [bound - shift for bound in spring.rest]
    for name, share in moving.items():
        tendon.wrap_joint(out.named(name), share)


def _couple(out: RobotBodies, joint: int, source: int, ratio: float, offset: float) -> None:
    """q_joint = offset + ratio · q_source; locked joints do not move, what follows one stands still."""
    if joint in out.locked:
        return
    names = [out.named(name) for name in out.robot.tree.joint_names]
    tie = out.spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT, name1=names[joint])
    if source in out.locked:
        offset, ratio = offset + ratio * float(out.robot.home[out.robot.tree.q_index[source]]), 0.0
    else:
        tie.name2 = names[source]
    tie.data = [offset, ratio] + [0.0] * (len(tie.data) - 2)


def _close(out: RobotBodies, loop: Loop) -> None:
    """A closed chain: points that coincide, or frames that do."""
    kind = equality_of(out.robot, loop)
    sides = ((loop.frame_a, loop.placement_a, "a"), (loop.frame_b, loop.placement_b, "b"))
    sites = [_add_site(out, frame, T, out.named(f"loop {loop.name} {side}")) for frame, T, side in sides]
    tie = out.spec.add_equality(type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, name1=sites[0], name2=sites[1])
    tie.name = out.named(f"loop {loop.name}")


def _add_site(out: RobotBodies, frame: str, T_frame_site: Array, name: str) -> str:
    body, T_body_frame = out.place_of(frame)
    T = T_body_frame @ T_frame_site
    body.add_site(name=name, pos=T[:3, 3], quat=quaternion_wxyz(T[:3, :3]))
    return name
