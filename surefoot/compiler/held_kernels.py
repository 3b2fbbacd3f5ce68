"""Kernels of robots that are held by contacts, closed chains and gears: a part of `KernelSet`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from surefoot.compiler.constrained_kernels import ConstrainedDerivatives, ConstrainedStates, held_quantity, resolved
from surefoot.compiler.kernel import Kernel
from surefoot.compiler.quantities import Quantity
from surefoot.dynamics.constrained_equations import Baumgarte
from surefoot.dynamics.constrained_forward import anchor_values
from surefoot.dynamics.constraints import Constraint, ConstraintPart, Constraints
from surefoot.robot import Robot

__all__ = ["HeldKernels"]


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

        One kernel serves all places at which the same frames are held. `surefoot.dynamics.constrained_forward`.

        Args:
            q: (nq,) or (n, nq).
            v: (nv,) or (n, nv).
            tau: (nv,) or (n, nv).
            constraints: What holds; the closed chains and couplings of the robot if left out.
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
            constraints: What holds; the closed chains and couplings of the robot if left out.
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
            constraints: What holds; the closed chains and couplings of the robot if left out.
            baumgarte: Gains that pull the state back.
            what: "constrained" or "constrained_derivatives".
        """
        held = held_quantity(self.robot, what, resolved(self.robot, constraints), baumgarte)
        return self._kernel(held.key, held.quantity, held.identity, shapes=held.shapes)

    def _held(self, what: str, state: tuple[Any, ...], constraints: Any, baumgarte: Baumgarte, options: Any) -> Any:
        holding = resolved(self.robot, constraints)
        return self.constrained_kernel(holding, baumgarte, what)(*state, anchor_values(holding), **options)
