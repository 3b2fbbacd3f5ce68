"""Kernels of robots that are held by contacts, closed chains and gears: a part of `KernelSet`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from surefoot.codegen import Kernel
from surefoot.compiler.quantities import Quantity, input_shape
from surefoot.dynamics import Baumgarte, Constraints, constraints_of, own_constraints
from surefoot.dynamics.constraints import Constraint, ConstraintPart
from surefoot.dynamics.methods import anchor_values, constrained_derivatives, constrained_forward
from surefoot.ops import Array
from surefoot.robot import Robot, Tree


class ConstrainedStates(NamedTuple):
    """How held robots move.

    Args:
        a: (nv,) or (n, nv) accelerations.
        multipliers: (m,) or (n, m) forces of the constraints, on their second frames in the axes of the first ones.
    """

    a: Array
    multipliers: Array


class ConstrainedDerivatives(NamedTuple):
    """Derivatives of accelerations, (nv, nv) each, and of multipliers, (m, nv) each; or with n in front.

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
    """The quantity to compile; where contacts are held is one of its inputs.

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


class HeldKernels(ABC):
    """What a `KernelSet` offers for robots that are held; `KernelSet` makes the kernels."""

    robot: Robot

    @abstractmethod
    def _kernel(
        self,
        key: tuple[Any, ...],
        quantity: Quantity,
        identity: tuple[Any, ...] | None,
        variants: Mapping[str, Kernel] | None = None,
        shapes: Sequence[tuple[int, ...]] | None = None,
    ) -> Kernel:
        """The kernel of a quantity, made once per key."""

    def constrained(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        constraints: Sequence[Constraint | ConstraintPart] | Constraints | None = None,
        baumgarte: Baumgarte = Baumgarte(),  # noqa: B008 - frozen
        **options: Any,
    ) -> ConstrainedStates:
        """Accelerations and multipliers of a robot with contacts, closed chains and gears.

            k.constrained(q, v, tau, [contact(robot, q, "left_foot"), contact(robot, q, "right_foot")]).a

        One kernel serves all places at which the same frames are held. `surefoot.dynamics.methods.forward`.

        Args:
            q: (nq,) or (n, nq).
            v: (nv,) or (n, nv).
            tau: (nv,) or (n, nv).
            constraints: What holds; by default the closed chains and couplings of the robot.
            baumgarte: Gains that pull the state back.
            **options: As for every kernel.
        """
        return self._held("constrained", (q, v, tau), constraints, baumgarte, options)

    def constrained_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        constraints: Sequence[Constraint | ConstraintPart] | Constraints | None = None,
        baumgarte: Baumgarte = Baumgarte(),  # noqa: B008 - frozen
        **options: Any,
    ) -> ConstrainedDerivatives:
        """Derivatives of `constrained` by q, v and τ.

        Args:
            q: (nq,) or (n, nq).
            v: (nv,) or (n, nv).
            tau: (nv,) or (n, nv).
            constraints: What holds; by default the closed chains and couplings of the robot.
            baumgarte: Gains that pull the state back.
            **options: As for every kernel.
        """
        return self._held("constrained_derivatives", (q, v, tau), constraints, baumgarte, options)

    def constrained_kernel(
        self,
        constraints: Sequence[Constraint | ConstraintPart] | Constraints | None = None,
        baumgarte: Baumgarte = Baumgarte(),  # noqa: B008 - frozen
        what: str = "constrained",
    ) -> Kernel:
        """The kernel behind `constrained`, of q, v, tau and anchors (contacts, 3, 4): where contacts are held in world.

        Args:
            constraints: What holds; by default the closed chains and couplings of the robot.
            baumgarte: Gains that pull the state back.
            what: "constrained" or "constrained_derivatives".
        """
        held = held_quantity(self.robot, what, resolved(self.robot, constraints), baumgarte)
        return self._kernel(held.key, held.quantity, held.identity, shapes=held.shapes)

    def _held(self, what: str, state: tuple[Any, ...], constraints: Any, baumgarte: Baumgarte, options: Any) -> Any:
        holding = resolved(self.robot, constraints)
        return self.constrained_kernel(holding, baumgarte, what)(*state, anchor_values(holding), **options)
