"""Unilateral constraints as weights and flags: joint stops, and contacts that stick, slide or are free.

A freedom that is held at a stop gives up its force law (weight 0; what is missing in it is the force of the stop) and
gains a wish of the weight of a law for its acceleration, usually 0. A contact that sticks holds its tangents too; one
that slides has friction in the force laws of its tangents, f_t = -μ f_n d, with d the direction in which it slides
(Busenhart 1994, table 6.7). There is no inequality in the solver: flags are tested between solutions (tables 6.2 and
6.16).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.redundant.equations import State, System, coordinates
from surefoot.redundant.model import ContactRows, Layout, Model

Flags = NDArray[np.bool_]
SLOW = 1e-3  # below this speed a contact can stick [m/s]   (table 6.16)


@dataclass(frozen=True, eq=False)
class Boundaries:
    """The active unilateral constraints: m freedoms, c contacts.

    Args:
        lower: (m,) held at the lower stop.
        upper: (m,) held at the upper stop.
        stick: (c,) the contact does not slide (where its normal is held).
        slip: (c, 2) unit direction along the tangents in which the contact slides.
    """

    lower: Flags
    upper: Flags
    stick: Flags
    slip: Array

    def same_as(self, other: Boundaries) -> bool:
        """Whether all flags are equal."""
        pairs = ((self.lower, other.lower), (self.upper, other.upper), (self.stick, other.stick))
        return all(bool((a == b).all()) for a, b in pairs)


def free_boundaries(layout: Layout) -> Boundaries:
    """No constraint is active."""
    m, c = len(layout.freedoms.names), len(layout.contacts)
    return Boundaries(np.zeros(m, bool), np.zeros(m, bool), np.zeros(c, bool), np.zeros((c, 2)))


def held_freedoms(layout: Layout, boundaries: Boundaries) -> Flags:
    """(m,) the freedoms that do not move: at stops, and tangents of contacts that stick."""
    held = boundaries.lower | boundaries.upper
    for contact, stick in zip(layout.contacts, boundaries.stick, strict=True):
        if stick and held[contact.normal]:
            held[list(contact.tangents)] = True
    return held


def with_boundaries(layout: Layout, system: System, boundaries: Boundaries) -> System:
    """The dynamics with friction in the force laws of the contacts that slide."""
    start = len(system.b) - len(layout.freedoms.names)
    sliding = [
        (contact, slip)
        for contact, stick, slip in zip(layout.contacts, boundaries.stick, boundaries.slip, strict=True)
        if boundaries.lower[contact.normal] and not stick and contact.tangents
    ]
    if not sliding:
        return system
    A, b = system.A.copy(), system.b.copy()
    for contact, slip in sliding:
        for tangent, direction in zip(contact.tangents, slip, strict=False):
            A[start + tangent] += contact.friction * direction * system.A[start + contact.normal]
            b[start + tangent] += contact.friction * direction * system.b[start + contact.normal]
    return System(A, b)


def boundary_test(
    model: Model,
    state: State,
    accelerations: Array,
    reactions: Array,
    boundaries: Boundaries,
    brake: float = 100.0,
    slack: float = 1e-6,
) -> Boundaries:
    """The flags after a solution (Busenhart 1994, tables 6.2 and 6.16; erratum: one flag for each side).

    A stop begins to hold where it is reached and the freedom would go further than a brake of -brake · rate lets it;
    it lets go where it would pull, or the freedom has left it.

    Args:
        model: The model.
        state: Where the solution was found.
        accelerations: (m,) of the freedoms [rad/s²] or [m/s²].
        reactions: (m,) forces of the stops and of friction along the freedoms [N m] or [N].
        boundaries: The flags of that solution.
        brake: 1 / sample time [1/s].
        slack: How far from a stop a freedom still counts as being there [rad] or [m].
    """
    layout = model.layout
    x, excess = coordinates(layout, state), -brake * state.rates - accelerations
    at_lower, at_upper = x <= layout.freedoms.lower + slack, x >= layout.freedoms.upper - slack
    lower = np.where(boundaries.lower, at_lower & (reactions >= 0.0), at_lower & (excess > 0.0))
    upper = np.where(boundaries.upper, at_upper & (reactions <= 0.0), at_upper & (excess < 0.0))
    found = replace(boundaries, lower=lower, upper=upper & ~lower)
    grips = [
        _grip(contact, state.rates, accelerations, reactions, boundaries, i)
        for i, contact in enumerate(layout.contacts)
    ]
    stick = np.array([grip[0] for grip in grips], dtype=bool)
    slip = np.array([grip[1] for grip in grips], dtype=float).reshape(-1, 2)
    return replace(found, stick=stick, slip=slip)


def _grip(
    contact: ContactRows, rates: Array, accelerations: Array, reactions: Array, boundaries: Boundaries, i: int
) -> tuple[bool, Array]:
    """Whether a contact sticks, and where it slides to.

    One that slides and has come to rest is tried sticking, unless it speeds up again in the direction in which it
    slides; one that sticks begins to slide, against its friction, where that is asked for more than it can give.
    """
    speed, force, gain = (_tangential(contact, values) for values in (rates, reactions, accelerations))
    fast = float(np.linalg.norm(speed))
    if fast >= SLOW:
        return False, speed / fast
    if not boundaries.lower[contact.normal]:
        return True, np.zeros(2)
    if not boundaries.stick[i]:
        return bool(gain @ boundaries.slip[i] <= 0.0), boundaries.slip[i]
    asked = float(np.linalg.norm(force))
    if asked <= contact.friction * max(float(reactions[contact.normal]), 0.0):
        return True, np.zeros(2)
    return False, -force / asked


def _tangential(contact: ContactRows, values: Array) -> Array:
    """The entries of a contact's tangents (2,); the second is 0 where there is one tangent."""
    out = np.zeros(2)
    out[: len(contact.tangents)] = values[list(contact.tangents)]
    return out
