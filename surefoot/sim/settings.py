"""`Settings`: how to simulate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefoot.arrays import number
from surefoot.errors import ShapeError


@dataclass(frozen=True)
class Settings:
    """How to simulate.

    Args:
        duration: How long [s].
        dt: Step of the physics [s].
        control_dt: Time between commands [s], a multiple of dt.
        seed: Of all randomness.
        initial_spread: Standard deviation of the driven joints' first positions around the initial ones [rad] or [m].
        self_collision: Whether robots may touch themselves.
        engine: "mujoco" or "native".
        options: Further options of the engine, such as `contact` and `integrator` of `native`.
        drives: Kind of all drives, or by joint; as each drive is described if omitted.
        after_fall: How long the run goes on after a fall [s].
    """

    duration: float
    dt: float = 0.002
    control_dt: float = 0.002
    seed: int = 0
    initial_spread: float = 0.0
    self_collision: bool = False
    engine: str = "mujoco"
    options: Mapping[str, Any] = field(default_factory=dict)
    drives: str | Mapping[str, str] | None = None
    after_fall: float = 0.5

    def __post_init__(self) -> None:
        times = {name: number(getattr(self, name), name, positive=True) for name in ("duration", "dt", "control_dt")}
        if isinstance(self.seed, bool) or not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise ShapeError(f"the seed is {self.seed!r}", next_step="give an integer ≥ 0")
        if times["duration"] < times["control_dt"] * (1.0 - 1e-9):
            raise ShapeError("the run is shorter than the time between two commands", evidence=times)
        ratio = self.control_dt / self.dt
        if abs(ratio - round(ratio)) > 1e-6 or round(ratio) < 1:
            raise ShapeError(
                "control_dt is not a multiple of dt",
                evidence={"dt": self.dt, "control_dt": self.control_dt},
                next_step=f"use control_dt = {max(1, round(ratio)) * self.dt:g}",
            )

    @property
    def substeps(self) -> int:
        """Steps of the physics between commands."""
        return round(self.control_dt / self.dt)

    @property
    def ticks(self) -> int:
        """Commands until the end; the last one may go a little beyond it."""
        return int(np.ceil(self.duration / self.control_dt * (1.0 - 1e-12) - 1e-9))
