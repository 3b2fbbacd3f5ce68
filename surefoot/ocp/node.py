"""`Node`: the robot at one instant of an optimal-control problem, as costs and constraints see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from surefoot import dynamics, kinematics, ops
from surefoot.errors import one_of
from surefoot.kinematics import Reference, contact_frame, frame_of, frame_placement, frame_velocity
from surefoot.ocp.chart import Chart
from surefoot.ops import Array
from surefoot.robot import Robot, Tree


class AbsentError(Exception):
    """A quantity does not exist at this kind of node: there are no controls at the end of a motion."""


class Named(dict[str, Any]):
    """Values by name; a name that does not exist is refused with those that do.

    Args:
        kind: What a name denotes.
        values: Pairs of names and values.
    """

    def __init__(self, kind: str, values: Any) -> None:
        super().__init__(values)
        self.kind = kind

    def __missing__(self, name: str) -> Any:
        raise one_of(self.kind, name, self)


@dataclass(frozen=True, eq=False)
class Node:
    """Quantities at one instant, for numbers and for symbols; what is not asked for is not computed.

    Args:
        robot: The robot.
        chart: Its coordinates.
        y: (nv,) coordinates; base position and yaw, pitch, roll first.
        rates: (nv,) their rates `dy`; None at the end of a motion with centroidal dynamics.
        accelerations: (nv,) their second rates `ddy`; None at the end of a motion and in impacts.
        forces: (nu,) forces `tau` of the drives [N m] or [N]; None where there is no acceleration.
        contact_wrenches: Contact → (6,) `wrenches` on the robot in the contact frame, linear first [N], [N m].
        step: Length of the interval that begins here [s].
        duration: Of the phase [s].
        parameters: Free parameters by name.
        control_rate: (nw,) rate of the control where it is integrated ("plci"), or its slope ("plc"); else None.
        own_momentum: (6,) `momentum` where it is a state (centroidal dynamics); else None.
        own_tree: The `tree` where parameters change it; else None.
        own_forces: Function of the node: further `passive` forces (nv,); else None.
    """

    robot: Robot
    chart: Chart
    y: Array
    rates: Array | None
    accelerations: Array | None = None
    forces: Array | None = None
    contact_wrenches: Mapping[str, Array] | None = None
    step: Any = 0.0
    duration: Any = 0.0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    control_rate: Array | None = None
    own_momentum: Array | None = None
    own_tree: Tree | None = None
    own_forces: Callable[[Node], Array] | None = None

    @property
    def dy(self) -> Array:
        """Rates (nv,) of the coordinates."""
        return _present(self.rates)

    @property
    def ddy(self) -> Array:
        """Second rates (nv,) of the coordinates."""
        return _present(self.accelerations)

    @property
    def tau(self) -> Array:
        """Forces (nu,) of the drives [N m] or [N]."""
        return _present(self.forces)

    @property
    def wrenches(self) -> Mapping[str, Array]:
        """Wrench (6,) of every contact that holds, on the robot, in its own frame, linear first [N], [N m]."""
        return _present(self.contact_wrenches)

    @property
    def tree(self) -> Tree:
        """Masses, lengths and placements of the robot, with the parameters of the problem in them."""
        return self.robot.tree if self.own_tree is None else self.own_tree

    @cached_property
    def mass(self) -> Any:
        """Of the whole robot [kg]."""
        return self.robot.mass if self.own_tree is None else kinematics.total_mass(self.own_tree)

    @cached_property
    def passive(self) -> Array:
        """Forces (nv,) of dampers and springs, and those that the problem adds."""
        found = passive_forces(self.robot, self.q, self.v)
        return found if self.own_forces is None else found + self.own_forces(self)

    @cached_property
    def q(self) -> Array:
        """Configuration (nq,)."""
        return self.chart.configuration(self.y)

    @cached_property
    def _motion(self) -> tuple[Array, Array]:
        return self.chart.motion(self.y, self.dy, self.accelerations)

    @property
    def v(self) -> Array:
        """Velocity (nv,)."""
        return self._motion[0]

    @property
    def a(self) -> Array:
        """Acceleration (nv,)."""
        _present(self.accelerations)
        return self._motion[1]

    @cached_property
    def com(self) -> Array:
        """Centre of mass (3,) in world [m]."""
        return kinematics.com(self.tree, self.q)

    @cached_property
    def com_velocity(self) -> Array:
        """Velocity of the centre of mass (3,) in world [m/s]."""
        if self.own_momentum is not None:
            return self.own_momentum[:3] * (1.0 / self.mass)
        return kinematics.com_velocity(self.tree, self.q, self.v)

    @cached_property
    def momentum(self) -> Array:
        """Momentum about the centre of mass (6,), linear first, in world axes."""
        if self.own_momentum is not None:
            return self.own_momentum
        return dynamics.centroidal_momentum(self.tree, self.q, self.v)

    def placement(self, frame: str) -> Array:
        """T_world_frame (4, 4) of a link, joint, frame or contact."""
        return frame_placement(self.tree, _frame(self.robot, frame), self.q)

    def velocity(self, frame: str, reference: Reference = "local") -> Array:
        """Twist (6,) of a frame, linear first, in its own axes or in those of the world ("local_world_aligned")."""
        return frame_velocity(self.tree, _frame(self.robot, frame), self.q, self.v, reference)

    @cached_property
    def joints(self) -> Array:
        """Coordinates (nu,) of the driven joints."""
        return self.y[self.robot.driven]

    @cached_property
    def joint_rates(self) -> Array:
        """Rates (nu,) of the driven joints."""
        return self.dy[self.robot.driven]


def _present(value: Any) -> Any:
    if value is None:
        raise AbsentError
    return value


def _frame(robot: Robot, name: str) -> Any:
    return contact_frame(robot, name) if name in robot.contacts else frame_of(robot, name)


def external_wrenches(robot: Robot, wrenches: Mapping[str, Array]) -> Array:
    """Wrench (n, 6) on every body, about its origin and in its axes, of wrenches in contact frames."""
    total = ops.zeros((robot.tree.n, 6), like=list(wrenches.values()))
    for name, wrench in wrenches.items():
        frame = contact_frame(robot, name)
        R, p = np.asarray(frame.R), np.asarray(frame.p)
        force = R @ wrench[:3]
        moment = R @ wrench[3:] + ops.cross(p, force)
        total[frame.body] = total[frame.body] + ops.concatenate([force, moment])
    return total


def passive_forces(robot: Robot, q: Array, v: Array) -> Array:
    """Forces (nv,) of dampers and springs; also for symbols."""
    found = -np.asarray(robot.model.damping) * v
    return found + robot.spring_forces.torque(q, v) if robot.springs else found
