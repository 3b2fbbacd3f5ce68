"""The geometric algebra of space, G₃: multivectors as vectors of eight coefficients (Busenhart 1994, chapter 2).

    A = α + a + i b + i β   →   (α, a₁, a₂, a₃, b₁, b₂, b₃, β)

i = e₁e₂e₃ is the unit volume; i² = -1 and i commutes with everything. The bivector basis is i e₁ = e₂e₃, i e₂ = e₃e₁,
i e₃ = e₁e₂. All three products are one table of signs, masked by grade. Numbers and symbols.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.ops import Array

__all__ = [
    "GRADES",
    "bivector",
    "dual",
    "from_spinor",
    "geometric",
    "grade",
    "inner",
    "inverse",
    "norm",
    "outer",
    "pseudoscalar",
    "reverse",
    "rotate",
    "scalar",
    "to_vector",
    "vector",
]

GRADES = np.array([0, 1, 1, 1, 2, 2, 2, 3])
"""The grade of each of the eight coefficients."""

# Each basis blade as a set of vectors (bit k: e_{k+1}) in ascending order, and its sign: e₃e₁ = -e₁e₃.
_BLADES = (0b000, 0b001, 0b010, 0b100, 0b110, 0b101, 0b011, 0b111)
_SIGNS = (1, 1, 1, 1, 1, -1, 1, 1)


def _swaps(a: int, b: int) -> int:
    """How many neighbours change places to sort the vectors of blade a followed by those of blade b."""
    return sum((a >> shift).bit_count() if b & (1 << (shift - 1)) else 0 for shift in (1, 2, 3))


def _product_table() -> Array:
    """P (8, 8, 8) with (A B)_k = Σ P[k, i, j] A_i B_j."""
    table = np.zeros((8, 8, 8))
    for i, a in enumerate(_BLADES):
        for j, b in enumerate(_BLADES):
            k = _BLADES.index(a ^ b)
            table[k, i, j] = (-1) ** _swaps(a, b) * _SIGNS[i] * _SIGNS[j] * _SIGNS[k]
    return table


_OUT, _LEFT, _RIGHT = np.meshgrid(GRADES, GRADES, GRADES, indexing="ij")
_GEOMETRIC = _product_table()
_OUTER = _GEOMETRIC * (_OUT == _LEFT + _RIGHT)
_INNER = _GEOMETRIC * (abs(_LEFT - _RIGHT) == _OUT) * (_LEFT * _RIGHT > 0)
_REVERSE = (-1.0) ** (GRADES * (GRADES - 1) // 2)


def scalar(value: Any) -> Array:
    """A number as multivector (8,)."""
    A = ops.zeros(8, like=value)
    A[0] = value
    return A


def vector(a: ArrayLike) -> Array:
    """A vector (3,) as multivector (8,)."""
    A = ops.zeros(8, like=np.asarray(a))
    A[1:4] = a
    return A


def bivector(b: ArrayLike) -> Array:
    """The bivector i b (8,) of a vector b (3,): the plane across b."""
    return dual(vector(b))


def pseudoscalar() -> Array:
    """The unit volume i = e₁e₂e₃ (8,)."""
    return np.eye(8)[7]


def from_spinor(spinor: ArrayLike) -> Array:
    """The spinor (a, b) (4,) as multivector a + i b (8,)."""
    R = np.asarray(spinor)
    return scalar(R[0]) + bivector(R[1:])


def to_vector(A: ArrayLike) -> Array:
    """The coefficients (3,) of the vector part."""
    return np.asarray(A)[1:4]


def geometric(A: ArrayLike, B: ArrayLike) -> Array:
    """A B (8,); for vectors a b = a·b + a ∧ b.   [ga.product]   Busenhart 1994, section 2.1."""
    return (_GEOMETRIC @ np.asarray(B)) @ np.asarray(A)


def inner(A: ArrayLike, B: ArrayLike) -> Array:
    """A · B (8,): the part of grade |r - s| of each A_r B_s, nothing if a grade is 0.   [ga.inner]."""
    return (_INNER @ np.asarray(B)) @ np.asarray(A)


def outer(A: ArrayLike, B: ArrayLike) -> Array:
    """A ∧ B (8,): the part of grade r + s of each A_r B_s; for vectors a ∧ b = i (a × b).   [ga.outer]."""
    return (_OUTER @ np.asarray(B)) @ np.asarray(A)


def grade(A: ArrayLike, r: int) -> Array:
    """⟨A⟩_r (8,): the part of grade r."""
    return np.asarray(A) * np.equal(GRADES, r)


def reverse(A: ArrayLike) -> Array:
    """A~ (8,): all products of vectors in reversed order, ⟨A~⟩_r = (-1)^{r(r-1)/2} ⟨A⟩_r."""
    return np.asarray(A) * _REVERSE


def dual(A: ArrayLike) -> Array:
    """The dual i A (8,): vectors to bivectors, scalars to volumes; twice gives -A.   Busenhart 1994, section 2.1."""
    return geometric(pseudoscalar(), A)


def norm(A: ArrayLike) -> Any:
    """|A| = √⟨A~ A⟩₀."""
    return ops.norm(A)


def inverse(A: ArrayLike) -> Array:
    """A⁻¹ = A~ / |A|² (8,) of a blade or a spinor (products of vectors); other multivectors need not have one."""
    A = np.asarray(A)
    return reverse(A) / (A @ A)


def rotate(spinor: ArrayLike, a: ArrayLike) -> Array:
    """R~ a R (3,): the vector a (3,) of the body, in space.   [ga.rotation]   Busenhart 1994, section 2.1."""
    R = from_spinor(spinor)
    return to_vector(geometric(geometric(reverse(R), vector(a)), R))
