"""Limbs of any number of joints: from the place of the foot to the joint angles, by Newton steps in lanes.

A fixed number of steps from home makes the angles a smooth function of the foot's place, so that base pose and feet are
a chart of a stance here as well. The first steps take the foot a part of its way (1/4, 1/3, 1/2 of what is left), the
others are damped Newton steps of least norm (Wampler 1986); a limb with more joints than it needs stays near home.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from surefoot import ops
from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.robot import Robot

_SHARES = (0.25, 1.0 / 3.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)  # of the error that a step takes away
_DAMPING = (1e-3, 1e-3, 1e-3, 1e-4, 1e-5, 1e-7, 1e-9, 1e-11, 1e-12)
_REACHED = 1e-6  # error of a foot that is reached [m], [rad]


@dataclass(frozen=True, eq=False)
class IteratedLimb:
    """A limb that hangs on the base, with all joints between them that other limbs share at home.

    Args:
        contact: Name of its contact surface.
        rows: Places of its joints in q.
        bodies: Its bodies in the tree.
        placements: (k + 1, 4, 4) of every joint in the one before it, the first in the base; the last of the point that
            is held: the centre of a ball that touches, else the contact itself.
        axes: (k, 3) of the joints, in their own frames.
        sole: (3, 3) R_world_contact that a flat foot keeps; None for a point.
        home: (k,) joint angles at home [rad].
        lower: (k,) joint limits [rad].
        upper: (k,) joint limits [rad].
    """

    contact: str
    rows: tuple[int, ...]
    bodies: tuple[int, ...]
    placements: Array
    axes: Array
    sole: Array | None
    home: Array
    lower: Array
    upper: Array

    @classmethod
    def of(cls, robot: Robot, name: str, own: list[int]) -> IteratedLimb:
        """The limb of a contact.

        Args:
            robot: The robot.
            name: Of the contact surface.
            own: Its bodies, from the base on.

        Raises:
            NotSupportedError: It has too few joints, or others than revolute ones.
        """
        tree, surface, frames = robot.tree, robot.contacts[name], robot.placements(np.array(robot.home))
        turning = all(tree.kinds[i] == "revolute" and int(tree.mimic_source[i]) < 0 for i in own)
        needed = 3 if surface.kind == "point" else 6
        if not turning or len(own) < needed:
            raise NotSupportedError(
                f"contact `{name}` of `{robot.name}` has {len(own)} joints of its own; planning needs "
                f"{needed} revolute ones for a {surface.kind}",
                next_step="plan for a robot with other limbs, or drop the contact",
            )
        rows = tuple(int(tree.q_index[i]) for i in own)
        home = np.array([robot.home[row] for row in rows])
        base, last = frames[tree.body_names[int(robot.base_joint or 0)]], frames[tree.body_names[own[-1]]]
        back = np.eye(4)
        back[:3, :3] = pin.AngleAxis(-float(home[0]), np.array(tree.axes[own[0]])).toRotationMatrix()
        contact = frames[surface.frame] @ surface.placement
        centre = contact.copy()
        centre[:3, 3] += surface.radius * contact[:3, 2]
        first = np.linalg.inv(base) @ frames[tree.body_names[own[0]]] @ back
        placements = [first, *(np.array(tree.placements[i]) for i in own[1:]), np.linalg.inv(last) @ centre]
        sole = None if surface.kind == "point" else contact[:3, :3]
        lower, upper = (np.array([side[row] for row in rows]) for side in (robot.limits.lower, robot.limits.upper))
        axes = np.array([tree.axes[i] for i in own])
        return cls(name, rows, tuple(own), np.array(placements), axes, sole, home, lower, upper)

    @property
    def numbers(self) -> tuple[Array, ...]:
        """All that the steps depend on."""
        sole = np.zeros(0) if self.sole is None else self.sole
        return self.placements, self.axes, sole, self.home, self.lower, self.upper, np.array(self.rows)

    @property
    def span(self) -> float:
        """Length of the limb, stretched out [m]."""
        return float(np.linalg.norm(self.placements[1:, :3, 3], axis=1).sum())

    @property
    def stretch(self) -> float:
        """Distance of the foot from the first joint of its span at home, as a share of the span."""
        return float(np.linalg.norm(self.forward(self.home) - self.placements[0][:3, 3])) / self.span

    def forward(self, angles: Array) -> Array:
        """(3,) place of the foot in the base [m].

        Args:
            angles: (k,) [rad].
        """
        return np.asarray(self._chain(np.asarray(angles))[0])

    def _chain(self, angles: Any) -> tuple[Any, Any, list[Any], list[Any]]:
        """The held point (3,) and R_base_contact, and of every joint a point on its axis (3,) and the axis (3,)."""
        R, p = self.placements[0][:3, :3], self.placements[0][:3, 3]
        points, axes = [], []
        for k, axis in enumerate(self.axes):
            points.append(p)
            axes.append(R @ axis)
            K = np.cross(np.eye(3), axis)  # K x = axis × x; Rodrigues' formula
            R = R @ (np.eye(3) + ops.sin(angles[k]) * K + (1.0 - ops.cos(angles[k])) * (K @ K))
            p = p + R @ self.placements[k + 1][:3, 3]
            R = R @ self.placements[k + 1][:3, :3]
        return p, R, points, axes

    def angles(self, turn: Any, foot: Any) -> tuple[Any, Any]:
        """Joint angles (k,) that put the foot somewhere, and a number that is positive where they do.

        Args:
            turn: (3, 3) R_world_base; numbers or symbols.
            foot: (3,) place of the foot in the frame of the base [m].
        """
        wanted = None if self.sole is None else turn.T @ self.sole
        q = [self.home[k] + 0.0 * foot[0] for k in range(len(self.rows))]
        for share, damping in zip(_SHARES, _DAMPING, strict=True):
            error, J = self._error(q, foot, wanted)
            size = len(error)
            square = J @ J.T + damping * np.eye(size)
            step = J.T @ ops.solve_symmetric(square, share * error)
            q = [q[k] + step[k] for k in range(len(q))]
        error, _ = self._error(q, foot, wanted)
        return ops.stack(q), 1.0 - (error @ error) / _REACHED**2

    def _error(self, q: list[Any], foot: Any, wanted: Any) -> tuple[Any, Any]:
        """What is left of the way of the foot (3 or 6,) [m], [rad], and its Jacobian."""
        end, R, points, axes = self._chain(q)
        columns = [ops.cross(axis, end - point) for axis, point in zip(axes, points, strict=True)]
        if wanted is None:
            return foot - end, ops.stack(columns, axis=1)
        E = wanted @ R.T
        turn = 0.5 * ops.stack([E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]])
        rows = [ops.concatenate([column, axis]) for column, axis in zip(columns, axes, strict=True)]
        return ops.concatenate([foot - end, turn]), ops.stack(rows, axis=1)
