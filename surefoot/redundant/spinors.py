"""Arrays of spinors (…, 4): the functions of `surefoot.spatial.spinor`, for all bodies and links at once."""

from __future__ import annotations

import numpy as np

from surefoot import ops
from surefoot.ops import Array

__all__ = ["bars", "crosses", "matrices", "products", "skews", "updates"]

_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])
# entries of R̄ (4, 3): which of (a, b₁, b₂, b₃), and its sign   [spatial.spinor-bar]
_BAR_ENTRY = np.array([[1, 2, 3], [0, 3, 2], [3, 0, 1], [2, 1, 0]])
_BAR_SIGN = np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, 1.0, 1.0], [1.0, -1.0, 1.0]])
_SKEW_ENTRY = np.array([[0, 2, 1], [2, 0, 0], [1, 0, 0]])
_SKEW_SIGN = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def crosses(a: Array, b: Array) -> Array:
    """Cross products a × b of vectors (…, 3)."""
    return a[..., _NEXT] * b[..., _LAST] - a[..., _LAST] * b[..., _NEXT]


def skews(a: Array) -> Array:
    """Matrices (…, 3, 3) of the cross product with vectors (…, 3)."""
    return a[..., _SKEW_ENTRY] * _SKEW_SIGN


def bars(spinors: Array) -> Array:
    """R̄ (…, 4, 3) of spinors (…, 4): dR/dt = ½ R̄ ω.   [spatial.spinor-bar]."""
    return spinors[..., _BAR_ENTRY] * _BAR_SIGN


def products(first: Array, then: Array) -> Array:
    """R₁R₂ (…, 4): turn first by R₁, then by R₂.   [spatial.spinor-product]."""
    turned = (bars(first) @ then[..., 1:, None])[..., 0]
    return first * then[..., :1] + turned


def matrices(spinors: Array) -> Array:
    """Rotation matrices (…, 3, 3), body to space.   [spatial.spinor-matrix]."""
    a, b = spinors[..., 0, None, None], spinors[..., 1:]
    return (2.0 * a * a - 1.0) * np.eye(3) + 2.0 * (b[..., :, None] * b[..., None, :]) + 2.0 * a * skews(b)


def updates(spinors: Array, rotations: Array) -> Array:
    """Unit spinors (…, 4) after small rotations Δϑ (…, 3), rad, in space axes.   [spatial.spinor-update]."""
    half = 0.5 * rotations
    length = ops.sqrt(1.0 + (half * half).sum(axis=-1))
    return (spinors + (bars(spinors) @ half[..., None])[..., 0]) / length[..., None]
