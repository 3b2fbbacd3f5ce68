"""Inertias that MuJoCo accepts: positive, and such as a real body can have.

MuJoCo refuses bodies without mass or with principal moments that break a + b ≥ c. Robot files hold such bodies (frames,
axes of universal joints). Here, and only here, they are changed; every change is listed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.robot import Tree

LEAST = 1e-9
"""Least mass [kg] and principal moment [kg m²]."""
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class BodyInertia:
    """Inertia of a body by its principal axes.

    Args:
        mass: [kg].
        com: Centre of mass in the body frame, (3,) [m].
        moments: Principal moments, (3,) [kg m²].
        axes: Principal axes as columns, in body axes, (3, 3), right-handed.
        lifted: Whether a number was changed by more than rounding.
    """

    mass: float
    com: Array
    moments: Array
    axes: Array
    lifted: bool


def lifted_inertia(tree: Tree, body: int) -> BodyInertia:
    """The inertia of a body, lifted to positive values and to a + b ≥ c where needed.

    Moments that break the triangle inequality of rigid bodies are repaired by raising the two smaller ones by half of
    what is missing each, the least change in the sum of squares that keeps the largest.

    Args:
        tree: The robot's tree.
        body: Index of the body.
    """
    moments, axes = _principal(tree.inertias[body])
    mass = max(float(tree.masses[body]), LEAST)
    raised = np.maximum(moments, LEAST)
    missing = raised[2] - raised[0] - raised[1]
    if missing > 0.0:
        raised[:2] += 0.5 * missing * (1.0 + 1e-12) + 1e-16 * raised[2]
    changed = mass != tree.masses[body] or bool((np.abs(raised - moments) > _ROUNDING * np.abs(raised)).any())
    return BodyInertia(mass, np.array(tree.coms[body]), raised, axes, changed)


def _principal(inertia: Array) -> tuple[Array, Array]:
    """Principal moments (3,), rising, and axes (3, 3), right-handed."""
    moments, axes = np.linalg.eigh(0.5 * (inertia + inertia.T))
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    return moments, axes


def without_mass() -> BodyInertia:
    """Inertia of a body without mass."""
    return BodyInertia(0.0, np.zeros(3), np.zeros(3), np.eye(3), lifted=False)


def with_points(body: BodyInertia, masses: Array, positions: Array) -> BodyInertia:
    """A body with point masses on it, about the new centre of mass (parallel axes: Huygens and Steiner).

    Args:
        body: The body alone.
        masses: (n,) [kg].
        positions: (n, 3) in the body frame [m].
    """
    if not masses.any():
        return body
    weights, places = np.append(masses, body.mass), np.vstack([positions, body.com])
    mass = float(weights.sum())
    com = weights @ places / mass
    r = places - com
    spread = (r * weights[:, None]).T @ r
    inertia = body.axes @ np.diag(body.moments) @ body.axes.T + np.trace(spread) * np.eye(3) - spread
    moments, axes = _principal(inertia)
    return BodyInertia(mass, com, np.maximum(moments, LEAST), axes, body.lifted)


def massless_joints(tree: Tree) -> tuple[int, ...]:
    """Joints that move no mass: their acceleration would be a division by zero."""
    carried = np.array(tree.masses)
    for i in reversed(range(tree.n)):
        if tree.parents[i] >= 0:
            carried[tree.parents[i]] += carried[i]
    return tuple(int(i) for i in np.flatnonzero(carried < LEAST))
