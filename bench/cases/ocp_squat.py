"""A squat by direct inverse dynamics as a staged program: what `surefoot bench ocp` solves.

x = (y, ẏ) with base position, yaw, pitch and roll, and joints; u = (ÿ, a wrench for each foot); semi-implicit Euler.
Each node has 6 equations of the base, 6 of the velocity of each foot (Baumgarte-stabilised), and linear limits of the
wrenches.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.arrays import Array
from surefoot.codegen import Kernel, compile_function
from surefoot.dynamics import rnea
from surefoot.kinematics import com, contact_frame, frame_placement, frame_velocity
from surefoot.robot import Robot
from surefoot.solvers.staged import Derivatives, Patterns, Sizes, StagedProblem, Values

__all__ = ["Squat"]

_FRICTION, _HALF_LENGTH, _HALF_WIDTH, _DEPTH, _STABILISE = 0.6, 0.1, 0.05, 0.12, 10.0
_GRAVITY = 9.81


@dataclass(frozen=True)
class Squat:
    """The squat of a robot that stands on flat feet.

    Args:
        robot: With a free base; every contact is a foot.
        nodes: N.
    """

    robot: Robot
    nodes: int = 30

    @property
    def n(self) -> int:
        """Coordinates."""
        return int(self.robot.nv)

    @property
    def wrenches(self) -> int:
        """Numbers of all wrenches."""
        return 6 * len(self.robot.contacts)

    @property
    def equations(self) -> int:
        """Of a node."""
        return 6 + self.wrenches

    @property
    def dt(self) -> float:
        """Of a node [s]: the squat takes a second."""
        return 1.0 / self.nodes

    @cached_property
    def start(self) -> Array:
        """Standing at home, at rest."""
        home = np.asarray(self.robot.home, dtype=float)
        return np.concatenate([home[:3], np.zeros(3), home[7:], np.zeros(self.n)])

    @cached_property
    def cone(self) -> Array:
        """Rows that are not negative: load, friction pyramid, centre of pressure; (9 feet, wrenches)."""
        one = np.zeros((9, 6))
        one[:, 2] = [1.0, *[_FRICTION] * 4, *[_HALF_WIDTH] * 2, *[_HALF_LENGTH] * 2]
        for pair, column in enumerate((0, 1, 3, 4)):
            one[1 + 2 * pair : 3 + 2 * pair, column] = -1.0, 1.0
        return np.kron(np.eye(len(self.robot.contacts)), one).astype(float)

    @cached_property
    def step(self) -> Array:
        """∂F/∂(x, u) of semi-implicit Euler."""
        n, dt, one = self.n, self.dt, np.eye(self.n)
        A = np.block([[one, dt * one], [np.zeros((n, n)), one]])
        B = np.block([[dt * dt * one, np.zeros((n, self.wrenches))], [dt * one, np.zeros((n, self.wrenches))]])
        return np.hstack([A, B])

    def terms(self, x: Any, u: Any, height: Any) -> tuple[Any, Any]:
        """Cost and equations of a node; `height` (1,) is where the centre of mass should be."""
        tree, n = self.robot.tree, self.n
        y, w, c, F = x[:n], x[n:], u[:n], u[n:]
        turn = _base_map(y[3:6])
        q = ops.concatenate([y[:3], _quaternion(y[3:6]), y[6:]])
        base = turn @ w[:6]
        rate = ops.rate(base, ops.concatenate([y[3:6], w[:6]]), ops.concatenate([w[3:6], c[:6]]))
        v, a = ops.concatenate([base, w[6:]]), ops.concatenate([rate, c[6:]])
        tau = rnea(tree, q, v, a, self._external(F))
        after = w + self.dt * c
        feet = self._feet(q, ops.concatenate([turn @ after[:6], after[6:]]))
        centre, standing = com(tree, q), self._standing
        drift = y[3:] - self.start[3:n]
        cost = 1e-4 * (tau[6:] @ tau[6:]) + 1e-3 * (c @ c) + 1e-6 * (F @ F) + 0.1 * (drift @ drift)
        cost = cost + 50.0 * (centre[2] - height[0]) * (centre[2] - height[0])
        for k in range(2):
            cost = cost + 5.0 * (centre[k] - standing[k]) * (centre[k] - standing[k])
        return self.dt * cost, ops.concatenate([turn.T @ tau[:6], feet])

    @cached_property
    def _standing(self) -> Array:
        return np.asarray(com(self.robot.tree, np.asarray(self.robot.home)), dtype=float)

    def _external(self, F: Any) -> Any:
        out = ops.zeros((self.robot.tree.n, 6), like=F)
        for k, name in enumerate(self.robot.contacts):
            frame = contact_frame(self.robot, name)
            R, p = np.asarray(frame.R), np.asarray(frame.p)
            force = R @ F[6 * k : 6 * k + 3]
            moment = R @ F[6 * k + 3 : 6 * k + 6] + ops.cross(p, force)
            out[frame.body] = out[frame.body] + ops.concatenate([force, moment])
        return out

    def _feet(self, q: Any, v: Any) -> Any:
        """Velocity of each foot after the step, and a pull towards where it stood."""
        tree, rows = self.robot.tree, []
        for name in self.robot.contacts:
            frame = contact_frame(self.robot, name)
            stood = np.asarray(frame_placement(tree, frame, np.asarray(self.robot.home)), dtype=float)
            T = frame_placement(tree, frame, q)
            E = stood[:3, :3].T @ T[:3, :3]
            turned = 0.5 * ops.array([E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]])
            away = ops.concatenate([T[:3, :3].T @ (T[:3, 3] - stood[:3, 3]), turned])
            rows.append(frame_velocity(tree, frame, q, v, "local") + _STABILISE * away)
        return ops.concatenate(rows)

    @cached_property
    def heights(self) -> Array:
        """Of the centre of mass, (N, 1): down and up again."""
        return (self._standing[2] - _DEPTH * np.sin(np.pi * np.arange(self.nodes) / self.nodes))[:, None]

    def problem(self) -> StagedProblem:
        """The staged program; the first state is fixed."""
        N, n, nu, rows = self.nodes, self.n, self.n + self.wrenches, self.equations + len(self.cone)
        sizes = Sizes((2 * n,) * (N + 1), (nu,) * N + (0,), (rows,) * N + (0,))
        force = np.zeros(self.wrenches)
        force[2::6] = self.robot.mass * _GRAVITY / len(self.robot.contacts)
        node = np.concatenate([self.start, np.zeros(n), force])
        w0 = np.concatenate([np.tile(node, N), self.start])
        lower, upper = np.full(len(w0), -np.inf), np.full(len(w0), np.inf)
        lower[: 2 * n] = upper[: 2 * n] = self.start
        above = np.tile(np.concatenate([np.zeros(self.equations), np.full(len(self.cone), np.inf)]), N)
        functions = _Functions(self, sizes)
        return StagedProblem(
            sizes, functions, w0, lower, upper, np.zeros(N * rows), above, patterns=functions.patterns()
        )


class _Functions:
    """Evaluates all nodes in one batch."""

    def __init__(self, squat: Squat, sizes: Sizes) -> None:
        self._squat, self._sizes = squat, sizes
        n, nu, m = squat.n, squat.n + squat.wrenches, squat.equations
        shapes: dict[str, tuple[int, ...]] = {"z": (2 * n + nu,), "height": (1,)}
        more = shapes | {"cost": (1,), "y": (m,)}
        self._value = _kernel(squat, "values", self._values, shapes)
        self._first = _kernel(squat, "slopes", self._slopes, shapes)
        self._second = _kernel(squat, "hessian", self._hessian, more)
        N, nz, rows = squat.nodes, 2 * n + nu, m + len(squat.cone)
        self._rows = np.zeros((N, rows, nz))
        self._rows[:, m:, 2 * n + n :] = squat.cone
        self._blocks = np.zeros((N, nz, nz))

    def _values(self, z: Any, height: Any) -> tuple[Any, Any]:
        return self._squat.terms(z[: 2 * self._squat.n], z[2 * self._squat.n :], height)

    def _slopes(self, z: Any, height: Any) -> tuple[Any, Any]:
        cost, equations = self._values(z, height)
        columns = [ops.rate(equations, z, unit) for unit in np.eye(len(z))]
        return ops.gradient(cost, z), ops.stack(columns)

    def _hessian(self, z: Any, height: Any, cost: Any, y: Any) -> Any:
        value, equations = self._values(z, height)
        slope = ops.gradient(cost[0] * value + y @ equations, z)
        H = ops.zeros((len(z), len(z)), like=z)
        for i, unit in enumerate(np.eye(len(z))):
            H[i:, i] = ops.rate(slope[i:], z, unit)
        for i in range(len(z)):
            H[i, i + 1 :] = H[i + 1 :, i]
        return H

    def patterns(self) -> Patterns:
        """From the traced functions: what is not the number zero."""
        s, N = self._squat, self._squat.nodes
        z, height, y = ops.symbols("z", 3 * s.n + s.wrenches), ops.symbols("h", 1), ops.symbols("y", s.equations)
        J = _filled(self._slopes(z, height)[1]).T
        H = _filled(self._hessian(z, height, ops.symbols("s", 1), y))
        cone = np.zeros((len(s.cone), J.shape[1]), dtype=bool)
        cone[:, 3 * s.n :] = s.cone != 0.0
        n = 2 * s.n
        last = np.zeros((n, n), dtype=bool)
        return Patterns([s.step != 0.0] * N, [np.vstack([J, cone])] * N + [last[:0]], [H] * N + [last])

    def _nodes(self, w: Array) -> Array:
        return w[: self._sizes.starts[-2]].reshape(self._squat.nodes, -1)

    def values(self, w: Array) -> Values:
        """Cost and constraints."""
        s, Z = self._squat, self._nodes(w)
        cost, equations = self._value(np.ascontiguousarray(Z), s.heights)
        after = np.vstack([Z[1:, : 2 * s.n], w[self._sizes.starts[-2] :]])
        n, dt = s.n, s.dt
        v = Z[:, n : 2 * n] + dt * Z[:, 2 * n : 3 * n]
        gaps = np.hstack([Z[:, :n] + dt * v, v]) - after
        rows = np.hstack([equations, Z[:, 3 * n :] @ s.cone.T])
        return Values(float(cost.sum()), gaps.ravel(), rows.ravel(), np.zeros(0))

    def derivatives(self, w: Array) -> Derivatives:
        """Gradient and Jacobian blocks."""
        s = self._squat
        slope, J = self._first(np.ascontiguousarray(self._nodes(w)), s.heights)
        self._rows[:, : s.equations] = J.transpose(0, 2, 1)
        gradient = np.concatenate([slope.ravel(), np.zeros(2 * s.n)])
        last = np.zeros((0, 2 * s.n))
        return Derivatives(gradient, [s.step] * s.nodes, [*self._rows, last], np.zeros((0, 4 * s.n)))

    def hessian(self, w: Array, cost: float, gaps: Array, rows: Array, end_rows: Array) -> tuple[list[Array], Array]:
        """Second derivatives; the gaps are linear."""
        s = self._squat
        y = np.ascontiguousarray(rows.reshape(s.nodes, -1)[:, : s.equations])
        Z = np.ascontiguousarray(self._nodes(w))
        self._second(Z, s.heights, np.full((s.nodes, 1), cost), y, out=self._blocks)
        return [*self._blocks, np.zeros((2 * s.n, 2 * s.n))], np.zeros((4 * s.n, 4 * s.n))


def _kernel(squat: Squat, name: str, function: Any, shapes: dict[str, tuple[int, ...]]) -> Kernel:
    identity = ("bench squat", squat.robot.name, str(squat.nodes), name)
    kernel = compile_function(f"squat {name}", function, shapes, identity=identity)
    kernel.prepare("batch")
    return kernel


def _filled(entries: Any) -> Any:
    return np.array([[not (isinstance(x, float | int) and x == 0) for x in row] for row in entries])


def _base_map(e: Any) -> Any:
    """Body twist = map · rates of position, yaw, pitch, roll."""
    (cz, cy, cx), (sz, sy, sx) = ([f(e[k]) for k in range(3)] for f in (ops.cos, ops.sin))
    R = ops.array(
        [
            [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
            [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
            [-sy, cy * sx, cy * cx],
        ]
    )
    out = ops.zeros((6, 6), like=e)
    out[:3, :3] = R.T
    out[3:, 3:] = ops.array([[-sy, 0.0, 1.0], [cy * sx, cx, 0.0], [cy * cx, -sx, 0.0]])
    return out


def _quaternion(e: Any) -> Any:
    (cz, sz), (cy, sy), (cx, sx) = [(ops.cos(0.5 * x), ops.sin(0.5 * x)) for x in e]
    return ops.array(
        [
            sx * cy * cz - cx * sy * sz,
            cx * sy * cz + sx * cy * sz,
            cx * cy * sz - sx * sy * cz,
            cx * cy * cz + sx * sy * sz,
        ]
    )
