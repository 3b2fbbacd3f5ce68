"""`Legs`: the limbs that a robot stands on, and how far each is from its singular posture."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import NotSupportedError
from surefoot.ik import ContactSystem
from surefoot.ik.analysis_limb import joints_between
from surefoot.robot import Robot

__all__ = ["Legs"]

Array = NDArray[np.float64]
_BALLS = ("point", "soft_finger")


class Legs:
    """The limbs that end in contact surfaces. Each has the joints that no other one needs.

    Args:
        robot: The robot.

    Raises:
        NotSupportedError: Nothing can stand, or the base does not float.
    """

    def __init__(self, robot: Robot) -> None:
        if not robot.contacts:
            raise NotSupportedError(
                f"`{robot.name}` has no contact surface to stand on", next_step="take a robot with feet"
            )
        self.contacts = {name: "ball" if c.kind in _BALLS else "weld" for name, c in robot.contacts.items()}
        """Kind of contact (`CONTACT_JOINTS`) by contact surface."""
        self._system = ContactSystem(robot, self.contacts)
        chains = {name: joints_between(robot, contact.frame) for name, contact in robot.contacts.items()}
        first = {a: chain for a, chain in chains.items() if not any(_goes_on(chain, b) for b in chains.values())}
        shared = Counter(joint for chain in first.values() for joint in chain)
        self.joints = {name: [i for i in chain if shared[i] == 1] for name, chain in first.items()}
        """Indices in the tree of the joints of each limb, by its contact surface."""
        self._columns = {
            name: [int(robot.tree.v_index[i]) - 6 + k for i in own for k in range(robot.tree.nv_of(i))]
            for name, own in self.joints.items()
        }

    def singular_values(self, q: Array) -> dict[str, Array]:
        """Smallest singular value (n,) of the Jacobian of each leg: zero where it is stretched.

        Args:
            q: (n, nq) postures.
        """
        owner = np.repeat(list(self.contacts), 6)[self._system.held]
        jacobians = [self._system.at(row).J_c for row in q]
        return {
            name: np.array([np.linalg.svd(J[owner == name][:, own], compute_uv=False)[-1] for J in jacobians])
            for name, own in self._columns.items()
        }


def _goes_on(chain: list[int], other: list[int]) -> bool:
    """Whether a chain begins with another, shorter one."""
    return len(chain) > len(other) and chain[: len(other)] == other
