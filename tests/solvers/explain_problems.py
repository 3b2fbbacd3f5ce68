"""Problems whose irreducible conflicts and relaxations are known."""

from __future__ import annotations

import numpy as np

from surefoot.solvers import Group


def planted(rng, groups: int, rows: int, n: int, members: int, density: float = 1.0, reach: float = 20.0):
    """A base of wide rows around a point, and one conflict: rows that add up to nothing, with ends that add up to −1.

    Returns the groups and the names of the conflict; the least relaxation of each member alone is 1, as all rows of the
    conflict have the same multiplier. `reach` is how far rows of the base are from the point, in units of x.
    """
    x = rng.normal(size=n)
    A = rng.normal(size=(groups, rows, n))
    if density < 1.0:
        A *= rng.random(A.shape) < density
        A[..., rng.integers(0, n, size=groups)] += 1.0
    length = np.linalg.norm(A, axis=-1)
    room = length * rng.uniform(reach, 2.0 * reach, size=(2, groups, rows))
    lower, upper = A @ x - room[0], A @ x + room[1]
    side = rng.integers(0, 3, size=(groups, rows))
    lower[side == 0], upper[side == 1] = -np.inf, np.inf
    chosen = np.sort(rng.choice(groups, members, replace=False))
    a = rng.normal(size=(members, n))
    a[-1] = -a[:-1].sum(axis=0)
    A[chosen, 0], lower[chosen, 0] = a, -np.inf
    upper[chosen, 0] = a @ x - 1.0 / members
    names = [f"g{i:04d}" for i in range(groups)]
    found = [Group(names[i], A[i], lower[i], upper[i], unit="N") for i in range(groups)]
    return found, tuple(names[i] for i in chosen)


def cycle(n: int, gap: float = 1.0):
    """x1 ≤ x2 ≤ … ≤ xn ≤ x1 − gap, each its own group."""
    steps = np.eye(n) - np.roll(np.eye(n), 1, axis=1)
    return [Group(f"c{i:03d}", steps[i], -np.inf, -gap if i == n - 1 else 0.0, unit="m") for i in range(n)]
