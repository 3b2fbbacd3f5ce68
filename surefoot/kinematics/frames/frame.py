"""Frames fixed on bodies, and the axes and points to which their motion is referred."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import ShapeError, one_of
from surefoot.kinematics.recursion import snapped
from surefoot.robot import Robot

Reference = Literal["local", "world", "local_world_aligned"]
REFERENCES: tuple[str, ...] = get_args(Reference)
"""Of a twist: "local": at the frame's origin, in its axes. "local_world_aligned": at the frame's origin, in the world's
axes. "world": of the body point that passes the world's origin, in the world's axes."""


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame fixed on a body.

    Args:
        body: Index in the tree of the body that carries it; −1 for the world.
        R: (3, 3) R_body_frame.
        p: (3,) origin in the body [m].
    """

    body: int
    R: Array = field(default_factory=lambda: np.eye(3))
    p: Array = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self) -> None:
        for name, shape in (("R", (3, 3)), ("p", (3,))):
            value = np.array(getattr(self, name), dtype=float)
            if value.shape != shape or not np.isfinite(value).all():
                raise ShapeError(f"{name} of a frame must be {shape} and finite", evidence={name: value.tolist()})
            value = snapped(value) if name == "R" else value
            value.setflags(write=False)
            object.__setattr__(self, name, value)


WORLD = Frame(-1)
"""The world's own frame."""


def frame_of(robot: Robot, name: str) -> Frame:
    """The frame of that name: a link, a joint, an added frame, or else a contact surface.

    A link goes before a joint, and both before a contact surface of the same name (`contact_frame` gives that one).

    Raises:
        UnknownNameError: The robot has none of that name.
    """
    if robot.model.existFrame(name):
        return _on_body(robot, name, np.eye(4))
    if name in robot.contacts:
        return contact_frame(robot, name)
    raise one_of("frame", name, {*robot.frame_names, *robot.contacts})


def contact_frame(robot: Robot, name: str) -> Frame:
    """The frame of a contact surface; z points out of the ground, into the robot.

    Raises:
        UnknownNameError: The robot has none of that name.
    """
    if name not in robot.contacts:
        raise one_of("contact surface", name, robot.contacts)
    contact = robot.contacts[name]
    return _on_body(robot, contact.frame, contact.placement)


def _on_body(robot: Robot, link: str, T_link_frame: Array) -> Frame:
    """A frame fixed on a link, as a frame of the body that carries the link."""
    T = robot.model.frames[robot.frame_id(link)].placement.homogeneous @ T_link_frame
    return Frame(robot.body_of(link), T[:3, :3], T[:3, 3])


def require_reference(reference: str) -> None:
    """Refuse an unknown reference."""
    if reference not in REFERENCES:
        raise one_of("reference", reference, REFERENCES)
