"""Minima of weighted indices by other means: in rational numbers, and by the printed form of the reduction."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def exact(A, b, z_d, d0, d1):
    """(D0 + Aᵀ D1 A)⁻¹ (D0 z_d − Aᵀ D1 b) (Busenhart 1994, 4.25) in rational numbers, rounded at the end."""
    rows, n = fractions(np.column_stack([A, b])), len(z_d)
    system = [[Fraction(0)] * (n + 1) for _ in range(n)]
    for i in range(n):
        system[i][i] += Fraction(float(d0[i]))
        system[i][n] += Fraction(float(d0[i])) * Fraction(float(z_d[i]))
    for row, weight in zip(rows, fractions(np.reshape(d1, (-1, 1))), strict=True):
        for i in range(n):
            for j in range(n):
                system[i][j] += row[i] * weight[0] * row[j]
            system[i][n] -= row[i] * weight[0] * row[n]
    return np.array([float(x) for x in solved(system)])


def solved(system):
    """Gauss–Jordan in rational numbers: no pivot can be small."""
    n = len(system)
    for i in range(n):
        k = next(k for k in range(i, n) if system[k][i])
        system[i], system[k] = system[k], system[i]
        system[i] = [x / system[i][i] for x in system[i]]
        for r in range(n):
            if r != i:
                factor = system[r][i]
                system[r] = [x - factor * y for x, y in zip(system[r], system[i], strict=True)]
    return [row[n] for row in system]


def fractions(matrix):
    return [[Fraction(float(x)) for x in row] for row in matrix]


def as_printed(A, b, z_d, d0, d1, smallest=0.0):
    """(4.36) to (4.38) to the letter, column by column."""
    m, n = A.shape
    B = np.block([[np.eye(n), -np.reshape(z_d, (n, 1))], [A, np.reshape(b, (m, 1))]])
    d = np.concatenate([d0, d1]).astype(float)
    for p in range(n):
        for r in range(n, n + m):
            total, factor = d[p] + d[r] * B[r, p] ** 2, B[r, p]
            k = d[r] / total * factor if total > smallest else 0.0
            d[r] = d[p] / total * d[r] if total > smallest else d[r]
            d[p] = total
            B[r, p:] -= factor * B[p, p:]
            B[p, p + 1 :] += k * B[r, p + 1 :]
    z = np.zeros(n)
    for i in reversed(range(n)):
        z[i] = -B[i, n] - B[i, i + 1 : n] @ z[i + 1 :]
    return z
