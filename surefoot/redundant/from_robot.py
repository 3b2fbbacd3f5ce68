"""Any robot as a model of bodies and hinges.

Every joint becomes a hinge from the child (tail) to the parent (head) of two links: the motion with the place of the
joint in the parent, and the constant place of the child's principal frame in the joint. Loops become further hinges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.redundant.layout import Model
from surefoot.redundant.model import GROUND, Action, Actuator, Ball, Body, Freedom, Hinge, Link
from surefoot.robot.loops import Loop
from surefoot.robot.robot import Robot
from surefoot.robot.tree import Tree
from surefoot.spatial import so3

__all__ = ["PrincipalFrame", "joint_freedoms", "joint_in_parent", "model_of", "principal_frames"]

_Stops = tuple[float | None, float | None]
_KINDS = ("revolute", "continuous", "prismatic", "spherical", "planar", "free", "translation")


@dataclass(frozen=True, eq=False)
class PrincipalFrame:
    """Principal frame of a body.

    Args:
        R: (3, 3) R_body_principal.
        p: (3,) centre of mass in the body [m].
        moments: (3,) principal moments [kg m²].
    """

    R: Array
    p: Array
    moments: Array


def model_of(robot: Robot) -> Model:
    """The robot as bodies and hinges, in space; actuators are all degrees of freedom, in the order of v.

    Freedoms are called after their joint; those of joints with several JOINT.x, …, JOINT.rx, … Position limits of
    revolute, prismatic and translation joints become stops. Friction, damping and bounds of drives are not in it:
    inputs are the forces that arrive at the joints.

    Args:
        robot: The robot.

    Raises:
        NotSupportedError: A joint is helical or copies another, joints are coupled, or a loop holds one rotation only.
    """
    tree = robot.tree
    _require_known(robot)
    frames = principal_frames(tree)
    bodies = tuple(
        Body(name=name, mass=float(mass), inertia=_floats(frame.moments))
        for name, mass, frame in zip(_unique(tree), tree.masses, frames, strict=True)
    )
    hinges = [_hinge(robot, i, frames, bodies) for i in range(tree.n)]
    hinges += [_loop_hinge(robot, loop, frames, bodies) for loop in robot.loops]
    return Model(
        name=robot.name,
        space="space",
        gravity=_floats(tree.gravity),
        bodies=bodies,
        hinges=tuple(hinges),
        actuators=_actuators(robot),
    )


def _require_known(robot: Robot) -> None:
    tree = robot.tree
    if robot.couplings:
        first = robot.couplings[0]
        raise NotSupportedError(
            f"joint `{first.joint}` follows `{first.source}`, and the formalism has no row that couples freedoms",
            evidence={"couplings": [f"{item.joint} = {item.offset:g} + {item.ratio:g} {item.source}"
                                    for item in robot.couplings]},
            next_step="leave them out (robot.replace(couplings=())), or use surefoot.dynamics.constrained_acceleration",
        )  # fmt: skip
    for i, kind in enumerate(tree.kinds):
        if kind not in _KINDS or tree.mimic_source[i] >= 0:
            why = "copies another" if tree.mimic_source[i] >= 0 else f"is {kind}"
            raise NotSupportedError(
                f"joint `{tree.joint_names[i]}` {why}, which is no chain of pins, balls and slides",
                next_step="replace the joint, or use surefoot.dynamics, which has it",
            )


def _unique(tree: Tree) -> list[str]:
    """Names of the bodies: those of the links, or of the joints where a link's name is taken."""
    names = [joint if body == GROUND else body for joint, body in zip(tree.joint_names, tree.body_names, strict=True)]
    return names if len(set(names)) == len(names) else list(tree.joint_names)


def principal_frames(tree: Tree) -> list[PrincipalFrame]:
    """The principal frames of all bodies, in the order of the tree."""
    out = []
    for com, inertia in zip(tree.coms, tree.inertias, strict=True):
        moments, R = np.linalg.eigh(inertia)
        R = R * np.sign(np.linalg.det(R))
        mean = moments.mean()
        if np.ptp(moments) <= 1e-13 * mean:  # like a sphere, but for rounding
            moments, R = np.full(3, mean), np.eye(3)
        out.append(PrincipalFrame(R, com, np.maximum(moments, 0.0)))
    return out


def _floats(values: Array) -> tuple[float, ...]:
    return tuple(float(x) for x in values)


def _fixed(R: Array, p: Array) -> Link:
    """A constant link."""
    return Link(rotation=_floats(so3.log(R)), offset=_floats(p))


def joint_in_parent(tree: Tree, i: int, frames: list[PrincipalFrame]) -> tuple[Array, Array]:
    """Rotation (3, 3) and origin (3,), m, of joint i at q = 0 in the principal frame of its parent.

    Args:
        tree: The tree.
        i: The joint.
        frames: From `principal_frames`.
    """
    T, parent = tree.placements[i], int(tree.parents[i])
    if parent < 0:
        return T[:3, :3], T[:3, 3]
    frame = frames[parent]
    return frame.R.T @ T[:3, :3], frame.R.T @ (T[:3, 3] - frame.p)


def _hinge(robot: Robot, i: int, frames: list[PrincipalFrame], bodies: tuple[Body, ...]) -> Hinge:
    tree, own = robot.tree, frames[i]
    R, p = joint_in_parent(tree, i, frames)
    motion = _motion_link(robot, i, R, p)
    parent = int(tree.parents[i])
    return Hinge(
        name=tree.joint_names[i],
        tail=bodies[i].name,
        head=GROUND if parent < 0 else bodies[parent].name,
        links=(_fixed(R @ own.R, R @ own.p), motion),
    )


