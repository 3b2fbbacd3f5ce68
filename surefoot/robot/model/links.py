"""Links, each with the joint that moves it: the description of a robot before it becomes a model.

Readers and builders (MJCF, Denavit–Hartenberg, the zoo, `Robot.from_tree`) speak this language.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ModelError, ShapeError
from surefoot.geometry import Shape

_LARGE = 1e100  # entries of a direction

JointKind = Literal[
    "fixed", "revolute", "continuous", "prismatic", "helical", "spherical", "planar", "free", "universal", "translation"
]
JOINT_KINDS: tuple[str, ...] = get_args(JointKind)


def placement(position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None) -> Array:
    """T (4, 4) from a position [m] and a rotation matrix (identity if omitted)."""
    out = np.eye(4)
    out[:3, 3] = position
    if rotation is not None:
        out[:3, :3] = rotation
    return out


def _frozen(value: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    """A read-only finite copy of that shape."""
    out = np.array(value, dtype=float)
    if out.shape != shape:
        raise ShapeError(f"{what} has shape {out.shape}, expected {shape}", evidence={"value": value})
    if not np.isfinite(out).all():
        raise ShapeError(f"{what} is not finite", evidence={"value": value})
    out.setflags(write=False)
    return out


def _require_rigid(T: Array, what: str) -> None:
    """Refuse a matrix that is not a rigid displacement."""
    R = T[:3, :3]
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0.0 or np.abs(T[3] - [0, 0, 0, 1]).max() > 1e-9:
        raise ModelError(f"{what} is not a rigid displacement", evidence={"matrix": T.tolist()})


@dataclass(frozen=True, eq=False)
class Geometry:
    """A shape fixed to a link.

    Args:
        name: Unique among the shapes of the robot.
        link: The link that carries it.
        shape: The shape.
        placement: T_link_shape, (4, 4).
        friction: Coulomb coefficient, or None where the description gives none.
        color: RGBA in 0…1, or None.
    """

    name: str
    link: str
    shape: Shape
    placement: Array = field(default_factory=placement)
    friction: float | None = None
    color: tuple[float, float, float, float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "placement", _frozen(self.placement, (4, 4), f"placement of shape {self.name}"))
        _require_rigid(self.placement, f"placement of shape `{self.name}`")


@dataclass(frozen=True, eq=False)
class NamedFrame:
    """A frame fixed to a link: `placement` is T_link_frame, (4, 4)."""

    name: str
    link: str
    placement: Array = field(default_factory=placement)


@dataclass(frozen=True, eq=False)
class Joint:
    """How a link moves against its parent.

    Args:
        name: Unique among the joints.
        kind: One of `JOINT_KINDS`. A universal joint turns about `axis`, then about `second_axis`.
        placement: T_parent_joint at q = 0, (4, 4); the link's frame is the joint's frame after its motion.
        axis: Unit vector in the joint frame (revolute, continuous, prismatic, helical, universal).
        second_axis: Second axis of a universal joint, in the frame that the first axis has turned.
        pitch: Of a helical joint [m/rad].
        lower: Position limit [rad] or [m].
        upper: Position limit [rad] or [m].
        velocity: Speed limit [rad/s] or [m/s].
        effort: Torque or force limit [N m] or [N].
        damping: Viscous friction [N m s/rad] or [N s/m].
        friction: Dry friction [N m] or [N].
        armature: Inertia of the drive seen at the joint [kg m²] or [kg].
    """

    name: str
    kind: JointKind
    placement: Array = field(default_factory=placement)
    axis: Array | tuple[float, float, float] = (0.0, 0.0, 1.0)
    second_axis: Array | tuple[float, float, float] = (0.0, 1.0, 0.0)
    pitch: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in JOINT_KINDS:
            raise ModelError(f"joint `{self.name}` has unknown kind `{self.kind}`", evidence={"kinds": JOINT_KINDS})
        object.__setattr__(self, "placement", _frozen(self.placement, (4, 4), f"placement of joint {self.name}"))
        _require_rigid(self.placement, f"placement of joint `{self.name}`")
        self._require_limits()
        object.__setattr__(self, "axis", self._unit(self.axis, "axis"))
        object.__setattr__(self, "second_axis", self._unit(self.second_axis, "second axis"))
        if self.kind == "universal" and np.linalg.norm(np.cross(self.axis, self.second_axis)) < 1e-6:
            raise ModelError(f"the two axes of universal joint `{self.name}` are parallel")

    def _require_limits(self) -> None:
        """Refuse limits in the wrong order and values that are not numbers."""
        numbers = (self.lower, self.upper, self.velocity, self.effort, self.damping, self.friction, self.armature)
        if np.isnan(numbers).any() or self.lower > self.upper or min(numbers[2:]) < 0.0 or not np.isfinite(self.pitch):
            names = ("lower", "upper", "velocity", "effort", "damping", "friction", "armature")
            raise ModelError(
                f"numbers of joint `{self.name}` contradict each other or are not numbers",
                evidence={**dict(zip(names, numbers, strict=True)), "pitch": self.pitch},
            )

    def _unit(self, axis: ArrayLike, what: str) -> Array:
        vector = _frozen(axis, (3,), f"{what} of joint {self.name}")
        if np.abs(vector).max() > _LARGE:
            vector = vector / np.abs(vector).max()  # its square would overflow
        length = float(np.linalg.norm(vector))
        if length < 1e-9:
            raise ModelError(f"{what} of joint `{self.name}` has no direction", evidence={what: vector})
        unit = vector / length if abs(length - 1.0) > 1e-15 else vector.copy()
        unit.setflags(write=False)
        return unit


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid body and the joint that moves it.

    Args:
        name: Unique among the links.
        parent: The link that it hangs on; None for the world.
        joint: The joint between them; None for the first link, whose joint is the robot's base.
        mass: [kg].
        com: Centre of mass in the link's frame, (3,) [m].
        inertia: About the centre of mass, in the link's axes, (3, 3) [kg m²].
        collisions: Collision shapes.
        visuals: Shapes to look at.
    """

    name: str
    parent: str | None = None
    joint: Joint | None = None
    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    collisions: tuple[Geometry, ...] = ()
    visuals: tuple[Geometry, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "com", _frozen(self.com, (3,), f"centre of mass of link {self.name}"))
        object.__setattr__(self, "inertia", _frozen(self.inertia, (3, 3), f"inertia of link {self.name}"))
        if np.abs(self.inertia - self.inertia.T).max() > 1e-9 * max(1.0, float(np.abs(self.inertia).max())):
            raise ModelError(f"inertia of link `{self.name}` is not symmetric", evidence={"inertia": self.inertia})
        if not self.name:
            raise ModelError("a link has no name")
        if not (np.isfinite(self.mass) and self.mass >= 0.0):
            raise ModelError(f"mass of link `{self.name}` is {self.mass}", next_step="give it in kg, 0 or more")
