"""The distance of two swept volumes that bodies of a tree carry, and how it changes with the joints.

    d(distance)/dt = n · (v_b − v_a) = Σ ± (n · l_j + (x × n) · e_j) v_j      [kin.volume-distance]
                                                                   Buschmann 2014, section 5.3

n points from the nearest point of a to that of b, x is one of the two (both give the same moment, since n lies on the
line through them), and (l_j, e_j) is the twist of a unit rate of joint j, + on the way to b and − on the way to a.
All is written in the frame of the body on which both branches hang: joints that move both volumes alike do not enter,
and volumes that hang on one body share their placements when several distances are compiled together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.geometry import generator_distance, smooth_distance
from surefoot.kinematics.frames import Frame, Path, frame_placement, path_between
from surefoot.kinematics.recursion import bodies, dof_rows, joint_subspace
from surefoot.ops import Array
from surefoot.robot import BodyVolume, Tree

_NO_DIRECTION = 1e-12
"""Generators nearer than this [m] cross each other: there is no direction in which they move apart fastest."""


@dataclass(frozen=True, eq=False)
class VolumeDistance:
    """The distance of two volumes at one configuration.

    Args:
        distance: Between the surfaces [m]; negative where they overlap, never below minus the sum of the radii.
        gradient: (nv,) the rate of the distance is gradient · v; zero where the generators cross.
        point_a: (3,) nearest point on the surface of the first, in world [m].
        point_b: (3,) nearest point on the surface of the second, in world [m].
    """

    distance: Any
    gradient: Array
    point_a: Array
    point_b: Array


def volume_distance(tree: Tree, q: Array, a: BodyVolume, b: BodyVolume, blur: float | None = None) -> VolumeDistance:
    """The distance of two volumes, its gradient and its nearest points.   [kin.volume-distance].

    Args:
        tree: The tree.
        q: (nq,) configuration.
        a: A volume on a body, or in the world.
        b: The other one.
        blur: By how much the distance may exceed the exact one so that its gradient has no jumps [m]
            (`geometry.smooth_distance`); None for the exact distance, whose gradient jumps where the nearest points do.
    """
    path = path_between(tree, Frame(a.body), Frame(b.body), q)
    placed_a, placed_b = _branch(path, path.inward[::-1]), _branch(path, path.outward)
    A, B = _vertices(a, placed_a), _vertices(b, placed_b)
    nearest: Any = generator_distance(A, B) if blur is None else smooth_distance(A, B, blur)
    normal = (nearest.point_b - nearest.point_a) / ops.maximum(nearest.distance, _NO_DIRECTION)
    moment = ops.cross(nearest.point_a, normal)
    gradient = ops.zeros(len(tree.armature), like=q)
    for sign, placed in ((-1.0, placed_a), (1.0, placed_b)):
        for i, (R, p) in placed.items():
            rows = dof_rows(tree, i)
            # What unit rates of a joint (columns of S in the body at R, p) give along a force (normal, moment)
            S = joint_subspace(bodies(tree)[i])
            angular = R @ S[3:]
            arms = ops.stack([ops.cross(p, axis) for axis in angular.T], axis=1)
            gradient[rows] = gradient[rows] + sign * ((R @ S[:3] + arms).T @ normal + angular.T @ moment)
    to_world = frame_placement(tree, Frame(path.parents[path.inward[-1]] if path.inward else a.body), q)
    return VolumeDistance(
        nearest.distance - (a.volume.radius + b.volume.radius),
        gradient,
        _moved(to_world, nearest.point_a + a.volume.radius * normal),
        _moved(to_world, nearest.point_b - b.volume.radius * normal),
    )


def _branch(path: Path, branch: tuple[int, ...]) -> dict[int, tuple[Array, Array]]:
    """R and the origin of every body of a branch, in the body from which it starts."""
    R, p = np.eye(3), np.zeros(3)
    placed = {}
    for i in branch:
        p = p + R @ path.placements[i][1]
        R = R @ path.placements[i][0]
        placed[i] = (R, p)
    return placed


def _vertices(x: BodyVolume, placed: dict[int, tuple[Array, Array]]) -> Array:
    """The vertices of a volume (k, 3) where its branch starts."""
    if x.body not in placed:
        return x.volume.vertices
    R, p = placed[x.body]
    return ops.stack([p + R @ vertex for vertex in x.volume.vertices])


def _moved(T: Array, point: Array) -> Array:
    return T[:3, :3] @ point + T[:3, 3]