def _motion_link(robot: Robot, i: int, R: Array, p: Array) -> Link:
    """The moving link; its axes are those of the parent's principal frame."""
    tree, offset = robot.tree, _floats(p)
    name, kind, axis = tree.joint_names[i], tree.kinds[i], R @ tree.axes[i]
    first = int(tree.v_index[i])
    armature = tree.armature[first : first + tree.nv_of(i)]
    stops = _stops(robot, i)
    match kind:
        case "revolute" | "continuous":
            return Link(pin=_freedom(name, axis, armature[0], stops[0]), offset=offset)
        case "prismatic":
            return Link(offset=offset, slides=(_freedom(name, axis, armature[0], stops[0]),))
    _require_no_armature(name, armature)
    slides = tuple(_freedom(f"{name}.{k}", R[:, j], 0.0, stops[j]) for j, k in enumerate("xyz"))
    match kind:
        case "spherical":
            return Link(ball=Ball(name=f"{name}.r"), offset=offset)
        case "translation":
            return Link(offset=offset, slides=slides)
        case "planar":
            return Link(pin=_freedom(f"{name}.rz", R[:, 2], 0.0), offset=offset, slides=slides[:2])
    return Link(ball=Ball(name=f"{name}.r"), offset=offset, slides=slides)


def _stops(robot: Robot, i: int) -> list[_Stops]:
    """Lower and upper stop of each freedom of a joint; None for none."""
    tree, first = robot.tree, int(robot.tree.q_index[i])
    if tree.kinds[i] not in ("revolute", "prismatic", "translation"):
        return [(None, None)] * 3
    bounds = np.array([robot.limits.lower, robot.limits.upper])[:, first : first + tree.nq_of(i)]
    low, high = ([float(x) if np.isfinite(x) else None for x in side] for side in bounds)
    return list(zip(low, high, strict=True))


def _require_no_armature(name: str, armature: Array) -> None:
    if np.any(armature):
        raise NotSupportedError(
            f"joint `{name}` has several degrees of freedom and an armature",
            evidence={"armature": armature.tolist()},
            next_step="remove the armature of that joint",
        )


def _freedom(name: str, axis: Array, armature: float, stops: _Stops = (None, None)) -> Freedom:
    unit = axis / np.linalg.norm(axis)
    return Freedom(name=name, axis=_floats(unit), armature=float(armature), lower=stops[0], upper=stops[1])


def _actuators(robot: Robot) -> tuple[Actuator, ...]:
    """One actuator for each freedom of each joint, in the order of v."""
    names = [name for i in np.argsort(robot.tree.v_index) for name in joint_freedoms(robot.tree, int(i))]
    return tuple(Actuator(name=name, acts_on=(Action(freedom=name),)) for name in names)


def joint_freedoms(tree: Tree, i: int) -> list[str]:
    """Names of the freedoms of joint i, in the order of its entries of v.

    Args:
        tree: The tree.
        i: The joint.
    """
    name = tree.joint_names[i]
    ends = {
        "spherical": ("r.x", "r.y", "r.z"),
        "translation": ("x", "y", "z"),
        "planar": ("x", "y", "rz"),
        "free": ("x", "y", "z", "r.x", "r.y", "r.z"),
    }
    return [f"{name}.{end}" for end in ends[tree.kinds[i]]] if tree.kinds[i] in ends else [name]


def _loop_hinge(robot: Robot, loop: Loop, frames: list[PrincipalFrame], bodies: tuple[Body, ...]) -> Hinge:
    """A hinge from frame b (tail) to frame a (head), free in the directions that the loop does not hold."""
    ends = []
    for frame, T in ((loop.frame_a, loop.placement_a), (loop.frame_b, loop.placement_b)):
        ends.append(_tied_frame(robot, frame, T, frames))
    (a, R_a, p_a), (b, R_b, p_b) = ends
    slides = tuple(_freedom(f"{loop.name}.{k}", R_a[:, j], 0.0) for j, k in enumerate("xyz") if not loop.directions[j])
    turning = [j for j in range(3) if not loop.directions[3 + j]]
    pin = _freedom(f"{loop.name}.r{'xyz'[turning[0]]}", R_a[:, turning[0]], 0.0) if len(turning) == 1 else None
    if len(turning) == 2:
        raise NotSupportedError(
            f"loop `{loop.name}` holds one rotation and leaves two, which is no pin and no ball",
            next_step="hold two or three rotations, or none",
        )
    ball = Ball(name=f"{loop.name}.r") if len(turning) == 3 else None
    motion = Link(pin=pin, ball=ball, offset=_floats(p_a), slides=slides)
    tail = _fixed(R_a @ R_b.T, -R_a @ R_b.T @ p_b)
    names = [body.name for body in bodies] + [GROUND]
    return Hinge(name=f"loop {loop.name}", tail=names[b], head=names[a], links=(tail, motion))


def _tied_frame(robot: Robot, name: str, T: Array, frames: list[PrincipalFrame]) -> tuple[int, Array, Array]:
    """Body (-1 for the ground), rotation and origin of a tied frame in the body's principal frame."""
    placed = robot.model.frames[robot.frame_id(name)].placement.homogeneous @ T
    body = robot.body_of(name)
    if body < 0:
        return -1, placed[:3, :3], placed[:3, 3]
    own = frames[body]
    return body, own.R.T @ placed[:3, :3], own.R.T @ (placed[:3, 3] - own.p)
