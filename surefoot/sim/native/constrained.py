"""Robots that constraints hold, in the native engine: closed chains, couplings, contacts that do not let go.

Each step finds the acceleration by a method of `surefoot.dynamics.methods.acceleration`,

    (M + C) a = force + Jᵀ λ,    J a + J̇ v + 2 α J v + β² r = 0        [sim.constrained]

with C the gains of implicit springs, dampers and friction ([sim.implicit-joint]), and goes on as the step of a tree
does: semi-implicitly, or by Runge & Kutta's method on the manifold with the constraints in each of its stages.

What keeps the state on the constraints: nothing ("none": the gap grows with t², Buschmann 2014, Fig. 3.10), α and β
("baumgarte": Baumgarte 1972), or the way back along M⁻¹ Jᵀ after each step, positions first, then velocities
("projection": the least motion in the metric of the kinetic energy; Hairer & Wanner 1996, section VII.2).

Contacts with the ground that are not held act with their force at the start of a step. The methods of constrained
dynamics are called by matrices where they need no more, else by the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, number
from surefoot.compiler import KernelSet, compile_robot
from surefoot.dynamics import (
    METHODS,
    Baumgarte,
    Constraints,
    aba,
    close,
    constrained_acceleration,
    constraints_of,
    contact,
)
from surefoot.dynamics.algebra import RowBasis, row_basis
from surefoot.dynamics.constraints import ConstrainedEquations, Constraint
from surefoot.dynamics.loops import loop_graph, minimal_forward
from surefoot.dynamics.methods import ELIMINATIONS, HeldState, anchor_values, by_iteration, by_recursion
from surefoot.errors import NotSupportedError, one_of
from surefoot.motion import World
from surefoot.robot import Robot
from surefoot.sim.native.constrained_kernels import constrained_kernels
from surefoot.sim.native.kernels import Settings
from surefoot.sim.native.mover import HeldSurface, Mover

Compiled = Callable[[Array, Array, Array, Array, ConstrainedEquations], tuple[Array, Array]]


def _by_tree(
    name: str,
    robot: Robot,
    constraints: Constraints,
    state: tuple[Array, Array],
    forces: tuple[Array, Array, Array],
    baumgarte: Baumgarte,
) -> tuple[Array, Array]:
    """(a, λ) by a method that needs the tree.

    `state` is q (nq,) and v (nv,); `forces` act in the joints (nv,), with their loss per acceleration (nv,), and on the
    bodies (bodies, 6).
    """
    start, gain, external = forces
    loaded = _with_armature(robot, gain.tobytes()) if gain.any() else robot
    pushes = external if external.any() else None
    found = constrained_acceleration(loaded, *state, start, constraints, name, pushes, baumgarte)
    return found.a, found.multipliers


def _by_kernels(name: str, robot: Robot, constraints: Constraints) -> Compiled | None:
    """A compiled recursion: (a, λ) of q, v, joint forces, wrenches on the bodies and equations; None for others."""
    if name == "minimal":
        return _minimal(robot, constraints)
    if name in _RECURSIONS and not (robot.tree.mimic_source >= 0).any():
        return _recursive(name, robot)
    return None


_RECURSIONS = {"recursive": by_recursion, "iterative": by_iteration}


def _minimal(robot: Robot, constraints: Constraints) -> Compiled:
    forward = _minimal_kernel(robot, constraints).minimal

    def solve(q: Array, v: Array, tau: Array, external: Array, equations: ConstrainedEquations) -> tuple[Array, Array]:
        a, basis = forward(q, v, tau, external), row_basis(equations.J)
        return a, basis.multipliers(basis.Q @ (equations.M @ a - equations.force))

    return solve


@lru_cache(maxsize=16)
def _minimal_kernel(robot: Robot, constraints: Constraints) -> KernelSet:
    tree, graph = robot.tree, loop_graph(robot, constraints)

    def minimal(q: Array, v: Array, tau: Array, external: Array) -> Array:
        return minimal_forward(tree, graph, q, v, tau, external)

    shapes = {"q": (robot.nq,), "v": (robot.nv,), "tau": (robot.nv,), "external": (tree.n, 6)}
    return compile_robot(robot, functions={"minimal": (minimal, shapes)})


@dataclass(frozen=True, eq=False)
class _CompiledState(HeldState):
    """A `HeldState` whose runs are compiled.

    Args:
        kernels: `free` and `response`.
    """

    kernels: KernelSet

    def accelerated(self, mu: Array) -> Array:
        return np.asarray(self.kernels.free(self.q, self.v, self.tau + self.basis.Q.T @ mu, self.external))

    def response(self, mu: Array) -> Array:
        return np.asarray(self.basis.Q @ self.kernels.response(self.q, self.basis.Q.T @ mu))


def _recursive(name: str, robot: Robot) -> Compiled:
    solver, kernels = _RECURSIONS[name], _recursion_kernels(robot)

    def solve(q: Array, v: Array, tau: Array, external: Array, equations: ConstrainedEquations) -> tuple[Array, Array]:
        basis: RowBasis = row_basis(equations.J)
        return solver(_CompiledState(robot.tree, q, v, tau, external, basis, equations.drift, kernels))

    return solve


@lru_cache(maxsize=16)
def _recursion_kernels(robot: Robot) -> KernelSet:
    tree = robot.tree
    weightless, at_rest = replace(tree, gravity=np.zeros(3)), np.zeros(robot.nv)

    def free(q: Array, v: Array, tau: Array, external: Array) -> Array:
        return aba(tree, q, v, tau, external)

    def response(q: Array, tau: Array) -> Array:
        return aba(weightless, q, at_rest, tau)

    shapes = {"q": (robot.nq,), "v": (robot.nv,), "tau": (robot.nv,), "external": (tree.n, 6)}
    of_response = {"q": (robot.nq,), "tau": (robot.nv,)}
    return compile_robot(robot, functions={"free": (free, shapes), "response": (response, of_response)})


@lru_cache(maxsize=4)
def _with_armature(robot: Robot, gain: bytes) -> Robot:
    """The robot with inertia added to its joints: what implicit springs and dampers lose per acceleration."""
    added, model = np.frombuffer(gain), robot.model.copy()
    model.armature = np.array(model.armature) + added
    return robot.replace(model=model, tree=replace(robot.tree, armature=robot.tree.armature + added))


STABILISATIONS = ("none", "baumgarte", "projection")
_BAUMGARTE = Baumgarte(20.0, 20.0)
"""α and β where nothing else is said [1/s]."""
Moved = tuple["_Stage", Array, Array, Array, Array]
_CLOSED = 1e-11  # residual [m] or [rad] from which on a state counts as closed
_ROUNDS = 4  # of Newton's method after a step


class HoldingOptions(TypedDict, total=False):
    """The fields of `Holding` as keywords."""

    constraint_method: str
    stabilisation: str
    baumgarte: tuple[float, float]
    held: Sequence[str]


@dataclass(frozen=True)
class Holding:
    """How constraints are kept.

    Args:
        constraint_method: One of `surefoot.dynamics.methods.acceleration.METHODS`, or "auto".
        stabilisation: One of `STABILISATIONS`: "baumgarte", or "projection" after each step, or "none".
        baumgarte: α and β of "baumgarte" [1/s].
        held: Contact surfaces that are held where they are when the engine is reset.
    """

    constraint_method: str = "auto"
    stabilisation: str = "projection"
    baumgarte: tuple[float, float] = _BAUMGARTE
    held: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "baumgarte", Baumgarte(*self.baumgarte))
        object.__setattr__(self, "held", tuple(self.held))
        if self.constraint_method not in METHODS:
            raise one_of("method", self.constraint_method, METHODS)
        if self.constraint_method == "minimal" and any(self.gains):
            raise NotSupportedError(
                'constraint_method="minimal" cannot lead a robot back to its constraints',
                next_step='use stabilisation="projection"',
            )
        if self.stabilisation not in STABILISATIONS:
            raise one_of("stabilisation", self.stabilisation, STABILISATIONS)
        for name, value in zip(("alpha", "beta"), self.baumgarte, strict=True):
            number(value, name)

    @property
    def gains(self) -> Baumgarte:
        """α and β that act."""
        return Baumgarte(*self.baumgarte) if self.stabilisation == "baumgarte" else Baumgarte()


def held_by_constraints(robot: Robot, holding: Holding) -> bool:
    """Whether a robot needs constraints.

    Args:
        robot: The robot.
        holding: How they are kept.
    """
    return bool(robot.loops or robot.couplings or holding.held)


@lru_cache(maxsize=32)
def _opened(robot: Robot) -> Robot:
    """The tree of a robot alone; the same one for the same robot, because kernels are kept by robot."""
    return robot.replace(loops=(), couplings=())


def _constraints(robot: Robot, held: Sequence[str], q: Array) -> Constraints:
    """Loops, couplings, and surfaces that are held where they are in a configuration."""
    ties: list[Constraint] = [*robot.loops, *robot.couplings]
    return constraints_of(robot, [*ties, *(contact(robot, q, name) for name in held)])


@lru_cache(maxsize=32)
def _structure(robot: Robot, held: Sequence[str]) -> Constraints:
    """The same for kernels, to which it is an argument where surfaces are held."""
    return _constraints(robot, held, np.array(robot.home))


@dataclass(frozen=True, eq=False)
class _Stage:
    """Forces and acceleration in one state.

    Args:
        a: (nv,).
        force: (nv,) Jᵀ λ.
        multipliers: (m,).
    """

    a: Array
    force: Array
    multipliers: Array


class ConstrainedMover(Mover):
    """A `Mover` whose robot has closed chains, couplings, or contact surfaces that are held.

    Args:
        robot: The robot, with the gravity of the world.
        world: The world; None for empty space.
        settings: Of the step.
        holding: How constraints are kept.
    """

    def __init__(self, robot: Robot, world: World | None, settings: Settings, holding: Holding) -> None:
        for name in holding.held:
            if name not in robot.contacts:
                raise one_of("contact surface", name, robot.contacts)
        self.holding, self._tied = holding, robot
        self._by_matrices = ELIMINATIONS.get(holding.constraint_method)
        self._gains = np.array(holding.gains, dtype=float)
        super().__init__(_opened(robot), world, replace(settings, held=holding.held))

    def _build(self) -> None:
        self._hold_at(np.array(self._tied.home))
        self._of_kernels = constrained_kernels(self.robot, self.settings, _structure(self._tied, self.holding.held))
        name, is_free = self.holding.constraint_method, not self.holding.held
        self._by_kernels = _by_kernels(name, self.robot, self.constraints) if is_free else None
        super()._build()
        self._pushed_calls = self._calls

    def _hold_at(self, q: Array) -> None:
        """Hold the surfaces where they are."""
        self.constraints = _constraints(self._tied, self.holding.held, q)
        self.anchors = anchor_values(self.constraints)

    # -- state ----------------------------------------------------------------------------------------------------

    def start(self, q: ArrayLike, v: ArrayLike) -> None:
        """Begin at a configuration and velocity, moved onto the constraints.

        Args:
            q: (nq,); closed chains are closed from here.
            v: (nv,).

        Raises:
            ModelError: A chain cannot be closed, or constraints contradict each other.
        """
        given, speed = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        self._hold_at(given)
        closed = close(self._tied, self.constraints, given)
        super().start(closed, self._along(closed, speed))

    def drift(self) -> tuple[Array, Array]:
        """Residual r (m,) [m] or [rad] and its rate J v (m,) now."""
        _, J, residual = self._of_kernels.closure(self.q, self.anchors)
        return residual, J @ self.v

    def acceleration_at(self, q: ArrayLike, v: ArrayLike) -> Array:
        """(nv,) acceleration in any state, on the constraints or off them, under the drives and pushes of now.

        Args:
            q: (nq,).
            v: (nv,).
        """
        given = [*self.drives.rows, self._sides[0]["memory"], self.ground, self.pushes.wrenches]
        return self._stage(np.array(q, dtype=float), np.array(v, dtype=float), given).a

    def replace_robot(self, robot: Robot) -> None:
        """Go on in the same state with another robot of the same joints and constraints.

        Args:
            robot: With the gravity of the world.
        """
        constraints, self._tied = self.constraints, robot
        super().replace_robot(_opened(robot))
        self.constraints, self.anchors = constraints, anchor_values(constraints)

    # -- steps ----------------------------------------------------------------------------------------------------

    def _step_calls(self) -> list[Callable[[], None]]:
        move = self._by_runge_kutta if self.settings.integrator == "rk4" else self._by_euler
        return [lambda side=side: self._step(side, move) for side in (0, 1)]  # type: ignore[misc]

    def _step(
        self, side: int, move: Callable[[Array, Array, list[Array]], tuple[_Stage, Array, Array, Array, Array]]
    ) -> None:
        """A step from one copy of the state to the other."""
        here, there = self._sides[side], self._sides[1 - side]
        q, v, given = here["q"], here["v"], [*self.drives.rows, here["memory"], self.ground, self.pushes.wrenches]
        first, mean, after_q, after_v, works = move(q, v, given)
        if self.holding.stabilisation == "projection":
            after_q = self._closed(after_q)
            after_v = self._along(after_q, after_v)
        out = [there["q"], there["v"], there["memory"], *self.record.values(), there["sums"]]
        found = self._of_kernels.finish(q, v, *given, first.a, mean, after_q, after_v, works, here["sums"])
        for array, value in zip(out, found, strict=True):
            array[...] = value
        self._note_held(first)

    def _by_euler(self, q: Array, v: Array, given: list[Array]) -> Moved:
        """Acceleration, mean acceleration, state at the end, and works of a semi-implicit step."""
        kernels, stage = self._of_kernels, self._stage(q, v, given)
        after_q, after_v, mean = kernels.euler(q, v, stage.a)
        return stage, stage.a, after_q, after_v, kernels.power(q, v, *given, stage.a, stage.force, mean)

    def _by_runge_kutta(self, q: Array, v: Array, given: list[Array]) -> Moved:
        """The same of a step of Runge & Kutta's method."""
        kernels, h = self._of_kernels, self.settings.dt
        first = self._stage(q, v, given)
        slopes, powers = [(v, first.a)], [kernels.power(q, v, *given, first.a, first.force, v)]
        for part in (0.5 * h, 0.5 * h, h):
            u, speed = part * slopes[-1][0], v + part * slopes[-1][1]
            at = kernels.place(q, u)
            found = self._stage(at, speed, given)
            slopes.append((kernels.rate(u, speed), found.a))
            powers.append(kernels.power(at, speed, *given, found.a, found.force, speed))
        rate, mean = (_weighted([slope[k] for slope in slopes]) for k in (0, 1))
        return first, mean, kernels.place(q, h * rate), v + h * mean, _weighted(powers)

    def _stage(self, q: Array, v: Array, given: list[Array]) -> _Stage:
        """The acceleration in a state."""
        if self.holding.constraint_method == "auto":
            return _Stage(*self._of_kernels.stage(q, v, *given, self.anchors, self._gains))
        M, force, J, bias, residual = self._of_kernels.equations(q, v, *given, self.anchors)
        gains = self.holding.gains
        drift = bias + 2.0 * gains.alpha * (J @ v) + gains.beta**2 * residual
        a, multipliers = self._solved(q, v, given, ConstrainedEquations(M, force, J, drift))
        return _Stage(a, J.T @ multipliers, multipliers)

    def _solved(self, q: Array, v: Array, given: list[Array], equations: ConstrainedEquations) -> tuple[Array, Array]:
        """Accelerations and multipliers by the method."""
        if self._by_matrices is not None:
            return self._by_matrices(equations)
        start, gain, external = self._of_kernels.forces(q, v, *given)
        if self._by_kernels is not None and not gain.any():
            return self._by_kernels(q, v, start, external, equations)
        name, gains = self.holding.constraint_method, self.holding.gains
        return _by_tree(name, self.robot, self.constraints, (q, v), (start, gain, external), gains)

    # -- constraints ----------------------------------------------------------------------------------------------

    def _closed(self, q: Array) -> Array:
        """The configuration moved onto the constraints, by Newton's method in the metric of the mass matrix."""
        for _ in range(_ROUNDS):
            motion, residual = self._of_kernels.closing(q, self.anchors)
            if np.abs(residual).max(initial=0.0) <= _CLOSED:
                break
            q = self._of_kernels.place(q, motion)
        return q

    def _along(self, q: Array, v: Array) -> Array:
        """The velocity without what breaks constraints."""
        found: Array = self._of_kernels.along(q, v, self.anchors)
        return found

    def _note_held(self, stage: _Stage) -> None:
        """What held surfaces carry."""
        if not self.holding.held:
            return
        at = len(stage.multipliers)
        places = self.anchors[len(self.anchors) - len(self.holding.held) :]
        for name, place in reversed(list(zip(self.holding.held, places, strict=True))):
            tied = np.flatnonzero(self._tied.contacts[name].tied)
            at -= len(tied)
            wrench = np.zeros(6)
            wrench[tied] = stage.multipliers[at : at + len(tied)]
            self.held[name] = HeldSurface(np.vstack([place, [0.0, 0.0, 0.0, 1.0]]), wrench)


def _weighted(stages: list[Array]) -> Array:
    """Mean of the four stages."""
    return (stages[0] + 2.0 * (stages[1] + stages[2]) + stages[3]) / 6.0
