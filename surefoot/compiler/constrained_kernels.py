"""Kernels of robots that are held: what `KernelSet.constrained` compiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from surefoot.compiler.quantities import Quantity, input_shape
from surefoot.dynamics.constrained_derivatives import constrained_derivatives
from surefoot.dynamics.constrained_equations import Baumgarte
from surefoot.dynamics.constrained_forward import anchor_values, constrained_forward
from surefoot.dynamics.constraints import Constraint, ConstraintPart, Constraints, constraints_of, own_constraints
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.robot.tree import Tree

__all__ = ["ConstrainedDerivatives", "ConstrainedStates", "HeldQuantity", "held_quantity", "resolved"]


class ConstrainedStates(NamedTuple):
    """How held robots move.

    Args:
        a: (nv,) or (n, nv) accelerations.
        multipliers: (m,) or (n, m) forces of the constraints, on their second frames in the axes of the first ones.
    """

    a: Array
    multipliers: Array


class ConstrainedDerivatives(NamedTuple):
    """Of accelerations, (nv, nv) each, and of multipliers, (m, nv) each; or with n in front.

    Args:
        da_dq: ∂a/∂q, in the tangent space.
        da_dv: ∂a/∂v.
        da_dtau: ∂a/∂τ.
        dmultipliers_dq: ∂λ/∂q.
        dmultipliers_dv: ∂λ/∂v.
        dmultipliers_dtau: ∂λ/∂τ.
    """

    da_dq: Array
    da_dv: Array
    da_dtau: Array
    dmultipliers_dq: Array
    dmultipliers_dv: Array
    dmultipliers_dtau: Array


class HeldQuantity(NamedTuple):
    """A quantity to compile.

    Args:
        key: Tells kernels of one robot apart.
        quantity: The quantity, whose last input are the anchors.
        identity: All numbers that it depends on, but for the tree.
        shapes: Of the inputs.
    """

    key: tuple[Any, ...]
    quantity: Quantity
    identity: tuple[Any, ...]
    shapes: tuple[tuple[int, ...], ...]


_KINDS: dict[str, tuple[Callable[..., Any], Any]] = {
    "constrained": (constrained_forward, ConstrainedStates),
    "constrained_derivatives": (constrained_derivatives, ConstrainedDerivatives),
}


def resolved(robot: Robot, constraints: Sequence[Constraint | ConstraintPart] | Constraints | None) -> Constraints:
    """Constraints in a robot; its own where none are given.

    Args:
        robot: The robot.
        constraints: Loops, contacts, couplings; None for those of the robot.
    """
    return own_constraints(robot) if constraints is None else constraints_of(robot, constraints)


def held_quantity(robot: Robot, what: str, constraints: Constraints, baumgarte: Baumgarte) -> HeldQuantity:
    """What is to be compiled; where contacts are held is not in it.

    Args:
        robot: The robot.
        what: "constrained" or "constrained_derivatives".
        constraints: What holds.
        baumgarte: Gains that pull the state back.
    """
    function, result = _KINDS[what]

    def compute(tree: Tree, q: Array, v: Array, tau: Array, anchors: Array) -> Any:
        return function(tree, constraints, q, v, tau, anchors, baumgarte)

    inputs = ("q", "v", "tau", "anchors")
    sizes = (*(input_shape(robot.tree, name) for name in inputs[:3]), anchor_values(constraints).shape)
    identity = (f"{baumgarte.alpha!r} {baumgarte.beta!r}", *(x for part in constraints.parts for x in part.numbers))
    names = "+".join(part.name for part in constraints.parts)
    digest = tuple(x if isinstance(x, str) else x.tobytes() for x in identity)
    quantity = Quantity(inputs, compute, "", result._fields, result, inverts=True)
    return HeldQuantity((what, names, digest), quantity, identity, sizes)
