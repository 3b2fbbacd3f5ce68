"""Forward dynamics of constrained robots: one interface to all methods.

    M a = tau - h + Jᵀ λ,    J a + J̇ v + 2 α J v + β² r = 0        [dyn.constrained]

| method | what it solves | source |
|---|---|---|
| lagrange | accelerations and multipliers at once | Buschmann 2014, (3.58) |
| gauss | weighted least squares | Gauss 1829 |
| elimination | dependent accelerations are put in | Wehage & Haug 1982 |
| maggi_svd, maggi_qr | motions in an orthonormal basis of N(J) | Maggi 1896 |
| aghili | projected equations | Aghili 2005 |
| range_space | multipliers first | Khatib 1987 |
| udwadia_kalaba | pseudoinverse of J M^(-1/2) | Udwadia & Kalaba 1992 |
| recursive | m + 2 runs of the O(n) recursion | Gattringer 2006 |
| iterative | multipliers iteratively, O(n) runs | Förg 2007 |
| minimal | minimal coordinates, O(n) with subsystems | Buschmann 2014, Alg. 5–8 |
| pinocchio | Pinocchio's proximal solver | Carpentier et al. 2021 |

Constrained accelerations by Pinocchio's `constraintDynamics`: an independent check of all other methods.

Carpentier, Budhiraja & Mansard 2021: proximal iterations on the multipliers through the sparse factors of the mass
matrix. Pinocchio knows frame pairs that are tied in all directions, or in their positions. Away from the constraints
(J v ≠ 0), and with gains that lead back, its accelerations of frame pairs are other ones than ours, and those of
redundant pairs contradict each other, so that its iterations do not converge. It is asked for what is the same for
both: the robot at rest, where J a = 0, under forces that make up for velocities and for accelerations Δa with
J Δa + drift = 0. Its answer to tau - (h - g) - M Δa is a - Δa. Where constraints are nearly singular the factors that
it iterates with leave some of the forbidden motion; asked again for the forces M x of its answer x, it gives x without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.dynamics.algebra import RowBasis, row_basis
from surefoot.dynamics.checked_arguments import checked_choice, checked_configuration, checked_vector, checked_wrenches
from surefoot.dynamics.constraints import (
    Baumgarte,
    ConstrainedEquations,
    ConstrainedMotion,
    Constraint,
    ConstraintPart,
    Constraints,
    Tie,
    checked_gains,
    drift_of,
    held_constraints,
    refuse_contradictions,
    require_inertia,
)
from surefoot.dynamics.loops import minimal_acceleration
from surefoot.dynamics.methods.elimination import ELIMINATIONS, METHODS
from surefoot.dynamics.methods.recursion import HeldState, by_iteration, by_recursion
from surefoot.dynamics.tree import crba, rnea
from surefoot.errors import NotSupportedError
from surefoot.kinematics.frames import relative_placement
from surefoot.robot import Robot


def constrained_acceleration(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    constraints: Sequence[Constraint] | Constraints | None = None,
    method: str = "auto",
    external: ArrayLike | None = None,
    baumgarte: Baumgarte = Baumgarte(),  # noqa: B008 - frozen
) -> ConstrainedMotion:
    """Accelerations and constraint forces of a constrained robot.   [dyn.constrained].

    Redundant rows are found and named, and change nothing. In a state off its constraints (J v ≠ 0 or r ≠ 0) they may
    disagree; all methods then come as near to J a + drift = 0 as can be, and `residual` reports how near.

    Args:
        robot: The robot.
        q: (nq,) configuration.
        v: (nv,) velocity.
        tau: (nv,) joint forces, N m or N.
        constraints: Active loops, couplings and contacts; the robot's own loops and couplings if None.
        method: One of `METHODS`; "auto" takes "lagrange", which needs inertia only along motions that are left.
        external: (n, 6) wrench on every body, about its origin, in its axes; none if omitted.
        baumgarte: Gains that pull the state back onto the constraints.

    Raises:
        ShapeError: An argument has a wrong shape or is not finite.
        ModelError: Constraints contradict each other also where the state meets them, or motions have no inertia.
        NotSupportedError: The method cannot express the constraints.
        UnknownNameError: There is no such method, frame or joint.
    """
    checked_choice("method", method, METHODS)
    held = held_constraints(robot, constraints)
    vectors = checked_vector("v", v, robot.nv), checked_vector("tau", tau, robot.nv)
    acting = checked_wrenches(robot.tree, external), checked_gains(baumgarte)
    problem = _Problem(robot, held, checked_configuration(robot, q), *vectors, *acting)
    require_inertia(robot.tree, problem.equations.M, problem.basis, everywhere=method in _WHOLE_INERTIA)
    a, multipliers = _SOLVERS[method](problem)
    refuse_contradictions(robot, held, (problem.q, problem.v), problem.J, problem.drift, problem.baumgarte)
    return ConstrainedMotion(
        a=a,
        constraint_force=problem.J.T @ multipliers,
        multipliers=multipliers,
        rank=problem.basis.rank,
        redundant=tuple(held.rows[k] for k in problem.basis.redundant),
        residual=float(np.abs(problem.J @ a + problem.drift).max(initial=0.0)),
        rows=held.rows,
    )


@dataclass(frozen=True, eq=False)
class _Problem:
    """A state, the forces that act, and the constraints."""

    robot: Robot
    held: Constraints
    q: Array
    v: Array
    tau: Array
    external: Array | None
    baumgarte: Baumgarte

    @cached_property
    def J(self) -> Array:
        """(m, nv)."""
        return np.asarray(self.held.jacobian(self.robot.tree, self.q), dtype=float)

    @cached_property
    def drift(self) -> Array:
        """(m,)."""
        tree = self.robot.tree
        return np.asarray(drift_of(tree, self.held, self.J, self.q, self.v, self.baumgarte), dtype=float)

    @cached_property
    def basis(self) -> RowBasis:
        """Basis of the rows of J."""
        return row_basis(self.J)

    @cached_property
    def equations(self) -> ConstrainedEquations:
        """The equations with the mass matrix."""
        tree = self.robot.tree
        h = rnea(tree, self.q, self.v, np.zeros_like(self.v), self.external)
        return ConstrainedEquations(crba(tree, self.q), self.tau - h, self.J, self.drift)

    @cached_property
    def pushes(self) -> Array:
        """(nv,) what acts from outside, as joint forces."""
        if self.external is None:
            return np.zeros_like(self.v)
        state = self.robot.tree, self.q, np.zeros_like(self.v), np.zeros_like(self.v)
        return rnea(*state) - rnea(*state, self.external)

    def multipliers(self, a: Array) -> Array:
        """The least λ (m,) that accelerations (nv,) need."""
        missing = self.equations.M @ a - self.equations.force
        return self.basis.multipliers(self.basis.Q @ missing)


def _by_elimination(name: str) -> Callable[[_Problem], tuple[Array, Array]]:
    return lambda problem: ELIMINATIONS[name](problem.equations)


def _held_state(problem: _Problem) -> HeldState:
    state = problem.robot.tree, problem.q, problem.v, problem.tau, problem.external
    return HeldState(*state, problem.basis, problem.drift)


def _by_pinocchio(problem: _Problem) -> tuple[Array, Array]:
    forces = problem.tau + problem.pushes
    met = -problem.basis.along(problem.drift) @ problem.basis.Q
    a = by_pinocchio(problem.robot, problem.held, problem.q, problem.v, forces, problem.J, met)
    return a, problem.multipliers(a)


def _by_minimal_coordinates(problem: _Problem) -> tuple[Array, Array]:
    p = problem
    a = minimal_acceleration(p.robot, p.held, p.q, p.v, p.tau, p.external, p.baumgarte)
    return a, problem.multipliers(a)


_WHOLE_INERTIA = ("gauss", "aghili", "range_space", "udwadia_kalaba", "recursive", "iterative", "pinocchio")
_SOLVERS: dict[str, Callable[[_Problem], tuple[Array, Array]]] = {
    **{name: _by_elimination(name) for name in ELIMINATIONS},
    "recursive": lambda problem: by_recursion(_held_state(problem)),
    "iterative": lambda problem: by_iteration(_held_state(problem)),
    "minimal": _by_minimal_coordinates,
    "pinocchio": _by_pinocchio,
    "auto": _by_elimination("lagrange"),
}


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
