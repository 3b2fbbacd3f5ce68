"""Impacts: how touching down changes the velocities.

    M (v⁺ - v⁻) = Jᵀ Λ,    J (v⁺ + e v⁻) = 0        [dyn.impact]
    Koch, (2.24) and (6.13) (erratum: (2.24b) prints J (e v⁺ + v⁻) = 0); Nenchev & Konno 2019, section 4

J holds *all* constraints after the touch-down: the foot that lands, the feet on the ground, and the closed chains and
couplings of the robot. With P v⁻ the part of v⁻ that the rows take, orthogonal for the energy,

    v⁺ = v⁻ - (1 + e) P v⁻,    energy lost = (1 - e²) ½ (P v⁻)ᵀ M (P v⁻)

(for e = 0 the kinetic energy of the lost velocities: Carnot 1803). With one e for all rows energy never grows; with
several it can, and such an impact is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.dynamics.algebra import RowBasis, factor
from surefoot.dynamics.checked_arguments import checked_configuration, checked_numbers, checked_vector
from surefoot.dynamics.constraints import (
    Constraint,
    Constraints,
    constraints_of,
    energy_factor,
    impulses_of,
    measured_rows,
    shortest_step,
)
from surefoot.dynamics.methods import Held
from surefoot.dynamics.tree import crba
from surefoot.errors import ModelError, ShapeError, one_of
from surefoot.ops import Array as AnyArray
from surefoot.robot import Robot, Tree

Restitution = ArrayLike | Mapping[str, float]


def restitution_of_rows(constraints: Constraints, given: Restitution) -> Array:
    """Coefficients of restitution (m,), one per row, in 0…1.

    Args:
        constraints: The constraints after the impact.
        given: One number for all rows; (m,) numbers; or numbers by name of a constraint ("foot") or of a row
            ("foot.z"), where a row goes before its constraint and the others are 0.

    Raises:
        UnknownNameError: No constraint or row of that name.
        ShapeError: Neither one number nor as many as rows.
        ModelError: A coefficient outside 0…1.
    """
    rows = constraints.rows
    values = _by_name(constraints, given) if isinstance(given, Mapping) else given
    numbers = checked_numbers("restitution", values, "pass one number, one for each row, or numbers by name")
    if numbers.shape not in ((), (len(rows),)):
        raise ShapeError(f"restitution has shape {numbers.shape}, expected one number or ({len(rows)},)")
    out = np.array(np.broadcast_to(numbers, len(rows)), dtype=float)
    wrong = ~((out >= 0.0) & (out <= 1.0))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ModelError(
            f"restitution of `{rows[k]}` is {out[k]:g}", next_step="pass a number from 0 (plastic) to 1 (elastic)"
        )
    return out


def _by_name(constraints: Constraints, given: Mapping[str, float]) -> list[float]:
    known = {part.name for part in constraints.parts} | set(constraints.rows)
    for name in given:
        if name not in known:
            raise one_of("constraint or row", name, known)
    owners = [(part.name, row) for part in constraints.parts for row in part.rows]
    return [given.get(row, given.get(name, 0.0)) for name, row in owners]


_ROUNDING = 1e-9  # of the energy before the impact
_CONTRADICTION = 1e-6  # of the largest speed before the impact


@dataclass(frozen=True)
class Impact:
    """Velocities, impulses and energy of an impact.

    Args:
        v_after: (nv,) velocity after it.
        jump: (nv,) v⁺ - v⁻.
        impulses: (m,) Λ on the second frames in the axes of the first ones [N s] or [N m s]; the least of all where
            not unique.
        joint_impulse: (nv,) Jᵀ Λ, always unique.
        energy_lost: Kinetic energy before less that after [J], 0 or more.
        rank: Rank of J: the number of independent rows.
        redundant: Names of rows that depend on those before them.
        residual: Largest |J (v⁺ + e v⁻)| of the rows that hold [m/s] or [rad/s].
        rows: Names of the rows.
        released: Names of contacts that let go instead of pulling (`pushing_impact` only).
    """

    v_after: Array
    jump: Array
    impulses: Array
    joint_impulse: Array
    energy_lost: float
    rank: int
    redundant: tuple[str, ...]
    residual: float
    rows: tuple[str, ...]
    released: tuple[str, ...] = ()


class ImpactState(NamedTuple):
    """A robot at an impact: constraints, velocity before (nv,), C with M = C Cᵀ, J (m, nv), restitution (m,)."""

    constraints: Constraints
    v: Array
    C: Array
    J: Array
    restitution: Array


def impact(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    constraints: Sequence[Constraint] | Constraints,
    restitution: Restitution = 0.0,
) -> Impact:
    """The impact in which all constraints take hold at once; they may also pull (see `pushing_impact`).   [dyn.impact].

    Args:
        robot: The robot.
        q: (nq,) configuration.
        v: (nv,) velocity before.
        constraints: All constraints that hold afterwards: contacts that close, contacts that stay, loops and couplings.
        restitution: e in 0…1: one for all, one per row, or by names (`restitution_of_rows`).

    Raises:
        ModelError: Different restitutions would add energy, or rows that depend on each other disagree.
    """
    state = impact_state(robot, q, v, constraints, restitution)
    rows = measured_rows(state.C, state.J)
    change = -(1.0 + state.restitution) * (state.J @ state.v)
    _require_agreement(state, rows.disagreement(change))
    y = shortest_step(rows, change)
    return impact_of(state, rows, y, impulses_of(rows, y))


def impact_state(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    constraints: Sequence[Constraint] | Constraints,
    restitution: Restitution = 0.0,
) -> ImpactState:
    """The state from which an impact is computed; arguments as in `impact`."""
    found = constraints_of(robot, constraints)
    configuration, speed = checked_configuration(robot, q), checked_vector("v", v, robot.nv)
    C = energy_factor(np.asarray(crba(robot.tree, configuration), dtype=float))
    J = np.asarray(found.jacobian(robot.tree, configuration), dtype=float)
    return ImpactState(found, speed, C, J, restitution_of_rows(found, restitution))


def impact_of(state: ImpactState, rows: RowBasis, y: Array, impulses: Array, released: tuple[str, ...] = ()) -> Impact:
    """The result of a step y = Cᵀ (v⁺ - v⁻) (nv,) with impulses (m,); refused where energy would grow."""
    w = state.C.T @ state.v
    lost = -float(y @ (w + 0.5 * y))
    _require_no_gain(state, lost, 0.5 * float(w @ w))
    jump = np.asarray(np.linalg.solve(state.C.T, y), dtype=float)
    names, after = state.constraints.rows, state.v + jump
    holds = np.array([part.name not in released for part in state.constraints.parts for _ in part.rows], dtype=bool)
    gap = (state.J @ after + state.restitution * (state.J @ state.v))[holds]
    return Impact(
        after, jump, impulses, state.C @ y, max(lost, 0.0), rows.rank,
        tuple(names[k] for k in rows.redundant), float(np.abs(gap).max(initial=0.0)), names, released,
    )  # fmt: skip


def impact_jump(
    tree: Tree, constraints: Constraints, q: AnyArray, v: AnyArray, restitution: AnyArray | float = 0.0
) -> tuple[AnyArray, AnyArray]:
    """The jump v⁺ - v⁻ (nv,) and the impulses (m,) of `impact`, for kernels.   [dyn.impact].

    Rows that depend on those before them get no impulse. Energy is not looked at: keep to one restitution for all.

    Args:
        tree: The tree.
        constraints: All constraints that hold afterwards.
        q: (nq,) configuration.
        v: (nv,) velocity before.
        restitution: One number, or (m,).
    """
    J = constraints.jacobian(tree, q)
    held = Held.of(factor(tree, crba(tree, q)), J)
    return held.solve(np.zeros(len(tree.armature)), (1.0 + restitution) * (J @ v))


def _require_agreement(state: ImpactState, disagreement: Array) -> None:
    """Rows that depend on each other must ask for the same."""
    wrong = np.abs(disagreement)
    if not wrong.max(initial=0.0) <= _CONTRADICTION * np.abs(state.J @ state.v).max(initial=0.0):
        k = int(np.argmax(wrong))
        raise ModelError(
            f"the restitution of `{state.constraints.rows[k]}` contradicts those of rows that depend on it",
            evidence={"residual": float(wrong[k]), "restitution": float(state.restitution[k])},
            next_step="use one restitution for rows that depend on each other, or for all",
        )


def _require_no_gain(state: ImpactState, lost: float, before: float) -> None:
    if lost < -_ROUNDING * before:
        raise ModelError(
            f"different restitutions would add {-lost:.3g} J to the kinetic energy of {before:.3g} J",
            evidence={"restitution": dict(zip(state.constraints.rows, state.restitution.tolist(), strict=True))},
            next_step="use one restitution for all rows, or smaller ones",
        )
