"""Articulated bodies over a tree of subsystems: closed chains and geared rotors, O(n).

The recursion of `surefoot.dynamics.tree.aba` over a tree of *subsystems*: Buschmann 2014, section 3.4.2, Alg. 5 to 8
(errata: P_S = -M_S⁻¹ B_S; K_S and k_S take M^ and h^ of the members; in (3.70) the acceleration of a member is
C^ a_p + J^ q̈_S + b^).   [loops.recursion]

The members of a subsystem hang, through each other, on one body, and so on a frame fixed there. With a the acceleration
of that frame and a_t those of the members' joints, the members take from it

    M a_t + B a + h = tau,    wrench = Bᵀ a_t + I a + p

by composite bodies, from inertias that hold already what hangs on the members. Gears and ties leave a_t = G x + g,
which is put in from both sides; nothing is left of the forces that hold the loop:

    M_S = Gᵀ M G,  B_S = Gᵀ B,  u = Gᵀ (tau - h - M g)
    x = M_S⁻¹ (u - B_S a)
    I_S = I - B_Sᵀ M_S⁻¹ B_S,  p_S = p + Bᵀ g + B_Sᵀ M_S⁻¹ u

A joint in no loop is a step of articulated bodies as it is.

How the joints of a subsystem move with its independent coordinates: a = G x + g.

Gears first, v = E y with ratios as they are. Ties then hold J E y' + J e + drift = 0, with the columns of J of the
subsystem alone: the relative motion along the loop, whatever carries it. The dependent part of y' is solved for,

    y'_D = -J_D⁺ (J_I x + J e + drift)        [loops.elimination]   Buschmann 2014, section 3.4.2: q̈_t = G q̈_S + g

in least squares, for numbers and symbols, by reflections that leave exact zeros alone:

    |A X - right| → min        [dyn.qr]   Householder 1958; Golub & Van Loan 2013, section 5.3.2

A reflection takes only rows in which its column has an entry that is not exactly zero, and columns with few such rows
go first: in Jacobians of several loops, joints of one loop before those that they share, so that little fills up.
There is no pivoting on values, and none is needed while A has full column rank; redundant rows do not matter. Without
full column rank the result is not finite: of a column that depends on others nothing is left to divide by.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from surefoot import ops
from surefoot.dynamics.algebra import factor_full, grouped_bodies, is_exactly, mirror, packed, solve, unpacked
from surefoot.dynamics.constraints import Baumgarte, Constraints, drift_of
from surefoot.dynamics.loops.graph import LoopGraph, Subsystem, gear_matrix
from surefoot.dynamics.tree import ABA
from surefoot.kinematics.recursion import (
    Body,
    Fields,
    Recursion,
    Step,
    Sweep,
    acceleration_matrix,
    dof_rows,
    joint_subspace,
    run,
    snapped,
)
from surefoot.ops import Array
from surefoot.robot import Tree

_Own = dict[str, Array]
_velocities, _articulated, _accelerations = (sweep.step for sweep in ABA.sweeps)
_REST = {"acceleration": np.zeros(3), "alpha": np.zeros(3)}


def walk_subsystems(
    tree: Tree,
    graph: LoopGraph,
    inputs: Fields,
    gains: Baumgarte = Baumgarte(),  # noqa: B008 - frozen
) -> Array:
    """Accelerations (nv,), rad/s² or m/s².   [loops.recursion].

    Inputs are "q" (nq,), "v" and "tau" (nv,), and "external" (n, 6) if there is any.
    """
    joints, _ = run(_INPUTS, tree, {**inputs, "armature": tree.armature})
    walk = _Walk(tree, graph, joints, _State(inputs["q"], inputs["v"], inputs["tau"], gains))
    for number, left in _depth_first(graph):
        if left:
            walk.leave(number)
        else:
            walk.enter(number)
    for number in range(len(graph.subsystems)):
        walk.accelerate(number)
    return walk.a


class _State(NamedTuple):
    q: Array
    v: Array
    tau: Array
    gains: Baumgarte


_INPUTS = Recursion((Sweep("outward", lambda body, joint, own, parent: Step(dict(joint))),), lambda gravity: {})
"""The inputs of every joint, as fields of its body."""


def _depth_first(graph: LoopGraph) -> Iterator[tuple[int, bool]]:
    """Every subsystem twice: entered, and, after all that hangs on it, left."""
    entered: list[int] = []
    for number, carrier in enumerate(graph.carriers):
        while entered and entered[-1] != carrier:
            yield entered.pop(), True
        yield number, False
        entered.append(number)
    while entered:
        yield entered.pop(), True


class _Walk:
    """The state of the recursion: fields of every body, and of the frame that every subsystem hangs on."""

    def __init__(self, tree: Tree, graph: LoopGraph, joints: list[_Own], state: _State) -> None:
        self.tree, self.graph, self.joints, self.state = tree, graph, joints, state
        self.bodies = list(grouped_bodies(tree))
        self.fields: list[_Own] = [{} for _ in range(tree.n)] + [dict(ABA.world(tree.gravity))]
        self.frames: list[_Own] = [{} for _ in graph.subsystems]
        self.a = ops.zeros(len(tree.armature), like=[state.q, state.v, state.tau])

    # -- outwards: velocities -----------------------------------------------------------------------------------------

    def enter(self, number: int) -> None:
        """Velocities, and accelerations of the members that they cause while the frame and x are at rest."""
        item = self.graph.subsystems[number]
        first, parent = item.bodies[0], self.fields[item.parent]
        if item.is_joint:
            self.fields[first] |= _velocities(self.bodies[first], self.joints[first], {}, parent).own
            return
        self.frames[number] = _frame_on(self.bodies[first], parent)
        self._hang_on_frame(item)
        for i in item.bodies:
            carrier = self._carrier(number, i)
            self.fields[i] |= _velocities(self.bodies[i], self.joints[i], {}, carrier).own
            self._move(i, carrier, np.zeros(len(self.joints[i]["v"])))

    def _hang_on_frame(self, item: Subsystem) -> None:
        """Members on the parent of the subsystem are placed in its frame instead: that of the first one's joint."""
        first = self.bodies[item.bodies[0]]
        for i in item.bodies:
            if self.tree.parents[i] == item.parent:
                body = self.bodies[i]
                R, p = snapped(first.R.T @ body.R), first.R.T @ (body.p - first.p)
                self.bodies[i] = replace(body, R=np.eye(3) if body is first else R, p=p)

    def _carrier(self, number: int, i: int) -> _Own:
        """Fields of what carries a member: another one, or the frame."""
        parent = int(self.tree.parents[i])
        return self.frames[number] if parent == self.graph.subsystems[number].parent else self.fields[parent]

    def _move(self, i: int, carrier: Fields, a: Array) -> None:
        """Acceleration of a body whose joint accelerates by a."""
        given = {**self.fields[i], "drive": a, "gain": np.zeros((len(a), 6))}
        self.fields[i] |= _accelerations(self.bodies[i], self.joints[i], given, carrier).own

    # -- inwards: articulated inertias --------------------------------------------------------------------------------

    def leave(self, number: int) -> None:
        """Hand inertia and bias to the body that carries the subsystem, less what gives way."""
        item = self.graph.subsystems[number]
        parent = self.fields[item.parent]
        if item.is_joint:
            (i,) = item.bodies
            step = _articulated(self.bodies[i], self.joints[i], self.fields[i], parent)
            self.fields[i] |= step.own
            _add(parent, step.parent)
            return
        frame, rows = self.frames[number], list(item.dofs)
        M, B, h = self._equations(number)
        G, g = dependent_motion(self.tree, item, self.state.q, self.state.v, self.state.gains)
        factors = factor_full(G.T @ M @ G)
        B_S, u = G.T @ B, G.T @ (self.state.tau[rows] - h - M @ g)
        gain, drive = solve(factors, B_S), solve(factors, u)
        I_S, p_S = _assembled(frame) - B_S.T @ gain, frame["bias"] + B.T @ g + B_S.T @ drive
        frame |= {"G": G, "g": g, "gain": gain, "drive": drive, **_blocks(I_S), "bias": p_S}
        _add(parent, _handed_on(frame))

    def _equations(self, number: int) -> tuple[Array, Array, Array]:
        """M (n, n), B (n, 6) and h (n,) of the members' joints; what they all carry is handed on to the frame."""
        item = self.graph.subsystems[number]
        place = {row: k for k, row in enumerate(item.dofs)}
        M, B, h = (ops.zeros(shape, like=self.a) for shape in ((len(place),) * 2, (len(place), 6), len(place)))
        for i in reversed(item.bodies):
            own, S, rows = self.fields[i], joint_subspace(self.bodies[i]), self._rows(i, place)
            momenta = _assembled(own) @ S
            M[rows, rows] = M[rows, rows] + mirror(S.T @ momenta)
            h[rows] = h[rows] + momenta.T @ ops.concatenate([own["acceleration"], own["alpha"]]) + S.T @ own["bias"]
            for j, F in self._walked_inwards(item, i, momenta):
                if j is None:
                    B[rows] = B[rows] + F.T
                else:
                    block, columns = F.T @ joint_subspace(self.bodies[j]), self._rows(j, place)
                    M[rows, columns] = M[rows, columns] + block
                    M[columns, rows] = M[columns, rows] + block.T
            _add(self._carrier(number, i), _handed_on(own))
        return M + np.diag(self.tree.armature[list(item.dofs)]), B, h

    def _walked_inwards(self, item: Subsystem, i: int, F: Array) -> Iterator[tuple[int | None, Array]]:
        """Every member that carries member i, then None for the frame, with the wrenches F (6, k) as it sees them."""
        while i != item.parent:
            F, i = _on_carrier(self.fields[i], F), int(self.tree.parents[i])
            yield (None if i == item.parent else i), F

    def _rows(self, i: int, place: dict[int, int]) -> slice:
        """Rows of joint i among those of its subsystem."""
        rows = dof_rows(self.tree, i)
        return slice(place[rows.start], place[rows.start] + rows.stop - rows.start)

    # -- outwards: accelerations --------------------------------------------------------------------------------------

    def accelerate(self, number: int) -> None:
        """Accelerations of the joints, then of the bodies that carry others."""
        item = self.graph.subsystems[number]
        parent = self.fields[item.parent]
        if item.is_joint:
            (i,) = item.bodies
            step = _accelerations(self.bodies[i], self.joints[i], self.fields[i], parent)
            self.fields[i] |= step.own
            self.a[dof_rows(self.tree, i)] = step.joint["a"]
            return
        frame = self.frames[number]
        frame |= _accelerations(_STIFF_BODY, {}, {**frame, **_STILL}, parent).own
        x = frame["drive"] - frame["gain"] @ ops.concatenate([frame["acceleration"], frame["alpha"]])
        self.a[list(item.dofs)] = frame["G"] @ x + frame["g"]
        for i in item.bodies:
            self._move(i, self._carrier(number, i), self.a[dof_rows(self.tree, i)])


