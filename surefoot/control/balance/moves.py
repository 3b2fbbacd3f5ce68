"""Moves of a robot that stands, as data: what they wish for at a time after they began.

Times are in seconds. Directions are those of the stance: x forward, y to the left, z up. All wishes begin and end at
zero with zero velocity and acceleration, so that moves can follow each other and overlap.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import cos, pi, sin
from typing import NamedTuple

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import ShapeError

__all__ = ["Lean", "Lift", "Move", "Press", "Reach", "Squat", "Timed", "Wipe", "Wishes", "envelope", "rise"]

Vector = tuple[float, float, float]


class Press(NamedTuple):
    """What a contact that presses should do.

    Args:
        way: (3, 3) position, velocity and acceleration relative to where it began [m].
        force: Normal force [N]; 0 while it is led through the air.
    """

    way: Array
    force: float


@dataclass
class Wishes:
    """What all moves wish for now; each with its velocity and acceleration.

    Args:
        com: (3, 3) displacement of the centre of mass.
        frames: (3, 3) displacement by frame.
        presses: By contact.
    """

    com: Array = field(default_factory=lambda: np.zeros((3, 3)))
    frames: dict[str, Array] = field(default_factory=dict)
    presses: dict[str, Press] = field(default_factory=dict)


@dataclass(frozen=True)
class Move:
    """A move.

    Args:
        start: When it begins; when the move before it in the list ends, if omitted.
    """

    start: float | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Timed(Move, ABC):
    """A move whose wishes depend on time alone.

    Args:
        start: See `Move`.
        duration: How long it takes, with both ramps.
        ramp: How long it takes to begin, and to end.
    """

    duration: float = field(default=4.0, kw_only=True)
    ramp: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        if not 0.0 < 2.0 * self.ramp <= self.duration:
            raise ShapeError(
                f"a move of {self.duration:g} s cannot begin and end within {self.ramp:g} s each",
                next_step="give it a ramp of at most half its duration",
            )

    @abstractmethod
    def add(self, s: float, wishes: Wishes) -> None:
        """Add what it wishes for.

        Args:
            s: Time since it began.
            wishes: To add to.
        """

    def _swing(self, s: float, frequency: float, phase: float = 0.0) -> Array:
        """(3,) sin(2π f s + phase) times the envelope; the envelope alone for the frequency 0."""
        e = envelope(s, self.duration, self.ramp)
        return e if frequency == 0.0 else _product(e, _wave(s, frequency, phase))


@dataclass(frozen=True)
class Squat(Timed):
    """Lower the centre of mass, again and again or once.

    Args:
        depth: How far down [m].
        frequency: How often [Hz]; 0: down, and up at the end.
        start: See `Move`.
        duration: See `Timed`.
        ramp: See `Timed`.
    """

    depth: float
    frequency: float = 0.5

    def add(self, s: float, wishes: Wishes) -> None:
        """See `Timed`."""
        down = self._swing(s, 0.0)
        if self.frequency > 0.0:  # half of 1 − cos
            down = 0.5 * (down - self._swing(s, self.frequency, 0.5 * pi))
        wishes.com[:, 2] -= self.depth * down


@dataclass(frozen=True)
class Lean(Timed):
    """Shift the centre of mass, or sway it.

    Args:
        offset: Forward and to the left [m].
        frequency: Of swaying [Hz]; 0: shift, and back at the end.
        start: See `Move`.
        duration: See `Timed`.
        ramp: See `Timed`.
    """

    offset: tuple[float, float]
    frequency: float = 0.0

    def add(self, s: float, wishes: Wishes) -> None:
        """See `Timed`."""
        wishes.com[:, :2] += np.outer(self._swing(s, self.frequency), self.offset)


@dataclass(frozen=True)
class Reach(Timed):
    """Move a frame somewhere, hold it there, and bring it back; an offset of zero holds it where it is.

    Args:
        frame: The link or frame.
        offset: Displacement [m].
        start: See `Move`.
        duration: See `Timed`.
        ramp: See `Timed`.
    """

    frame: str
    offset: Vector = (0.0, 0.0, 0.0)

    def add(self, s: float, wishes: Wishes) -> None:
        """See `Timed`."""
        before = wishes.frames.setdefault(self.frame, np.zeros((3, 3)))
        wishes.frames[self.frame] = before + np.outer(self._swing(s, 0.0), self.offset)


@dataclass(frozen=True)
class Wipe(Timed):
    """Press a contact surface with a given normal force onto what is before it, and stroke.

    It moves by `offset`, presses until something is met, strokes to and fro, leaves, and goes back. The normal is that
    of the surface where it began.

    Args:
        contact: The contact surface.
        force: Normal force [N].
        offset: Way to before the place [m].
        stroke: Amplitude of the strokes [m].
        frequency: Of the strokes [Hz].
        start: See `Move`.
        duration: See `Timed`.
        ramp: See `Timed`.
    """

    contact: str
    force: float
    offset: Vector = (0.0, 0.0, 0.0)
    stroke: Vector = (0.0, 0.0, 0.0)
    frequency: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.duration <= 4.0 * self.ramp:
            raise ShapeError("wiping takes longer than four ramps", next_step="give it more time, or shorter ramps")

    def add(self, s: float, wishes: Wishes) -> None:
        """See `Timed`."""
        inner, ramp = self.duration - 2.0 * self.ramp, self.ramp
        pressing = float(envelope(s - ramp, inner, ramp)[0])
        rest, begun = inner - 2.0 * ramp, s - 2.0 * ramp
        strokes = _product(envelope(begun, rest, min(ramp, 0.5 * rest)), _wave(begun, self.frequency))
        way = np.outer(self._swing(s, 0.0), self.offset) + np.outer(strokes, self.stroke)
        wishes.presses[self.contact] = Press(way, self.force * pressing)


@dataclass(frozen=True)
class Lift(Move):
    """Shift the weight off a foot, lift it, hold it, and put it down again where it touches.

    Args:
        foot: Name of the foot.
        height: How high [m].
        hold: How long it stays up.
        shift: How long the weight is shifted.
        swing: How long it goes up, and down.
        start: See `Move`.
    """

    foot: str
    height: float = 0.05
    hold: float = 2.0
    shift: float = 1.0
    swing: float = 0.6


def envelope(s: float, duration: float, ramp: float) -> Array:
    """(3,) smooth rise from 0 to 1 over a ramp, and fall over another at the end; velocity and acceleration.

    Args:
        s: Time since the beginning.
        duration: Of all.
        ramp: Of the rise, and of the fall.
    """
    return rise(s, ramp) if s < 0.5 * duration else rise(duration - s, ramp) * [1.0, -1.0, 1.0]


def rise(s: float, ramp: float) -> Array:
    """(3,) smooth rise from 0 to 1; velocity and acceleration.

    Args:
        s: Time since the beginning.
        ramp: How long it takes.
    """
    x = min(1.0, max(0.0, s / ramp))
    value = x * x * x * (10.0 - 15.0 * x + 6.0 * x * x)
    rate = 30.0 * x * x * (1.0 - x) ** 2 / ramp
    return np.array([value, rate, 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / ramp**2])


def _wave(s: float, frequency: float, phase: float = 0.0) -> Array:
    w = 2.0 * pi * frequency
    up, along = sin(w * s + phase), cos(w * s + phase)
    return np.array([up, w * along, -w * w * up])


def _product(a: Array, b: Array) -> Array:
    return np.array([a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + 2.0 * a[1] * b[1] + a[0] * b[2]])
