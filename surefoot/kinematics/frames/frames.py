"""Where frames are and how they move.

Twists and accelerations are linear first and referred to one of `REFERENCES`. An acceleration is *spatial* (the change
of the twist's field at a fixed point) unless it is called classical (of the body point at the reference point).
Accelerations are true ones: gravity is not in them.
"""

from __future__ import annotations

import numpy as np

from surefoot import ops
from surefoot.kinematics.frames.frame import WORLD, Frame, Reference, require_reference
from surefoot.kinematics.frames.path import chain, path_between
from surefoot.kinematics.recursion import ACCELERATIONS, TWISTS, run
from surefoot.ops import Array
from surefoot.robot import Tree
from surefoot.spatial import se3, twist


def frame_placement(tree: Tree, frame: Frame, q: Array) -> Array:
    """T_world_frame (4, 4).   [kin.fk]   Buschmann 2014, Alg. 2.

    Args:
        tree: The tree.
        frame: The frame.
        q: (nq,) configuration.
    """
    return relative_placement(tree, WORLD, frame, q)


def relative_placement(tree: Tree, first: Frame, second: Frame, q: Array) -> Array:
    """T_first_second (4, 4), from the joints between the two.   [kin.path].

    Args:
        tree: The tree.
        first: The frame of the observer.
        second: The other one.
        q: (nq,) configuration.
    """
    path = path_between(tree, first, second, q)
    p = first.R.T @ (path.levers(second)[first.body] - first.p)
    return se3.make(path.axes(first)[second.body] @ second.R, p)


def frame_velocity(tree: Tree, frame: Frame, q: Array, v: Array, reference: Reference = "local_world_aligned") -> Array:
    """Twist (6,), m/s and rad/s.   [kin.twist]   Buschmann 2014, section 2.3.

    Args:
        tree: The tree.
        frame: The frame.
        q: (nq,) configuration.
        v: (nv,) velocity.
        reference: One of `REFERENCES`.
    """
    require_reference(reference)
    return _referred(tree, frame, q, _twist_at_frame(tree, frame, q, v), reference)


def frame_acceleration(
    tree: Tree, frame: Frame, q: Array, v: Array, a: Array, reference: Reference = "local_world_aligned"
) -> Array:
    """Spatial acceleration (6,), m/s² and rad/s².   [kin.acceleration].

    Args:
        tree: The tree.
        frame: The frame.
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.
        reference: One of `REFERENCES`.
    """
    require_reference(reference)
    classical = _acceleration_at_frame(tree, frame, q, v, a)
    spatial = twist.spatial_acceleration(classical, _twist_at_frame(tree, frame, q, v))
    return _referred(tree, frame, q, spatial, reference)


def frame_classical_acceleration(
    tree: Tree, frame: Frame, q: Array, v: Array, a: Array, reference: Reference = "local_world_aligned"
) -> Array:
    """Acceleration of the body point at the reference point, and dω/dt (6,), m/s² and rad/s².   [kin.acceleration].

    Args:
        tree: The tree.
        frame: The frame.
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.
        reference: One of `REFERENCES`.
    """
    require_reference(reference)
    if reference == "world":
        spatial = frame_acceleration(tree, frame, q, v, a, reference)
        return twist.classical_acceleration(spatial, frame_velocity(tree, frame, q, v, reference))
    return _referred(tree, frame, q, _acceleration_at_frame(tree, frame, q, v, a), reference)


def frame_bias_acceleration(
    tree: Tree, frame: Frame, q: Array, v: Array, reference: Reference = "local_world_aligned"
) -> Array:
    """dJ/dt v (6,), m/s² and rad/s², J the frame's Jacobian of the same reference.   [kin.bias].

    The rate of J v at a = 0: the classical acceleration for "local_world_aligned", whose reference point moves along,
    the spatial one for "local" and "world".

    Args:
        tree: The tree.
        frame: The frame.
        q: (nq,) configuration.
        v: (nv,) velocity.
        reference: One of `REFERENCES`.
    """
    acceleration = frame_classical_acceleration if reference == "local_world_aligned" else frame_acceleration
    return acceleration(tree, frame, q, v, np.zeros(len(tree.armature)), reference)


def _twist_at_frame(tree: Tree, frame: Frame, q: Array, v: Array) -> Array:
    """Twist (6,) at the frame's origin, in the axes of its body."""
    fields, _ = run(TWISTS, tree, {"q": q, "v": v}, only=chain(tree, frame.body))
    return twist.shift(fields[frame.body]["twist"], frame.p)


def _acceleration_at_frame(tree: Tree, frame: Frame, q: Array, v: Array, a: Array) -> Array:
    """Classical acceleration (6,) of the frame's origin, in the axes of its body."""
    fields, _ = run(ACCELERATIONS, tree, {"q": q, "v": v, "a": a}, only=chain(tree, frame.body))
    body = fields[frame.body]
    return ops.concatenate([body["acceleration"] + body["W"] @ frame.p, body["alpha"]])


def _referred(tree: Tree, frame: Frame, q: Array, motion: Array, reference: Reference) -> Array:
    """A twist (6,) at the frame's origin, in the axes of its body, in another reference."""
    if reference == "local":
        return _turned(frame.R.T, motion)
    path = path_between(tree, WORLD, frame, q)
    aligned = _turned(path.axes(WORLD)[frame.body], motion)
    return aligned if reference == "local_world_aligned" else twist.shift(aligned, -path.levers(frame)[-1])


def _turned(R: Array, motion: Array) -> Array:
    return ops.concatenate([R @ motion[:3], R @ motion[3:]])
