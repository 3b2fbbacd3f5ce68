"""Pieces of ground: each answers how high it is at (x, y). Where a piece is not, its height is −inf."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number, placement_matrix
from surefoot.errors import ShapeError
from surefoot.motion.world.moving import GroundLaw, Pivot
from surefoot.robot import placement


@dataclass(frozen=True, eq=False)
class GroundPlane:
    """An endless plane.

    Args:
        point: A point on it, (3,) in world [m].
        normal: Pointing up out of the ground, (3,) in world; made a unit vector.
        friction: Coulomb coefficient; None for that of the world.
    """

    point: Array = field(default_factory=lambda: np.zeros(3))
    normal: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    friction: float | None = None

    def __post_init__(self) -> None:
        normal = finite_array(self.normal, (3,), "normal of the ground plane")
        if normal[2] <= 1e-6 * np.linalg.norm(normal):
            raise ShapeError("the normal of the ground plane does not point up", evidence={"normal": normal})
        object.__setattr__(self, "point", finite_array(self.point, (3,), "point of the ground plane"))
        object.__setattr__(self, "normal", finite_array(normal / np.linalg.norm(normal), (3,), "normal"))
        _check_friction(self.friction)

    def height(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Height [m] at world x, y [m]; any equal shapes."""
        across = self.normal[0] * (np.asarray(x) - self.point[0]) + self.normal[1] * (np.asarray(y) - self.point[1])
        return np.asarray(self.point[2] - across / self.normal[2])


@dataclass(frozen=True, eq=False)
class GroundBox:
    """A cuboid to stand on.

    Args:
        size: Full edge lengths (x, y, z) [m].
        pose: T_world_box of its centre, (4, 4); of one that moves, at rest.
        friction: Coulomb coefficient; None for that of the world.
        motion: How it moves, if it does. Whoever does not know the time takes it for resting.
    """

    size: tuple[float, float, float]
    pose: Array = field(default_factory=placement)
    friction: float | None = None
    motion: GroundLaw | Pivot | None = None

    def __post_init__(self) -> None:
        x, y, z = (
            number(edge, "edge of a ground box", positive=True) for edge in finite_array(self.size, (3,), "size")
        )
        object.__setattr__(self, "size", (x, y, z))
        object.__setattr__(self, "pose", placement_matrix(self.pose, "pose of a ground box"))
        _check_friction(self.friction)

    def height(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Height [m] of the highest point of the box on the vertical through world x, y [m]; −inf beside the box.

        The vertical is cut with the three slabs of the box: Kay & Kajiya 1986.
        """
        x, y = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
        R, p = self.pose[:3, :3], self.pose[:3, 3]
        start = np.stack([x - p[0], y - p[1], np.full(x.shape, -p[2])], axis=-1) @ R  # in the box, where z_world = 0
        up = R[2]
        low, high = np.full(x.shape, -np.inf), np.full(x.shape, np.inf)
        inside = np.ones(x.shape, dtype=bool)
        for k, edge in enumerate(self.size):
            if abs(up[k]) < 1e-12:
                inside &= np.abs(start[..., k]) <= 0.5 * edge
                continue
            ends = np.sort(np.stack([-0.5 * edge - start[..., k], 0.5 * edge - start[..., k]]) / up[k], axis=0)
            low, high = np.maximum(low, ends[0]), np.minimum(high, ends[1])
        return np.where(inside & (low <= high), high, -np.inf)


@dataclass(frozen=True, eq=False)
class HeightField:
    """Heights on a grid, bilinear between the grid points.

    Args:
        heights: (nx, ny) above `origin` [m]; entry (i, j) stands at origin + (i, j)·cell.
        cell: Distance of the grid points [m].
        origin: World position of entry (0, 0) at height 0, (3,) [m].
        friction: Coulomb coefficient; None for that of the world.
    """

    heights: Array
    cell: float
    origin: Array = field(default_factory=lambda: np.zeros(3))
    friction: float | None = None

    def __post_init__(self) -> None:
        heights = finite_array(self.heights, (None, None), "heights")
        if min(heights.shape) < 2:
            raise ShapeError(f"a height field needs 2 × 2 heights or more, got {heights.shape}")
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "cell", number(self.cell, "cell of a height field", positive=True))
        object.__setattr__(self, "origin", finite_array(self.origin, (3,), "origin of a height field"))
        _check_friction(self.friction)

    def height(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Height [m] at world x, y [m]; −inf outside the grid."""
        nx, ny = self.heights.shape
        u = (np.asarray(x, dtype=float) - self.origin[0]) / self.cell
        w = (np.asarray(y, dtype=float) - self.origin[1]) / self.cell
        inside = (u >= 0.0) & (u <= nx - 1) & (w >= 0.0) & (w <= ny - 1)
        i = np.clip(np.nan_to_num(u), 0, nx - 2).astype(int)
        j = np.clip(np.nan_to_num(w), 0, ny - 2).astype(int)
        s, t = np.where(inside, u - i, 0.0), np.where(inside, w - j, 0.0)
        h = self.heights
        near = (1.0 - t) * h[i, j] + t * h[i, j + 1]
        far = (1.0 - t) * h[i + 1, j] + t * h[i + 1, j + 1]
        return np.where(inside, self.origin[2] + (1.0 - s) * near + s * far, -np.inf)


Ground = GroundPlane | GroundBox | HeightField


def stairs(
    steps: int,
    rise: float,
    run: float,
    width: float = 2.0,
    start: ArrayLike = (0.0, 0.0, 0.0),
    friction: float | None = None,
) -> tuple[GroundBox, ...]:
    """Boxes of a stair that goes up along +x; step k reaches from the ground to (k + 1)·rise.

    Args:
        steps: How many.
        rise: Height of one step [m].
        run: Depth of one step [m].
        width: Along y [m].
        start: Middle of the lower edge of the first step, (3,) in world [m].
        friction: Coulomb coefficient; None for that of the world.
    """
    if steps < 1:
        raise ShapeError(f"a stair needs one step or more, got {steps}")
    foot = finite_array(start, (3,), "start of the stair")
    rise, run = number(rise, "rise", positive=True), number(run, "run", positive=True)
    return tuple(
        GroundBox(
            (run, width, (k + 1) * rise),
            placement(foot + np.array([(k + 0.5) * run, 0.0, 0.5 * (k + 1) * rise])),
            friction,
        )
        for k in range(steps)
    )


def blocks(
    count: tuple[int, int],
    cell: float,
    rise: float,
    seed: int = 0,
    origin: ArrayLike = (0.0, 0.0, 0.0),
    friction: float | None = None,
) -> tuple[GroundBox, ...]:
    """Square blocks side by side, of random heights.

    Args:
        count: Along x and along y.
        cell: Their edges [m].
        rise: Largest height [m].
        seed: Of the heights, uniform up to the largest.
        origin: Corner with the least x and y, (3,) in world [m].
        friction: Coulomb coefficient; None for that of the world.
    """
    corner, (nx, ny) = finite_array(origin, (3,), "origin of the blocks"), count
    cell, rise = number(cell, "cell", positive=True), number(rise, "rise", positive=True)
    heights = rise * (1.0 - np.random.default_rng(seed).random((nx, ny)))  # never 0
    return tuple(
        GroundBox(
            (cell, cell, z), placement(corner + np.array([(i + 0.5) * cell, (j + 0.5) * cell, 0.5 * z])), friction
        )
        for (i, j), z in np.ndenumerate(heights)
    )


def _check_friction(friction: float | None) -> None:
    if friction is not None:
        number(friction, "friction of a ground piece")
