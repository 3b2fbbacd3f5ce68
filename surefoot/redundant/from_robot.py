"""Any robot as a model of bodies and hinges, and states, accelerations and joint forces of both.

Every joint becomes a hinge from the child (tail) to the parent (head) of two links: the motion with the place of the
joint in the parent, and the constant place of the child's principal frame in the joint. Loops become further hinges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.kinematics import body_placements
from surefoot.kinematics.recursion import bodies, joint_motion
from surefoot.redundant.equations import State, link_spinors, matrices, rest_state
from surefoot.redundant.model import GROUND, Action, Actuator, Ball, Body, Freedom, Hinge, Layout, Link, Model
from surefoot.redundant.nodes import project_velocities
from surefoot.robot import Loop, Robot, Tree
from surefoot.spatial import so3, spinor

_Stops = tuple[float | None, float | None]
_KINDS = ("revolute", "continuous", "prismatic", "spherical", "planar", "free", "translation")


@dataclass(frozen=True, eq=False)
class _PrincipalFrame:
    """Principal frame of a body: R_body_principal, centre of mass in the body [m], principal moments [kg m²]."""

    R: Array
    p: Array
    moments: Array


def model_of(robot: Robot) -> Model:
    """The robot as bodies and hinges, in space; actuators are all degrees of freedom, in the order of v.

    Freedoms are called after their joint; those of joints with several JOINT.x, …, JOINT.rx, … Position limits of
    revolute, prismatic and translation joints become stops. Friction, damping and bounds of drives are not in it:
    inputs are the forces that arrive at the joints.

    Raises:
        NotSupportedError: A joint is helical or copies another, joints are coupled, or a loop holds one rotation only.
    """
    tree = robot.tree
    _require_known(robot)
    frames = _principal_frames(tree)
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
            next_step="omit them (robot.replace(couplings=())), or use surefoot.dynamics.constrained_acceleration",
        )  # fmt: skip
    for i, kind in enumerate(tree.kinds):
        if kind not in _KINDS or tree.mimic_source[i] >= 0:
            why = "copies another" if tree.mimic_source[i] >= 0 else f"is {kind}"
            raise NotSupportedError(
                f"joint `{tree.joint_names[i]}` {why}; the formalism has chains of pins, balls and slides only",
                next_step="replace the joint, or use surefoot.dynamics, which supports it",
            )


def _unique(tree: Tree) -> list[str]:
    """Names of the bodies: those of the links, or of the joints where a link's name is taken."""
    names = [joint if body == GROUND else body for joint, body in zip(tree.joint_names, tree.body_names, strict=True)]
    return names if len(set(names)) == len(names) else list(tree.joint_names)


def _principal_frames(tree: Tree) -> list[_PrincipalFrame]:
    """The principal frames of all bodies, in the order of the tree."""
    out = []
    for com, inertia in zip(tree.coms, tree.inertias, strict=True):
        moments, R = np.linalg.eigh(inertia)
        R = R * np.sign(np.linalg.det(R))
        mean = moments.mean()
        if np.ptp(moments) <= 1e-13 * mean:  # like a sphere, but for rounding
            moments, R = np.full(3, mean), np.eye(3)
        out.append(_PrincipalFrame(R, com, np.maximum(moments, 0.0)))
    return out


def _floats(values: Array) -> tuple[float, ...]:
    return tuple(float(x) for x in values)


def _fixed(R: Array, p: Array) -> Link:
    """A constant link."""
    return Link(rotation=_floats(so3.log(R)), offset=_floats(p))


def _joint_in_parent(tree: Tree, i: int, frames: list[_PrincipalFrame]) -> tuple[Array, Array]:
    """Rotation (3, 3) and origin (3,), m, of joint i at q = 0 in the principal frame of its parent."""
    T, parent = tree.placements[i], int(tree.parents[i])
    if parent < 0:
        return T[:3, :3], T[:3, 3]
    frame = frames[parent]
    return frame.R.T @ T[:3, :3], frame.R.T @ (T[:3, 3] - frame.p)


