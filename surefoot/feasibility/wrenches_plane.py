"""What a motion asks of contacts that lie in one plane: net force, friction, zero-moment point."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.contact import zero_moment_point
from surefoot.feasibility.efforts_support import Support
from surefoot.geometry import convex_hulls, distance_inside

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["GroundPlaneDemand", "plane_demand"]

_FLAT = 0.01  # [m]: corners that are farther from a common plane lie in several
_PARALLEL = 0.035  # [rad]: so do surfaces that are tilted more against each other
_STILL = 1e-4  # [m]: corners that move less stand still
_LIGHT = 0.05  # share of the weight below which there is no zero-moment point to speak of


class GroundPlaneDemand(NamedTuple):
    """What all contacts together have to exert, where they lie in one plane; NaN elsewhere.

    Args:
        normal_force: (n,) [N].
        tangential_force: (n,) [N].
        friction: (n,) the largest coefficient of the contacts that touch.
        inside: (n,) distance of the zero-moment point inside the support polygon [m], negative outside.
        several: Whether contacts lie in several planes at some time.
    """

    normal_force: Array
    tangential_force: Array
    friction: Array
    inside: Array
    several: bool


def plane_demand(case: Case, support: Support) -> GroundPlaneDemand:
    """Net force and zero-moment point of a motion, against the contacts that carry it.

    Args:
        case: The case.
        support: What carries it.
    """
    normals, level = _planes(case, support)
    touching = support.pushes.any(axis=1)
    judged = touching & level
    force = case.efforts.demand.net[:, :3]
    load = np.einsum("ni,ni->n", force, normals)
    across = np.linalg.norm(force - load[:, None] * normals, axis=1)
    friction = np.where(support.carrying, case.touch.friction, -np.inf).max(axis=1, initial=-np.inf)
    return GroundPlaneDemand(
        np.where(judged, load, np.nan),
        np.where(judged, across, np.nan),
        np.where(judged, friction, np.nan),
        np.where(judged, _inside(case, support, normals), np.nan),
        bool((touching & ~level).any()),
    )


def _planes(case: Case, support: Support) -> tuple[Array, NDArray[np.bool_]]:
    """Mean normals (n, 3) of the ground under contacts that carry, and (n,) whether all lie in one plane."""
    normals = np.where(support.carrying[:, :, None], case.touch.normals, 0.0)
    mean = normals.sum(axis=1)
    size = np.linalg.norm(mean, axis=1, keepdims=True)
    mean = np.where(size > 1e-9, mean / np.maximum(size, 1e-9), [0.0, 0.0, 1.0])
    tilted = np.linalg.norm(case.touch.normals - mean[:, None], axis=2) > _PARALLEL
    heights = np.einsum("npi,ni->np", support.points, mean)
    low = np.where(support.pushes, heights, np.inf).min(axis=1, initial=np.inf)
    high = np.where(support.pushes, heights, -np.inf).max(axis=1, initial=-np.inf)
    return mean, np.asarray(~(tilted & support.carrying).any(axis=1) & ~(high - low > _FLAT))


def _inside(case: Case, support: Support, normals: Array) -> Array:
    """(n,): distance of the zero-moment point inside the hull of the corners that touch."""
    demand = case.efforts.demand
    weights = support.pushes / np.maximum(support.pushes.sum(axis=1, keepdims=True), 1)
    middle = np.einsum("np,npi->ni", weights, support.points)
    zmp = zero_moment_point(demand.net, demand.com, middle, normals, _LIGHT * case.weight)
    axes = _axes(normals)
    corners = np.einsum("nai,npi->npa", axes, support.points - middle[:, None])
    hulls = _hulls(corners, support.pushes)
    return np.asarray(distance_inside(np.einsum("nai,ni->na", axes, zmp - middle), hulls))


def _hulls(corners: Array, pushes: NDArray[np.bool_]) -> Array:
    """(n, c, 2): hulls of the corners that touch, one for all samples between which they do not move."""
    places = np.where(pushes[:, :, None], np.round(corners / _STILL), np.inf)
    moved = np.concatenate([[True], (places[1:] != places[:-1]).any(axis=(1, 2))])
    return convex_hulls(corners[moved], pushes[moved])[np.cumsum(moved) - 1]


def _axes(normals: Array) -> Array:
    """(n, 2, 3): two directions across each normal, right-handed with it."""
    other = np.where(np.abs(normals[:, [0]]) < 0.7, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    y = np.cross(normals, other)
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    return np.stack([np.cross(y, normals), y], axis=1)
