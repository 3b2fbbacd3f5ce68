"""Rigid contact with exact Coulomb cones, stepped at the level of velocities.

For the impulses λ of the points over a step, with the velocity v_f that the robot would reach without them,

    v⁺ = v_f + M⁻¹ Jᵀ λ,   u = J v⁺
    0 ≤ λ_n ⟂ u_n + e u_n⁻ + β d/h ≥ 0,   |λ_t| ≤ μ λ_n,   λ_t against u_t where it slides        [sim.rigid]
    Stewart & Trinkle 1996; Moreau 1988

A point above the ground may come down to it in the step. λ is found by sweeps over the points, each solved for the
normal and then projected on its disk of friction (projected Gauss–Seidel: Jourdan, Alart & Jean 1998), beginning with
the impulses of the step before. The mass matrix holds the gains of implicit drives and joint friction
([sim.implicit-joint]).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.codegen import Kernel
from surefoot.compiler import compile_robot
from surefoot.dynamics import crba, rnea
from surefoot.dynamics.algebra import factor, inverse
from surefoot.errors import NotSupportedError
from surefoot.kinematics import Frame, frame_jacobian
from surefoot.motion import World
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.sim.native.contact import Contacts, contacts_of
from surefoot.sim.native.contact_laws import Rigid
from surefoot.sim.native.joints import Springs
from surefoot.sim.native.kernels import SUMMED, Settings, step_of, with_sums
from surefoot.sim.native.manifold import ContactPoint, seen_at_start
from surefoot.sim.native.mover import Mover
from surefoot.sim.native.step import Outcome, Stepper
from surefoot.sim.native.touch import FREE, SLIDES, STICKS, TINY
from surefoot.spatial.so3 import skew

_FASTEST_CORRECTION = 0.2  # [m/s] at which a point that lies too deep is lifted, at most
_NEVER = 1e18  # normal velocity [m/s] that a point without contact would need


@dataclass(frozen=True, eq=False)
class _Kernels:
    """The compiled parts of a step with rigid contacts.

    Args:
        free: (q, v, drives…, ground, push) -> velocity without contacts (nv,), M⁻¹ (nv, nv), J (3 n, nv), point (n, 3).
        finish: (q, v, drives…, ground, push, after, impulse, sums) -> the outputs of a step.
        sweep: (G, bias, normal, friction, weights, impulse) -> impulse after one sweep, largest change [m/s].
    """

    free: Kernel
    finish: Kernel
    sweep: Kernel


@lru_cache(maxsize=16)
def _kernels(robot: Robot, settings: Settings) -> _Kernels:
    """The compiled parts of a step with rigid contacts."""
    function, layout = step_of(robot, settings, pushes=True)
    stepper: Stepper = function.__self__  # type: ignore[attr-defined]
    parts, n = _Parts(stepper), len(layout.points)
    more = {"after": (robot.nv,), "impulse": (n, 3), "sums": (SUMMED + len(robot.contacts),)}
    shapes = {name: shape for name, shape in layout.inputs.items() if name != "memory"}
    size = {"G": (3 * n, 3 * n), "bias": (n, 3), "normal": (n, 3), "friction": (n,), "weights": (n, 2)}
    kernels = compile_robot(
        robot,
        functions={
            "free": (parts.free, shapes),
            "finish": (with_sums(parts.finish, layout, springs=True), {**shapes, **more}),
            "sweep": (_sweep, {**size, "impulse": (n, 3)}),
        },
    )
    return _Kernels(kernels.free, kernels.finish, kernels.sweep)


class _Parts:
    """What comes before and after the impulses are known."""

    def __init__(self, stepper: Stepper) -> None:
        self.stepper, self.layout = stepper, stepper.layout

    def free(
        self, q: Array, v: Array, torque: Array, position: Array, kp: Array, velocity: Array, kd: Array, lower: Array,
        upper: Array, ground: Array, push: Array,
    ) -> tuple[Array, ...]:  # fmt: skip
        """Velocity without contacts, inverse of the mass matrix, Jacobian and places of the points."""
        tree = self.stepper.tree
        springs = Springs(torque, position, kp, velocity, kd, lower, upper)
        force = self.stepper.joint_forces(q, v, springs).whole
        M = crba(tree, q) + np.diag(force.gain)
        inverted = inverse(factor(tree, M))
        a = inverted @ (force.start - rnea(tree, q, v, np.zeros(len(v)), push))
        rows = [_point_jacobian(self.stepper, point, q, n) for point, n in zip(self.layout.points, ground[:, :3])]  # noqa: B905
        J = ops.concatenate(rows) if rows else np.zeros((0, len(v)))
        after = v + self.stepper.h * seen_at_start(tree, v, a)
        return after, inverted, J, self._contacts(q, v, ground).gathered("point").reshape(-1, 3)

    def _contacts(self, q: Array, v: Array, ground: Array) -> Contacts:
        memory = np.zeros(self.layout.inputs["memory"])
        return contacts_of(self.stepper.tree, self.layout.points, self.layout.law, q, v, memory, ground, 0.0, 0.0)

    def finish(
        self, q: Array, v: Array, torque: Array, position: Array, kp: Array, velocity: Array, kd: Array, lower: Array,
        upper: Array, ground: Array, push: Array, after: Array, impulse: Array,
    ) -> tuple[Array, ...]:  # fmt: skip
        """The outputs of a step that ends with a velocity."""
        stepper, h = self.stepper, self.stepper.h
        springs = Springs(torque, position, kp, velocity, kd, lower, upper)
        still = np.zeros(len(v))
        a = (after - v) * (1.0 / h) - seen_at_start(stepper.tree, v, still)
        found = Outcome(self._contacts(q, v, ground), a, stepper.joint_forces(q, v, springs), impulse * (1.0 / h))
        power = stepper.power(q, 0.5 * (v + after), found, push)
        out = stepper.outputs(*stepper.moved(q, after), found, a, springs, power)
        return out


def _point_jacobian(stepper: Stepper, point: ContactPoint, q: Array, normal: Array) -> Array:
    """(3, nv) of the material where a point touches, in world."""
    frame = Frame(point.body, np.eye(3), point.position)
    J = frame_jacobian(stepper.tree, frame, q)
    return J[:3] + point.radius * (skew(normal) @ J[3:]) if point.radius else J[:3]


def _sweep(
    G: Array, bias: Array, normal: Array, friction: Array, weights: Array, impulse: Array
) -> tuple[Array, Array]:
    """One sweep over the points, each with the newest impulses of the others.

    Args:
        G: J M⁻¹ Jᵀ (3 n, 3 n).
        bias: (n, 3) velocity without impulses, with the normal velocity that is asked for.
        normal: (n, 3).
        friction: (n,).
        weights: (n, 2) reciprocals of the largest eigenvalues of G along the normal and along the ground.
        impulse: (n, 3).
    """
    out, changes = list(impulse), []
    for i, n in enumerate(normal):
        rows = slice(3 * i, 3 * i + 3)
        u = bias[i] + G[rows] @ ops.concatenate(out)
        old = n @ out[i]
        push = ops.maximum(old - weights[i, 0] * (n @ u), 0.0)
        u = u + G[rows, rows] @ ((push - old) * n)
        trial = (out[i] - old * n) - weights[i, 1] * (u - (n @ u) * n)
        limit, wanted = friction[i] * push, ops.norm(trial)
        along = ops.where(ops.less(limit, wanted), limit / ops.maximum(wanted, TINY), 1.0) * trial
        new = push * n + along
        step = new - out[i]
        changes.append((step @ step) / (weights[i, 0] * weights[i, 0]))
        out[i] = new
    largest: Any = 0.0
    for change in changes:
        largest = ops.maximum(change, largest)
    return ops.stack(out) if out else np.zeros((0, 3)), ops.array([largest])


class RigidMover(Mover):
    """A `Mover` whose contacts are rigid.

    Args:
        robot: The robot, with the gravity of the world.
        world: The world; None for empty space.
        settings: Of the step; its law only determines how points are placed.
        law: The numbers of the rigid contact.
    """

    def __init__(self, robot: Robot, world: World | None, settings: Settings, law: Rigid) -> None:
        if settings.integrator != "semi_implicit":
            raise NotSupportedError(
                "rigid contacts are stepped semi-implicitly", next_step='use integrator="semi_implicit"'
            )
        self.rigid = law
        super().__init__(robot, world, settings)

    def _build(self) -> None:
        super()._build()
        nv, n = self.robot.nv, len(self.layout.points)
        self._free, self._inverse, self._jacobian = np.zeros(nv), np.zeros((nv, nv)), np.zeros((3 * n, nv))
        self._place, self._after, self.impulse = np.zeros((n, 3)), np.zeros(nv), np.zeros((n, 3))
        self.problem = [np.zeros((3 * n, 3 * n)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n), np.zeros((n, 2))]
        self._change = np.zeros(1)
        self._friction = np.array([point.friction for point in self.layout.points])
        kernels = _kernels(self.robot, self.settings)
        self._sweep_call = kernels.sweep.bind(*self.problem, self.impulse, self.impulse, self._change)
        self._calls = [self._solver(kernels, side) for side in (0, 1)]
        self._pushed_calls = self._calls

    def _solver(self, kernels: _Kernels, side: int) -> Callable[[], None]:
        """A step from one copy of the state to the other."""
        here, there = self._sides[side], self._sides[1 - side]
        inputs = [here["q"], here["v"], *self.drives.rows, self.ground, self.pushes.wrenches]
        free = kernels.free.bind(*inputs, self._free, self._inverse, self._jacobian, self._place)
        record = [there["q"], there["v"], there["memory"], *self.record.values(), there["sums"]]
        finish = kernels.finish.bind(*inputs, self._after, self.impulse, here["sums"], *record)

        def step() -> None:
            free()
            self._after[:] = self._free
            if len(self.impulse):
                self._find_impulses(here["v"])
                self._after += self._inverse @ (self._jacobian.T @ self.impulse.ravel())
            finish()
            self._set_modes()

        return step

    def _find_impulses(self, v: NDArray[np.float64]) -> None:
        """Set up the problem of the step, and sweep until it is solved."""
        G, bias, normal, friction, weights = self.problem
        n, h = self.ground[:, :3], self.settings.dt
        G[:] = self._jacobian @ self._inverse @ self._jacobian.T
        depth = self.ground[:, 3] - np.sum(n * self._place, axis=1)
        incoming = np.sum(n * (self._jacobian @ v).reshape(-1, 3), axis=1)
        asked = np.where(depth < 0.0, -depth / h, -np.minimum(self.rigid.correction * depth / h, _FASTEST_CORRECTION))
        if self.rigid.restitution:
            asked = np.where(depth < 0.0, _NEVER, np.minimum(asked, self.rigid.restitution * incoming))
        bias[:] = (self._jacobian @ self._free).reshape(-1, 3) + asked[:, None] * n
        normal[:], friction[:] = n, np.minimum(self.ground[:, 4], self._friction)
        weights[:] = _weights(G, n)
        for _ in range(self.rigid.sweeps):
            self._sweep_call()
            if self._change[0] < self.rigid.tolerance**2:
                return

    def _set_modes(self) -> None:
        """Which points are free, stick and slide."""
        push = np.sum(self.ground[:, :3] * self.impulse, axis=1)
        along = np.linalg.norm(self.impulse - push[:, None] * self.ground[:, :3], axis=1)
        limit = np.minimum(self.ground[:, 4], self._friction) * push
        self.record["mode"][:] = np.where(push <= 0.0, FREE, np.where(along < limit * (1.0 - 1e-9), STICKS, SLIDES))

    def _rest_contacts(self) -> None:
        super()._rest_contacts()
        self.impulse[:] = 0.0


def _weights(G: NDArray[np.float64], normal: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 2): reciprocals of the largest eigenvalues of the diagonal blocks, along the normals and the ground."""
    n = len(normal)
    blocks = G.reshape(n, 3, n, 3)[np.arange(n), :, np.arange(n)]
    across = np.eye(3) - normal[:, :, None] * normal[:, None, :]
    along = np.linalg.eigvalsh(across @ blocks @ across)[:, -1]
    return 1.0 / np.column_stack([np.einsum("ni,nij,nj->n", normal, blocks, normal), along])
