"""The states from which a linear law never violates its bounds: the maximal output admissible set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag
from scipy.optimize import linprog

from surefoot.arrays import Array, finite_array
from surefoot.errors import NotSupportedError

__all__ = ["AdmissibleSet", "admissible_set", "balance_set"]

_REDUNDANT = 1e-9  # of a bound


@dataclass(frozen=True, eq=False)
class AdmissibleSet:
    """{x : S x ≤ a}.

    Args:
        rows: (k, n) S.
        bounds: (k,) a.
        steps: Number of samples after which nothing is added.
    """

    rows: Array
    bounds: Array
    steps: int

    def contains(self, state: ArrayLike) -> np.ndarray:
        """Whether states (..., n) are in the set."""
        return np.asarray((np.asarray(state, dtype=float) @ self.rows.T <= self.bounds * (1.0 + 1e-12)).all(-1))


def admissible_set(step: ArrayLike, output: ArrayLike, bounds: ArrayLike, most: int = 2000) -> AdmissibleSet:
    """The largest set from which output rows of x_{k+1} = step x_k stay below their bounds for ever.

    O_∞ = {x : output stepˡ x ≤ bounds for all l}; l grows until all new rows are redundant, by linear programs
    (Gilbert and Tan 1991; Nenchev & Konno 2019, section 5.7). Redundant rows are dropped on the way.

    Args:
        step: (n, n) closed loop of one sample, stable.
        output: (m, n).
        bounds: (m,) positive.
        most: Most samples.

    Raises:
        NotSupportedError: The closed loop is unstable, or the set is not finitely determined within `most` samples.
    """
    A, C, c = finite_array(step, (None, None), "step"), np.array(output, dtype=float), np.array(bounds, dtype=float)
    radius = float(np.abs(np.linalg.eigvals(A)).max())
    if radius >= 1.0 or (c <= 0.0).any():
        raise NotSupportedError(
            "an admissible set needs a stable closed loop and positive bounds",
            evidence={"spectral radius": radius, "least bound": float(c.min())},
        )
    rows, limits, new = C, c, C
    for count in range(1, most + 1):
        new = new @ A
        kept = [k for k in range(len(new)) if not _is_redundant(new[k], c[k], rows, limits)]
        if not kept:
            return AdmissibleSet(*_reduced(rows, limits), steps=count - 1)
        rows, limits = np.vstack([rows, new[kept]]), np.r_[limits, c[kept]]
    raise NotSupportedError(
        f"the set is not determined after {most} samples", next_step="give a longer sample time or faster poles"
    )


def _is_redundant(row: Array, bound: float, rows: Array, limits: Array) -> bool:
    """Whether row x ≤ bound follows from rows x ≤ limits."""
    found = linprog(-row, A_ub=rows, b_ub=limits, bounds=(None, None), method="highs")
    return bool(found.status == 0 and -found.fun <= bound * (1.0 + _REDUNDANT))


def _reduced(rows: Array, limits: Array) -> tuple[Array, Array]:
    """The rows that bound the set."""
    keep = list(range(len(rows)))
    for k in reversed(range(len(rows))):
        others = [i for i in keep if i != k]
        if _is_redundant(rows[k], limits[k], rows[others], limits[others]):
            keep = others
    return rows[keep], limits[keep]


def balance_set(
    omega: float, dt: float, gains: ArrayLike, normals: ArrayLike, offsets: ArrayLike, exact: bool = False
) -> AdmissibleSet:
    """The set of (x, ẋ) or (x, ẋ, y, ẏ) from which u = −K state keeps the ZMP within B_s u ≤ c.

    Args:
        omega: √(g / z) [1/s].
        dt: Sample time [s].
        gains: (1, 2) or (2, 4) K.
        normals: (k, 1) or (k, 2) B_s: outward normals of the support, which contains the origin.
        offsets: (k,) c [m].
        exact: Whether the pendulum is sampled exactly; the book takes Euler's step.
    """
    K, B_s = np.atleast_2d(np.asarray(gains, dtype=float)), np.atleast_2d(np.asarray(normals, dtype=float))
    c, s = np.cosh(omega * dt), np.sinh(omega * dt)
    if exact:
        A1, B1 = np.array([[c, s / omega], [omega * s, c]]), np.array([[1.0 - c], [-omega * s]])
    else:
        A1 = np.array([[1.0, dt], [omega**2 * dt, 1.0]])
        B1 = np.array([[0.0], [-(omega**2) * dt]])
    A, B = block_diag(*[A1] * len(K)), block_diag(*[B1] * len(K))
    return admissible_set(A - B @ K, -B_s @ K, offsets)
