"""Forces under which two feet in a V-shaped support stay where they are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefoot.errors import ShapeError

__all__ = ["FrictionBand", "friction_band"]


class FrictionBand(NamedTuple):
    """Inward horizontal reactions of the ground on each foot [N] without slip.

    Args:
        lower: Below it the feet slide down, towards each other.
        upper: Above it they slide up, apart; infinite where the feet jam.
    """

    lower: float
    upper: float


def friction_band(mass: float, slope: float, friction: float, gravity: float = 9.81) -> FrictionBand:
    """The band of horizontal forces in which a robot stands in a V-shaped support.

        h ∈ (M g / 2) [tan(α − φ), tan(α + φ)],  φ = atan μ        [contact.friction-band]

    Two feet carry half the weight each, on planes of slope α that rise outwards; each plane pushes its foot inwards
    with h, which the robot answers by pushing its feet apart. The force on a foot must be within φ of the normal.
    Nenchev & Konno 2019, Fig. 3.8 (V-shaped support of low friction): where α > φ the feet slide without such a force.

    Args:
        mass: M, of the whole robot [kg].
        slope: α [rad], 0 ≤ α < π/2.
        friction: μ, Coulomb coefficient, ≥ 0.
        gravity: g [m/s²].

    Raises:
        ShapeError: A number is out of range.
    """
    if not (mass > 0.0 and 0.0 <= slope < 0.5 * np.pi and friction >= 0.0 and gravity >= 0.0):
        raise ShapeError(
            "a friction band needs mass > 0, 0 ≤ slope < π/2, friction ≥ 0 and gravity ≥ 0",
            evidence={"mass": mass, "slope": slope, "friction": friction, "gravity": gravity},
        )
    half, cone = 0.5 * mass * gravity, float(np.arctan(friction))
    upper = half * float(np.tan(slope + cone)) if slope + cone < 0.5 * np.pi else np.inf
    return FrictionBand(half * float(np.tan(slope - cone)), upper)
