"""Coordination rules as data: demanded accelerations with weights that depend on the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import one_of
from surefoot.redundant import Model, State
from surefoot.spatial import spinor

__all__ = ["Rule", "Weight", "demands", "quantities"]

_AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True)
class Weight:
    """A weight: a number, or times a piecewise linear function of a quantity, constant beyond its ends.

    Args:
        value: Its largest value, against 1 for laws.
        over: Quantity `body.x`, `body.y`, `body.z` or `body.turn`; "" for none.
        knots: (quantity, share) in order.
    """

    value: float
    over: str = ""
    knots: tuple[tuple[float, float], ...] = ()

    def of(self, values: Mapping[str, tuple[float, float]]) -> float:
        """The weight at a state."""
        if not self.over:
            return self.value
        places, shares = zip(*self.knots, strict=True)
        return self.value * float(np.interp(values[self.over][0], places, shares))


@dataclass(frozen=True)
class Rule:
    """A demanded acceleration: stiffness (to − x) + damping (ẋ_to − ẋ) + feed.

    Args:
        on: Which acceleration: `body.x`, `body.y`, `body.z`, `body.turn` (about z).
        to: Its target: a number, at rest, or another quantity.
        stiffness: [1/s²].
        damping: [1/s].
        weight: How much it matters.
        feed: (gain, quantity, rule): gain times the quantity times the demand of an earlier rule is added.
    """

    on: str
    to: float | str
    stiffness: float
    damping: float
    weight: Weight
    feed: tuple[float, str, str] | None = None


def quantities(model: Model, state: State) -> dict[str, tuple[float, float]]:
    """Values and rates of all bodies' coordinates, by name; angles about z, from −π to π.

    Args:
        model: The model.
        state: Its state.
    """
    out = {}
    for k, name in enumerate(model.layout.body_names):
        R = spinor.to_matrix(state.spinors[k])
        angle = float(np.arctan2(R[1, 0], R[0, 0]))
        out[f"{name}.turn"] = angle, float(state.turning[k][2])
        for axis, i in _AXES.items():
            out[f"{name}.{axis}"] = float(state.positions[k][i]), float(state.velocities[k][i])
    return out


def demands(model: Model, state: State, rules: Sequence[Rule]) -> tuple[Array, Array]:
    """Wishes z_d and their weights for the unknowns of the dynamics; both 0 where no rule speaks.

    Args:
        model: The model.
        state: Where the rules are read.
        rules: In the order in which they feed each other.
    """
    values, places = quantities(model, state), model.layout.dynamics_places
    size = places["slides"].stop
    z_d, d0, asked = np.zeros(size), np.zeros(size), {}
    for rule in rules:
        for name in (rule.on, rule.to, rule.weight.over):
            if isinstance(name, str) and name and name not in values:
                raise one_of("quantity", name, values)
        (x, rate), (goal, speed) = values[rule.on], (values[rule.to] if isinstance(rule.to, str) else (rule.to, 0.0))
        asked[rule.on] = rule.stiffness * (goal - x) + rule.damping * (speed - rate)
        if rule.feed is not None:
            gain, quantity, other = rule.feed
            asked[rule.on] += gain * values[quantity][0] * asked[other]
        k = _unknown(model, rule.on)
        z_d[k], d0[k] = asked[rule.on], rule.weight.of(values)
    return z_d, d0


def _unknown(model: Model, name: str) -> int:
    """Place of a body's acceleration among the unknowns of the dynamics."""
    body, _, axis = name.rpartition(".")
    layout = model.layout
    k, places = layout.body_names.index(body), layout.dynamics_places
    if axis == "turn":
        rotations = list(layout.rotations)
        return int(places["turn"].start + k * len(rotations) + rotations.index(2))
    translations = list(layout.translations)
    return int(places["move"].start + k * len(translations) + translations.index(_AXES[axis]))
