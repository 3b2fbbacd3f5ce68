"""Runs in which the robot and its world differ from what the controller knows, and how often they end in a fall."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from surefoot.scenario.catalogue import read_scenario


@dataclass(frozen=True)
class Perturbation:
    """What is not as the controller believes; drawn uniformly.

    Args:
        mass: Factor on all masses and moments of inertia, from and to.
        friction: Of the ground, from and to.
        delay: Of all readings [s].
    """

    mass: tuple[float, float] = (0.8, 1.2)
    friction: tuple[float, float] = (0.4, 1.0)
    delay: float = 0.005


def perturbed_overrides(scenario: str, seed: int, limits: Perturbation | None = None) -> tuple[str, ...]:
    """Changes of a scenario, `dotted.key=value`, for one run; noise and all else follow the seed of the run.

    Args:
        scenario: Name or file.
        seed: Of the run: the same for all robots and scenarios.
        limits: What is drawn from.
    """
    limits = limits or Perturbation()
    mass, share = np.random.default_rng([seed, 7]).random(2)
    factor = float(np.interp(mass, (0.0, 1.0), limits.mass))
    friction = float(np.interp(share, (0.0, 1.0), limits.friction))
    own = [event.model_dump(exclude_none=True, exclude_unset=True) for event in read_scenario(scenario).events]
    events = [*own, {"kind": "parameter_error", "mass_factor": round(factor, 4)}]
    return (
        f"world.friction={friction:.4f}",
        f"sensors.delay={limits.delay:g}",
        f"events=[{', '.join(_inline(event) for event in events)}]",
    )


def _inline(table: dict[str, Any]) -> str:
    """A TOML inline table; tables inside tables are none of an event that can be repeated."""
    return "{" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items()) + "}"


@dataclass(frozen=True)
class Rate:
    """How often something happened.

    Args:
        count: How often.
        total: Of how many.
        low: Lower end of Wilson's 95 % interval.
        high: Upper end.
    """

    count: int
    total: int
    low: float
    high: float

    def __str__(self) -> str:
        """As in "3 of 100 (1.0–8.5 %)"."""
        return f"{self.count} of {self.total} ({100.0 * self.low:.1f}–{100.0 * self.high:.1f} %)"


def wilson(happened: Sequence[bool]) -> Rate:
    """A rate with its 95 % interval (Wilson 1927).

    Args:
        happened: Of each run.
    """
    n, k, z = len(happened), sum(happened), 1.959964
    if n == 0:
        return Rate(0, 0, 0.0, 1.0)
    p = k / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return Rate(k, n, max(0.0, middle - half), min(1.0, middle + half))
