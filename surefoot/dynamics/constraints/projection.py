"""States moved onto their constraints: positions that close all loops, velocities that keep them closed.

    q ← q ⊕ u,  least uᵀ W u with J u = -r;    v ← v + u,  least uᵀ W u with J (v + u) = 0        [dyn.projection]
    Hairer & Wanner 1996, section VII.2; named in Buschmann 2014, section 3.4.1

W is the mass matrix (the least motion in the metric of the kinetic energy, so that velocities only lose energy) or the
identity. Positions are found by damped steps of that kind (Levenberg 1944; Marquardt 1963).

Rows that depend on others always disagree a little off the constraints, by products of what the state violates; methods
then meet what they agree on, in least squares. Rows that disagree also where the velocity keeps the constraints and the
position can be closed contradict each other.   [dyn.contradiction]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.dynamics.algebra import contradictions
from surefoot.dynamics.checked_arguments import checked_configuration, checked_names, checked_vector
from surefoot.dynamics.constraints.constraints import (
    Constraint,
    Constraints,
    Tie,
    held_constraints,
    own_constraints,
)
from surefoot.dynamics.constraints.equations import Baumgarte
from surefoot.dynamics.constraints.measured_rows import energy_factor, measured_rows, shortest_step
from surefoot.dynamics.tree import crba, require_invertible
from surefoot.errors import ModelError
from surefoot.kinematics import integrate
from surefoot.kinematics.recursion import dof_rows
from surefoot.robot import Finding, Robot

_CLOSED = 1e-10  # residual [m] or [rad] from which on constraints count as closed
_ROUNDED = 1e-6  # gap [m] or [rad] that comes from the digits of a file
_WIDE = 1e-3  # gap [m] or [rad] from which on a robot is not closed at home
_ROUNDING = 1e-15
_ROUNDS = 200
_LOST_RANK = 1e-10
_LONGEST = 0.5  # of one step [rad] or [m]
_DAMPING = (1e-12, 1e6)  # first and last, as shares of the largest singular value, squared
_STARTS = (0.0, 0.01, 0.1, 0.3, 0.6, 1.0, 1.5)  # how far beside the given configuration to begin [rad] or [m]


def close(
    robot: Robot,
    constraints: Sequence[Constraint] | Constraints | None,
    q0: ArrayLike,
    hold: Sequence[str] = (),
    weighted: bool = False,
) -> Array:
    """A configuration (nq,) near the given one that closes all constraints.

    Where steps from q0 end in a dead centre, they begin again beside it (always the same way).

    Args:
        robot: The robot.
        constraints: The constraints to close; the robot's own loops and couplings if None.
        q0: (nq,) configuration to begin with.
        hold: Names of joints that stay where they are.
        weighted: Whether near means in the metric of the kinetic energy.

    Raises:
        ModelError: The constraints cannot be closed; the error names them, with the gaps.
        UnknownNameError: The robot lacks a joint to hold.
    """
    held = held_constraints(robot, constraints)
    start = checked_configuration(robot, q0)
    # The entries of v (k,) of joints that may move
    names = checked_names("a joint to hold", hold)
    stay = {k for name in names for k in range(*dof_rows(robot.tree, robot.joint_index(name)).indices(robot.nv))}
    free = np.array([k for k in range(robot.nv) if k not in stay], dtype=np.int64)
    if weighted:
        require_invertible(robot.tree)
    rng, best = np.random.default_rng(0), start
    for spread in _STARTS:
        aside = np.zeros(robot.nv)
        aside[free] = spread * rng.uniform(-1.0, 1.0, len(free))
        found = _descend(robot, held, np.asarray(integrate(robot.tree, start, aside)), free, weighted)
        if _size(robot, held, found) <= _CLOSED:
            return found
        best = min(best, found, key=lambda q: _size(robot, held, q))
    raise _cannot_close(robot, held, best, hold)


def project_velocity(
    robot: Robot,
    constraints: Sequence[Constraint] | Constraints | None,
    q: ArrayLike,
    v: ArrayLike,
    weighted: bool = True,
) -> Array:
    """The nearest velocity (nv,) with J v = 0.

    Args:
        robot: The robot.
        constraints: The active constraints; the robot's own loops and couplings if None.
        q: (nq,) configuration.
        v: (nv,) velocity.
        weighted: Whether near means in the metric of the kinetic energy, as after a plastic impact.
    """
    held, q = held_constraints(robot, constraints), checked_configuration(robot, q)
    velocity = checked_vector("v", v, robot.nv)
    if weighted:
        require_invertible(robot.tree)
    J = np.asarray(held.jacobian(robot.tree, q), dtype=float)
    root = _root(robot, q, np.arange(robot.nv), weighted)
    rows = measured_rows(root, J)
    for _ in range(2):  # the second one takes away what rounding left
        velocity = velocity + np.linalg.solve(root.T, shortest_step(rows, -J @ velocity))
    return velocity


def closed_state(
    robot: Robot,
    constraints: Sequence[Constraint] | Constraints | None,
    q: ArrayLike,
    v: ArrayLike,
    weighted: bool = True,
) -> tuple[Array, Array]:
    """The state moved onto the constraints, positions first: what follows a step of integration.

    Args:
        robot: The robot.
        constraints: The active constraints; the robot's own loops and couplings if None.
        q: (nq,) configuration.
        v: (nv,) velocity.
        weighted: Whether near means in the metric of the kinetic energy.

    Raises:
        ModelError: The constraints cannot be closed.
    """
    held = held_constraints(robot, constraints)
    closed = close(robot, held, q, weighted=weighted)
    return closed, project_velocity(robot, held, closed, v, weighted)


def violations(
    robot: Robot, constraints: Constraints, q: ArrayLike, v: ArrayLike | None = None, tolerance: float = _CLOSED
) -> dict[str, str]:
    """Gap of each open constraint at q, or of its velocity v if given, in words, by name; worst first."""
    out: list[tuple[float, str, str]] = []
    place, unit = checked_configuration(robot, q), "" if v is None else "/s"
    for part in constraints.parts:
        found = part.residual(robot.tree, place) if v is None else part.jacobian(robot.tree, place) @ np.asarray(v)
        lengths = [k for k, axis in enumerate(part.held) if axis < 3] if isinstance(part, Tie) else []
        turns = [k for k in range(len(found)) if k not in lengths]
        sizes = [(float(np.linalg.norm(found[rows])), what) for rows, what in ((lengths, "m"), (turns, "rad")) if rows]
        words = " and ".join(f"{size:.6g} {what}{unit}" for size, what in sizes if not size <= tolerance)
        if words:
            out.append((max(size for size, _ in sizes), part.name, words))
    return {name: words for _, name, words in sorted(out, reverse=True)}


def _size(robot: Robot, held: Constraints, q: Array) -> float:
    return float(np.abs(np.asarray(held.residual(robot.tree, q), dtype=float)).max(initial=0.0))


def _descend(robot: Robot, held: Constraints, q: Array, free: NDArray[np.int64], weighted: bool) -> Array:
    """Damped steps towards r = 0, until they do not help."""
    tree, damping = robot.tree, _DAMPING[0]
    r = np.asarray(held.residual(tree, q), dtype=float)
    J, root = _linearised(robot, held, q, free, weighted)
    for _ in range(_ROUNDS):
        if np.abs(r).max(initial=0.0) <= _ROUNDING or damping > _DAMPING[1]:
            break
        u = np.zeros(robot.nv)
        u[free] = _step(J, r, root, damping)
        u *= min(1.0, _LONGEST / max(float(np.abs(u).max(initial=0.0)), 1e-300))
        there = np.asarray(integrate(tree, q, u), dtype=float)
        left = np.asarray(held.residual(tree, there), dtype=float)
        if not left @ left < r @ r:
            damping *= 100.0
            continue
        q, r, damping = there, left, max(0.01 * damping, _DAMPING[0])
        J, root = _linearised(robot, held, q, free, weighted)
    return q


def _linearised(
    robot: Robot, held: Constraints, q: Array, free: NDArray[np.int64], weighted: bool
) -> tuple[Array, Array]:
    """J (m, k) of the free joints, and the root of their metric."""
    J = np.asarray(held.jacobian(robot.tree, q), dtype=float)[:, free]
    return J, _root(robot, q, free, weighted)


def _root(robot: Robot, q: Array, free: NDArray[np.int64], weighted: bool) -> Array:
    """L (k, k) with W = L Lᵀ."""
    if not weighted:
        return np.eye(len(free))
    return energy_factor(np.asarray(crba(robot.tree, q), dtype=float)[np.ix_(free, free)])


def _step(J: Array, r: Array, root: Array, damping: float) -> Array:
    """U (k,) with J u = -r as near as can be, the least one in the metric, shortened by the damping."""
    weighted = np.linalg.solve(root, J.T).T
    U, lengths, directions = np.linalg.svd(weighted, full_matrices=False)
    longest = lengths.max(initial=0.0)
    kept = lengths > _LOST_RANK * longest
    shares = lengths[kept] / (lengths[kept] ** 2 + damping * longest**2)
    return np.linalg.solve(root.T, directions[kept].T @ (shares * (U[:, kept].T @ -r)))


def _cannot_close(robot: Robot, held: Constraints, q: Array, hold: Sequence[str]) -> ModelError:
    open_ones = violations(robot, held, q)
    names = ", ".join(f"`{name}`" for name in open_ones)
    evidence = {f"`{name}` stays open by": words for name, words in open_ones.items()}
    return ModelError(
        f"`{robot.name}` cannot be closed: {names} {'contradict each other' if len(open_ones) > 1 else 'stays open'}",
        evidence=evidence | ({"held joints": ", ".join(hold)} if hold else {}),
        next_step="check the placements of the loops and the lengths of the links, hold fewer joints, or start nearer",
    )


def refuse_contradictions(
    robot: Robot, held: Constraints, state: tuple[Array, Array], J: Array, drift: Array, gains: Baumgarte
) -> None:
    """Refuse constraints that no motion and no position meets.   [dyn.contradiction].

    Args:
        robot: The robot.
        held: The active constraints.
        state: q (nq,) and v (nv,).
        J: (m, nv) of the constraints.
        drift: (m,).
        gains: Baumgarte gains.

    Raises:
        ModelError: The constraints contradict each other; the error names them, with the gaps.
    """
    if not contradictions(J, drift, held.rows):
        return
    q, v = state
    kept = project_velocity(robot, held, q, v, weighted=False)
    wrong = contradictions(J, held.bias(robot.tree, q, kept), held.rows)
    if wrong:
        raise ModelError(
            f"constraints contradict each other: no acceleration meets {', '.join(f'`{name}`' for name in wrong)}",
            evidence={f"`{name}` misses by": f"{value:.6g} m/s² or rad/s²" for name, value in wrong.items()},
            next_step="remove one of them, or leave the singular configuration",
        )
    if gains.beta:
        close(robot, held, q)


def closure_findings(robot: Robot) -> list[Finding]:
    """Chains and couplings that are open at home: a warning for a small gap, an error for a large one.

    Gaps up to a micrometre are the rounding of the file. It is also an error if no posture near home closes all.
    """
    held = own_constraints(robot)
    open_at_home = violations(robot, held, robot.home, tolerance=_ROUNDED)
    if not open_at_home:
        return []
    try:
        close(robot, held, robot.home)
    except ModelError as error:
        text = "; ".join([error.message, *(f"{key}: {value}" for key, value in error.evidence.items())])
        return [Finding("error", next(iter(open_at_home)), text)]
    wide = violations(robot, held, robot.home, tolerance=_WIDE)
    text = "in the home posture; it can be closed: give such a posture as home, from surefoot.dynamics.close"
    return [
        Finding("error" if name in wide else "warning", name, f"open by {gap} {text}")
        for name, gap in open_at_home.items()
    ]