def _hinge(robot: Robot, i: int, frames: list[_PrincipalFrame], bodies: tuple[Body, ...]) -> Hinge:
    tree, own = robot.tree, frames[i]
    R, p = _joint_in_parent(tree, i, frames)
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
    names = [name for i in np.argsort(robot.tree.v_index) for name in _joint_freedoms(robot.tree, int(i))]
    return tuple(Actuator(name=name, acts_on=(Action(freedom=name),)) for name in names)


def _joint_freedoms(tree: Tree, i: int) -> list[str]:
    """Names of the freedoms of joint i, in the order of its entries of v."""
    name = tree.joint_names[i]
    ends = {
        "spherical": ("r.x", "r.y", "r.z"),
        "translation": ("x", "y", "z"),
        "planar": ("x", "y", "rz"),
        "free": ("x", "y", "z", "r.x", "r.y", "r.z"),
    }
    return [f"{name}.{end}" for end in ends[tree.kinds[i]]] if tree.kinds[i] in ends else [name]


def _loop_hinge(robot: Robot, loop: Loop, frames: list[_PrincipalFrame], bodies: tuple[Body, ...]) -> Hinge:
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
            f"loop `{loop.name}` holds one rotation and leaves two free, which neither a pin nor a ball does",
            next_step="hold two or three rotations, or none",
        )
    ball = Ball(name=f"{loop.name}.r") if len(turning) == 3 else None
    motion = Link(pin=pin, ball=ball, offset=_floats(p_a), slides=slides)
    tail = _fixed(R_a @ R_b.T, -R_a @ R_b.T @ p_b)
    names = [body.name for body in bodies] + [GROUND]
    return Hinge(name=f"loop {loop.name}", tail=names[b], head=names[a], links=(tail, motion))


def _tied_frame(robot: Robot, name: str, T: Array, frames: list[_PrincipalFrame]) -> tuple[int, Array, Array]:
    """Body (-1 for the ground), rotation and origin of a tied frame in the body's principal frame."""
    placed = robot.model.frames[robot.frame_id(name)].placement.homogeneous @ T
    body = robot.body_of(name)
    if body < 0:
        return -1, placed[:3, :3], placed[:3, 3]
    own = frames[body]
    return body, own.R.T @ placed[:3, :3], own.R.T @ (placed[:3, 3] - own.p)


def state_of(robot: Robot, model: Model, q: Array, v: Array) -> State:
    """The state of the model at a configuration and velocity of the robot.

    Args:
        robot: The robot.
        model: From `model_of`.
        q: (nq,) configuration; closed loops must be closed.
        v: (nv,) velocity, consistent with the loops.
    """
    layout, tree = model.layout, robot.tree
    placed = _placed(layout, tree, robot.checked_q(q))
    rates, weights = np.zeros(len(layout.freedoms.names)), np.zeros(layout.motion_places["slides"].stop)
    for i in range(tree.n):
        own = _freedom_rows(layout, tree, i)
        rates[own] = _to_freedoms(robot, i, q) @ _entries(tree, i, v)
        weights[layout.motion_places["turns"].start + own] = 1.0
    return project_velocities(model, replace(placed, rates=rates), weights, solver="dense")


def joint_accelerations(robot: Robot, model: Model, q: Array, v: Array, freedoms: Array) -> Array:
    """The accelerations (nv,) of the robot, rad/s² or m/s².

    Args:
        robot: The robot.
        model: From `model_of`.
        q: (nq,) configuration.
        v: (nv,) velocity.
        freedoms: (m,) accelerations of the freedoms, as in `Dynamics.freedoms`.
    """
    tree, out = robot.tree, np.zeros(robot.nv)
    for i in range(tree.n):
        own, T = _entries(tree, i, v), _to_freedoms(robot, i, q)
        a = T.T @ freedoms[_freedom_rows(model.layout, tree, i)]
        match tree.kinds[i]:
            case "free":
                a[:3] -= np.cross(own[3:], own[:3])
            case "planar":
                a[:2] -= own[2] * np.array([-own[1], own[0]])
        out[int(tree.v_index[i]) : int(tree.v_index[i]) + len(own)] = a
    return out


