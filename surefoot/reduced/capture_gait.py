"""Capture-point gaits: each step brings the DCM to the next foothold, by a ZMP that is clipped to the support.

For a step of duration T with the next foothold as target ξ_e (Nenchev & Konno 2019, 7.2; Englsberger et al. 2011):

    p = (ξ_e − e^{ωT} ξ₀) / (1 − e^{ωT}), clipped along the line ξ₀ ξ_e;   ξ_d(t) = p + (ξ₀ − p) e^{ωt}   (7.9), (7.10)

`cps` ("end of step") aims at ξ_e within the rest of the step (7.11); `cpt` ("tracking") aims at ξ_d(t + Δ) within Δ
(7.12), where ξ_d is continued beyond the end of its step. (7.11) is singular at the end of the step: the rest is taken
as 5 ms there, and clipping bounds the ZMP.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import one_of
from surefoot.reduced.dcm import ZmpPiece
from surefoot.reduced.lip import capture_zmp
from surefoot.reduced.supports import Supports, clip_along

_LEAST_REST = 0.005
"""Rest of a step that is taken at its end [s]."""


class CaptureGait:
    """A walk by capture points, as a plan and as the law that holds it.

    Args:
        method: "cps" or "cpt".
        pieces: The path of the ZMP, whose points of rest are the footholds; see `Supports`.
        omega: √(g / z) [1/s].
        foot: Box (2, 2) of the sole around a foothold, in the axes of the path [m].
        dcm: (2,) DCM at the beginning [m].
        lookahead: Δ [s].
        offset: (2,) of the target of each step from the next foothold [m].
    """

    def __init__(
        self,
        method: Literal["cps", "cpt"],
        pieces: Sequence[ZmpPiece],
        omega: float,
        foot: ArrayLike,
        dcm: ArrayLike,
        lookahead: float = 0.05,
        offset: ArrayLike = (0.0, 0.0),
    ) -> None:
        if method not in ("cps", "cpt"):
            raise one_of("capture-point gait", method, ("cps", "cpt"))
        self.method, self.supports, self.omega = method, Supports(pieces), number(omega, "omega", positive=True)
        self.foot, self.lookahead = finite_array(foot, (2, 2), "foot"), number(lookahead, "lookahead", positive=True)
        points = self.supports.points
        self.ends = self.supports.step_ends()
        """(m,) times at which steps end [s]."""
        self.targets = np.concatenate([points[1:] + np.asarray(offset, dtype=float), points[-1:]])
        """(m, 2) DCM wanted at these times [m]."""
        self.dcm = np.empty((len(points) + 1, 2))
        """(m + 1, 2) planned DCM at the beginning of each step, and at the end [m]."""
        self.zmp = np.empty_like(points)
        """(m, 2) planned ZMP of each step [m]."""
        self.dcm[0], begin = finite_array(dcm, (2,), "dcm"), 0.0
        for k, (point, end) in enumerate(zip(points, self.ends, strict=True)):
            self.zmp[k] = self._clipped(k, self.dcm[k], end - begin, point)
            self.dcm[k + 1] = self.zmp[k] + (self.dcm[k] - self.zmp[k]) * exp(self.omega * (end - begin))
            begin = end

    def law(self, t: float, dcm: ArrayLike) -> Array:
        """The ZMP (2,) at a time, for a measured DCM.

        Args:
            t: [s] since the beginning.
            dcm: (2,) [m].
        """
        k = self._step(t)
        first, last = (self.supports.points[foot] for foot in self.supports.feet(t))
        if self.method == "cps":
            return self._clipped(k, dcm, self.ends[k] - t, first, last)
        aim = self._planned(k, t + self.lookahead)
        return clip_along(capture_zmp(dcm, aim, self.omega, self.lookahead), aim, first, last, self.foot)

    def planned(self, t: float) -> Array:
        """The planned DCM (2,) at a time; after the end, its last value.

        Args:
            t: [s] since the beginning.
        """
        return self.dcm[-1] if t >= self.ends[-1] else self._planned(self._step(t), t)

    def _planned(self, k: int, t: float) -> Array:
        """The planned DCM of a step, continued beyond its end."""
        begin = self.ends[k - 1] if k else 0.0
        return np.asarray(self.zmp[k] + (self.dcm[k] - self.zmp[k]) * exp(self.omega * (t - begin)))

    def _step(self, t: float) -> int:
        return min(int(np.searchsorted(self.ends, t, side="right")), len(self.ends) - 1)

    def _clipped(self, k: int, dcm: ArrayLike, horizon: float, first: Array, last: Array | None = None) -> Array:
        """The ZMP of (7.9) for step k, clipped to its support."""
        wanted = capture_zmp(dcm, self.targets[k], self.omega, max(float(horizon), _LEAST_REST))
        return clip_along(wanted, self.targets[k], first, first if last is None else last, self.foot)