# -- inertias and frames ----------------------------------------------------------------------------------------------

_STIFF_BODY = Body("stiff", np.eye(3), np.zeros(3), np.zeros(3), 0.0, 0.0, np.zeros(3), np.zeros((3, 3)), 1.0, 0.0)
"""On a joint that moves nothing: S = 0. Through it, steps of articulated bodies hand everything on."""
_STIFF_JOINT = {"tau": np.zeros(1), "armature": np.ones(1)}
_STILL = {"drive": np.zeros(1), "gain": np.zeros((1, 6))}


def _frame_on(first: Body, parent: Fields) -> _Own:
    """The frame of a subsystem: where the joint of its first body is on the parent. It carries nothing yet."""
    omega = first.R.T @ parent["omega"]
    W = acceleration_matrix(omega, np.zeros(3))
    place = {"mount": first.R, "turn": np.eye(3), "p": first.p, "lever": parent["W"] @ first.p, "zeta": np.zeros(6)}
    return {**place, **_REST, "omega": omega, "W": W}


def _handed_on(own: Fields) -> Fields:
    """Inertia and bias in the axes of what carries a body and about its origin; nothing gives way."""
    return _articulated(_STIFF_BODY, _STIFF_JOINT, own, {}).parent


def _on_carrier(own: Fields, F: Array) -> Array:
    """Wrenches (6, k) on a body, on what carries it."""
    force, moment = own["mount"] @ (own["turn"] @ F[:3]), own["mount"] @ (own["turn"] @ F[3:])
    return ops.concatenate([force, moment + ops.stack([ops.cross(own["p"], f) for f in force.T], axis=1)])


