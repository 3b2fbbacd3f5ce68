"""Contact surfaces: where a robot may touch, and which directions a touch ties.

`BodyVolume`: a swept volume that a body of the robot carries.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import ModelError
from surefoot.geometry import SweptVolume
from surefoot.robot.model.links import placement

ContactKind = Literal["point", "line", "cylinder", "rectangle", "polygon", "soft_finger"]
CONTACT_KINDS: tuple[str, ...] = get_args(ContactKind)

# Directions (x, y, z, rx, ry, rz) of the contact frame that a touch ties, without and with friction.
# z is the normal, a line lies along y, a cylinder (a hand round a rod) has its axis along y.
# Nenchev & Konno 2019, §2.9 and §3.3.2.
_TIED = {
    "point": ("z", "xyz"),
    "line": ("zX", "xyzXZ"),
    "cylinder": ("xzXZ", "xyzXYZ"),
    "rectangle": ("zXY", "xyzXYZ"),
    "polygon": ("zXY", "xyzXYZ"),
    "soft_finger": ("z", "xyzZ"),
}
_ORDER = "xyzXYZ"
MAX_FRICTION = 1000.0  # of any surface; more makes equations of contact singular
_FLAT = 1e-6  # [m]: corners nearer to one line enclose no area


@dataclass(frozen=True, eq=False)
class ContactSurface:
    """A surface that may touch the ground or an object.

    Args:
        name: Unique among the contacts.
        frame: The link (frame) that carries it.
        kind: One of `CONTACT_KINDS`.
        placement: T_frame_contact, (4, 4); z points out of the ground, into the robot.
        corners: (k, 3) in the contact frame [m]; one at the origin for a point.
        friction: Coulomb coefficient; 0 for a frictionless surface.
        torsional_friction: Moment about the normal per normal force [m] (soft finger).
        radius: Of the rod or ball that touches [m]; 0 for flat surfaces.
    """

    name: str
    frame: str
    kind: ContactKind
    placement: Array = field(default_factory=placement)
    corners: Array = field(default_factory=lambda: np.zeros((1, 3)))
    friction: float = 0.7
    torsional_friction: float = 0.0
    radius: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in CONTACT_KINDS:
            raise ModelError(f"contact `{self.name}` has unknown kind `{self.kind}`", evidence={"kinds": CONTACT_KINDS})
        corners = np.array(self.corners, dtype=float).reshape(-1, 3)
        least = {"rectangle": 4, "polygon": 3, "line": 2}.get(self.kind, 1)
        if len(corners) < least or not np.isfinite(corners).all():
            raise ModelError(
                f"contact `{self.name}` ({self.kind}) needs {least} finite corners", evidence={"corners": corners}
            )
        if least > 2 and np.linalg.matrix_rank(corners - corners[0], tol=_FLAT) < 2:
            raise ModelError(
                f"contact `{self.name}` ({self.kind}) encloses no area", evidence={"corners": corners.tolist()},
                next_step="give corners of a face, or kind line or point",
            )  # fmt: skip
        if not 0.0 <= self.friction <= MAX_FRICTION:
            raise ModelError(
                f"contact `{self.name}` has friction {self.friction:g}, expected a number of 0…{MAX_FRICTION:g}"
            )
        for name, value in (("placement", np.array(self.placement, dtype=float)), ("corners", corners)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def tied(self) -> tuple[bool, ...]:
        """Which of (x, y, z, rx, ry, rz) of the contact frame are constrained while it sticks."""
        letters = _TIED[self.kind][self.friction > 0.0]
        return tuple(letter in letters for letter in _ORDER)

    @property
    def constraint_basis(self) -> Array:
        """B_c, (6, c): unit wrenches that the contact can carry, linear first, contact frame."""
        return np.eye(6)[:, np.array(self.tied)]

    @property
    def motion_basis(self) -> Array:
        """B_m, (6, 6 − c): unit twists that the contact leaves free, linear first, contact frame."""
        return np.eye(6)[:, ~np.array(self.tied)]


@dataclass(frozen=True, eq=False)
class BodyVolume:
    """A swept volume on a body, or in the world.

    Args:
        body: Index of the body in the tree; −1 for the world.
        volume: In the frame of that body.
        link: The link, or the thing in the world, that it encloses.
    """

    body: int
    volume: SweptVolume
    link: str
