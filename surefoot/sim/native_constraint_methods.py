"""The methods of constrained dynamics as a step calls them: by matrices where they need no more, else by the tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from surefoot.arrays import Array
from surefoot.compiler import KernelSet, compile_robot
from surefoot.dynamics import aba
from surefoot.dynamics.constrained_acceleration import constrained_acceleration
from surefoot.dynamics.constrained_equations import Baumgarte, ConstrainedEquations
from surefoot.dynamics.constraint_methods import ELIMINATIONS, METHODS
from surefoot.dynamics.constraint_rank import RowBasis, row_basis
from surefoot.dynamics.constraint_recursion import HeldState, by_iteration, by_recursion
from surefoot.dynamics.constraints import Constraints
from surefoot.dynamics.loop_graph import loop_graph
from surefoot.dynamics.minimal_coordinates import minimal_forward
from surefoot.errors import one_of
from surefoot.robot import Robot

__all__ = ["by_kernels", "by_matrices", "by_tree", "require_method"]

Compiled = Callable[[Array, Array, Array, Array, ConstrainedEquations], tuple[Array, Array]]
_AUTO = "lagrange"


def require_method(name: str) -> None:
    """Refuse a method that does not exist.

    Args:
        name: Its name.
    """
    if name not in METHODS:
        raise one_of("method", name, METHODS)


def by_matrices(name: str) -> Callable[..., tuple[Array, Array]] | None:
    """(a, λ) of `ConstrainedEquations`; None for a method that needs the tree.

    Args:
        name: Of the method.
    """
    return ELIMINATIONS.get(_AUTO if name == "auto" else name)


def by_tree(
    name: str,
    robot: Robot,
    constraints: Constraints,
    state: tuple[Array, Array],
    forces: tuple[Array, Array, Array],
    baumgarte: Baumgarte,
) -> tuple[Array, Array]:
    """(a, λ) by a method that needs the tree.

    Args:
        name: Of the method.
        robot: The robot.
        constraints: What holds.
        state: q (nq,) and v (nv,).
        forces: In the joints (nv,), what they lose per acceleration (nv,), wrenches on the bodies (bodies, 6).
        baumgarte: Gains that pull the state back.
    """
    start, gain, external = forces
    loaded = _with_armature(robot, gain.tobytes()) if gain.any() else robot
    pushes = external if external.any() else None
    found = constrained_acceleration(loaded, *state, start, constraints, name, pushes, baumgarte)
    return found.a, found.multipliers


def by_kernels(name: str, robot: Robot, constraints: Constraints) -> Compiled | None:
    """(a, λ) of q, v, joint forces (nv,), wrenches (bodies, 6) and equations by a compiled recursion; None for others.

    Args:
        name: Of the method.
        robot: The robot as a tree.
        constraints: What holds; no contacts.
    """
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
