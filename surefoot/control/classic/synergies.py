"""Whole-body synergies by command: primitives P1 to P3 and their combinations (Nenchev & Konno 2019, section 7.5).

Three inputs move a robot on fixed feet: the mixed quasivelocity V_M (velocity of the CoM, angular velocity of the
base), velocities of end links, and a wish for the joints. Each acts in what those before it leave (2.133):

    θ̇ = −J_cM⁺ C_cᵀ V_M + J̄_m⁺ Ṽ_m + (E − J⁺ J) θ̇_u
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.control.classic.body import StandingBody, prioritised, standing_body
from surefoot.control.static_balance import standing_contacts
from surefoot.errors import NotSupportedError, one_of
from surefoot.robot import Robot

__all__ = ["SYNERGIES", "Synergies", "SynergyCommand"]

SYNERGIES: Mapping[tuple[bool, bool, bool], str] = {
    (False, False, True): "P1",
    (False, True, False): "P2",
    (True, False, False): "P3",
    (False, True, True): "C1",
    (True, False, True): "C2",
    (True, True, False): "C3",
    (True, True, True): "C4",
}
"""Names by which of CoM and base, end links, and joints are commanded (tables 7.1 and 7.2)."""
_WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


@dataclass(frozen=True, eq=False)
class SynergyCommand:
    """What shall move; all the rest keeps still as far as it can.

    Args:
        com: (3,) velocity of the CoM [m/s].
        base: (3,) angular velocity of the base, in world axes [rad/s].
        ends: (3,) velocities of end links by name [m/s].
        joints: Rates by joint [rad/s] that self-motion shall approach.
    """

    com: ArrayLike = (0.0, 0.0, 0.0)
    base: ArrayLike = (0.0, 0.0, 0.0)
    ends: Mapping[str, ArrayLike] = field(default_factory=dict)
    joints: Mapping[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The synergy: "P1" to "P3", "C1" to "C4", or "rest"."""
        moved = bool(np.any(self.com) or np.any(self.base))
        return SYNERGIES.get((moved, any(map(np.any, self.ends.values())), any(self.joints.values())), "rest")


class Synergies:
    """Joint rates by command, for a robot on fixed feet.

    Args:
        robot: With a floating base.
        ends: End links whose positions are controlled, such as the hands.
        q0: (nq,) posture that tells which contacts stand; home if omitted.

    Raises:
        NotSupportedError: The base does not float, or no contact stands.
    """

    def __init__(self, robot: Robot, ends: Sequence[str] = (), q0: ArrayLike | None = None) -> None:
        q = np.array(robot.home if q0 is None else robot.checked_q(q0), dtype=float)
        self.contacts = standing_contacts(robot, q)
        if robot.base != "floating" or not self.contacts:
            raise NotSupportedError(f"synergies need a floating base and feet; `{robot.name}` lacks one of them")
        self.robot, self.ends = robot, {name: robot.frame_id(name) for name in ends}
        self._data = robot.model.createData()

    def rates(self, q: ArrayLike, command: SynergyCommand) -> Array:
        """(nv,) velocities in a posture.

        Args:
            q: (nq,) the posture.
            command: What shall move.

        Raises:
            UnknownNameError: The command names an end link that is not controlled.
        """
        for name in command.ends:
            if name not in self.ends:
                raise one_of("end link", name, self.ends)
        model, data = self.robot.model, self._data
        body = standing_body(self.robot, data, self.contacts, np.array(q, dtype=float), np.zeros(self.robot.nv))
        rows = [np.array(pin.getFrameJacobian(model, data, frame, _WORLD))[:3] for frame in self.ends.values()]
        to_velocity = _mixed(body)
        still = np.zeros(3)
        wish = np.zeros(self.robot.nv - 6)
        for joint, rate in command.joints.items():
            wish[int(self.robot.tree.v_index[self.robot.joint_index(joint)]) - 6] = rate
        moved = np.r_[np.asarray(command.com, dtype=float), np.asarray(command.base, dtype=float)]
        contacts = body.contacts @ to_velocity
        levels = [(contacts[:, 6:], -contacts[:, :6] @ moved)]
        if rows:
            hands = np.vstack(rows) @ to_velocity
            wanted = np.concatenate([np.asarray(command.ends.get(name, still), dtype=float) for name in self.ends])
            levels.append((hands[:, 6:], wanted - hands[:, :6] @ moved))
        levels.append((np.eye(len(wish)), wish))
        return np.asarray(to_velocity @ np.r_[moved, prioritised(levels)])


def _mixed(body: StandingBody) -> Array:
    """(nv, nv) from the velocity of the CoM, angular velocity of the base and joint rates to v."""
    out = np.eye(len(body.v))
    out[3:6, 3:6] = body.rotation.T
    com = body.com_jacobian @ out
    out[:3] = -body.rotation.T @ com
    out[:3, :3] = body.rotation.T
    return out
