"""Passive joint forces: springs, dampers and dry friction of the freedoms; what they store."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot import ops
from surefoot.ops import Array
from surefoot.redundant.layout import Layout
from surefoot.redundant.state import State, coordinates

__all__ = ["passive_forces", "spring_energy"]


def passive_forces(layout: Layout, state: State) -> Array:
    """τ'_P and f'_P (m,), N m or N (Busenhart 1994, (3.26) and (3.27)).

    -spring (x - rest) - damping ẋ - friction tanh(ẋ / friction_speed)

    Args:
        layout: The model.
        state: Coordinates and rates.
    """
    laws, rates = layout.freedoms, state.rates
    out = -laws.spring * (coordinates(layout, state) - laws.rest) - laws.damping * rates
    if laws.friction.any():
        out = out - laws.friction * _tanh(rates / laws.friction_speed)
    return out


def spring_energy(layout: Layout, state: State) -> Any:
    """Energy stored in the springs of the freedoms, J."""
    away = coordinates(layout, state) - layout.freedoms.rest
    return 0.5 * (layout.freedoms.spring * away) @ away


def _tanh(x: Array) -> Array:
    """Hyperbolic tangent for numbers and symbols, without overflow."""
    if not ops.is_symbolic(x):
        return np.tanh(x)
    decay = ops.exp(-2.0 * ops.absolute(x))
    return ops.where(ops.less(x, 0.0), -1.0, 1.0) * (1.0 - decay) / (1.0 + decay)
