"""`Task`: something that a robot should do, for velocity, acceleration and torque level alike.

A task has a value that depends on q and a target for it. Everything else follows:

    error         = target − value           (rows,)
    d(value)/dt   = J v                      (rows, nv)
    d²(value)/dt² = J a + J̇ v                                  [tasks.task]   Nenchev & Konno 2019, section 2.8

A task of order 1 has a value that is linear in the velocity, J v: a momentum, a speed. A task of order 2 has one that
is linear in the acceleration, J a + J̇ v. The error of both is the target.

The value may lie `below` and `above` its target by a margin: 0 on both sides is an equation, infinity an inequality,
what is between them a tolerance. So limits, clearances and supports are tasks as well.

Two kinds of numbers are told apart. Structure (which frame, which rows) is compiled in. Run-time numbers (target,
margins, weight, gain, activation) are arguments of the compiled kernel, and change from tick to tick.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.arrays import Array as Numbers
from surefoot.arrays import finite_array, number
from surefoot.errors import ShapeError
from surefoot.kinematics import configuration_rate
from surefoot.ops import Array
from surefoot.robot import Robot

if TYPE_CHECKING:
    derived = cached_property
else:

    class derived:  # noqa: N801  (as `property`)
        """As `functools.cached_property`, which until Python 3.12 takes a lock and so three times as long.

        Two threads may both compute the value; that does no harm where it is the same.
        """

        def __init__(self, function: Any) -> None:
            self._function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: type) -> Any:
            if instance is None:
                return self
            found = instance.__dict__[self._name] = self._function(instance)
            return found


_RUN_TIME = ("name", "target", "weight", "gain", "below", "above", "activation")
_WHOLE, _PLAIN = (int, np.integer), (str, bool, int, float)


@dataclass(frozen=True, eq=False)
class Task(ABC):
    """Base of all tasks.

    A kind of task gives `measures`, `numbers_of` and `error`, and where it can `jacobian`, `bias` and `default_name`.

    Args:
        name: Unique among the tasks of a robot; `default_name` if omitted.
        priority: 0 goes first; what has a larger number is done with the freedom that is left.
        weight: Of the squared error among tasks of one priority: a number, or one for each row.
        gain: Share of the error that is to vanish in a second [1/s].
        below: How far the value may lie below its target: a number, or one for each row.
        above: The same above it.
        activation: How far the task counts: 0 is as if it were not there, 1 in full; see `weights`, `ik.Stepper.fade`.
    """

    _: KW_ONLY
    name: str = ""
    priority: int = 0
    weight: float | Numbers = 1.0
    gain: float = 1.0
    below: float | Numbers = 0.0
    above: float | Numbers = 0.0
    activation: float = 1.0

    def __post_init__(self) -> None:
        if self.name == "":
            object.__setattr__(self, "name", self.default_name)
        if not self.name or not isinstance(self.name, str):
            raise ShapeError("a task needs a name", evidence={"name": self.name})
        self._check()
        if isinstance(self.priority, bool) or not isinstance(self.priority, _WHOLE) or self.priority < 0:
            raise ShapeError(f"priority of task `{self.name}` must be 0, 1, 2, …", evidence={"priority": self.priority})
        if not _is_amount(self.gain):
            number(self.gain, f"gain of task `{self.name}`")
        if type(self.activation) is not float or self.activation != 1.0:
            require_activation(self.activation, self.name)
        if not self._is_plain:
            _ = self.weights, self.margins  # refuse wrong ones now

    def _check(self) -> None:
        """Refuse wrong rows and targets now."""
        _ = self.measures, self.numbers

    @property
    def default_name(self) -> str:
        """Name of a task that is given none: its kind, as "joint_limits"."""
        return _snake_case(type(self).__name__)

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
        numbers = self.numbers_of(target)
        if "target" not in self.__dict__ or len(numbers) != len(self.numbers):
            changed: dict[str, Any] = {"target": target}
            return replace(self, **changed)
        twin = object.__new__(type(self))  # all else is checked, and stays
        twin.__dict__.update(self.__dict__, target=target, numbers=numbers)
        return twin

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
        """J (rows, nv), over `ops`: the rate of the value is J v. By derivatives of the error unless overridden.

        Args:
            robot: The robot.
            q: (nq,) configuration.
            target: Its numbers.
        """
        error = self.error(robot, q, target)
        # G (nq, nv) with dq/dt = G v
        nv = len(robot.tree.armature)
        rates = ops.stack([configuration_rate(robot.tree, q, unit) for unit in np.eye(nv)], axis=1)
        return ops.stack([-ops.gradient(row, q) @ rates for row in error])

    def bias(self, robot: Robot, q: Array, v: Array, target: Array) -> Array:
        """dJ/dt v (rows,), over `ops`. By derivatives of J v unless overridden.

        Args:
            robot: The robot.
            q: (nq,) configuration.
            v: (nv,) velocity.
            target: Its numbers.
        """
        return ops.rate(self.jacobian(robot, q, target) @ v, q, configuration_rate(robot.tree, q, v))

    @derived
    def structure(self) -> tuple[Any, ...]:
        """All that is compiled in: tasks that agree in it share a kernel."""
        kind = type(self)
        return kind, *map(_identity, _compiled_in(kind)(self))

    @property
    def order(self) -> int:
        """0 if the value depends on q, 1 if it is linear in v, 2 if it is linear in the acceleration."""
        return 0

    # -- what follows from it -------------------------------------------------------------------------------------

    @derived
    def rows(self) -> int:
        """Number of rows."""
        return sum(count for _, count in self.measures)

    @derived
    def target_size(self) -> int:
        """How many numbers the target has."""
        return len(self.numbers)

    @derived
    def numbers(self) -> Numbers:
        """The target as a flat array."""
        return self.numbers_of(getattr(self, "target", None))

    @derived
    def margins(self) -> tuple[Numbers, Numbers]:
        """`below` and `above` for each row, (rows,) each."""
        return self._per_row("below"), self._per_row("above")

    @derived
    def weights(self) -> Numbers:
        """`weight` for each row, as far as the task is active, (rows,)."""
        found = self._per_row("weight")
        return found if self.activation == 1.0 else self.activation * found

    @property
    def is_equation(self) -> bool:
        """Whether there is no margin on either side."""
        if self._is_plain:
            return self.below == self.above == 0.0
        return not any(side.any() for side in self.margins)

    @property
    def allowances(self) -> tuple[Any, ...]:
        """Weights and margins in a comparable form, for tasks of one structure."""
        if self._is_plain:
            return self.activation * self.weight, self.below, self.above
        return tuple(values.tobytes() for values in (self.weights, *self.margins))

    @derived
    def _is_plain(self) -> bool:
        """Whether weight and margins are numbers that need no closer look; arrays of them are made when asked for."""
        return _is_amount(self.weight) and _is_amount(self.below) and _is_amount(self.above)

    def _per_row(self, what: str) -> Numbers:
        given = getattr(self, what)
        if _is_amount(given):
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


def require_activation(value: Any, name: str) -> None:
    """Refuse an activation outside 0 to 1."""
    if number(value, f"activation of task `{name}`") > 1.0:
        raise ShapeError(f"activation of task `{name}` must be between 0 and 1", evidence={"activation": value})


def _is_amount(value: Any) -> bool:
    """Whether it is a finite float from 0 on, as most weights, gains and margins are: these need no closer look."""
    return type(value) is float and 0.0 <= value < np.inf


@lru_cache(maxsize=256)
def _snake_case(name: str) -> str:
    return re.sub(r"(?<=.)(?=[A-Z])", "_", name).lower()


@lru_cache(maxsize=256)
def _compiled_in(kind: type[Task]) -> Callable[[Task], tuple[Any, ...]]:
    """Of a task of that kind: what is compiled in."""
    return attrgetter("is_equation", "rows", *(item.name for item in fields(kind) if item.name not in _RUN_TIME))


def _identity(value: Any) -> Any:
    """A hashable form of a field that differs with its last bit; other objects by their identity."""
    if value is None or isinstance(value, _PLAIN):
        return value
    if isinstance(value, list | tuple):
        return tuple(_identity(item) for item in value)
    return (value.shape, value.dtype.str, value.tobytes()) if isinstance(value, np.ndarray | np.generic) else id(value)


def limited_error(error: Array, below: Array, above: Array) -> Array:
    """Distance to the interval that the margins leave (rows,): 0 inside.   [tasks.margin].

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


@lru_cache
def pose_measures(kept: tuple[int, ...]) -> tuple[tuple[str, int], ...]:
    """Measures of rows of (x, y, z, rx, ry, rz): metres, then radians."""
    linear = sum(k < 3 for k in kept)
    return tuple(part for part in (("m", linear), ("rad", len(kept) - linear)) if part[1])


def masked(values: Array, rows: tuple[int, ...]) -> Array:
    """Some rows of an array."""
    return values[list(rows)]


@dataclass(frozen=True, eq=False)
class VectorTask(Task):
    """A task with a target (3,) in world axes, and a mask of "xyz"."""

    target: ArrayLike = (0.0, 0.0, 0.0)
    mask: Sequence[bool] | str | None = None

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """Rows that count."""
        return rows_of(self.mask, "xyz", f"task `{self.name}`")

    def numbers_of(self, target: Any) -> Array:
        """The vector (3,)."""
        return self.checked_target(target, (3,))
