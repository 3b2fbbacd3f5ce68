"""Limbs from tables: chains of hinges, their mirror images, soles, and the plan of a whole robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.robot.build import Mimic, Parts
from surefoot.robot.model import ContactSurface, Drive, Geometry, Joint, Link, Robot, placement
from surefoot.robot.zoo.solids import Solid, link_of

Point = tuple[float, float, float]
_AXES: dict[str, Point] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_MIRROR = np.diag([1.0, -1.0, 1.0])  # left ↔ right: reflection in the x–z plane


@dataclass(frozen=True)
class Plan:
    """Everything that `Robot.from_tree` needs.

    Args:
        name: Of the robot.
        links: Its links.
        base: "floating", "planar" or "fixed".
        parts: What belongs to it beside the links.
    """

    name: str
    links: tuple[Link, ...]
    base: str = "fixed"
    parts: Parts = field(default_factory=Parts)

    def robot(self, base: str = "auto", mimic: Mimic = "coupling") -> Robot:
        """The robot.

        Args:
            base: "auto" for its own base, or another, for a robot whose first link is free.
            mimic: What to do with couplings: "coupling", "reduce" or "free", as in `surefoot.load`.

        Raises:
            NotSupportedError: Another base is asked for and the robot has a joint on the world.
        """
        if base not in ("auto", self.base) and all(link.joint is not None for link in self.links):
            raise NotSupportedError(
                f"`{self.name}` hangs on the world by a joint of its own; its base stays {self.base}",
                next_step=f'omit base, or give "{self.base}"',
            )
        base = self.base if base == "auto" else base
        parts = self.parts if base == self.base else replace(self.parts, home_base=None)
        return Robot.from_tree(self.name, self.links, base, parts=parts, mimic=mimic)


class Segment(NamedTuple):
    """One hinge of a limb and the link that it moves.

    Args:
        joint: Name of the joint, without the side.
        axis: x (roll), y (pitch) or z (yaw) of the link.
        at: The joint in the frame of the link before, (3,) [m].
        degrees: Lower and upper limit, of the left limb where the sides differ [degree].
        torque: Limit [N m].
        link: Name of the link, without the side.
        solids: The parts of the link, in its own frame.
    """

    joint: str
    axis: Literal["x", "y", "z"]
    at: Point
    degrees: tuple[float, float]
    torque: float
    link: str
    solids: tuple[Solid, ...]


def hinge(
    name: str, axis: str, at: Point, degrees: tuple[float, float], torque: float, speed: float, armature: float = 0.0
) -> Joint:
    """A revolute joint about x, y or z, its frame parallel to that of the parent at q = 0.

    Args:
        name: Its name.
        axis: "x", "y" or "z".
        at: In the parent's frame, (3,) [m].
        degrees: Lower and upper limit [degree].
        torque: Limit [N m].
        speed: Limit [rad/s].
        armature: Inertia of the drive seen at the joint [kg m²].
    """
    lower, upper = np.deg2rad(degrees)
    return Joint(
        name, "revolute", placement(at), _AXES[axis], lower=float(lower), upper=float(upper), velocity=speed,
        effort=torque, armature=armature,
    )  # fmt: skip


def limb(prefix: str, parent: str, segments: Sequence[Segment], speed: float, armature: float = 0.0) -> list[Link]:
    """A chain of hinges.

    Args:
        prefix: Put before the names, e.g. "left_"; may be "".
        parent: The link that it hangs on.
        segments: From the parent outwards.
        speed: Limit of each joint [rad/s].
        armature: Inertia of each drive, seen at the joint [kg m²].
    """
    links: list[Link] = []
    for row in segments:
        joint = hinge(prefix + row.joint, row.axis, row.at, row.degrees, row.torque, speed, armature)
        links.append(link_of(prefix + row.link, parent, joint, row.solids))
        parent = links[-1].name
    return links


def mirrored(links: Sequence[Link]) -> list[Link]:
    """The right limb of a left one: its reflection in the x–z plane, with "left" in the names replaced by "right".

    A pitch joint keeps axis and limits. Every other hinge gets the reflected axis and limits of the other sign, so that
    roll and yaw angles of mirrored postures differ in sign only.

    Args:
        links: Of the left limb; their joints' parents may be links outside it.
    """
    return [_mirrored_link(link) for link in links]


def _right(name: str) -> str:
    return name.replace("left", "right")


def _reflected(T: Array) -> Array:
    """The placement of the mirror image: S R S and S p."""
    return placement(_MIRROR @ T[:3, 3], _MIRROR @ T[:3, :3] @ _MIRROR)


def _mirrored_link(link: Link) -> Link:
    return replace(
        link,
        name=_right(link.name),
        parent=None if link.parent is None else _right(link.parent),
        joint=None if link.joint is None else _mirrored_joint(link.joint),
        com=_MIRROR @ link.com,
        inertia=_MIRROR @ link.inertia @ _MIRROR,
        collisions=tuple(_mirrored_shape(item) for item in link.collisions),
        visuals=tuple(_mirrored_shape(item) for item in link.visuals),
    )


def _mirrored_joint(joint: Joint) -> Joint:
    """A turn q about a, seen in the mirror, is a turn −q about S a; about y that is a turn q about y."""
    out = replace(joint, name=_right(joint.name), placement=_reflected(joint.placement))
    axis = np.asarray(joint.axis)
    if joint.kind != "revolute" or np.array_equal(axis, _AXES["y"]):
        return out
    return replace(out, axis=_MIRROR @ axis, lower=-joint.upper, upper=-joint.lower)


def _mirrored_shape(item: Geometry) -> Geometry:
    return replace(item, name=_right(item.name), link=_right(item.link), placement=_reflected(item.placement))


def both_sides(positions: Mapping[str, float]) -> dict[str, float]:
    """A posture of both sides from that of the pitch joints of one; the names get "left_" and "right_".

    Args:
        positions: By joint name without the side [rad].
    """
    return {f"{side}_{name}": value for side in ("left", "right") for name, value in positions.items()}


def drives_of(links: Sequence[Link], passive: frozenset[str] = frozenset()) -> tuple[Drive, ...]:
    """A drive without gear on every joint, with the limits and the inertia of the joint.

    Args:
        links: The links, in the order of the commands.
        passive: Joints that have no drive.
    """
    joints = [link.joint for link in links if link.joint is not None and link.joint.kind != "fixed"]
    return tuple(
        Drive(
            joint.name,
            rotor_inertia=joint.armature,
            viscous_friction=joint.damping,
            torque_limit=joint.effort,
            speed_limit=joint.velocity,
        )
        for joint in joints
        if joint.name not in passive
    )


def flat_sole(
    link: str, x: tuple[float, float], y: tuple[float, float], z: float, friction: float = 0.7
) -> ContactSurface:
    """The rectangular sole of a foot; its frame lies below the origin of the link.

    Args:
        link: The foot, also the name of the contact.
        x: Rear and front edge in the link's frame [m].
        y: Right and left edge [m].
        z: Height of the sole in the link's frame [m].
        friction: Coulomb coefficient.
    """
    corners = np.array([[x[0], y[0], 0.0], [x[1], y[0], 0.0], [x[1], y[1], 0.0], [x[0], y[1], 0.0]])
    return ContactSurface(link, link, "rectangle", placement((0.0, 0.0, z)), corners, friction)
