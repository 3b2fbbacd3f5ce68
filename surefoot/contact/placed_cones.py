"""`PlacedCones`: the wrench cones of several contacts over time, as generators in world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.contact.wrench_cone import wrench_spans
from surefoot.errors import ShapeError
from surefoot.robot.contacts import ContactSurface

__all__ = ["PlacedCones", "placed_cones"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PlacedCones:
    """Wrench cones of c contacts in n samples: each wrench is a sum of generators with shares ≥ 0.

    Args:
        spans: (n, 6, k) generators in their contact frames, or (1, 6, k) if they stay the same.
        generators: (n, 6, k) the same wrenches about a point of the world, in its axes.
        use: (n, k) which generators count: those of contacts that touch.
        owner: (k,) contact of each generator.
        contacts: c.
    """

    spans: Array
    generators: Array
    use: Flags
    owner: NDArray[np.int64]
    contacts: int

    def wrenches(self, shares: ArrayLike) -> Array:
        """(n, c, 6): wrench of each contact on the robot, in its contact frame.

        Args:
            shares: (n, k), as `admissible_wrenches` finds them.
        """
        each = np.asarray(shares, dtype=float)[:, None] * self.spans
        parts = [each[:, :, self.owner == contact].sum(axis=2) for contact in range(self.contacts)]
        return np.stack(parts, axis=1) if parts else np.zeros((len(each), 0, 6))


def placed_cones(
    surfaces: Sequence[ContactSurface],
    placements: ArrayLike,
    active: ArrayLike | None = None,
    about: ArrayLike = (0.0, 0.0, 0.0),
    friction: ArrayLike | None = None,
    sides: int = 4,
    inscribed: bool = False,
) -> PlacedCones:
    """The wrench cones of contacts over time.

    Args:
        surfaces: c contact surfaces.
        placements: (n, c, 4, 4) T_world_contact.
        active: (n, c) which of them touch; all if left out.
        about: (3,) or (n, 3): the point in world that moments refer to [m].
        friction: μ, broadcasts to (n, c), in place of the surfaces' own.
        sides: Of friction pyramids.
        inscribed: Pyramids inside the friction cones rather than around them.
    """
    T, c = np.asarray(placements, dtype=float), len(surfaces)
    if T.ndim != 4 or T.shape[1:] != (c, 4, 4):
        raise ShapeError(f"placements have shape {T.shape}, expected (n, {c}, 4, 4)")
    n = len(T)
    touch = np.ones((n, c), dtype=bool) if active is None else np.asarray(active, dtype=bool)
    mu = np.array([surface.friction for surface in surfaces]) if friction is None else np.asarray(friction, dtype=float)
    if touch.shape != (n, c):
        raise ShapeError(f"activity of contacts has shape {touch.shape}, expected ({n}, {c})")
    mu = np.broadcast_to(mu, (n, c))
    parts = [_spans(surface, mu[:, i], sides, inscribed) for i, surface in enumerate(surfaces)]
    local = [spans for spans, _ in parts]
    world = [_in_world(spans, T[:, i], np.asarray(about, dtype=float)) for i, spans in enumerate(local)]
    counts = [there & touch[:, i, None] for i, (_, there) in enumerate(parts)]
    rows = max((len(spans) for spans in local), default=1)
    local = [np.broadcast_to(spans, (rows, *spans.shape[1:])) for spans in local]
    return PlacedCones(
        np.concatenate([np.zeros((rows, 6, 0)), *local], axis=2),
        np.concatenate([np.zeros((n, 6, 0)), *world], axis=2),
        np.concatenate([np.zeros((n, 0), dtype=bool), *counts], axis=1),
        np.repeat(np.arange(c), [spans.shape[2] for spans in local]),
        c,
    )


def _spans(surface: ContactSurface, friction: Array, sides: int, inscribed: bool) -> tuple[Array, Flags]:
    """Spans (1 or n, 6, k) of one contact under friction (n,), and which of them there are (1 or n, k)."""
    values, which = np.unique(friction, return_inverse=True)
    if not len(values):
        values, which = np.array([surface.friction]), np.zeros(1, dtype=int)
    found = [wrench_spans(surface, float(value), sides, inscribed=inscribed) for value in values]
    most = max(one.shape[1] for one in found)
    padded = np.array([np.pad(one, ((0, 0), (0, most - one.shape[1]))) for one in found])
    there = np.array([np.arange(most) < one.shape[1] for one in found])
    return (padded, there) if len(values) == 1 else (padded[which], there[which])


def _in_world(spans: Array, T: Array, about: Array) -> Array:
    """(n, 6, k) generators about a point, in the axes of the world."""
    R, arm = T[:, :3, :3], T[:, :3, 3] - about
    shift = np.cross(arm[:, None], R.transpose(0, 2, 1)).transpose(0, 2, 1)  # arm × each axis
    return np.concatenate([R @ spans[:, :3], R @ spans[:, 3:] + shift @ spans[:, :3]], axis=1)
