"""Frames in which a tree is cheap to compute with.

A body that turns about an axis may be described in any frame whose origin lies on that axis and that turns with it.
Turned and shifted well, the frames of a tree meet each other without constant rotations, and at positions with few
nonzero entries: as in the conventions of Denavit & Hartenberg 1955 and Khalil & Kleinfinger 1986, but only as far as it
saves operations, and with hinges on any coordinate axis. The degrees of freedom stay the same; where a frame is turned,
a constant is added to the angle of the joint.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from surefoot import ops
from surefoot.arrays import Array as Numbers
from surefoot.kinematics.recursion import Body, bodies, snapped
from surefoot.ops import Array
from surefoot.robot import Tree
from surefoot.robot.model import NQ, NV
from surefoot.spatial import se3
from surefoot.spatial.so3 import skew

_Z = np.array([0.0, 0.0, 1.0])
_ROUNDING = 32.0 * np.finfo(float).eps
_PARALLEL = 1e-9  # sine of the angle between axes below which they count as parallel
_PLANE, _SPACE = 3.5, 9.0  # what rotations about coordinate axes and about others cost, in entries of a position


@dataclass(frozen=True, eq=False)
class LeanBody:
    """A body in a frame of its own.

    Args:
        body: The body in this frame, and its placement in that of the parent.
        moments: (4, 4) ∫ x xᵀ dm with x = (r, 1), r in this frame.
        angle: The angle of the body is that of the joint plus this [rad].
        T: (4, 4) this frame in the frame that the tree has for the body.
    """

    body: Body
    moments: Numbers
    angle: float
    T: Numbers

    def wrench(self, external: Array) -> Array:
        """A wrench (6,) in the frame of the tree, in this one."""
        R, p = self.T[:3, :3], self.T[:3, 3]
        force, moment = external[:3], external[3:] - ops.cross(p, external[:3])
        return ops.concatenate([R.T @ force, R.T @ moment])


def joint_position(tree: Tree, i: int, lean: LeanBody, q: Array) -> Array:
    """The entries for joint i of a configuration q (nq,), as its lean body wants them."""
    source = int(tree.mimic_source[i])
    start = int(tree.q_index[i if source < 0 else source])
    own = q[start : start + NQ[tree.kinds[i]]]
    if source >= 0:
        own = lean.body.offset + lean.body.ratio * own
    if lean.angle == 0.0:
        return own
    if lean.body.kind == "revolute":
        return own + lean.angle
    c, s = math.cos(lean.angle), math.sin(lean.angle)
    return ops.array([c * own[0] - s * own[1], s * own[0] + c * own[1]])


@lru_cache(maxsize=64)
def lean_bodies(tree: Tree) -> tuple[LeanBody, ...]:
    """The bodies of a tree in cheap frames, in its order."""
    given, weights = _on_coordinate_axes(tree), _weights(tree)
    lean: list[_Frame] = []
    for i, frame in enumerate(given):
        parent = int(tree.parents[i])
        seen = frame if parent < 0 else replace(frame, link=se3.inverse(lean[parent].own) @ frame.link)
        carried = [(given[k], weights[k]) for k in tree.children(i)]
        lean.append(_cheapest(seen, weights[i], carried) if frame.turns else seen)
    return tuple(_settled(body, frame) for body, frame in zip(bodies(tree), lean, strict=True))


@dataclass(frozen=True, eq=False)
class _Frame:
    """A frame for a body.

    Args:
        axis: (3,) of the joint, in this frame.
        turns: Whether the frame may be turned about the axis and shifted along it.
        link: (4, 4) the joint at rest, in the frame of the parent, before this frame is turned and shifted.
        start: (4, 4) this frame before it is turned and shifted, in the frame of the body.
        angle: By how much it is turned [rad].
        slide: By how much it is shifted [m].
    """

    axis: Numbers
    turns: bool
    link: Numbers
    start: Numbers
    angle: float = 0.0
    slide: float = 0.0

    @property
    def own(self) -> Numbers:
        """Turn and shift (4, 4)."""
        return se3.make(_turn(self.axis, self.angle), self.slide * self.axis)

    @property
    def direction(self) -> Numbers:
        """The axis in the parent (3,)."""
        return snapped(self.link[:3, :3] @ self.axis)

    @property
    def origin(self) -> Numbers:
        """The origin in the parent (3,), entries within rounding of zero made exact."""
        along = self.slide * self.direction
        p = self.link[:3, 3] + along
        return np.where(np.abs(p) <= _ROUNDING * np.abs([self.link[:3, 3], along]).max(), 0.0, p)


def _on_coordinate_axes(tree: Tree) -> list[_Frame]:
    """The frames of the bodies, turned where the axis of a hinge is skew to theirs."""
    out: list[_Frame] = []
    for parent, body in zip(tree.parents, bodies(tree), strict=True):
        turns = body.kind in ("revolute", "continuous")
        is_skew = turns and np.count_nonzero(body.axis) > 1
        start = se3.make(_carrying(_Z, body.axis), np.zeros(3)) if is_skew else np.eye(4)
        above = out[parent].start if parent >= 0 else np.eye(4)
        link = above.T @ se3.make(body.R, body.p) @ start
        out.append(_Frame(_Z if is_skew else body.axis, turns, link, start))
    return out


def _weights(tree: Tree) -> list[int]:
    """How many columns of derivatives pass through each joint, and some for what else does."""
    carried = [NV[kind] for kind in tree.kinds]
    for i in reversed(range(tree.n)):
        if tree.parents[i] >= 0:
            carried[tree.parents[i]] += carried[i]
    return [columns + 2 for columns in carried]


def _cheapest(frame: _Frame, weight: int, carried: list[tuple[_Frame, int]]) -> _Frame:
    """The frame, turned and shifted so that the links to its parent and to its children cost least."""
    best, least = frame, math.inf
    for option in _options(frame, [child for child, _ in carried]):
        into = se3.inverse(option.own)
        cost = float(weight * np.count_nonzero(option.origin))
        cost += sum(share * _cost(replace(child, link=into @ child.link)) for child, share in carried)
        best, least = (option, cost) if cost < least else (best, least)
    return best


def _options(frame: _Frame, carried: list[_Frame]) -> Iterator[_Frame]:
    """The frame as it is, and turned and shifted such that some entry of a link vanishes."""
    angles = [0.0, *(_aligning(frame.axis, child) for child in carried)]
    slides = [0.0, *(float(frame.axis @ child.link[:3, 3]) for child in carried)]
    slides += [-p / w for p, w in zip(frame.link[:3, 3], frame.direction, strict=True) if abs(w) > 0.5]
    for angle in dict.fromkeys(angles):
        for slide in dict.fromkeys(slides):
            yield replace(frame, angle=angle, slide=slide)


def _aligning(axis: Numbers, child: _Frame) -> float:
    """The least turn about an axis after which the child's axis lies in a plane of two coordinate axes.

    If the two axes are parallel, that holds already, and it is the position of the child that is turned into a plane.
    """
    first = np.abs(np.roll(axis, 1))
    second = np.cross(axis, first)
    for direction in (child.direction, child.link[:3, 3]):
        x, y = float(first @ direction), float(second @ direction)
        if child.turns and math.hypot(x, y) > _PARALLEL:
            angle = math.remainder(math.atan2(y, x), 0.5 * math.pi)
            return angle if abs(angle) > _ROUNDING else 0.0
    return 0.0


def _cost(child: _Frame) -> float:
    """What the link to a child costs; an entry that the child can remove by sliding is free."""
    filled = float(np.count_nonzero(child.origin))
    if not child.turns:
        return filled + {3: 0.0, 5: _PLANE}.get(int(np.count_nonzero(snapped(child.link[:3, :3]))), _SPACE)
    along = np.flatnonzero(child.direction)
    removable = len(along) == 1 and child.origin[along[0]] != 0.0
    return filled - removable + (0.0, _PLANE, _SPACE)[len(along) - 1]


def _settled(body: Body, frame: _Frame) -> LeanBody:
    """The body in its frame; a turn of its link about its own axis goes into the angle."""
    T = frame.start @ frame.own
    back = se3.inverse(T)
    moments = back @ _moments(body) @ back.T
    moments = 0.5 * (moments + moments.T)
    second = moments[:3, :3]
    mount, angle = _split(frame) if frame.turns else (snapped(frame.link[:3, :3]), 0.0)
    lean = replace(
        body,
        R=mount,
        p=frame.origin,
        axis=frame.axis,
        moment=moments[:3, 3],
        inertia=np.trace(second) * np.eye(3) - second,
    )
    return LeanBody(lean, moments, angle, T)


def _moments(body: Body) -> Numbers:
    """∫ x xᵀ dm (4, 4) of a body."""
    out = np.zeros((4, 4))
    out[:3, :3] = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
    out[:3, 3] = out[3, :3] = body.moment
    out[3, 3] = body.mass
    return out


def _split(frame: _Frame) -> tuple[Numbers, float]:
    """The link's rotation as the simplest one that carries the axis along, after a turn about the axis."""
    mount = _carrying(frame.axis, frame.direction)
    first = np.abs(np.roll(frame.axis, 1))
    turned = mount.T @ frame.link[:3, :3] @ first
    angle = math.atan2(float(np.cross(frame.axis, first) @ turned), float(first @ turned)) + frame.angle
    return mount, 0.0 if abs(angle) <= _ROUNDING else angle


def _turn(axis: Numbers, angle: float) -> Numbers:
    """Rotation about a coordinate axis."""
    along = np.outer(axis, axis)
    return along + math.cos(angle) * (np.eye(3) - along) + math.sin(angle) * skew(axis)


def _carrying(start: Numbers, end: Numbers) -> Numbers:
    """The shortest rotation (3, 3) that carries a coordinate axis, of either sign, to another unit vector.

    Past a right angle the opposite of the axis is carried there, after half a turn about a coordinate axis.
    """
    normal = np.cross(start, end)
    if start @ end < 0.0:
        across = np.roll(np.abs(start), 1)
        other = np.abs(np.cross(start, across))
        about = other if abs(other @ normal) > abs(across @ normal) else across
        return _carrying(-start, end) @ (2.0 * np.outer(about, about) - np.eye(3))
    return snapped(np.eye(3) + skew(normal) + skew(normal) @ skew(normal) / (1.0 + start @ end))
