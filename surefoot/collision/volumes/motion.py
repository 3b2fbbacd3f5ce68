"""Where the volumes of a robot are, and how its joints move them: one kernel each, compiled for the robot.

What decides about the results of this room, for keys of the cache: its source text, and the numbers of a tree.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot import ops
from surefoot.arrays import Array
from surefoot.codegen import Kernel, cache, compile_function
from surefoot.errors import ShapeError
from surefoot.geometry import SweptVolume
from surefoot.kinematics import body_placements
from surefoot.kinematics.recursion import bodies, dof_rows, joint_subspace
from surefoot.robot import BodyVolume, Robot, Tree


@functools.cache
def source_text() -> str:
    """Hash of this room's source, of all that is compiled, and of numpy's version; read once for each process."""
    files = sorted(Path(__file__).parents[1].rglob("*.py"))
    parts = (part for path in files for part in (path.name, path.read_bytes()))
    return cache.key(cache.source_version(), np.__version__, *parts)


def tree_identity(tree: Tree) -> tuple[str | NDArray[np.generic], ...]:
    """All of a tree that kinematics may depend on."""
    values = (getattr(tree, item.name) for item in fields(tree))
    return tuple(value if isinstance(value, np.ndarray) else ",".join(value) for value in values)


Indices = NDArray[np.int64]


class VolumeMotion:
    """The vertices of volumes and the twists of joints, in world.

    Args:
        robot: The robot.
        volumes: Volumes on its bodies or in the world.

    Attributes:
        starts: (V,) the first vertex of every volume among the points.
        kinds: (V,) number of vertices of every volume.
        radii: (V,) [m].
        bodies: (V,) body of every volume, −1 for the world.
        ball_radii: (V,) radius of the ball round each volume [m]; its centre lies on the generator.
    """

    def __init__(self, robot: Robot, volumes: Sequence[BodyVolume]) -> None:
        for item in volumes:
            if not -1 <= item.body < robot.tree.n:
                raise ShapeError(f"`{robot.name}` has no body {item.body}", evidence={"volume of": item.link})
        self.robot, self.volumes = robot, tuple(volumes)
        self.kinds = np.array([len(x.volume.vertices) for x in volumes], dtype=np.int64)
        self.starts: Indices = np.concatenate([[0], np.cumsum(self.kinds)])[:-1].astype(np.int64)
        self.radii = np.array([x.volume.radius for x in volumes], dtype=float)
        self.bodies = np.array([x.body for x in volumes], dtype=np.int64)
        balls = [ball_of(x.volume) for x in volumes]
        self._centers = np.array([center for center, _ in balls]).reshape(-1, 3)
        self.ball_radii = np.array([radius for _, radius in balls], dtype=float)

    @property
    def count(self) -> int:
        """Number of vertices."""
        return int(self.kinds.sum())

    def points(self, q: ArrayLike) -> Array:
        """All vertices, then the centres of the balls round the volumes: (n, vertices + V, 3) in world [m].

        Args:
            q: (n, nq) configurations.
        """
        Q = np.ascontiguousarray(q, dtype=float)
        if not self.volumes or not self.robot.tree.n:
            return np.tile(self.numbers[1], (len(Q), 1, 1))
        found: Array = self._points_kernel(Q)
        return found

    def twists(self, q: ArrayLike) -> Array:
        """Twists of unit rates of the joints at the world's origin, in its axes: (n, m, 6), linear first.

        One row for each degree of freedom of every joint; joints that follow another have rows of their own.

        Args:
            q: (n, nq) configurations.
        """
        Q = np.ascontiguousarray(q, dtype=float)
        found: Array = self._twists_kernel(Q) if self.robot.tree.n else np.zeros((len(Q), 0, 6))
        return found

    @cached_property
    def twist_body(self) -> Indices:
        """(m,) the body that each row of `twists` moves."""
        tree = self.robot.tree
        return np.array([i for i in range(tree.n) for _ in range(_rows(tree, i))], dtype=np.int64)

    @cached_property
    def twist_entry(self) -> Indices:
        """(m,) the entry of v that each row of `twists` belongs to."""
        tree = self.robot.tree
        entries = [np.arange(dof_rows(tree, i).start, dof_rows(tree, i).stop) for i in range(tree.n)]
        return np.concatenate([np.zeros(0, dtype=np.int64), *entries]).astype(np.int64)

    @cached_property
    def carried(self) -> NDArray[np.bool_]:
        """(V, bodies): whether the joint of a body moves a volume."""
        tree = self.robot.tree
        out = np.zeros((len(self.volumes), tree.n), dtype=bool)
        for k, body in enumerate(self.bodies):
            if body >= 0:
                out[k, [int(body), *tree.ancestors(int(body))]] = True
        return out

    # -- kernels --------------------------------------------------------------------------------------------------

    @cached_property
    def numbers(self) -> tuple[Indices, Array]:
        """The body of every point (k,), and its place there (k, 3) [m]."""
        carriers = np.concatenate([np.repeat(self.bodies, self.kinds), self.bodies])
        return carriers, np.vstack([np.zeros((0, 3)), *(x.volume.vertices for x in self.volumes), self._centers])

    def trace_points(self, q: Array) -> Array:
        """All points at one posture, over `surefoot.ops`: (vertices + V, 3) in world [m].

        Args:
            q: (nq,) configuration.
        """
        placed = body_placements(self.robot.tree, q)
        rows = zip(*self.numbers, strict=True)
        return ops.stack([x if body < 0 else placed[body][1] + placed[body][0] @ x for body, x in rows])

    @cached_property
    def _points_kernel(self) -> Kernel:
        return self._compiled("volume points", self.trace_points, *self.numbers)

    @cached_property
    def _twists_kernel(self) -> Kernel:
        return self._compiled("joint twists", lambda q: _joint_twists(self.robot.tree, q))

    def _compiled(self, name: str, function: Callable[[Array], Array], *numbers: NDArray[Any]) -> Kernel:
        """A function of q that depends on the tree and these numbers."""
        identity = (name, source_text(), *tree_identity(self.robot.tree), *numbers)
        return compile_function(name, function, {"q": (self.robot.nq,)}, identity=identity)


def ball_of(volume: SweptVolume) -> tuple[Array, float]:
    """Centre (3,) and radius of the smallest ball round a volume; the centre lies on the generator."""
    vertices = np.asarray(volume.vertices)
    center = vertices.mean(axis=0) if len(vertices) < 3 else _circle_center(vertices)
    return center, float(np.linalg.norm(vertices - center, axis=1).max()) + volume.radius


def _circle_center(corners: Array) -> Array:
    """Centre of the smallest circle round a triangle: of its longest edge, or of its circumcircle if it is acute."""
    edges = np.roll(corners, -1, axis=0) - corners
    squares = (edges**2).sum(axis=1)
    k = int(np.argmax(squares))
    if 2.0 * squares[k] >= squares.sum():
        center: Array = corners[k] + 0.5 * edges[k]
        return center
    weights = np.roll(squares, -1) * (squares.sum() - 2.0 * np.roll(squares, -1))  # edge opposite to each corner
    found: Array = weights @ corners / weights.sum()
    return found


def _joint_twists(tree: Tree, q: Array) -> Array:
    """(m, 6): each column of every joint's S, at the world's origin and in its axes."""
    rows = []
    for body, (R, p) in zip(bodies(tree), body_placements(tree, q), strict=True):
        for column in joint_subspace(body).T:
            angular = R @ column[3:]
            rows.append(ops.concatenate([R @ column[:3] + ops.cross(p, angular), angular]))
    return ops.stack(rows)


def _rows(tree: Tree, i: int) -> int:
    rows = dof_rows(tree, i)
    return rows.stop - rows.start
