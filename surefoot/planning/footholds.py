"""Places where a foot may stand: on any ground whose slope its friction can bear, away from edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.motion import World
from surefoot.motion.world import contact_planes, is_exposed, touchable_surfaces

FAR = 1e6  # [m]: places in files are nearer
_RING = np.stack([np.cos(np.arange(8) * np.pi / 4), np.sin(np.arange(8) * np.pi / 4)], axis=1)
_LEVEL = 1e-6  # of the cosine of the slope under a flat foot
_MOST_PLACES = 500_000  # before those that no foot can use are omitted
_UNEVEN = 0.003  # ground round a foothold may differ from its plane by this [m]


@dataclass(frozen=True, eq=False)
class Footholds:
    """Places to stand on.

    Args:
        points: (n, 3) on the surface, in world [m].
        normals: (n, 3) out of the ground.
        friction: (n,) Coulomb coefficients.
        pieces: (n,) index of the piece of ground in the world; of a place for hands on the last obstacle or object −1,
            on the one before −2, and so on.
    """

    points: Array
    normals: Array
    friction: Array
    pieces: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.points)

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_] | list[int]) -> Footholds:
        """Some of them.

        Args:
            rows: Which.
        """
        return Footholds(self.points[rows], self.normals[rows], self.friction[rows], self.pieces[rows])

    @staticmethod
    def joined(parts: list[Footholds]) -> Footholds:
        """All of several.

        Args:
            parts: At least one.
        """
        fields = ("points", "normals", "friction", "pieces")
        return Footholds(*(np.concatenate([getattr(part, name) for part in parts]) for name in fields))


def footholds_at(world: World, places: Array) -> Footholds:
    """The highest ground at places (n, 2), whether or not a foot can stand there; points at −inf where there is none.

    Args:
        world: The world.
        places: (n, 2) world x and y [m].
    """
    xy = np.asarray(places, dtype=float).reshape(-1, 2)
    heights = np.array([piece.height(xy[:, 0], xy[:, 1]) for piece in world.ground]).reshape(-1, len(xy))
    if not len(heights):
        return Footholds(np.c_[xy, np.full(len(xy), -np.inf)], np.tile([0.0, 0.0, 1.0], (len(xy), 1)),
                         np.zeros(len(xy)), np.full(len(xy), -1, dtype=np.int64))  # fmt: skip
    pieces = np.argmax(heights, axis=0).astype(np.int64)
    points = np.c_[xy, heights[pieces, np.arange(len(xy))]]
    found = contact_planes(world, np.where(np.isfinite(points), points, 0.0))
    pieces[~np.isfinite(points[:, 2])] = -1
    return Footholds(points, found[:, :3], found[:, 4], pieces)


def standable(
    world: World, places: Array, friction: float, edge: float, sole: Array | None = None
) -> NDArray[np.bool_]:
    """(n,) whether a foot can stand somewhere: there is ground, even within `edge`, and it is not too steep.

    Args:
        world: The world.
        places: (n, 2) world x and y [m].
        friction: Coulomb coefficient of the foot; the lesser one of both counts.
        edge: Distance to keep from edges and steps [m].
        sole: (k, 2) corners of a flat foot, from its place, which keeps level [m]; None for a point.
    """
    here = footholds_at(world, places)
    there = np.isfinite(here.points[:, 2])
    mu = np.minimum(here.friction, friction)
    steep = here.normals[:, 2] < np.cos(np.arctan(mu)) - 1e-9
    if sole is not None:
        steep |= here.normals[:, 2] < 1.0 - _LEVEL
    around_it = (edge * _RING)[:, None] + (np.zeros((1, 2)) if sole is None else np.asarray(sole))
    ring = np.asarray(places, dtype=float).reshape(-1, 1, 2) + around_it.reshape(-1, 2)
    z = world.height(ring[..., 0], ring[..., 1])
    around = np.concatenate([ring, z[..., None]], axis=-1) - np.where(there[:, None], here.points, 0.0)[:, None]
    finite = np.isfinite(z)
    off = np.abs(np.einsum("nki,ni->nk", np.where(finite[..., None], around, 1e9), here.normals))
    even = (finite & (off <= _UNEVEN)).all(axis=1)
    out: NDArray[np.bool_] = there & ~steep & even
    return out


def hand_holds(world: World, pitch: float, friction: float) -> Footholds:
    """Places on touchable obstacles that hands can lean on: on top of rods, and on faces that are not too steep.

    Args:
        world: The world.
        pitch: Distance of the places [m].
        friction: Coulomb coefficient of the hands; the lesser one of both counts.
    """
    points, normals, mu, pieces = [np.zeros((0, 3))], [np.zeros((0, 3))], [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
    numbers = {item.name: k for k, item in enumerate(world.obstacles)}
    for surface in touchable_surfaces(world):
        number = numbers.get(surface.name, numbers.get(surface.name.rpartition(" ")[0]))
        slip = min(friction, surface.friction)
        if number is None or surface.normal[2] < np.cos(np.arctan(slip)):
            continue
        low, high = surface.polygon.min(axis=0), surface.polygon.max(axis=0)
        counts = np.maximum(np.ceil((high - low) / pitch), 1)
        _require_few(counts.prod())
        x, y = (a + (np.arange(n) + 0.5) * (b - a) / n for a, b, n in zip(low, high, counts.astype(int), strict=True))
        grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        grid = grid[surface.distance_inside(grid) >= 0.0]
        places = surface.points(grid)
        open_ = is_exposed(world, places, surface.normals(grid))
        points.append(places[open_])
        normals.append(surface.normals(grid)[open_])
        mu.append(np.full(int(open_.sum()), slip))
        first = len(world.obstacles) + len(world.objects)
        pieces.append(np.full(int(open_.sum()), number - first, dtype=np.int64))
    return Footholds(np.concatenate(points), np.concatenate(normals), np.concatenate(mu), np.concatenate(pieces))


def _require_few(count: float) -> None:
    if not count <= _MOST_PLACES:
        raise NotSupportedError(
            f"the planner would have to look at {count:.2g} footholds",
            evidence={"most": _MOST_PLACES},
            next_step="give a nearer goal, a larger `pitch` or smaller surfaces",
        )


def foothold_grid(corners: Array, pitch: float, rng: np.random.Generator) -> Array:
    """(n, 2) points of a square grid over a rectangle, with a random origin and turn.

    Args:
        corners: (2, 2) least and largest x and y [m].
        pitch: Distance of the points [m].
        rng: Random numbers.

    Raises:
        NotSupportedError: There would be too many points.
    """
    low, high = np.asarray(corners, dtype=float)
    middle, radius = 0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low))
    _require_few((2.0 * radius / pitch) ** 2)
    steps = np.arange(-radius, radius + pitch, pitch)
    turn, shift = rng.uniform(0.0, 0.5 * np.pi), rng.uniform(-0.5, 0.5, size=2) * pitch
    x, y = np.meshgrid(steps, steps)
    points = np.stack([x.ravel(), y.ravel()], axis=1) + shift
    points = middle + points @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return points[((points >= low) & (points <= high)).all(axis=1)]
