"""How far the legs of a robot reach, and how high its centre of mass can be for a step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.robot import Anatomy, Foot, Robot

__all__ = ["LegReach", "leg_reach"]

_STRAIGHT = 0.97  # share of its full length to which a leg is used
_TRAILS = 0.6  # how far behind the hips the rear foot is at the end of a double support, share of the step
_LOWER = 0.98  # share of the home height that is used at most: straight legs cannot push


@dataclass(frozen=True)
class LegReach:
    """Geometry of the legs at home.

    Args:
        length: From the first joint of a leg to its ankle when the knee is straight [m].
        ankle: Height of the ankle over the sole [m].
        com_over_hip: Height of the centre of mass over the first joint of the legs [m].
        home: Height of the centre of mass over the soles [m].
    """

    length: float
    ankle: float
    com_over_hip: float
    home: float

    def com_height(self, step: float) -> float:
        """Height of the centre of mass over the ground at which the legs reach a step [m].

        Args:
            step: Its length [m].
        """
        reach, trails = _STRAIGHT * self.length, _TRAILS * step
        legs = np.sqrt(max(reach**2 - trails**2, 0.25 * reach**2))
        return float(min(_LOWER * self.home, self.com_over_hip + self.ankle + legs))


def leg_reach(robot: Robot, anatomy: Anatomy) -> LegReach:
    """The reach of the shortest leg.

    Args:
        robot: The robot.
        anatomy: Its feet.
    """
    home = np.array(robot.home)
    com = pin.centerOfMass(robot.model, robot.model.createData(), home)[2]
    legs = [_leg(robot, foot, home) for foot in anatomy.feet]
    length = min(leg[0] for leg in legs)
    ankle, hip, sole = (float(np.mean([leg[k] for leg in legs])) for k in (1, 2, 3))
    return LegReach(length, ankle - sole, float(com) - hip, float(com) - sole)


def _leg(robot: Robot, foot: Foot, q: Array) -> tuple[float, float, float, float]:
    """Largest distance from the first joint of a leg to the ankle; heights of ankle, first joint and sole."""
    tree = robot.tree
    ankle = robot.body_of(foot.link)
    path = [ankle, *tree.ancestors(ankle)]
    trunk = robot.base_joint if robot.base_joint is not None else -1
    leg = [body for body in path if body != trunk and body not in tree.ancestors(trunk)] if trunk >= 0 else path
    hip = leg[-1]
    data = robot.model.createData()

    def places(q: Array) -> tuple[Array, Array]:
        pin.forwardKinematics(robot.model, data, q)
        return data.oMi[hip + 1].translation.copy(), data.oMi[ankle + 1].translation.copy()

    at_hip, at_ankle = places(q)
    best = float(np.linalg.norm(at_ankle - at_hip))
    for body in leg[1:-1]:
        entry = int(tree.q_index[body])
        low, high = float(robot.limits.lower[entry]), float(robot.limits.upper[entry])
        for value in np.linspace(low, high, 41) if np.isfinite([low, high]).all() else ():
            moved = q.copy()
            moved[entry] = value
            best = max(best, float(np.linalg.norm(np.subtract(*places(moved)))))
    sole = (robot.placements(q)[foot.link] @ foot.placement)[2, 3]
    return best, float(at_ankle[2]), float(at_hip[2]), float(sole)
