"""`Configuration`: a robot in one posture, with placements, Jacobians and centre of mass computed once.

Each quantity is computed on first use and kept. For many configurations, or for speed, compile kernels instead
(`surefoot.compile`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array
from surefoot.kinematics.com import com, com_jacobian
from surefoot.kinematics.fk import body_placements
from surefoot.kinematics.frames import Frame, Reference, contact_frame, frame_of
from surefoot.kinematics.jacobian import frame_jacobian
from surefoot.kinematics.manifold import integrate
from surefoot.robot import Robot
from surefoot.spatial import se3


@dataclass(frozen=True, eq=False)
class Configuration:
    """A robot and one q. All arrays are read-only.

    Args:
        robot: The robot.
        q: (nq,) configuration, in Pinocchio's layout.

    Raises:
        ShapeError: q has the wrong shape, is not finite, or holds a quaternion that is not of unit length.
    """

    robot: Robot
    q: Array
    _jacobians: dict[tuple[str, str, Reference], Array] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", _frozen(np.array(self.robot.checked_q(self.q))))

    @cached_property
    def placements(self) -> Array:
        """T_world_body (n, 4, 4) of the bodies, in the order of `robot.tree`."""
        return _frozen(np.array([se3.make(R, p) for R, p in body_placements(self.robot.tree, self.q)]))

    @cached_property
    def com(self) -> Array:
        """Centre of mass in world (3,) [m]."""
        return _frozen(com(self.robot.tree, self.q))

    @cached_property
    def com_jacobian(self) -> Array:
        """J (3, nv) with J v the velocity of the centre of mass, in world."""
        return _frozen(com_jacobian(self.robot.tree, self.q))

    def placement(self, frame: str) -> Array:
        """T_world_frame (4, 4).

        Args:
            frame: A link, a joint or a named frame; or a contact surface, if nothing else has that name.

        Raises:
            UnknownNameError: The robot has no such frame.
        """
        return self._place(frame_of(self.robot, frame))

    def contact_placement(self, contact: str) -> Array:
        """T_world_contact (4, 4); z points out of the ground, into the robot.

        Args:
            contact: A contact surface.

        Raises:
            UnknownNameError: The robot has no such contact surface.
        """
        return self._place(contact_frame(self.robot, contact))

    def jacobian(self, frame: str, reference: Reference = "local_world_aligned") -> Array:
        """J (6, nv) with J v the twist of the frame, linear first.

        Args:
            frame: As in `placement`.
            reference: One of `kinematics.REFERENCES`.
        """
        return self._differentiate("frame", frame, reference)

    def contact_jacobian(self, contact: str, reference: Reference = "local_world_aligned") -> Array:
        """J (6, nv) with J v the twist of a contact frame, linear first.

        Args:
            contact: As in `contact_placement`.
            reference: One of `kinematics.REFERENCES`.
        """
        return self._differentiate("contact", contact, reference)

    def integrate(self, v: ArrayLike, dt: float) -> Configuration:
        """The configuration q ⊕ v dt, after `dt` [s] at a constant velocity.

        Args:
            v: (nv,) velocity.
            dt: Duration [s].
        """
        step = finite_array(v, (self.robot.nv,), "v") * float(finite_array(dt, (), "dt"))
        return Configuration(self.robot, integrate(self.robot.tree, self.q, step))

    def _place(self, frame: Frame) -> Array:
        local = se3.make(frame.R, frame.p)
        return _frozen(local if frame.body < 0 else self.placements[frame.body] @ local)

    def _differentiate(self, kind: str, name: str, reference: Reference) -> Array:
        key = (kind, name, reference)
        if key not in self._jacobians:
            frame = frame_of(self.robot, name) if kind == "frame" else contact_frame(self.robot, name)
            self._jacobians[key] = _frozen(frame_jacobian(self.robot.tree, frame, self.q, reference))
        return self._jacobians[key]


def _frozen(values: Array) -> Array:
    values.setflags(write=False)
    return values
