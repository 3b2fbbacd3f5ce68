"""Bodies and hinges as a directed graph (Busenhart 1994, chapter 3): the data of a model, as read from a file.

A hinge points from its tail body to its head body and is a chain of massless links, the first on the side of the tail.
Link j maps x ↦ S'_j x + s'_j, from its own frame to frame j + 1, and the whole chain places the tail in the head:

    X_tail = X_head + R_head s'_a,  R_tail = S'_a R_head        [red.hinge]   Busenhart 1994, (3.5) and (3.31)

Vectors have three components in space and two in the plane (x, y), where rotations are about z.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from surefoot.tables import StrictModel

GROUND = "ground"
Vector = tuple[float, ...]
NotNegative = Annotated[float, Field(ge=0.0)]
Name = Annotated[str, Field(min_length=1)]


class Body(StrictModel):
    """A rigid body; its frame is at the centre of mass, along the principal axes.

    Args:
        name: Unique among the bodies.
        mass: [kg].
        inertia: Principal moments [kg m²]: three in space, one (about z) in the plane.
    """

    name: Name
    mass: NotNegative
    inertia: tuple[NotNegative, ...]


class Freedom(StrictModel):
    """One degree of freedom of a link: a pin [rad] or a slide [m], with its limits and passive force.

    passive force = -spring (x - rest) - damping ẋ - friction tanh(ẋ / friction_speed)

    Args:
        name: Unique among the freedoms of the model.
        axis: Unit vector in the frame on the head side of the link; omitted for pins in the plane.
        lower: Lower stop, if there is one.
        upper: Upper stop, if there is one.
        spring: [N m/rad] or [N/m].
        rest: Where the spring is relaxed.
        damping: [N m s/rad] or [N s/m].
        friction: Dry friction [N m] or [N].
        friction_speed: Speed at which three quarters of the dry friction act [rad/s] or [m/s].
        armature: Inertia of the drive at the joint [kg m²] or [kg] (not in Busenhart 1994).
    """

    name: Name
    axis: Vector | None = None
    lower: float | None = None
    upper: float | None = None
    spring: NotNegative = 0.0
    rest: float = 0.0
    damping: NotNegative = 0.0
    friction: NotNegative = 0.0
    friction_speed: Annotated[float, Field(gt=0.0)] = 1e-3
    armature: NotNegative = 0.0


class Ball(StrictModel):
    """A ball joint; its freedoms are called NAME.x, NAME.y and NAME.z, about axes of the head side.

    Args:
        name: Unique among the freedoms.
        damping: [N m s/rad], about all axes.
        armature: [kg m²], about all axes.
    """

    name: Name
    damping: NotNegative = 0.0
    armature: NotNegative = 0.0


class Link(StrictModel):
    """One link of a hinge: a rotation (fixed, pin or ball), then a translation (fixed part and slides).

    Args:
        rotation: Constant rotation vector [rad]: three components in space, one in the plane; none if omitted.
        pin: A rotation about one axis, in place of a constant one.
        ball: A rotation about three axes, in place of a constant one; in space only.
        offset: Constant translation in the frame of the head side [m]; none if omitted.
        slides: Translations along axes of the frame of the head side.
    """

    rotation: Vector = ()
    pin: Freedom | None = None
    ball: Ball | None = None
    offset: Vector = ()
    slides: tuple[Freedom, ...] = ()


class Hinge(StrictModel):
    """A connection of two bodies: an arrow from tail to head.

    Args:
        name: Unique among the hinges.
        tail: The body where the arrow begins, or "ground".
        head: The body where the arrow ends, or "ground".
        links: The chain, from the tail to the head; without links the bodies coincide.
    """

    name: Name
    tail: str
    head: str = GROUND
    links: tuple[Link, ...] = ()


class Action(StrictModel):
    """A freedom on which an actuator acts; `direction` is the cosine (or lever) between them."""

    freedom: str
    direction: float = 1.0


class Actuator(StrictModel):
    """A force or torque u on one or more freedoms.

    Args:
        name: Unique among the actuators.
        acts_on: The freedoms.
        lower: Least u, if bounded [N] or [N m].
        upper: Largest u, if bounded.
    """

    name: Name
    acts_on: tuple[Action, ...]
    lower: float | None = None
    upper: float | None = None


class Contact(StrictModel):
    """Friction between slides of one hinge while the normal slide is at its lower stop.

    Args:
        name: Unique among the contacts.
        normal: A slide with a lower stop.
        tangents: One or two slides of the same link.
        friction: Coulomb coefficient.
    """

    name: Name
    normal: str
    tangents: tuple[str, ...] = ()
    friction: NotNegative = 0.0


class ModelData(StrictModel):
    """A whole model.

    Args:
        name: Its name.
        space: "space" or "plane".
        gravity: [m/s²], three components in space, two in the plane.
        bodies: The bodies, in the order of the unknowns.
        hinges: The hinges, in the order of the rows; more of them than bodies close loops.
        actuators: In the order of u.
        contacts: Unilateral hinges with friction.
    """

    name: Name
    space: Literal["space", "plane"] = "space"
    gravity: Vector
    bodies: tuple[Body, ...]
    hinges: tuple[Hinge, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    contacts: tuple[Contact, ...] = ()

    @cached_property
    def connectivity(self) -> NDArray[np.int64]:
        """C (bodies, hinges): -1 where a hinge begins, +1 where it ends, else 0 (Busenhart 1994, (3.2))."""
        C = np.zeros((len(self.bodies), len(self.hinges)), dtype=np.int64)
        row = {body.name: i for i, body in enumerate(self.bodies)}
        for a, hinge in enumerate(self.hinges):
            for name, sign in ((hinge.tail, -1), (hinge.head, 1)):
                if name != GROUND:
                    C[row[name], a] = sign
        return C
