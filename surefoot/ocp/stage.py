"""Stage functions: cost, residuals, next state and rows of one node, over `ops`.

One `Structure` serves all nodes with the same robot, contacts, formulation and blocks. Its arguments are the state x,
the control u, local parameters p (the duration of the phase first) and data d: the share of the interval in the phase,
where the contacts are to be, and what the blocks take. Everything else that may change is a bound or a weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from surefoot import dynamics, ops
from surefoot.dynamics.algebra import solve_positive
from surefoot.dynamics.inverse import (
    DrivenEquations,
    OperatorResult,
    driven_equations,
    forward_operator,
    inverse_operator,
)
from surefoot.ocp.centroidal import centroidal_step
from surefoot.ocp.formulation import TABLES
from surefoot.ocp.node import AbsentError, Node, external_wrenches
from surefoot.ocp.shape import BAUMGARTE, DAMPING, SPOT, Group, Groups, Parts, StageShape
from surefoot.ops import Array


@dataclass(frozen=True, eq=False)
class Structure(StageShape):
    """The stage function of all nodes of one kind; arguments as in `StageShape`."""

    @cached_property
    def sizes(self) -> tuple[Parts, list[Group], list[Group]]:
        """Values at home, and the groups of rows and of residuals; found by one evaluation with numbers."""
        sample = self.sample(self.slacks)
        rows: list[Group] = []
        residuals: list[Group] = []
        return self.parts(*sample, rows, residuals), rows, residuals

    @cached_property
    def slacks(self) -> int:
        """Number of slack variables at the end of u."""
        softened = [block for block in self.blocks if block.slack]
        if not softened:
            return 0
        bare = replace(self, blocks=tuple(replace(block, slack=False) for block in self.blocks))
        names = {block.name for block in softened}
        return sum(group.size for group in bare.sizes[1] if group.name in names)

    def parts(self, x: Array, u: Array, p: Array, d: Array, rows: Groups = None, residuals: Groups = None) -> Parts:
        """Cost, residuals, next state and rows; the groups are appended to the two lists."""
        n = self.robot.nv
        gap, nodes, own = self._step(x, u, p, d)
        moving = self.formulation.dynamics != "centroidal"
        first = self.moment(x[:n], x[n : 2 * n] if moving else None, p, d)
        own += self._arrival(first, d)
        nodes = [*nodes, (self.posture(x[:n], p[1:]), 0.0, True)]
        return self._with_blocks(gap, nodes, own, u[self.controls :], d, (rows, residuals))

    def _step(self, x: Array, u: Array, p: Array, d: Array) -> Any:
        """Next state, nodes with weights and whether rows hold there, and own rows by name."""
        if self.kind == "impact":
            return self._impact(x, u, p, d)
        if self.kind == "end":
            return np.zeros(0), [(self._end_node(x, p), 1.0, True)], []
        if self.formulation.dynamics == "centroidal":
            return centroidal_step(self, x, u, p, d)
        return (self._collocation if self.formulation.is_collocation else self._shooting)(x, u, p, d)

    def node(self, x: Array, u: Array, p: Array, d: Array) -> Node:
        """The robot at the beginning of the stage, or at its first collocation point."""
        found: Node = self._step(x, u, p, d)[1][0][0]
        return found

    def moving_node(self, x: Array, w: Array, p: Array) -> Node:
        """The robot in a state (y, ẏ) in which an input w acts: accelerations follow (forward dynamics, IdOP)."""
        n = self.robot.nv
        return self._moving(x[:n], x[n : 2 * n], w, p, np.zeros(1))

    def input_at(self, x: Array, u: Array, step: float, share: float) -> Array:
        """Input of forward dynamics or IdOP at a share of an interval with control u from state x (numbers)."""
        return _Control(self.formulation.control, x[2 * self.robot.nv :], u[: self.inputs], step).at(share)

    def point_forces(self, x: Array, u: Array, p: Array, d: Array) -> Array:
        """Forces of the drives (points, nu) at the collocation points, or at the beginning of the interval."""
        return ops.stack([node.tau for node, _, _ in self._step(x, u, p, d)[1]])

    def _with_blocks(
        self,
        gap: Array,
        nodes: list[tuple[Node, float, bool]],
        own: list[tuple[str, Array]],
        slacks: Array,
        d: Array,
        groups: tuple[list[Group] | None, list[Group] | None],
    ) -> Parts:
        """Rows of the structure itself, then blocks at all nodes; blocks of postures at the last of them."""
        row_parts, residual_parts, cost = [(name, 0, values) for name, values in own], [], ops.zeros(1, like=gap)
        used = 0
        for block in self.blocks:
            data = d[self.data_place(block.name)]
            chosen = nodes[-1:] if block.of_posture else nodes[:-1]
            for point, (node, weight, is_row) in enumerate(chosen):
                if block.use == "row" and not is_row:
                    continue
                try:
                    values = block.values(node, data)
                except AbsentError:
                    continue
                if block.use == "row":
                    if block.slack:
                        own_slacks = slacks[used : used + len(values)]
                        used += len(values)
                        values = values - own_slacks
                        residual_parts.append((block.name + " slack", point, own_slacks))
                    row_parts.append((block.name, point, values))
                elif block.use == "residual":
                    factor = ops.sqrt(weight * node.step) if block.is_integral and block.place == "path" else 1.0
                    residual_parts.append((block.name, point, factor * values))
                else:
                    factor = weight * node.step if block.is_integral and block.place == "path" else 1.0
                    cost = cost + factor * values.sum()
                if not block.is_integral:
                    break
        found = []
        for parts, into in ((row_parts, groups[0]), (residual_parts, groups[1])):
            start = 0
            for name, point, values in parts:
                if into is not None:
                    into.append(Group(name, start, len(values), point))
                start += len(values)
            found.append(ops.concatenate([np.zeros(0), *(values for _, _, values in parts)]))
        return Parts(cost, found[1], gap, found[0])

    def _end_node(self, x: Array, p: Array) -> Node:
        n, y, dy = self.robot.nv, x[: self.robot.nv], x[self.robot.nv : 2 * self.robot.nv]
        if self.formulation.dynamics == "centroidal":
            return replace(self.moment(y, None, p, np.zeros(1)), own_momentum=self.robot.mass * x[n:])
        if self.formulation.control == "constant":
            return self.moment(y, dy, p, np.zeros(1))
        return self._moving(y, dy, x[2 * n : 2 * n + self.robot.nu], p, np.zeros(1))

    # forward dynamics and IdOP

    def _moving(self, y: Array, dy: Array, w: Array, p: Array, d: Array, rate: Array | None = None) -> Node:
        """The node in which an input w acts: accelerations follow."""
        found = self._accelerated(self.moment(y, dy, p, d), w)
        wrenches, start = {}, len(self.own.rows)
        for name, directions in self.tied.items():
            wrench = ops.zeros(6, like=found.multipliers)
            wrench[list(directions)] = found.multipliers[start : start + len(directions)]
            wrenches[name] = wrench
            start += len(directions)
        ddy = self.chart.second_rates(y, dy, found.a)
        return self.moment(
            y, dy, p, d, accelerations=ddy, forces=found.tau, contact_wrenches=wrenches, control_rate=rate
        )

    def _accelerated(self, node: Node, w: Array) -> Any:
        held, kept = self.held, list(self.independent)
        equations = driven_equations(node.tree, held, self.robot.driven, node.q, node.v)
        equations = equations._replace(h=equations.h - node.passive, J=equations.J[kept], drift=equations.drift[kept])
        if held.rows:
            operator = forward_operator if self.formulation.dynamics == "forward" else inverse_operator
            return _with_zeros(operator(equations, w), kept, len(held.rows))
        return _unconstrained(equations, w, self.formulation.dynamics == "idop")

    def _shooting(self, x: Array, u: Array, p: Array, d: Array) -> Any:
        n, h = self.robot.nv, p[0] * d[0]
        y, dy = x[:n], x[n : 2 * n]
        if self.formulation.dynamics == "inverse":
            return self._inverse_step(y, dy, u, p, d)
        control = _Control(self.formulation.control, x[2 * n :], u[: self.inputs], h)
        start = self._moving(y, dy, control.at(0.0), p, d, control.rate(0.0))
        if self.formulation.integrator == "semi_implicit":
            new = dy + h * start.ddy
            return ops.concatenate([y + h * new, new, control.next]), [(start, 1.0, True)], []
        middle = self._moving(y + 0.5 * h * dy, dy + 0.5 * h * start.ddy, control.at(0.5), p, d)
        second = self._moving(
            y + 0.5 * h * middle.dy, dy + 0.5 * h * middle.ddy, control.at(0.5), p, d, control.rate(0.5)
        )
        last = self._moving(y + h * second.dy, dy + h * second.ddy, control.at(1.0), p, d, control.rate(1.0))
        new_y = y + h / 6.0 * (dy + 2.0 * middle.dy + 2.0 * second.dy + last.dy)
        new_dy = dy + h / 6.0 * (start.ddy + 2.0 * middle.ddy + 2.0 * second.ddy + last.ddy)
        nodes = [(start, 1 / 6, True), (second, 2 / 3, False), (last, 1 / 6, False)]
        return ops.concatenate([new_y, new_dy, control.next]), nodes, []

    def _collocation(self, x: Array, u: Array, p: Array, d: Array) -> Any:
        """Accelerations at the points are controls; velocities and positions are their integrals."""
        A, b, c = TABLES[self.formulation.integrator]
        n, h, size = self.robot.nv, p[0] * d[0], self.robot.nv + self.forces
        y, dy = x[:n], x[n : 2 * n]
        inverse = self.formulation.dynamics == "inverse"
        base = 0 if inverse else self.inputs
        width = size if inverse else n
        slopes = [u[base + width * i : base + width * i + n] for i in range(len(b))]
        rates = [dy + h * sum(A[i, j] * slopes[j] for j in range(len(b))) for i in range(len(b))]
        places = [y + h * sum(A[i, j] * rates[j] for j in range(len(b))) for i in range(len(b))]
        new = [v + h * sum(b[j] * k[j] for j in range(len(b))) for v, k in ((y, rates), (dy, slopes))]
        control = None if inverse else _Control(self.formulation.control, x[2 * n :], u[:base], h)
        nodes, rows = [], []
        for i in range(len(b)):
            if control is None:
                node, equations = self._inverse_node(places[i], rates[i], u[width * i : width * (i + 1)], p, d)
                own = [*equations, ("contact acceleration", self._held_acceleration(node))]
            else:
                node = self._moving(places[i], rates[i], control.at(c[i]), p, d, control.rate(c[i]))
                own = [("motion", slopes[i] - node.ddy)]
            nodes.append((node, float(b[i]), True))
            rows += own
        extra = [] if control is None else [control.next]
        return ops.concatenate([*new, *extra]), nodes, rows

    # direct inverse dynamics

    def _inverse_node(self, y: Array, dy: Array, u: Array, p: Array, d: Array) -> tuple[Node, list[tuple[str, Array]]]:
        """The node with accelerations and contact forces u, and the equations of the undriven degrees of freedom."""
        n, robot = self.robot.nv, self.robot
        wrenches, own = self.split_forces(u[n : n + self.forces])
        node = self.moment(y, dy, p, d, accelerations=u[:n], contact_wrenches=wrenches)
        external = external_wrenches(robot, wrenches) if wrenches else None
        tau = dynamics.rnea(node.tree, node.q, node.v, node.a, external) - node.passive
        if self.own.rows:
            tau = tau - self.own.jacobian(node.tree, node.q).T @ own
        free = np.setdiff1d(np.arange(n), robot.driven)
        return replace(node, forces=tau[robot.driven]), [("motion", tau[free] * (10.0 / self.scale))]

    def _inverse_step(self, y: Array, dy: Array, u: Array, p: Array, d: Array) -> Any:
        """ẏ⁺ = ẏ + h ÿ, y⁺ = y + h ẏ⁺; contacts rest after the step, or do not accelerate."""
        h = p[0] * d[0]
        node, rows = self._inverse_node(y, dy, u, p, d)
        new = dy + h * node.ddy
        v, _ = self.chart.motion(y, new)
        if self.formulation.contacts == "acceleration":
            drift = DAMPING * (self.held.jacobian(node.tree, node.q) @ node.v)
            rows.append(("contact acceleration", self._held_acceleration(node) + drift))
        else:
            rows += self.resting(node, v, d)
        return ops.concatenate([y + h * new, new]), [(node, 1.0, True)], rows

    def _held_acceleration(self, node: Node) -> Array:
        """J a + J̇ v of contacts and loops (m,)."""
        tree = node.tree
        return self.held.jacobian(tree, node.q) @ node.a + self.held.bias(tree, node.q, node.v)

    # contacts that begin, impacts

    def _arrival(self, first: Node, d: Array) -> list[tuple[str, Array]]:
        """Where contacts are, and how fast, at the first node of a phase; rows without bounds elsewhere."""
        rows = []
        for k, (name, directions) in enumerate(self.tied.items()):
            spot = d[1 + SPOT * k : 1 + SPOT * (k + 1)]
            at = (self.spot_error(first, name, spot)[0] * (1.0 / BAUMGARTE))[list(directions)]
            rows.append((f"position {name}", at))
            if self.kind == "interval" and first.rates is not None:
                rows.append((f"velocity {name}", first.velocity(name)[list(directions)]))
        return rows

    def _impact(self, x: Array, u: Array, p: Array, d: Array) -> Any:
        """M (v⁺ − v⁻) = Jᵀ Λ, J v⁺ = 0 (Koch, (2.24) with e = 0): v⁺ and Λ are controls."""
        robot, n = self.robot, self.robot.nv
        y, dy = x[:n], x[n : 2 * n]
        wrenches, own = self.split_forces(u[n : n + self.forces])
        after = self.moment(y, u[:n], p, d, contact_wrenches=wrenches)
        jump = after.v - self.chart.motion(y, dy)[0]
        weightless = replace(after.tree, gravity=np.zeros(3))
        external = external_wrenches(robot, wrenches) if wrenches else None
        balance = dynamics.rnea(weightless, after.q, np.zeros(n), jump, external)
        if self.own.rows:
            balance = balance - self.own.jacobian(after.tree, after.q).T @ own
        rows = [("impact", balance * (10.0 / self.scale))]
        for name, directions in self.tied.items():
            rows.append((f"impact {name}", after.velocity(name)[list(directions)]))
        return ops.concatenate([y, u[:n], x[2 * n :]]), [(after, 1.0, True)], rows


def functions_of(structure: Structure) -> list[tuple[str, int, int]]:
    """Name, first entry and size of all that a stage evaluates, in the order of `Parts.all`."""
    values, rows, residuals = structure.sizes
    after = 1 + len(values.residuals)
    found = [("scalar costs", 0, 1), ("dynamics", after, len(values.gap))]
    found += [(group.name, 1 + group.start, group.size) for group in residuals]
    return found + [(group.name, after + len(values.gap) + group.start, group.size) for group in rows]


class _Control(NamedTuple):
    """The input over an interval: its shape, the part of the state, the control, and the length of the interval."""

    shape: str
    state: Array
    u: Array
    step: Any

    def at(self, share: float) -> Array:
        """Input at a share of the interval."""
        n = len(self.u)
        if self.shape == "constant":
            return self.u
        if self.shape == "plc":
            return (1.0 - share) * self.state + share * self.u
        w, r = self.state[:n], self.state[n:]
        return w + (share * self.step) * r + (0.5 * share * share * self.step) * (self.u - r)

    def rate(self, share: float) -> Array | None:
        """Its rate; None where it is constant."""
        if self.shape == "constant":
            return None
        if self.shape == "plc":
            return (self.u - self.state) / self.step
        r = self.state[len(self.u) :]
        return (1.0 - share) * r + share * self.u

    @property
    def next(self) -> Array:
        """Part of the next state."""
        if self.shape == "constant":
            return np.zeros(0)
        return self.u if self.shape == "plc" else ops.concatenate([self.at(1.0), self.u])


def _with_zeros(found: Any, kept: Sequence[int], count: int) -> Any:
    """A motion with the multipliers of all rows: those that are not kept have none."""
    multipliers = ops.zeros(count, like=found.multipliers)
    multipliers[kept] = found.multipliers
    return found._replace(multipliers=multipliers)


def _unconstrained(equations: DrivenEquations, w: Array, relaxed: bool) -> Any:
    """Accelerations without constraints: FdOP, or IdOP with K = S M Sᵀ."""
    M, h, _, _, driven = equations
    if not relaxed:
        return OperatorResult(solve_positive(M, equations.forces(w) - h), w, np.zeros(0))
    K = M[np.ix_(driven, driven)]
    F = ops.zeros(M.shape, like=M) + M
    F[np.ix_(driven, driven)] = F[np.ix_(driven, driven)] + K
    a = solve_positive(F, equations.forces(K @ w) - h)
    return OperatorResult(a, K @ (w - a[driven]), np.zeros(0))