def inputs_of(robot: Robot, q: Array, tau: Array) -> Array:
    """The actuator forces (nv,) of the model that are the joint forces of the robot.

    Args:
        robot: The robot.
        q: (nq,) configuration.
        tau: (nv,) joint forces [N m] or [N].
    """
    tree, order = robot.tree, np.argsort(robot.tree.v_index)
    parts = [_to_freedoms(robot, int(i), q) @ _entries(tree, int(i), tau) for i in order]
    return np.concatenate([np.zeros(0), *parts])


def _entries(tree: Tree, i: int, v: Array) -> Array:
    """The entries of joint i in v."""
    start = int(tree.v_index[i])
    return np.asarray(v, dtype=float)[start : start + tree.nv_of(i)]


def _freedom_rows(layout: Layout, tree: Tree, i: int) -> NDArray[np.int64]:
    """Indices of the freedoms of joint i, in the order of its entries of v."""
    return np.array([layout.freedoms.names.index(name) for name in _joint_freedoms(tree, i)], dtype=np.int64)


def _to_freedoms(robot: Robot, i: int, q: Array) -> Array:
    """T (k, k), orthogonal: rates of the freedoms from the entries of v, which are in axes of the child."""
    tree, start = robot.tree, int(robot.tree.q_index[i])
    turned, _ = joint_motion(bodies(tree)[i], np.asarray(q, dtype=float)[start : start + tree.nq_of(i)])
    R, _ = _joint_in_parent(tree, i, _principal_frames(tree))
    T = np.eye(tree.nv_of(i))
    match tree.kinds[i]:
        case "spherical":
            T[:] = R @ turned
        case "free":
            T[:3, :3], T[3:, 3:] = turned, R @ turned
        case "planar":
            T[:2, :2] = turned[:2, :2]
    return T


def _placed(layout: Layout, tree: Tree, q: Array) -> State:
    """The coordinates of bodies and freedoms, at rest."""
    still = rest_state(layout)
    placements, frames = body_placements(tree, q), _principal_frames(tree)
    R = np.array([R @ frame.R for (R, _), frame in zip(placements, frames, strict=True)]).reshape(-1, 3, 3)
    X = np.array([p + R @ frame.p for (R, p), frame in zip(placements, frames, strict=True)]).reshape(-1, 3)
    spinors = np.array([spinor.from_matrix(own) for own in R]).reshape(-1, 4)
    state = replace(still, spinors=spinors, positions=X)
    links, (motion, offset) = layout.links, _motions(layout, state)
    angles, slides = np.zeros_like(state.angles), np.zeros_like(state.slides)
    turned = [spinor.from_matrix(own) for own in motion]
    for k, (hinge, axis) in enumerate(zip(links.pin_at[1], links.pin_axes, strict=True)):
        angles[k] = 2.0 * np.arctan2(turned[hinge][1:] @ axis, turned[hinge][0])
    for k, (hinge, axis) in enumerate(zip(links.slide_at[1], links.slide_axes, strict=True)):
        slides[k] = axis @ offset[hinge]
    for k, name in enumerate(np.array(layout.freedoms.names)[links.pin_rows]):
        if name in tree.joint_names and tree.kinds[tree.joint_names.index(name)] == "revolute":
            angles[k] = q[int(tree.q_index[tree.joint_names.index(name)])]
    balls = np.array([turned[hinge] for hinge in links.ball_at[1]]).reshape(-1, 4)
    return replace(state, angles=angles, slides=slides, balls=balls)


def _motions(layout: Layout, state: State) -> tuple[Array, Array]:
    """Rotation (n, 3, 3) and translation (n, 3), less its constant part, of the moving link of every hinge.

    R_tail = R_head R_motion R_fixed and X_tail = X_head + R_head (R_motion p_fixed + offset + translation).
    """
    R, X = matrices(state.grounded_spinors), state.grounded_positions
    fixed = matrices(link_spinors(layout.links, rest_state(layout)))[1]
    R_head = R[layout.head].transpose(0, 2, 1)
    motion = R_head @ R[layout.tail] @ fixed.transpose(0, 2, 1)
    shift = (R_head @ (X[layout.tail] - X[layout.head])[..., None])[..., 0]
    carried = (motion @ layout.links.offsets[1][..., None])[..., 0]
    return motion, shift - carried - layout.links.offsets[0]
