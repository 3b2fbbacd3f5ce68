"""`Task`: something that a robot should do, for velocity, acceleration and torque level alike.

A task has a value that depends on q and a target for it. Everything else follows:

    error         = target − value           (rows,)
    d(value)/dt   = J v                      (rows, nv)
    d²(value)/dt² = J a + J̇ v                                  [tasks.task]   Nenchev & Konno 2019, section 2.8

A task of order 1 has a value that is linear in the velocity, J v: a momentum, a speed. Its error is the target.

The value may lie `below` and `above` its target by a margin: 0 on both sides is an equation, infinity an inequality,
what is between them a tolerance. So limits, clearances and supports are tasks as well.

Two kinds of numbers are told apart. Structure (which frame, which rows) is compiled in. Run-time numbers (target,
margins, weight, gain) are arguments of the compiled kernel, and change from tick to tick.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot import ops
from surefoot.errors import ShapeError
from surefoot.kinematics import configuration_rate
from surefoot.motion.checks import finite_array, number
from surefoot.ops import Array
from surefoot.robot import Robot, Tree

__all__ = ["Task", "limited_error", "masked", "rows_of"]

Numbers = NDArray[np.float64]
_RUN_TIME = ("name", "target", "weight", "gain", "below", "above")


@dataclass(frozen=True, eq=False)
class Task(ABC):
    """What all tasks have in common.

    A kind of task gives `measures`, `numbers_of` and `error`, and where it can `jacobian` and `bias`.

    Args:
        name: Unique among the tasks of a robot.
        priority: 0 goes first; what has a larger number is done with the freedom that is left.
        weight: Of the squared error among tasks of one priority: a number, or one for each row.
        gain: Share of the error that is to vanish in a second [1/s].
        below: How far the value may lie below its target: a number, or one for each row.
        above: The same above it.
    """

    name: str
    _: KW_ONLY
    priority: int = 0
    weight: float | Numbers = 1.0
    gain: float = 1.0
    below: float | Numbers = 0.0
    above: float | Numbers = 0.0

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise ShapeError("a task needs a name", evidence={"name": self.name})
        if isinstance(self.priority, bool) or not isinstance(self.priority, int | np.integer) or self.priority < 0:
            raise ShapeError(f"priority of task `{self.name}` must be 0, 1, 2, …", evidence={"priority": self.priority})
        number(self.gain, f"gain of task `{self.name}`")
        _ = self.weights, self.margins  # refuse wrong ones now

    # -- what a kind of task gives --------------------------------------------------------------------------------

    @property
    @abstractmethod
    def measures(self) -> tuple[tuple[str, int], ...]:
        """Unit and number of rows of each part of the error, in order: (("m", 3), ("rad", 3)) for a pose."""

    @abstractmethod
    def numbers_of(self, target: Any) -> Numbers:
        """A target as a flat array, as the functions get it; refused if it is none.

        Args:
            target: As in the constructor.
        """

    def with_target(self, target: ArrayLike) -> Self:
        """The same task with another target.

        Args:
            target: As in the constructor.
        """
        changed: dict[str, Any] = {"target": target}
        return replace(self, **changed)

    def batch_of_targets(self, targets: Numbers) -> Numbers:
        """Targets (n, …) as rows of numbers (n, target_size).

        Args:
            targets: (n, …) targets as in the constructor.
        """
        return np.array([self.numbers_of(target) for target in targets])

    @abstractmethod
    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        """Target − value (rows,), over `ops`.

        Args:
            robot: The robot.
            q: (nq,) configuration.
            target: Its numbers.
        """

    def jacobian(self, robot: Robot, q: Array, target: Array) -> Array:
        """J (rows, nv), over `ops`: the rate of the value is J v. By derivatives of the error where not told better.

        Args:
            robot: The robot.
            q: (nq,) configuration.
            target: Its numbers.
        """
        error = self.error(robot, q, target)
        rates = _velocity_map(robot.tree, q)
        return ops.stack([-ops.gradient(row, q) @ rates for row in error])

    def bias(self, robot: Robot, q: Array, v: Array, target: Array) -> Array:
        """dJ/dt v (rows,), over `ops`. By derivatives of J v where not told better.

        Args:
            robot: The robot.
            q: (nq,) configuration.
            v: (nv,) velocity.
            target: Its numbers.
        """
        return ops.rate(self.jacobian(robot, q, target) @ v, q, configuration_rate(robot.tree, q, v))

    @cached_property
    def structure(self) -> tuple[Any, ...]:
        """All that is compiled in: tasks that agree in it share a kernel."""
        given = [getattr(self, item.name) for item in fields(self) if item.name not in _RUN_TIME]
        return type(self), self.is_equation, self.rows, *(_identity(value) for value in given)

    @property
    def order(self) -> int:
        """0 if the value depends on q, 1 if it is linear in v."""
        return 0

    # -- what follows from it -------------------------------------------------------------------------------------

    @cached_property
    def rows(self) -> int:
        """Number of rows."""
        return sum(count for _, count in self.measures)

    @cached_property
    def target_size(self) -> int:
        """How many numbers the target has."""
        return len(self.numbers)

    @cached_property
    def numbers(self) -> Numbers:
        """The target as a flat array."""
        return self.numbers_of(getattr(self, "target", None))

    @cached_property
    def margins(self) -> tuple[Numbers, Numbers]:
        """`below` and `above` for each row, (rows,) each."""
        return self._per_row("below"), self._per_row("above")

    @cached_property
    def weights(self) -> Numbers:
        """`weight` for each row, (rows,)."""
        return self._per_row("weight")

    @cached_property
    def is_equation(self) -> bool:
        """Whether there is no margin on either side."""
        return not any(side.any() for side in self.margins)

    def _per_row(self, what: str) -> Numbers:
        given = getattr(self, what)
        if isinstance(given, float) and given >= 0.0 and (what != "weight" or np.isfinite(given)):
            return np.full(self.rows, given)
        found = np.asarray(given)
        fits = found.dtype.kind in "iuf" and found.shape in ((), (self.rows,))
        if not fits or not (found >= 0.0).all() or (what == "weight" and not np.isfinite(found).all()):
            raise ShapeError(
                f"`{what}` of task `{self.name}` must be a number, or one for each of its {self.rows} rows, and not "
                "negative" + ", and finite" * (what == "weight"),
                evidence={what: found.tolist()},
            )
        found = found.astype(float)
        return np.broadcast_to(found, (self.rows,))

    def checked_target(self, value: Any, shape: tuple[int, ...]) -> Numbers:
        """A target of that shape, as floats; refused if it is not finite."""
        return finite_array(value, shape, f"target of task `{self.name}`")


def _identity(value: Any) -> Any:
    """What tells two values of a field apart, to the last bit; other objects are what they are."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return tuple(_identity(item) for item in value)
    return (value.shape, value.dtype.str, value.tobytes()) if isinstance(value, np.ndarray | np.generic) else id(value)


