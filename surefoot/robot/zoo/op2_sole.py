"""A sole of eight points, as that of the ROBOTIS-OP2."""

from __future__ import annotations

import numpy as np

from surefoot.robot.contacts import ContactSurface
from surefoot.robot.links import placement

__all__ = ["eight_point_sole"]

# Right sole, in order round it [mm], x forward and y to the left. Nenchev & Konno 2019, table 8.2.
_RIGHT = np.array(
    [[51.5, 9.12], [46.0, 20.5], [-46.0, 20.5], [-51.5, 9.12], [-51.5, -30.12], [-46.0, -41.5], [46.0, -41.5],
     [51.5, -30.12]]
)  # fmt: skip


def eight_point_sole(
    link: str, x: tuple[float, float], y: tuple[float, float], z: float, friction: float = 0.7, left: bool = False
) -> ContactSurface:
    """The octagon of the OP2, stretched to the edges of another foot; its frame lies below the origin of the link.

    Args:
        link: The foot, also the name of the contact.
        x: Rear and front edge in the link's frame [m].
        y: Right and left edge [m].
        z: Height of the sole in the link's frame [m].
        friction: Coulomb coefficient.
        left: The left sole: the right one in the mirror, in the opposite order.
    """
    points = (_RIGHT * [1.0, -1.0])[::-1] if left else _RIGHT
    low, high = points.min(axis=0), points.max(axis=0)
    edges = np.array([x, y])
    flat = edges[:, 0] + (points - low) / (high - low) * (edges[:, 1] - edges[:, 0])
    corners = np.column_stack([flat, np.zeros(len(flat))])
    return ContactSurface(link, link, "polygon", placement((0.0, 0.0, z)), corners, friction)