def _add(fields: _Own, more: Fields) -> None:
    for name, value in more.items():
        fields[name] = fields[name] + value if name in fields else value


def _assembled(own: Fields) -> Array:
    """The inertia (6, 6) of a body or frame."""
    return np.block([[unpacked(own["A"]), own["B"]], [own["B"].T, unpacked(own["C"])]])


def _blocks(inertia: Array) -> _Own:
    return {"A": packed(inertia[:3, :3]), "B": inertia[:3, 3:], "C": packed(inertia[3:, 3:])}


_NOTHING = 1e-8  # of the size of A


def structured_least_squares(A: Array, right: Array) -> Array:
    """X (n, k) with |A X - right| least; A (m, n) has full column rank.   [dyn.qr]."""
    if not ops.is_symbolic(A, right):
        found, _, _, values = np.linalg.lstsq(A, right, rcond=None)
        return found if not values.size or values[-1] > _NOTHING * values[0] else np.full_like(found, np.nan)
    n = A.shape[1]
    order = sorted(range(n), key=lambda j: len(_live(A[:, j])))
    work = ops.concatenate([A[:, order], right], axis=1).astype(object)
    least = _NOTHING**2 * (A.ravel() @ A.ravel())
    for k in range(n):
        _reflect(work, k)
        work[k, k] = ops.where(ops.less(least, work[k, k] * work[k, k]), work[k, k], 0.0)
    X = ops.zeros((n, right.shape[1]), like=work)
    X[order] = _back_substituted(work, n)
    return X


