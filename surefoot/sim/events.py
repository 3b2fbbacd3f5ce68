"""Events of a run: pushes, changes of the world, losses of sensors, errors of the model of a robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.motion import Ground

_NOTHING = 1e-9  # share of a step that is rounding


@dataclass(frozen=True, eq=False)
class Push:
    """A constant wrench on a link for a while.

    Args:
        time: When it begins [s].
        duration: How long it lasts [s].
        link: The link.
        wrench: (6,) force [N] and moment [N m] in world axes.
        at: Where the force acts: "body", at the centre of mass of the body that carries the link; or "com_height",
            straight above or below that, at the height of the robot's centre of mass.
        robot: Number of the robot.
    """

    time: float
    duration: float
    link: str
    wrench: Array
    at: Literal["body", "com_height"] = "body"
    robot: int = 0

    def __post_init__(self) -> None:
        wrench = np.array(self.wrench, dtype=float)
        if wrench.shape != (6,) or not np.isfinite(wrench).all():
            raise ShapeError("the wrench of a push needs six finite numbers", evidence={"wrench": self.wrench})
        _require_period("push", self.time, self.duration)
        wrench.setflags(write=False)
        object.__setattr__(self, "wrench", wrench)

    def share(self, t: float, dt: float) -> float:
        """Share, 0…1, of the step from t to t + dt [s] in which it acts, so that no impulse is lost between steps."""
        overlap = min(t + dt, self.time + self.duration) - max(t, self.time)
        return 0.0 if overlap <= _NOTHING * dt else min(1.0, round(overlap / dt, 9))


@dataclass(frozen=True, eq=False)
class FrictionChange:
    """The ground becomes rougher or smoother.

    Args:
        time: When [s].
        friction: New Coulomb coefficient.
        pieces: Which pieces of ground, by number; all if omitted.
    """

    time: float
    friction: float
    pieces: Sequence[int] | None = None

    def __post_init__(self) -> None:
        _require_period("change of friction", self.time)
        if not (np.isfinite(self.friction) and self.friction >= 0.0):
            raise ShapeError("friction must not be negative", evidence={"friction": self.friction})


@dataclass(frozen=True, eq=False)
class Payload:
    """A point mass is put on a link, and taken away again.

    Args:
        time: When [s].
        link: The link that carries it.
        mass: [kg].
        position: In the frame of the link [m].
        duration: How long [s].
        robot: Number of the robot.
    """

    time: float
    link: str
    mass: float
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    duration: float = np.inf
    robot: int = 0

    def __post_init__(self) -> None:
        _require_period("payload", self.time, self.duration)
        if not (np.isfinite(self.mass) and self.mass > 0.0):
            raise ShapeError("the mass of a payload must be positive", evidence={"mass": self.mass})


@dataclass(frozen=True, eq=False)
class TerrainChange:
    """The pieces of ground are replaced by others of the same kinds.

    Args:
        time: When [s].
        ground: The new pieces.
    """

    time: float
    ground: tuple[Ground, ...]

    def __post_init__(self) -> None:
        _require_period("change of terrain", self.time)


@dataclass(frozen=True, eq=False)
class SensorLoss:
    """Readings of some sensors do not arrive for a while.

    Args:
        time: When it begins [s].
        duration: How long it lasts [s].
        sensor: Names of the readings, with * and ? as wildcards.
        robot: Number of the robot.
    """

    time: float
    duration: float
    sensor: str
    robot: int = 0

    def __post_init__(self) -> None:
        _require_period("loss of a sensor", self.time, self.duration)


@dataclass(frozen=True, eq=False)
class ParameterError:
    """The simulated robot differs from the one that the controller knows, from the start.

    Args:
        mass: Factor on masses and moments of inertia.
        com: Shift of the centres of mass in body axes [m].
        link: The link whose body is changed; all if omitted.
        robot: Number of the robot.
    """

    mass: float = 1.0
    com: tuple[float, float, float] = (0.0, 0.0, 0.0)
    link: str | None = None
    robot: int = 0


Event = Push | FrictionChange | Payload | TerrainChange | SensorLoss | ParameterError


def _require_period(what: str, time: float, duration: float = 1.0) -> None:
    if not (np.isfinite(time) and time >= 0.0 and duration > 0.0):
        raise ShapeError(f"a {what} needs a time ≥ 0 and a duration > 0", evidence={"time": time, "duration": duration})
