"""Where the ground pushes: sums of contact wrenches, zero-moment points and the polygon in which they must lie."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.geometry import convex_hulls
from surefoot.robot import Robot

_UP = (0.0, 0.0, 1.0)
_HORIZONTAL = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])


def contact_placements(robot: Robot, q: ArrayLike) -> Array:
    """T_world_contact (n, c, 4, 4) of every contact surface, in the order of `robot.contacts`.

    Args:
        robot: The robot.
        q: (n, nq).
    """
    q = np.asarray(q, dtype=float)
    if not robot.contacts or robot.tree.n == 0:
        return np.zeros((len(q), 0, 4, 4))
    T = compile_robot(robot).frames(q, [contact.frame for contact in robot.contacts.values()])
    return np.asarray(T) @ np.array([contact.placement for contact in robot.contacts.values()])


def sum_wrenches(wrenches: ArrayLike, placements: ArrayLike, about: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """The sum of several wrenches about one point, in world axes.

        f = Σ R f_k,  m = Σ (R m_k + (r_k − p) × R f_k)        [contact.sum]   Nenchev & Konno 2019, (8.5), (8.6)

    Args:
        wrenches: (..., k, 6) linear first, each in the axes of its frame, about its origin.
        placements: (..., k, 4, 4) T_world_frame.
        about: (..., 3) the point p in world [m].

    Returns:
        (..., 6).
    """
    w, T = np.asarray(wrenches, dtype=float), np.asarray(placements, dtype=float)
    turned = w.reshape(*w.shape[:-1], 2, 3) @ T[..., :3, :3].swapaxes(-1, -2)
    arm = T[..., :3, 3] - np.asarray(about, dtype=float)[..., None, :]
    turned[..., 1, :] += _cross(arm, turned[..., 0, :])
    return np.asarray(turned.sum(axis=-3).reshape(*turned.shape[:-3], 6))


def zero_moment_point(
    wrench: ArrayLike,
    about: ArrayLike = (0.0, 0.0, 0.0),
    point: ArrayLike = (0.0, 0.0, 0.0),
    normal: ArrayLike = _UP,
    least_load: float = 0.0,
) -> Array:
    """The point of a plane about which a wrench has no moment in the plane.

        p = r + n × m_r / (n · f),  m_r the moment about a point r of the plane        [contact.zmp]

    Vukobratović & Borovac 2004; in this form Sardain & Bessonnet 2004, (7). For the wrench of one contact in its own
    frame it is the centre of pressure; for `sum_wrenches` of all contacts, that of the robot.

    Args:
        wrench: (..., 6) on the robot, linear first.
        about: (..., 3) the point that its moment refers to [m].
        point: (..., 3) r, a point of the plane [m].
        normal: (..., 3) n, of unit length.
        least_load: Below this normal force [N], and at 0, there is no such point.

    Returns:
        (..., 3) [m], NaN where there is none.
    """
    w, r, n = (np.asarray(x, dtype=float) for x in (wrench, point, normal))
    force = w[..., :3]
    moment = w[..., 3:] + _cross(np.asarray(about, dtype=float) - r, force)
    load = (force * n).sum(axis=-1)
    load = np.where((load > 0.0) & (load >= least_load), load, np.nan)
    return np.asarray(r + _cross(n, moment) / load[..., None])


def support_polygon(corners: ArrayLike, active: ArrayLike | None = None, axes: ArrayLike = _HORIZONTAL) -> Array:
    """(n, c, 2): hulls of the corners that touch, in a plane, for every sample; see `geometry.convex_hulls`.

    `geometry.distance_inside(p @ axes.T, polygons)` gives how far points p (n, 3) are inside.

    Args:
        corners: (n, k, 3) corners of all contact surfaces, in world [m].
        active: (n, k) which of them touch; all if omitted.
        axes: (2, 3) directions of the plane, right-handed with its normal; x and y of the world if omitted.
    """
    return convex_hulls(np.asarray(corners, dtype=float) @ np.asarray(axes, dtype=float).T, active)


def _cross(a: Array, b: Array) -> Array:
    """A × b (..., 3), without the overhead of `np.cross`, which counts for single readings."""
    return np.asarray(a.take(_NEXT, -1) * b.take(_LAST, -1) - a.take(_LAST, -1) * b.take(_NEXT, -1))