def _live(column: Array) -> list[int]:
    """Rows that are not known to be zero."""
    return [i for i, entry in enumerate(column) if not is_exactly(entry, 0.0)]


def _reflect(work: Array, k: int) -> None:
    """Turn column k, from row k on, into one entry."""
    live = [k + i for i in _live(work[k:, k])]
    if k not in live:
        work[[k, live[0]]] = work[[live[0], k]]
        live[0] = k
    if len(live) == 1:
        return
    x = work[live, k]
    length = ops.sqrt(x @ x)
    side = ops.where(ops.less(x[0], 0.0), -length, length)
    u = ops.concatenate([[x[0] + side], x[1:]])
    scale = 1.0 / (length * (length + ops.absolute(x[0])))
    work[live, k] = 0.0
    work[k, k] = -side
    for j in range(k + 1, work.shape[1]):
        column = work[live, j]
        if _live(column):
            work[live, j] = column - u * (scale * (u @ column))


def _back_substituted(work: Array, n: int) -> Array:
    """R⁻¹ times the columns right of R."""
    X: list[Any] = [None] * n
    for k in reversed(range(n)):
        row = work[k, n:]
        for j in range(k + 1, n):
            row = row - work[k, j] * X[j]
        X[k] = row * (1.0 / work[k, k])
    return ops.stack(X)


def dependent_motion(tree: Tree, item: Subsystem, q: Array, v: Array, gains: Baumgarte) -> tuple[Array, Array]:
    """G (n, k) and g (n,): the accelerations of the n rows `item.dofs` per independent one.   [loops.elimination]."""
    dofs, leading = list(item.dofs), list(item.leading)
    E, e = gear_matrix(tree, item.gears)[:, leading], _gear_drift(tree, item, q, v, gains)
    y, rest = np.eye(len(leading)), ops.zeros(len(leading), like=[q, v])
    if item.dependent:
        y, rest = _closed(tree, item, E, e, (q, v), gains)
    return (E @ y)[dofs], (E @ rest + e)[dofs]


def _closed(
    tree: Tree, item: Subsystem, E: Array, e: Array, state: tuple[Array, Array], gains: Baumgarte
) -> tuple[Array, Array]:
    """Dependent and independent together, y' = Y x + rest: Y (leading, independent), rest (leading,)."""
    J = item.ties.jacobian(tree, state[0])
    drift = drift_of(tree, item.ties, J, *state, gains) + J @ e
    free = [k for k, row in enumerate(item.leading) if row in item.independent]
    tied = [k for k, row in enumerate(item.leading) if row in item.dependent]
    moved = J @ E
    right = ops.concatenate([moved[:, free], drift.reshape(-1, 1)], axis=1)
    found = structured_least_squares(moved[:, tied], right)
    Y = ops.zeros((len(item.leading), len(free)), like=found)
    rest = ops.zeros(len(item.leading), like=found)
    Y[free], Y[tied], rest[tied] = np.eye(len(free)), -found[:, :-1], -found[:, -1]
    return Y, rest


def _gear_drift(tree: Tree, item: Subsystem, q: Array, v: Array, gains: Baumgarte) -> Array:
    """Accelerations e (nv,) that pull geared joints back."""
    e = ops.zeros(len(tree.armature), like=[q, v])
    if not (gains.alpha or gains.beta):
        return e
    for gear in item.gears:
        part = Constraints((gear,))
        drift = drift_of(tree, part, part.jacobian(tree, q), q, v, gains)
        e[dof_rows(tree, gear.joint)] = gear.ratio * e[dof_rows(tree, gear.source)] - drift
    return e
