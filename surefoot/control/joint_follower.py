"""`JointFollower`: what controllers share that move joints along a reference."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypedDict, Unpack

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.control.driven_joints import coupled_motion
from surefoot.control.joint_pd import JointPd
from surefoot.errors import ShapeError
from surefoot.motion import Command, State
from surefoot.robot import Robot

__all__ = ["JointFollower", "JointGains", "JointMotion", "Posture", "start_posture", "weightless"]

Posture = ArrayLike | Mapping[str, float]
"""(nq,), or positions of joints by name [rad] or [m]."""
_TOUCH = 1e-9  # beyond a limit by less than this is at the limit [rad] or [m]


class JointGains(TypedDict, total=False):
    """Gains of the springs and dampers; those of `JointPd` if omitted.

    Attributes:
        bandwidth: ω of the joints [rad/s].
        damping_ratio: ζ of the joints.
    """

    bandwidth: float
    damping_ratio: float


class JointMotion(NamedTuple):
    """Where the driven joints shall be at one time, each (nu,).

    Args:
        moved: From the start posture [rad] or [m].
        speed: [rad/s] or [m/s].
        acceleration: [rad/s²] or [m/s²].
    """

    moved: Array
    speed: Array
    acceleration: Array


class JointFollower(ABC):
    """Springs and dampers at the joints whose rest positions move, gravity carried by feedforward.

        tau = kp (q_ref(t) − q) + kd (v_ref(t) − v) + tau_static(q)        [control.joint-follower]

    Gains and static torques are those of `JointPd` in the start posture. Subclasses define how the joints move.

    Args:
        robot: The robot.
        q0: Start posture: (nq,), or positions of joints by name, the others as at home; home if omitted.
        gravity: False for a robot that nothing pulls and that stands on nothing.
        **gains: As in `JointGains`.
    """

    def __init__(self, robot: Robot, q0: Posture | None, gravity: bool, **gains: Unpack[JointGains]) -> None:
        self.robot = robot
        self.q0 = start_posture(robot, q0)
        pulled = robot if gravity else weightless(robot)
        self._hold = JointPd(pulled, self.q0, **gains)
        self._at_start = np.array(self._hold.command(0.0, State.of(robot, self.q0)).position)
        self._motions = coupled_motion(robot)[:, robot.driven]  # velocities of all joints for unit speeds of the drives

    @property
    def notes(self) -> tuple[str, ...]:
        """Drives that are too weak for the start posture."""
        return self._hold.notes

    @abstractmethod
    def motion(self, t: float) -> JointMotion:
        """How the driven joints shall move.

        Args:
            t: Time [s].
        """

    def reference(self, t: float) -> tuple[Array, Array, Array]:
        """The whole robot: q (nq,), v (nv,), a (nv,), its base as in the start posture, at rest.

        Args:
            t: Time [s].
        """
        return self._reference_of(self.motion(t))

    def command(self, t: float, state: State) -> Command:
        """The command in a state.

        Args:
            t: Time [s].
            state: The state.
        """
        return self._command_of(self.motion(t), t, state)

    def _reference_of(self, motion: JointMotion) -> tuple[Array, Array, Array]:
        step, v, a = (self._motions @ part for part in motion)
        return self._moved(step), v, a

    def _command_of(self, motion: JointMotion, t: float, state: State) -> Command:
        hold = self._hold.command(t, state)
        return replace(hold, position=self._at_start + motion.moved, velocity=motion.speed)

    def _moved(self, step: Array) -> Array:
        """The posture (nq,) after a tangent step (nv,) from the start."""
        return np.array(pin.integrate(self.robot.model, np.array(self.q0), step))

    def _require_inside_limits(self, ways: Sequence[Array], what: str) -> None:
        """Refuse joint displacements (nu,) of which one leaves the position limits."""
        tree, limits = self.robot.tree, self.robot.limits
        rows = [(int(tree.q_index[i]), tree.joint_names[i]) for i in range(tree.n) if tree.nq_of(i) == 1]
        for moved in ways:
            q = self._moved(self._motions @ moved)
            for row, joint in rows:
                low, high = limits.lower[row] - _TOUCH, limits.upper[row] + _TOUCH
                started_inside = low <= self.q0[row] <= high
                if started_inside and not low <= q[row] <= high:
                    raise ShapeError(
                        f"{what} takes joint `{joint}` outside its limits",
                        subject=joint,
                        kind="joint",
                        evidence={"position": float(q[row]), "limits": (float(low), float(high))},
                        next_step="ask for a smaller motion, or start elsewhere",
                    )


def start_posture(robot: Robot, given: Posture | None) -> Array:
    """(nq,) a posture; followers go with the joints that lead them.

    Args:
        robot: The robot.
        given: (nq,), or positions of joints by name, the others as at home; None for home.
    """
    if not isinstance(given, Mapping):
        return robot.checked_q(robot.home if given is None else given)
    q, wanted = np.array(robot.home), robot.q_of(given)
    for joint in given:
        i = robot.joint_index(joint)
        entries = slice(int(robot.tree.q_index[i]), int(robot.tree.q_index[i]) + robot.tree.nq_of(i))
        q[entries] = wanted[entries]
    step = coupled_motion(robot) @ pin.difference(robot.model, np.array(robot.home), q)
    return np.array(pin.integrate(robot.model, np.array(robot.home), step))


def weightless(robot: Robot) -> Robot:
    """The robot in empty space: no gravity, nothing to stand on.

    Args:
        robot: The robot.
    """
    model = robot.model.copy()
    model.gravity = pin.Motion.Zero()
    return robot.replace(model=model, tree=replace(robot.tree, gravity=np.zeros(3)), contacts={})
