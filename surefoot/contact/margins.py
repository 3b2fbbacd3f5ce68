"""How far contact wrenches over time are from slipping, tipping and letting go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.contact.friction import SoftFingerLaw, torsion_limit
from surefoot.contact.wrench_cone import outer_corners, rectangle_of, wrench_cone, yaw_bounds
from surefoot.contact.zero_moment import zero_moment_point
from surefoot.errors import ShapeError
from surefoot.geometry import distance_inside
from surefoot.robot import ContactSurface


class Margin(NamedTuple):
    """A quantity over time with its limits.

    Args:
        unit: Of all.
        value: (n,); NaN where there is nothing to judge.
        lower: (n,), −inf for none.
        upper: (n,), +inf for none.
    """

    unit: str
    value: Array
    lower: Array
    upper: Array

    @property
    def margin(self) -> Array:
        """(n,): distance inside the nearer limit, negative outside."""
        return np.minimum(self.value - self.lower, self.upper - self.value)


def contact_margins(
    surface: ContactSurface, wrench: ArrayLike, friction: ArrayLike | None = None, least_load: float = 0.0
) -> dict[str, Margin]:
    """All margins of one contact over time, by the names of the audit; those that its kind has.

    `unilateral_force` and `friction` for all but cylinders, `cop` for lines, rectangles and polygons,
    `torsional_friction` for these and soft fingers.

    Args:
        surface: The surface.
        wrench: (n, 6) on the robot, in the contact frame, linear first.
        friction: μ, a number or (n,), in place of the surface's own.
        least_load: [N]: below this normal force nothing is said of the centre of pressure.
    """
    w, mu = _checked(surface, wrench, friction)
    if surface.kind == "cylinder":
        return {}
    found = {"unilateral_force": normal_margin(w), "friction": friction_margin(w, mu)}
    if surface.kind in ("line", "rectangle", "polygon"):
        found["cop"] = pressure_margin(surface, w, least_load)
    if surface.kind != "point":
        found["torsional_friction"] = torsion_margin(surface, w, mu)
    return found


def normal_margin(wrench: ArrayLike) -> Margin:
    """Normal force f_z ≥ 0 [N].

    Args:
        wrench: (n, 6).
    """
    value = np.array(np.asarray(wrench, dtype=float)[:, 2])
    return Margin("N", value, np.zeros_like(value), np.full_like(value, np.inf))


def friction_margin(wrench: ArrayLike, friction: ArrayLike) -> Margin:
    """Tangential force √(f_x² + f_y²) ≤ μ f_z, the exact cone [N].

    Args:
        wrench: (n, 6).
        friction: μ, a number or (n,).
    """
    w = np.asarray(wrench, dtype=float)
    value = np.hypot(w[:, 0], w[:, 1])
    return Margin("N", value, np.full_like(value, -np.inf), np.asarray(friction) * w[:, 2])


def pressure_margin(surface: ContactSurface, wrench: ArrayLike, least_load: float = 0.0) -> Margin:
    """Distance of the centre of pressure inside the outline of the surface, ≥ 0 [m].

    For a line: along the line, from its nearer end. (A moment across it is judged by its wrench cone.)

    Args:
        surface: Of kind line, rectangle or polygon.
        wrench: (n, 6) in the contact frame.
        least_load: Below this normal force [N], and at 0, the value is NaN.
    """
    height = float(np.mean(surface.corners[:, 2]))
    centre = zero_moment_point(wrench, point=(0.0, 0.0, height), least_load=least_load)[..., :2]
    outline = outer_corners(surface)[:, :2]
    if surface.kind == "line":
        ends = outline[[0, -1]]
        half = 0.5 * float(np.linalg.norm(ends[1] - ends[0]))
        value = half - np.abs((centre - ends.mean(axis=0)) @ (ends[1] - ends[0]) / (2.0 * half))
    else:
        value = distance_inside(centre, outline)
    return Margin("m", value, np.zeros_like(value), np.full_like(value, np.inf))


def torsion_margin(
    surface: ContactSurface,
    wrench: ArrayLike,
    friction: ArrayLike | None = None,
    sides: int = 4,
    law: SoftFingerLaw = "elliptic",
) -> Margin:
    """Moment about the normal between the bounds that the other five components leave [N m].

    Rectangles: exact, in closed form (`yaw_bounds`), about their centre. Soft fingers: their law, at the finger.
    Others: from the faces of their wrench cone, about the origin of the contact frame. Where the other components are
    not admissible, the lower bound is above the upper one, and the margin negative.

    Args:
        surface: Of any kind but cylinder.
        wrench: (n, 6) in the contact frame.
        friction: μ, a number or (n,), in place of the surface's own.
        sides: Of friction pyramids; rectangles have 4 in any case.
        law: Of soft fingers.
    """
    w, mu = _checked(surface, wrench, friction)
    if surface.kind == "soft_finger":
        value = w[:, 5] - np.cross(surface.corners.mean(axis=0), w[:, :3])[:, 2]
        limit = torsion_limit(w[:, :3], mu, surface.torsional_friction, law)
        return Margin("N m", value, -limit, limit)
    rectangle = rectangle_of(surface.corners) if surface.kind == "rectangle" else None
    if rectangle is not None:
        at_centre = rectangle.wrench(w)
        return Margin("N m", at_centre[:, 5], *yaw_bounds(at_centre, mu, rectangle.half))
    lower, upper = np.full(len(w), -np.inf), np.full(len(w), np.inf)
    for value in np.unique(mu):
        rows = mu == value
        lower[rows], upper[rows] = _bounds_of_faces(wrench_cone(surface, float(value), sides).faces, w[rows])
    return Margin("N m", np.array(w[:, 5]), lower, upper)


def _bounds_of_faces(faces: Array, wrench: Array) -> tuple[Array, Array]:
    """Bounds of the last component (n,) by faces (m, 6) that look at it, from the other five."""
    size = np.abs(faces).max(axis=1)
    rest = wrench[:, :5] @ faces[:, :5].T
    up, down = faces[:, 5] > 1e-9 * size, faces[:, 5] < -1e-9 * size
    lower = (-rest[:, up] / faces[up, 5]).max(axis=1, initial=-np.inf)
    upper = (-rest[:, down] / faces[down, 5]).min(axis=1, initial=np.inf)
    return lower, upper


def _checked(surface: ContactSurface, wrench: ArrayLike, friction: ArrayLike | None) -> tuple[Array, Array]:
    """Wrenches (n, 6) and coefficients (n,)."""
    w = np.asarray(wrench, dtype=float)
    if w.ndim != 2 or w.shape[1] != 6:
        raise ShapeError(f"wrenches of contact `{surface.name}` have shape {w.shape}, expected (n, 6)")
    mu = np.broadcast_to(np.asarray(surface.friction if friction is None else friction, dtype=float), len(w))
    if not (np.isfinite(mu).all() and (mu >= 0.0).all()):
        raise ShapeError(f"friction of contact `{surface.name}` must be finite and not negative")
    return w, mu
