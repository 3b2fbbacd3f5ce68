"""Constrained accelerations by Pinocchio's `constraintDynamics`: an independent check of all other methods.

Carpentier, Budhiraja & Mansard 2021: proximal iterations on the multipliers through the sparse factors of the mass
matrix. Pinocchio knows frame pairs that are tied in all directions, or in their positions. Away from the constraints
(J v ≠ 0), and with gains that lead back, its accelerations of frame pairs are other ones than ours. What it misses is
added, with the forces that this takes: its answer to tau - M Δa is a - Δa.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.dynamics.constraints import ConstraintPart, Constraints, Tie
from surefoot.dynamics.crba import mass_matrix
from surefoot.errors import NotSupportedError
from surefoot.kinematics import relative_placement
from surefoot.kinematics.frame import Frame
from surefoot.robot import Robot

__all__ = ["by_pinocchio"]

Array = NDArray[np.float64]
_KINDS = {tuple(range(6)): pin.ContactType.CONTACT_6D, (0, 1, 2): pin.ContactType.CONTACT_3D}
_ACCURACY, _REGULARISATION, _ITERATIONS = 1e-15, 1e-9, 1000
_SAME = 1e-8


@dataclass(frozen=True, eq=False)
class _Problem:
    """Pinocchio's names for a constrained state."""

    robot: Robot
    q: Array
    v: Array
    tau: Array
    models: Any
    datas: Any
    data: Any

    def solve(self, less: Array) -> Array:
        """Accelerations (nv,) beyond some of them (nv,) that are given."""
        model = self.robot.model
        tau = self.tau - mass_matrix(self.robot.tree, self.q) @ less
        pin.initConstraintDynamics(model, self.data, self.models, self.datas)
        settings = pin.ProximalSettings(_ACCURACY, _ACCURACY, _REGULARISATION, _ITERATIONS)
        return np.array(
            pin.constraintDynamics(model, self.data, self.q, self.v, tau, self.models, self.datas, settings)
        )


def by_pinocchio(
    robot: Robot, constraints: Constraints, q: Array, v: Array, tau: Array, J: Array, drift: Array
) -> Array:
    """Accelerations (nv,).

    Args:
        robot: The robot.
        constraints: What holds.
        q: (nq,) configuration.
        v: (nv,) velocity.
        tau: (nv,) joint forces, and what acts from outside, N m or N.
        J: (m, nv) of the constraints.
        drift: (m,) of the constraints.

    Raises:
        NotSupportedError: Pinocchio cannot express a constraint, or the robot.
    """
    if (robot.tree.mimic_source >= 0).any():
        raise NotSupportedError(
            'Pinocchio\'s constraintDynamics does not take joints that copy others (mimic="reduce")',
            next_step='load with mimic="coupling"',
        )
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for part in constraints.parts:
        models.append(_model(robot, part))
    for model in models:
        datas.append(model.createData())
    problem = _Problem(robot, q, v, tau, models, datas, robot.model.createData())
    first = problem.solve(np.zeros(robot.nv))
    turns = [_turn(robot, part, q) for part in constraints.parts if isinstance(part, Tie)]
    _refuse_open_loops(problem, constraints, turns, J)
    missing = np.asarray(-np.linalg.lstsq(J, J @ first + drift, rcond=1e-10)[0], dtype=float)
    return missing + problem.solve(missing)


def _model(robot: Robot, part: ConstraintPart) -> Any:
    kind = _KINDS.get(part.held) if isinstance(part, Tie) else None
    if kind is None or not isinstance(part, Tie):
        raise NotSupportedError(
            f"Pinocchio cannot express constraint `{part.name}`: it ties all directions of frames, or their positions",
            next_step="use another method",
        )
    ends = [(frame.body + 1, _placement(frame)) for frame in (part.second, part.first)]
    return pin.RigidConstraintModel(kind, robot.model, *ends[0], *ends[1], pin.LOCAL)


def _placement(frame: Frame) -> pin.SE3:
    return pin.SE3(np.asarray(frame.R, dtype=float), np.asarray(frame.p, dtype=float))


def _turn(robot: Robot, part: Tie, q: Array) -> Array:
    """From our rows, in the axes of the first frame, to Pinocchio's in those of the second."""
    R = relative_placement(robot.tree, part.first, part.second, q)[:3, :3]
    return np.asarray(np.kron(np.eye(len(part.held) // 3), R.T), dtype=float)


def _refuse_open_loops(problem: _Problem, constraints: Constraints, turns: list[Array], J: Array) -> None:
    """Frame pairs that are apart: Pinocchio takes the difference of their own velocities."""
    start = 0
    for part, turn, model, data in zip(constraints.parts, turns, problem.models, problem.datas, strict=True):
        theirs = pin.getConstraintJacobian(problem.robot.model, problem.data, model, data)
        ours = turn @ J[start : start + len(turn)]
        start += len(turn)
        if np.abs(theirs - ours).max() > _SAME * max(1.0, np.abs(ours).max()):
            raise NotSupportedError(
                f"Pinocchio means something else by constraint `{part.name}` where its frames are apart",
                next_step="close it first (`close`), or use another method",
            )
