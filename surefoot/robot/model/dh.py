"""Links from a table of Denavit–Hartenberg parameters in the proximal form.

T_parent_i = Rx(α) Tx(a) Tz(d) Rz(θ)        [dh.proximal]   Buschmann 2014, App. A.3 (Craig 1986)
a and α lead from the parent's frame to the axis of joint i, d and θ along and about that axis, which is z of frame i.
In a tree the parameters belong to the child.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ModelError
from surefoot.robot.model.links import Geometry, Joint, Link


@dataclass(frozen=True)
class DHRow:
    """One body of a Denavit–Hartenberg table and the joint that moves it.

    Args:
        a: Distance along x of the parent's frame [m].
        alpha: Angle about x of the parent's frame [rad].
        d: Distance along the joint axis [m]; of a prismatic joint: at q = 0.
        theta: Angle about the joint axis [rad]; of a revolute joint: at q = 0.
        kind: What q adds to: θ ("revolute") or d ("prismatic").
        parent: Row of the parent; None for the row before; −1 for the world.
        link: Name of the body; "" for `body` and the number of the row.
        joint: Name of the joint; "" for `joint` and the number of the row.
        mass: [kg].
        com: Centre of mass in the frame of the row, (3,) [m].
        inertia: About the centre of mass, in the axes of the row's frame, (3, 3) [kg m²].
        lower: Position limit [rad] or [m].
        upper: Position limit [rad] or [m].
        velocity: Speed limit [rad/s] or [m/s].
        effort: Torque or force limit [N m] or [N].
        armature: Inertia of the drive seen at the joint [kg m²] or [kg].
        collisions: Collision shapes, placed in the frame of the row.
        visuals: Shapes to look at, placed in the frame of the row.
    """

    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    kind: Literal["revolute", "prismatic"] = "revolute"
    parent: int | None = None
    link: str = ""
    joint: str = ""
    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3), compare=False)
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)), compare=False)
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    armature: float = 0.0
    collisions: tuple[Geometry, ...] = ()
    visuals: tuple[Geometry, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in ("revolute", "prismatic"):
            raise ModelError(
                f"a Denavit–Hartenberg row cannot be {self.kind}",
                evidence={"link": self.link},
                next_step="use revolute or prismatic rows, or write the link with a `Joint` of its own",
            )


def dh_placement(a: float, alpha: float, d: float, theta: float) -> Array:
    """T_parent_i (4, 4) = Rx(α) Tx(a) Tz(d) Rz(θ), in closed form.   [dh.proximal]   Buschmann 2014, App. A.3.

    Args:
        a: [m].
        alpha: [rad].
        d: [m].
        theta: [rad].
    """
    ca, sa, ct, st = np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta)
    return np.array(
        [
            [ct, -st, 0.0, a],
            [st * ca, ct * ca, -sa, -sa * d],
            [st * sa, ct * sa, ca, ca * d],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def dh_links(rows: Sequence[DHRow], T_world_root: ArrayLike | None = None) -> list[Link]:
    """Links of a chain or tree given by Denavit–Hartenberg rows.

    Args:
        rows: The table; parents stand before their children.
        T_world_root: (4, 4) frame that rows on the world start from; identity if omitted.

    Raises:
        ModelError: A parent does not stand before its child.
    """
    root = np.eye(4) if T_world_root is None else np.asarray(T_world_root, dtype=float)
    links: list[Link] = []
    for i, row in enumerate(rows):
        parent = _parent(i, row)
        links.append(_link(i, row, None if parent < 0 else links[parent].name, root if parent < 0 else np.eye(4)))
    return links


def _parent(i: int, row: DHRow) -> int:
    parent = i - 1 if row.parent is None else row.parent
    if not -1 <= parent < i:
        raise ModelError(
            f"row {i} of the Denavit–Hartenberg table hangs on row {parent}",
            next_step="list parents before their children, and use −1 for the world",
        )
    return parent


def _link(i: int, row: DHRow, parent: str | None, before: Array) -> Link:
    """Rz and Tz along one axis commute, so q follows the placement at q = 0 for both kinds of joint."""
    joint = Joint(
        row.joint or f"joint{i + 1}",
        row.kind,
        before @ dh_placement(row.a, row.alpha, row.d, row.theta),
        lower=row.lower,
        upper=row.upper,
        velocity=row.velocity,
        effort=row.effort,
        armature=row.armature,
    )
    name = row.link or f"body{i + 1}"
    return Link(name, parent, joint, row.mass, row.com, row.inertia, row.collisions, row.visuals)
