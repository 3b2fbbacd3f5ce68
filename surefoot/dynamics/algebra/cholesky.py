"""Reversed sparse factorisation of mass matrices, without fill-in.

    M = Lᵀ D L,  L unit lower triangular, D diagonal        [dyn.cholesky]   Featherstone 2005;
    named in Buschmann 2014, section 3.2

Entry (k, i), i < k, of a mass matrix is zero unless degree of freedom i moves the body of k: unless it is an
*ancestor* of k. Eliminating from the last degree of freedom to the first changes only entries between ancestors of the
one that is eliminated, which are ancestors of each other, so that L has the pattern of M. The costs are O(n d²) for a
tree of depth d. Followers (`mimic="reduce"`) tie branches together, and the pattern is then taken as full.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from surefoot import ops
from surefoot.kinematics.recursion import dof_rows
from surefoot.ops import Array
from surefoot.robot import Tree

_Ancestors = Sequence[Sequence[int]]


class Factors(NamedTuple):
    """M = Lᵀ D L.

    Args:
        L: (n, n) unit lower triangular, exact zeros outside the pattern.
        reciprocals: (n,) 1 / D.
        ancestors: For every row, the columns of L left of the diagonal that may be nonzero, descending.
    """

    L: Array
    reciprocals: Array
    ancestors: _Ancestors


def ancestors_of_dofs(tree: Tree) -> _Ancestors:
    """For every degree of freedom, those that move its body before it, nearest first."""
    if (tree.mimic_source >= 0).any():
        return _all_before(len(tree.armature))
    out: list[list[int]] = [[] for _ in tree.armature]
    for i in range(tree.n):
        rows, parent = dof_rows(tree, i), int(tree.parents[i])
        above = [] if parent < 0 else [last := dof_rows(tree, parent).stop - 1, *out[last]]
        for k in range(rows.start, rows.stop):
            out[k] = [*range(k - 1, rows.start - 1, -1), *above]
    return out


def _all_before(n: int) -> _Ancestors:
    """The full pattern of n degrees of freedom."""
    return [list(range(k - 1, -1, -1)) for k in range(n)]


def factor(tree: Tree, M: Array) -> Factors:
    """The factors of a mass matrix (nv, nv) of the tree; only its lower triangle is read.   [dyn.cholesky]."""
    return _factor_pattern(ancestors_of_dofs(tree), M)


def factor_full(M: Array) -> Factors:
    """The factors of a symmetric positive definite matrix (n, n) without a pattern; only its lower triangle is read."""
    return _factor_pattern(_all_before(len(M)), M)


def _factor_pattern(ancestors: _Ancestors, M: Array) -> Factors:
    """The factors for a pattern in which each ancestor of a row has its own ancestors among those of the row."""
    L = np.tril(M)
    reciprocals = ops.zeros(len(L), like=M)
    for k in reversed(range(len(L))):
        reciprocals[k] = 1.0 / L[k, k]
        for place, i in enumerate(ancestors[k]):
            ratio = L[k, i] * reciprocals[k]
            for j in [i, *ancestors[k][place + 1 :]]:
                L[i, j] = L[i, j] - ratio * L[k, j]
            L[k, i] = ratio
        L[k, k] = 1.0
    return Factors(L, reciprocals, ancestors)


def solve(factors: Factors, right: Array) -> Array:
    """X in M X = right (n,) or (n, m); exact zeros on the right cost nothing when traced."""
    return solve_second_half(factors, solve_first_half(factors, right))


def solve_first_half(factors: Factors, right: Array) -> Array:
    """L⁻ᵀ right, for (n,) or (n, m): M⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ, and its first factor alone."""
    x = ops.zeros(np.shape(right), like=[factors.L, right]) + right
    for k in reversed(range(len(x))):
        for i in factors.ancestors[k]:
            x[i] = x[i] - factors.L[k, i] * x[k]
    return x


def solve_second_half(factors: Factors, half: Array) -> Array:
    """L⁻¹ D⁻¹ half: the rest of a solution that `solve_first_half` has begun."""
    x = ops.zeros(np.shape(half), like=[factors.L, half]) + half
    for k in range(len(x)):
        x[k] = x[k] * factors.reciprocals[k]
        for i in factors.ancestors[k]:
            x[k] = x[k] - factors.L[k, i] * x[i]
    return x


def inverse(factors: Factors, lower: Array | None = None) -> Array:
    """M⁻¹ (n, n), every entry of the upper triangle computed once.

    M⁻¹ = X D⁻¹ Xᵀ with X = L⁻¹, which has the pattern of L: entry (i, j) sums over the common ancestors of i and j.

    Args:
        factors: Of M.
        lower: L⁻¹ (n, n), where it is known.
    """
    X = inverse_of_lower(factors) if lower is None else lower
    scaled = X * factors.reciprocals
    out = ops.zeros(X.shape, like=X)
    lines = [[k, *above] for k, above in enumerate(factors.ancestors)]
    for j, line in enumerate(lines):
        for i in range(j + 1):
            common = [k for k in line if k in lines[i]]
            if common:
                out[i, j] = out[j, i] = X[i, common] @ scaled[j, common]
    return out


def inverse_of_lower(factors: Factors) -> Array:
    """L⁻¹ (n, n), with the pattern of L and exact zeros outside it; M⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ."""
    L, _, ancestors = factors
    X = ops.eye(len(L), like=L)
    for k, above in enumerate(ancestors):
        for i in above:
            between = [j for j in above if j > i]
            X[k, i] = -L[k, i] - L[k, between] @ X[between, i] if between else -L[k, i]
    return X
