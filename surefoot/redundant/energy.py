"""Energy of a state: bodies, drives, gravity, springs."""

from __future__ import annotations

from typing import Any

from surefoot.redundant.constraints import spring_energy, world_inertias
from surefoot.redundant.model import Model
from surefoot.redundant.state import State

__all__ = ["kinetic_energy", "potential_energy"]


def kinetic_energy(model: Model, state: State) -> Any:
    """½ Σ m Ẋ² + ½ Σ ω I ω + ½ Σ armature ẋ², J.

    Args:
        model: The model.
        state: Coordinates and velocities.
    """
    layout = model.layout
    momentum = (world_inertias(layout, state) @ state.turning[..., None])[..., 0]
    linear = (layout.masses * (state.velocities**2).sum(axis=-1)).sum()
    return 0.5 * (linear + (state.turning * momentum).sum() + layout.freedoms.armature @ state.rates**2)


def potential_energy(model: Model, state: State) -> Any:
    """-Σ m g · X and the energy in the springs, J; zero at the origin of the world and with relaxed springs.

    Args:
        model: The model.
        state: The coordinates.
    """
    layout = model.layout
    return spring_energy(layout, state) - layout.masses @ (state.positions @ layout.gravity)
