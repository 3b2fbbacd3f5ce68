"""Keep the centre of mass over a support polygon."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array as Numbers
from surefoot.arrays import finite_array, number
from surefoot.errors import ShapeError
from surefoot.geometry import convex_hull
from surefoot.kinematics import com, com_bias, com_jacobian
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.tasks.task import Task


@dataclass(frozen=True, eq=False)
class Support(Task):
    """Keep the centre of mass above the hull of points on the ground, inside by a margin.

        n_k · c_xy ≤ n_k · p_k − margin   for every edge, n_k its outward normal        [tasks.support]

    Args:
        points: (n, 2) or (n, 3) in world [m], such as the corners of the soles; their hull counts.
        margin: [m].
        name: Unique among the tasks; "support" if omitted.
        priority: See `Task`, and so for weight and gain.
        weight: See `Task`.
        gain: See `Task`.
        below: Infinite: further inside is well.
        above: 0: nothing may be beyond the edge.
        activation: See `Task`.
    """

    points: ArrayLike
    margin: float = 0.0
    below: float | Numbers = field(default=np.inf, kw_only=True)

    @cached_property
    def edges(self) -> tuple[Numbers, Numbers]:
        """Outward normals (k, 2) and offsets (k,) of the edges."""
        points = finite_array(self.points, (None, None), f"points of task `{self.name}`")
        corners = np.asarray(convex_hull(points[:, :2]))
        if len(corners) < 3:
            raise ShapeError(
                f"points of task `{self.name}` do not span a polygon", evidence={"corners": corners.tolist()}
            )
        ways = np.roll(corners, -1, axis=0) - corners
        normals = np.column_stack([ways[:, 1], -ways[:, 0]]) / np.linalg.norm(ways, axis=1)[:, None]
        ends, margin = np.einsum("ij,ij->i", normals, corners), number(self.margin, f"margin of task `{self.name}`")
        at_middle = float((ends - normals @ corners.mean(axis=0)).min())  # spares the search, mostly
        if margin > at_middle and margin > (widest := _inner_radius(normals, ends)):
            raise ShapeError(
                f"margin of task `{self.name}` is wider than its polygon: no centre of mass would keep it",
                evidence={"margin [m]": margin, "widest [m]": widest},
                next_step="give a smaller margin, or points that are further apart",
            )
        return normals, ends - margin

    @property
    def structure(self) -> tuple[object, ...]:
        """Its edges are compiled in."""
        return type(self), self.is_equation, self.edges[0].tobytes()

    @cached_property
    def measures(self) -> tuple[tuple[str, int], ...]:
        """Metres."""
        return (("m", len(self.edges[1])),)

    def numbers_of(self, target: Any) -> Numbers:
        """Offsets of the edges (rows,)."""
        if target is not None:
            raise ShapeError(f"task `{self.name}` has no target", next_step="make another Support from other points")
        return self.edges[1]

    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        """How far the centre of mass is inside each edge."""
        return target - self.edges[0] @ com(robot.tree, q)[:2]

    def jacobian(self, robot: Robot, q: Array, target: Array) -> Array:
        """The Jacobian of the centre of mass, across the edges."""
        return self.edges[0] @ com_jacobian(robot.tree, q)[:2]

    def bias(self, robot: Robot, q: Array, v: Array, target: Array) -> Array:
        """Its rate times v."""
        return self.edges[0] @ com_bias(robot.tree, q, v)[:2]


def _inner_radius(normals: Numbers, ends: Numbers) -> float:
    """Radius of the largest circle in a convex polygon n_k · x ≤ d_k [m]: n_k · x + r ≤ d_k with the largest r.

    Args:
        normals: (k, 2) of unit length.
        ends: (k,).
    """
    from scipy.optimize import linprog  # slow to import, and seldom needed

    found = linprog([0.0, 0.0, -1.0], np.column_stack([normals, np.ones(len(ends))]), ends, bounds=(None, None))
    if not found.success:
        raise ShapeError("points do not span a polygon that contains a circle", evidence={"reason": found.message})
    return float(-found.fun)
