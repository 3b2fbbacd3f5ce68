"""Constrained accelerations by Pinocchio's `constraintDynamics`: an independent check of all other methods.

Carpentier, Budhiraja & Mansard 2021: proximal iterations on the multipliers through the sparse factors of the mass
matrix. Pinocchio knows frame pairs that are tied in all directions, or in their positions. Away from the constraints
(J v ≠ 0), and with gains that lead back, its accelerations of frame pairs are other ones than ours, and those of
redundant pairs contradict each other, so that its iterations do not converge. It is asked for what is the same for
both: the robot at rest, where J a = 0, under forces that make up for velocities and for accelerations Δa with
J Δa + drift = 0. Its answer to tau - (h - g) - M Δa is a - Δa. Where constraints are nearly singular the factors that
it iterates with leave some of the forbidden motion; asked again for the forces M x of its answer x, it gives x without.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.dynamics.constraints import ConstraintPart, Constraints, Tie
from surefoot.dynamics.tree import crba
from surefoot.errors import NotSupportedError
from surefoot.kinematics.frames import relative_placement
from surefoot.robot import Robot

__all__ = ["by_pinocchio"]

_KINDS = {tuple(range(6)): pin.ContactType.CONTACT_6D, (0, 1, 2): pin.ContactType.CONTACT_3D}
_ACCURACY, _REGULARISATION, _ITERATIONS = 1e-15, 1e-9, 1000
_ROUNDS = 3
_SAME = 1e-8
_HELD = 1e-9  # share of the accelerations that J a = 0 is met by


def by_pinocchio(robot: Robot, constraints: Constraints, q: Array, v: Array, tau: Array, J: Array, met: Array) -> Array:
    """Accelerations (nv,), from any that meet the constraints, `met` (nv,), and forces that include those from outside.

    Refused where Pinocchio cannot express a constraint or the robot, or does not converge.
    """
    if (robot.tree.mimic_source >= 0).any():
        raise NotSupportedError(
            'Pinocchio\'s constraintDynamics does not support joints that copy others (mimic="reduce")',
            next_step='load with mimic="coupling"',
        )
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for part in constraints.parts:
        models.append(_model(robot, part))
    for model in models:
        datas.append(model.createData())
    data = robot.model.createData()
    forces = tau - pin.nonLinearEffects(robot.model, data, q, v) + pin.computeGeneralizedGravity(robot.model, data, q)
    M = crba(robot.tree, q)
    gravity = pin.computeGeneralizedGravity(robot.model, data, q)
    pin.initConstraintDynamics(robot.model, data, models, datas)
    settings = pin.ProximalSettings(_ACCURACY, _ACCURACY, _REGULARISATION, _ITERATIONS)
    found, acting = np.zeros(robot.nv), forces - M @ met
    for _ in range(_ROUNDS):
        found = pin.constraintDynamics(robot.model, data, q, np.zeros(robot.nv), acting, models, datas, settings).copy()
        acting = M @ found + gravity
    _refuse_open_loops(robot, constraints, q, J, list(zip(models, datas, strict=True)), data)
    if not np.abs(J @ found).max(initial=0.0) <= _HELD * float((np.abs(J) @ np.abs(found)).max(initial=0.0)) + _HELD:
        raise NotSupportedError(
            "Pinocchio's iteration does not converge for these constraints",
            evidence={"residual": float(np.abs(J @ found).max()), "iterations": settings.iter},
            next_step="use another method",
        )
    return np.asarray(met + found, dtype=float)


def _model(robot: Robot, part: ConstraintPart) -> Any:
    kind = _KINDS.get(part.held) if isinstance(part, Tie) else None
    if kind is None or not isinstance(part, Tie):
        raise NotSupportedError(
            f"Pinocchio cannot express constraint `{part.name}`: it ties all directions of frames, or their positions",
            next_step="use another method",
        )
    ends = [
        (frame.body + 1, pin.SE3(np.asarray(frame.R, dtype=float), np.asarray(frame.p, dtype=float)))
        for frame in (part.second, part.first)
    ]
    return pin.RigidConstraintModel(kind, robot.model, *ends[0], *ends[1], pin.LOCAL)


def _turn(robot: Robot, part: Tie, q: Array) -> Array:
    """From our rows, in the axes of the first frame, to Pinocchio's in those of the second."""
    R = relative_placement(robot.tree, part.first, part.second, q)[:3, :3]
    return np.asarray(np.kron(np.eye(len(part.held) // 3), R.T), dtype=float)


def _refuse_open_loops(
    robot: Robot, constraints: Constraints, q: Array, J: Array, theirs: list[tuple[Any, Any]], data: Any
) -> None:
    """Frame pairs that are apart: Pinocchio takes the difference of their own velocities."""
    start = 0
    for part, pair in zip(constraints.parts, theirs, strict=True):
        rows = slice(start, start + len(part.rows))
        start = rows.stop
        ours = _turn(robot, part, q) @ J[rows] if isinstance(part, Tie) else J[rows]
        gap = pin.getConstraintJacobian(robot.model, data, *pair) - ours
        if not np.abs(gap).max() <= _SAME * max(1.0, np.abs(ours).max()):
            raise NotSupportedError(
                f"Pinocchio defines constraint `{part.name}` differently where its frames are apart",
                next_step="close it first (`close`), or use another method",
            )
