"""Weighted least squares by dyadic reduction: wishes and rules in one quadratic index (Busenhart 1994, 4.2.3 and 4.3).

    J(z) = ½ [z; 1]ᵀ Bᵀ D B [z; 1],   B = [E −z_d; A b],   D = diag(d0, d1)      (4.16) to (4.19)

Explicit rows are wishes z = z_d, implicit rows rules A z + b = 0. Weights may lie many orders of magnitude apart, and
be zero. Here dense matrices are reduced column by column; `dyadic_plan` does it for sparse ones, with a plan made once.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.errors import ShapeError

RANK_TOLERANCE = 1e-11
"""What is left of an entry may be nothing but rounding below this share of what was subtracted from it …"""
NEGLIGIBLE_WISH = 1e-14
"""… and counts as zero where row p weighs less than this share of that: rules that repeat others then say nothing about
further unknowns, whatever the weights and units."""


@dataclass(frozen=True, eq=False)
class DyadicSolution:
    """The minimum of an index.

    Args:
        z: (n,) the unknowns.
        index: The least J, ½ Σ d1' b'² (4.29): 0 where all wishes and rules of positive weight hold.
        weights: (n,) weight with which each unknown is determined once those after it are known. Where it is 0, neither
            a wish nor a rule says anything, and the unknown has the value of its wish.
    """

    z: Array
    index: float
    weights: Array

    @property
    def undetermined(self) -> NDArray[np.intp]:
        """The unknowns that were free to choose: there are other minima."""
        return np.flatnonzero(self.weights == 0.0)


@dataclass(frozen=True, eq=False)
class Index:
    """A quadratic performance index J(z) = ½ (z − z_d)ᵀ D0 (z − z_d) + ½ (A z + b)ᵀ D1 (A z + b), (4.18).

    Args:
        A: (m, n) implicit rows.
        b: (m,) their right sides: A z + b = 0 is wanted.
        z_d: (n,) wishes.
        d0: (n,) or a number: weights of the wishes, not negative.
        d1: (m,) or a number: weights of the rules, not negative.

    Raises:
        ShapeError: Shapes do not fit, numbers are not finite, weights are negative.
    """

    A: Array
    b: Array
    z_d: Array
    d0: Array
    d1: Array

    def __post_init__(self) -> None:
        A = np.asarray(self.A, dtype=float)
        if A.ndim != 2:
            raise ShapeError("A must be a matrix (m, n)", evidence={"shape": A.shape})
        m, n = A.shape
        object.__setattr__(self, "A", A)
        for name, size in (("b", m), ("z_d", n), ("d0", n), ("d1", m)):
            object.__setattr__(self, name, _vector(getattr(self, name), size, name))
        for field in fields(self):
            _require_numbers(field.name, getattr(self, field.name))

    def residuals(self, z: ArrayLike) -> Array:
        """(n + m,) by how much each wish and then each rule is missed: z − z_d and A z + b.

        Args:
            z: (n,).
        """
        x = _vector(z, len(self.z_d), "z")
        return np.concatenate([x - self.z_d, self.A @ x + self.b])

    def value(self, z: ArrayLike) -> float:
        """J(z).

        Args:
            z: (n,).
        """
        return float(0.5 * np.concatenate([self.d0, self.d1]) @ self.residuals(z) ** 2)


def dyadic_solve(A: ArrayLike, b: ArrayLike, z_d: ArrayLike, d0: ArrayLike, d1: ArrayLike) -> DyadicSolution:
    """The minimum of an index, dense and column by column: the reference for `DyadicPlan.solve`.

    Each row r takes part in steps (p, r) that turn its first entry, in column p, to zero and leave J as it is (4.36).
    Row p becomes (d_p p + d_r b_rp r) / d_p', which is (4.38) without its cancellation where row p is much lighter.
    Rules may repeat or contradict each other and d0 may be 0: of several minima it is one in which the unknowns that
    are left over have the values of their wishes. Where rules contradict each other, what they leave open follows the
    wishes up to about 1e-15 d1/d0 times the contradiction: wishes 1e12 times lighter are then met only roughly.

    Args:
        A: (m, n) implicit rows.
        b: (m,) their right sides: A z + b = 0 is wanted.
        z_d: (n,) wishes.
        d0: (n,) or a number: weights of the wishes, not negative.
        d1: (m,) or a number: weights of the rules, not negative.

    Raises:
        ShapeError: Shapes do not fit, numbers are not finite or lead to such, weights are negative.
    """
    index = Index(A, b, z_d, d0, d1)  # type: ignore[arg-type]
    reduction = _Reduction(index)
    with np.errstate(over="ignore", invalid="ignore"):
        for p in range(len(index.z_d)):
            for r in range(len(index.b)):
                reduction.step(p, r)
        found = reduction.solution()
    if not np.isfinite([*found.z, found.index]).all():
        raise overflow_error()
    return found


def overflow_error() -> ShapeError:
    """The error for an index whose minimum cannot be computed in double precision."""
    return ShapeError(
        "the numbers of an index are too large: its minimum is not finite",
        next_step="divide all weights by their largest; z does not change",
    )


class _Reduction:
    """B and D on their way to [U −z; 0 b'] and D' (4.27).

    What was subtracted from an entry, or from those it was made of, bounds its error: `noise`, in units of the entry.
    """

    def __init__(self, index: Index) -> None:
        n = len(index.z_d)
        self.upper = np.hstack([np.eye(n), -index.z_d[:, None]])
        self.lower = np.hstack([index.A, index.b[:, None]])
        self.upper_noise, self.lower_noise = np.zeros_like(self.upper), np.zeros_like(self.lower)
        self.d0, self.d1 = index.d0.copy(), index.d1.copy()

    def step(self, p: int, r: int) -> None:
        """The step (p, r) of (4.36) to (4.38)."""
        b_rp, d_p, d_r = self.lower[r, p], self.d0[p], self.d1[r]
        total = d_p + d_r * b_rp * b_rp
        noise = self.lower_noise[r, p]
        is_rounding = abs(b_rp) <= RANK_TOLERANCE * noise and d_p <= NEGLIGIBLE_WISH * d_r * noise * noise
        if d_r == 0.0 or total == 0.0 or is_rounding:
            return
        kept, gain = d_p / total, d_r / total * b_rp
        self.d0[p], self.d1[r] = total, kept * d_r
        rows = (self.upper[p], self.lower[r], self.upper_noise[p], self.lower_noise[r])
        old_p, old_r, noise_p, noise_r = (row[p + 1 :].copy() for row in rows)
        rows[0][p + 1 :] = kept * old_p + gain * old_r
        rows[1][p + 1 :] = old_r - b_rp * old_p
        rows[2][p + 1 :] = np.maximum(kept * noise_p, abs(gain) * noise_r)
        rows[3][p + 1 :] = np.maximum(noise_r, abs(b_rp) * np.maximum(noise_p, np.abs(old_p)))

    def solution(self) -> DyadicSolution:
        """Back substitution in U z = z' (4.30)."""
        n = len(self.d0)
        z = np.zeros(n)
        for i in reversed(range(n)):
            z[i] = -self.upper[i, n] - self.upper[i, i + 1 : n] @ z[i + 1 :]
        return DyadicSolution(z, float(0.5 * self.d1 @ self.lower[:, n] ** 2), self.d0)


def _vector(values: ArrayLike, size: int, name: str) -> Array:
    found = np.asarray(values, dtype=float)
    if found.shape != (size,) and not (name in ("d0", "d1") and found.shape == ()):
        raise ShapeError(f"`{name}` must be ({size},)", evidence={"shape": found.shape})
    return np.broadcast_to(found, (size,))


def _require_numbers(name: str, values: Array) -> None:
    if not np.isfinite(values).all():
        at = np.argwhere(~np.isfinite(values))[:8]
        raise ShapeError(f"`{name}` is not finite", evidence={"at": [tuple(map(int, k)) for k in at]})
    if name in ("d0", "d1") and (values < 0.0).any():
        at = np.flatnonzero(values < 0.0)[:8]
        raise ShapeError(
            f"weights `{name}` must not be negative",
            evidence={"at": at.tolist(), "weights": values[at].tolist()},
            next_step="give 0 to switch a wish or a rule off",
        )