def _velocity_map(tree: Tree, q: Array) -> Array:
    """G (nq, nv) with dq/dt = G v."""
    nv = len(tree.armature)
    return ops.stack([configuration_rate(tree, q, unit) for unit in np.eye(nv)], axis=1)


def limited_error(error: Array, below: Array, above: Array) -> Array:
    """What is missing to the interval that the margins leave (rows,): 0 inside.   [tasks.margin].

    Args:
        error: (rows,) target − value.
        below: (rows,) how far the value may lie below its target.
        above: (rows,) the same above it.
    """
    return ops.maximum(error - below, 0.0) + ops.minimum(error + above, 0.0)


def rows_of(mask: Sequence[bool] | str | None, letters: str, what: str) -> tuple[int, ...]:
    """The rows that a mask keeps.

    Args:
        mask: Letters ("xz"), booleans, or None for all.
        letters: The letters of the rows, in order.
        what: What is masked, for the message.
    """
    if mask is None:
        return tuple(range(len(letters)))
    if isinstance(mask, str):
        if not mask or set(mask) - set(letters):
            raise ShapeError(f"mask `{mask}` of {what}", next_step=f"use letters of `{letters}`")
        return tuple(k for k, letter in enumerate(letters) if letter in mask)
    keep = np.asarray(mask, dtype=bool)
    if keep.shape != (len(letters),) or not keep.any():
        raise ShapeError(f"mask of {what} must have {len(letters)} entries, one of them true", evidence={"mask": mask})
    return tuple(int(k) for k in np.flatnonzero(keep))


def masked(values: Array, rows: tuple[int, ...]) -> Array:
    """Some rows of an array."""
    return values[list(rows)]
