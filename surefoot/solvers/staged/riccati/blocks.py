"""Blocks of the Newton system over z = (x_k, u_k, b): what one stage of the sweep sees.

The border b = (the part of x_0 that end rows see, p) is the same in all stages; end rows belong to the last one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.solvers.staged.riccati.form import Form, Slopes


@dataclass(frozen=True)
class Quadratic:
    """Second-order part of the Newton system.

    Attributes:
        hessian: N + 1 blocks over (x_k, u_k, p).
        ends: block over (x_0, x_N, p).
        diagonal: added to the Hessian, (variables,).
        weight: Θ of rows that are condensed, zero for hard equations, (rows,).
        hard: rows that remain equations, (rows,).
        give: D by which gaps give way, G dw − D dλ = −gaps, (gaps,); None where they are closed.
    """

    hessian: list[Array]
    ends: Array
    diagonal: Array
    weight: Array
    hard: NDArray[np.bool_]
    give: Array | None = None


class Blocks:
    """The parts of a Newton system, stage by stage.

    Args:
        form: Sizes and places of rows.
        slopes: First derivatives.
        quadratic: Second-order part.
    """

    def __init__(self, form: Form, slopes: Slopes, quadratic: Quadratic) -> None:
        self._form, self._slopes, self._quadratic, self._sizes = form, slopes, quadratic, form.sizes
        nx = self._sizes.states[0]
        seen = np.zeros(nx)
        if len(form.end_rows):
            seen = np.abs(slopes.ends[:, :nx]).sum(axis=0) + np.abs(quadratic.ends[:nx]).sum(axis=1)
        self.first = np.flatnonzero((seen > 0.0) & ~form.frozen[:nx])  # of x_0, seen by end rows
        self.border = len(self.first) + self._sizes.parameters

    def rows(self, k: int) -> NDArray[np.intp]:
        """Numbers of the rows that stage k sees; the last has the end rows as well."""
        own = self._form.stage_rows[k]
        return np.concatenate([own, self._form.end_rows]) if k + 1 == self._sizes.stages else own

    def columns(self, k: int) -> NDArray[np.intp]:
        """Places of (x, u, p) of stage k in its z = (x, u, b)."""
        own, s = self._sizes.states[k] + self._sizes.controls[k], self._sizes
        return np.concatenate([np.arange(own), own + len(self.first) + np.arange(s.parameters)])

    def wide(self, k: int, block: Array) -> Array:
        """A block over (x, u, p) as one over (x, u, b)."""
        if not len(self.first):
            return block
        out = np.zeros((len(block), self._sizes.states[k] + self._sizes.controls[k] + self.border))
        out[:, self.columns(k)] = block
        return out

    def jacobian(self, k: int) -> Array:
        """Rows of stage k over (x, u, b)."""
        C = self.wide(k, self._slopes.rows[k])
        if k + 1 < self._sizes.stages or not len(self._form.end_rows):
            return C
        E, nx0, nx = self._slopes.ends, self._sizes.states[0], self._sizes.states[-1]
        ends = np.zeros((len(E), C.shape[1]))
        ends[:, :nx], own = E[:, nx0 : nx0 + nx], nx + self._sizes.controls[-1]
        ends[:, own:] = np.hstack([E[:, self.first], E[:, nx0 + nx :]])
        return np.vstack([C, ends])

    def hessian(self, k: int) -> Array:
        """Hessian of stage k over (x, u, b) with the diagonal of x and u; frozen controls stand alone."""
        s, H = self._sizes, self._quadratic.hessian[k]
        nx, own = s.states[k], s.states[k] + s.controls[k]
        if len(self.first):
            M = np.zeros((own + self.border,) * 2)
            at = self.columns(k)
            M[np.ix_(at, at)] = H
        else:
            M = H.copy()
        if k + 1 == s.stages and len(self._form.end_rows):
            nx0 = s.states[0]
            p = np.arange(nx0 + nx, len(self._quadratic.ends))
            pick = np.concatenate([nx0 + np.arange(nx), self.first, p])
            at = np.concatenate([np.arange(s.states[k]), np.arange(own, own + self.border)])
            M[np.ix_(at, at)] += self._quadratic.ends[np.ix_(pick, pick)]
        M.ravel()[: own * (len(M) + 1) : len(M) + 1] += self._quadratic.diagonal[s.starts[k] : s.starts[k + 1]]
        still = nx + np.flatnonzero(self._form.frozen[s.starts[k] + nx : s.starts[k + 1]])
        if len(still):
            M[still], M[:, still] = 0.0, 0.0
            M[still, still] = 1.0
        return M
