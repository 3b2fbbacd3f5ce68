"""`WrenchCone`: all wrenches that a contact surface can carry."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.contact.cone_dual import faces_of_spans
from surefoot.contact.friction_cone import checked_friction, corner_spans, friction_pyramid
from surefoot.contact.rectangle_cone import rectangle_faces, rectangle_of
from surefoot.contact.soft_finger import SoftFingerLaw, soft_finger_spans
from surefoot.geometry import convex_hull
from surefoot.robot.contacts import ContactSurface

__all__ = ["WrenchCone", "outer_corners", "wrench_cone", "wrench_spans"]

Array = NDArray[np.float64]


class WrenchCone(NamedTuple):
    """Wrenches w with faces @ w ≥ 0, the same as spans @ λ, λ ≥ 0; on the robot, in the contact frame, linear first.

    Args:
        faces: (m, 6). Directions that the contact does not carry are a face and its opposite.
        spans: (6, k). Edges with 1 N of normal force each; for a cylinder unit wrenches and their opposites.
    """

    faces: Array
    spans: Array

    def margin(self, wrench: ArrayLike, length: float = 0.1) -> Array:
        """(...): distance of wrenches inside the nearest face [N]; negative outside.

        Args:
            wrench: (..., 6).
            length: A moment of 1 N m counts as a force of 1 / length [m].
        """
        weights = np.r_[np.ones(3), np.full(3, 1.0 / length)]
        rows = self.faces / weights
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray((np.asarray(wrench, dtype=float) * weights @ rows.T).min(axis=-1, initial=np.inf))


def wrench_cone(
    surface: ContactSurface,
    friction: float | None = None,
    sides: int = 4,
    *,
    inscribed: bool = False,
    law: SoftFingerLaw = "elliptic",
) -> WrenchCone:
    """The wrenches that a contact surface can carry before it slips or tips.

    [contact.wrench-cone]   Points, lines, rectangles and polygons push at their corners, with friction pyramids
    (Nenchev & Konno 2019, §3.3.2); a rectangle with four sides has its faces in closed form (Caron, Pham and Nakamura
    2015), others by face–span conversion. A soft finger also holds against turning. A cylinder is a hand closed round a
    rod: it pushes from all sides with a grip that is not part of the surface, so that it carries every wrench that it
    ties, in both senses.

    Args:
        surface: The surface.
        friction: μ in place of the surface's own.
        sides: Of friction pyramids; with 4, they stand along the axes of the contact frame, or a rectangle's edges.
        inscribed: Pyramids inside the friction cone (safe) rather than around it.
        law: How a soft finger shares its normal force between friction and torsion; see `SOFT_FINGER_LAWS`.
    """
    mu = checked_friction(surface.friction if friction is None else friction)
    spans = wrench_spans(surface, mu, sides, inscribed=inscribed, law=law)
    rectangle = rectangle_of(surface.corners) if surface.kind == "rectangle" else None
    if rectangle is not None and sides == 4:
        return WrenchCone(rectangle_faces(rectangle, mu * np.cos(np.pi / 4.0) if inscribed else mu), spans)
    return WrenchCone(faces_of_spans(spans), spans)


def wrench_spans(
    surface: ContactSurface,
    friction: float | None = None,
    sides: int = 4,
    *,
    inscribed: bool = False,
    law: SoftFingerLaw = "elliptic",
) -> Array:
    """(6, k): the spans of `wrench_cone` alone, which need no conversion.

    Args:
        surface: The surface.
        friction: μ in place of the surface's own.
        sides: Of friction pyramids.
        inscribed: Pyramids inside the friction cone rather than around it.
        law: Of soft fingers.
    """
    mu = checked_friction(surface.friction if friction is None else friction)
    if surface.kind == "cylinder":
        tied = surface.constraint_basis if mu > 0.0 else np.eye(6)[:, [0, 2, 3, 5]]
        return np.hstack([tied, -tied])
    if surface.kind == "soft_finger":
        spans = soft_finger_spans(mu, surface.torsional_friction if mu > 0.0 else 0.0, sides, inscribed, law)
        return np.asarray(_shifted(spans, surface.corners.mean(axis=0)))
    edges = friction_pyramid(mu, sides, inscribed).spans
    rectangle = rectangle_of(surface.corners) if surface.kind == "rectangle" else None
    if rectangle is not None:
        edges = rectangle.R @ edges
    return corner_spans(outer_corners(surface), edges)


def outer_corners(surface: ContactSurface) -> Array:
    """(k, 3): corners that push: those of the hull if all lie in a plane of constant z, counter-clockwise.

    Args:
        surface: The surface.
    """
    corners = np.asarray(surface.corners)
    if np.ptp(corners[:, 2]) > 1e-9:
        return corners
    hull = convex_hull(corners[:, :2])
    return np.column_stack([hull, np.full(len(hull), corners[:, 2].mean())])


def _shifted(spans: Array, to: Array) -> Array:
    """Wrenches (6, k) at a point, about the origin."""
    return np.vstack([spans[:3], spans[3:] + np.cross(to, spans[:3].T).T])
