"""Pushes: wrenches on a link for a while."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import ShapeError

__all__ = ["Push"]


@dataclass(frozen=True, eq=False)
class Push:
    """A constant wrench on a link.

    Args:
        time: When it begins [s].
        duration: How long it lasts [s].
        link: The link; the push acts at the centre of mass of the body that carries it.
        wrench: (6,) force [N] and moment [N m] in world axes.
    """

    time: float
    duration: float
    link: str
    wrench: NDArray[np.float64]

    def __post_init__(self) -> None:
        wrench = np.array(self.wrench, dtype=float)
        if wrench.shape != (6,) or not np.isfinite(wrench).all():
            raise ShapeError("the wrench of a push needs six finite numbers", evidence={"wrench": self.wrench})
        if not (np.isfinite([self.time, self.duration]).all() and self.duration > 0.0 and self.time >= 0.0):
            raise ShapeError("a push needs a time ≥ 0 and a duration > 0", evidence={"push": self})
        wrench.setflags(write=False)
        object.__setattr__(self, "wrench", wrench)

    def acts_at(self, t: float, dt: float) -> bool:
        """Whether it acts in the step from t to t + dt [s]."""
        return self.time - 0.5 * dt <= t < self.time + self.duration - 0.5 * dt
