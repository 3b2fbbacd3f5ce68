"""One judge for all: what a returned configuration does, by Pinocchio's forward kinematics in this process."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.benchmarks.ik_problems import IkProblems
from surefoot.errors import ShapeError

__all__ = ["ANGLE", "POSITION", "IkVerdict", "judge"]

Array = NDArray[np.float64]
POSITION = 1e-3
"""Tolerance of positions of hand, feet and centre of mass [m]."""
ANGLE = 1e-3
"""Tolerance of orientations of hand and feet [rad]."""
_ROUNDING = 1e-6  # beyond a joint limit [rad] or [m]


@dataclass(frozen=True, eq=False)
class IkVerdict:
    """Errors of n answers.

    Args:
        position: (n,) largest distance of hand, feet and centre of mass from their targets [m].
        angle: (n,) largest angle of hand and feet from their targets [rad].
        excess: (n,) largest excess over a joint limit [rad] or [m]; negative inside.
    """

    position: Array
    angle: Array
    excess: Array

    @property
    def solved(self) -> NDArray[np.bool_]:
        """(n,) within 1 mm and 1 mrad, and inside the limits to 1e-6."""
        found: NDArray[np.bool_] = (
            (self.position <= POSITION) & (self.angle <= ANGLE) & (self.excess <= _ROUNDING)
        )  # false for NaN
        return found

    @property
    def rate(self) -> float:
        """Share that is solved."""
        return float(self.solved.mean())


def judge(problems: IkProblems, q: Array) -> IkVerdict:
    """Errors of one answer for each problem.

    Args:
        problems: n problems.
        q: (n, nq) answers; rows that are not finite are not solved.
    """
    robot = problems.robot
    if q.shape != (len(problems), robot.nq):
        raise ShapeError(f"answers have shape {q.shape}, {len(problems)} problems need (n, {robot.nq})")
    rows = [_errors(problems, k, x) if np.isfinite(x).all() else (np.nan,) * 3 for k, x in enumerate(q)]
    position, angle, excess = np.array(rows).T
    return IkVerdict(position, angle, excess)


def _errors(problems: IkProblems, k: int, q: Array) -> tuple[float, float, float]:
    robot, model = problems.robot, problems.robot.model
    data = model.createData()
    q = pin.normalize(model, q)
    pin.framesForwardKinematics(model, data, q)
    targets = {problems.case.hand: problems.hand[k]} | dict(problems.feet)
    gaps = [pin.SE3(T).actInv(data.oMf[robot.frame_id(name)]) for name, T in targets.items()]
    positions = [float(np.linalg.norm(gap.translation)) for gap in gaps]
    if problems.com is not None:
        positions.append(float(np.linalg.norm(pin.centerOfMass(model, data, q) - problems.com[k])))
    angles = [float(np.linalg.norm(pin.log3(gap.rotation))) for gap in gaps]
    excess = np.maximum(robot.limits.lower - q, q - robot.limits.upper).max()
    return max(positions), max(angles), float(excess)
