"""Products with matrices that have many zeros, as loops for `NativeCode`; matrices are flat, by rows."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.codegen.loops import Floats, NativeCode

_DENSE = 0.3  # share of entries above which BLAS is faster


def squares(M: Floats, size: int, C: Floats, rows: int, weight: Floats) -> None:
    """M (size × size) ← M + Cᵀ diag(weight) C with C (rows × size)."""
    for i in range(rows):
        first = 0
        while first < size and C[i * size + first] == 0.0:
            first += 1
        last = size
        while last > first and C[i * size + last - 1] == 0.0:
            last -= 1
        for c in range(first, last):
            factor = weight[i] * C[i * size + c]
            if factor != 0.0:
                for d in range(first, last):
                    M[c * size + d] += factor * C[i * size + d]


def sandwich(M: Floats, size: int, P: Floats, stride: int, G: Floats, rows: int, W: Floats, X: Floats) -> None:
    """M (size × size) ← M + Gᵀ P G with G (rows × size) and symmetric P (rows × rows of `stride`).

    W (size × rows) and X (rows × size) are scratch.
    """
    for i in range(size * rows):
        W[i] = 0.0
    for j in range(rows):
        for c in range(size):
            factor = G[j * size + c]
            if factor != 0.0:
                for i in range(rows):
                    W[c * rows + i] += factor * P[j * stride + i]
    for j in range(rows):
        for c in range(size):
            X[j * size + c] = W[c * rows + j]
    for j in range(rows):
        for c in range(size):
            factor = G[j * size + c]
            if factor != 0.0:
                for d in range(size):
                    M[c * size + d] += factor * X[j * size + d]


_NATIVE = NativeCode([squares, sandwich])


def add_squares(M: Array, C: Array, weight: Array) -> None:
    """M ← M + Cᵀ diag(weight) C."""
    if len(C):
        C = np.ascontiguousarray(C)
        _NATIVE["squares"](M.ctypes.data, len(M), C.ctypes.data, len(C), weight.ctypes.data)


def add_sandwich(M: Array, P: Array, G: Array) -> None:
    """M ← M + Gᵀ P G for symmetric P, which may be the upper left part of a larger array."""
    if np.count_nonzero(G) > _DENSE * G.size:
        M += G.T @ (P @ G)
        return
    G, scratch = np.ascontiguousarray(G), np.empty((2, G.size))
    _NATIVE["sandwich"](
        M.ctypes.data, len(M), P.ctypes.data, P.strides[0] // P.itemsize, G.ctypes.data, len(G),
        scratch[0].ctypes.data, scratch[1].ctypes.data,
    )  # fmt: skip
