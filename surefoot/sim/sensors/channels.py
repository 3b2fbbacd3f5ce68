"""From true values to readings: noise, bias, quantisation, delay and drop-out of many sensors at once."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import ShapeError

Number = float | tuple[float, ...]
_BLOCK = 256  # readings whose random numbers are drawn together
_SCALED = ("noise", "noise_density", "bias", "bias_walk", "quantisation")


@dataclass(frozen=True)
class Channel:
    """What happens to a value between the world and the program; all zero for a perfect sensor.

    A number holds for every entry of the reading, a tuple gives one for each. The unit u is that of the reading.

    Args:
        noise: Standard deviation of white noise in each reading [u].
        noise_density: The same as a density [u/√Hz]: a standard deviation of noise_density/√dt.
        bias: Standard deviation, over runs, of an offset that is there from the start [u].
        bias_walk: How fast the offset wanders [u/√s].
        delay: From the world to the program [s], rounded to whole readings. Before the start all was as in the first.
        quantisation: Smallest step [u]; 0 for none.
        dropout: Share of the readings that never arrive, 0…1.
        burst: Mean length of a drop-out [s]; 0 where each reading is lost or not by itself. Gilbert 1960.
    """

    noise: Number = 0.0
    noise_density: Number = 0.0
    bias: Number = 0.0
    bias_walk: Number = 0.0
    delay: float = 0.0
    quantisation: Number = 0.0
    dropout: float = 0.0
    burst: float = 0.0

    def __post_init__(self) -> None:
        for item in fields(self):
            value = np.asarray(getattr(self, item.name), dtype=float)
            if not (np.isfinite(value).all() and (value >= 0.0).all()):
                raise ShapeError(f"`{item.name}` of a sensor is {value}, expected finite numbers ≥ 0")
        if self.dropout >= 1.0:
            raise ShapeError(f"`dropout` of a sensor is {self.dropout}, expected a share below 1")

    def scaled(self, factor: float) -> Channel:
        """The same in another unit: all sizes times `factor`."""
        larger: dict[str, Any] = {name: tuple(np.ravel(getattr(self, name)) * factor) for name in _SCALED}
        return replace(self, **larger)


@dataclass(frozen=True)
class Stream:
    """One reading: its name, what happens to it, its size, and whether its entries drop out one by one or together."""

    name: str
    channel: Channel
    size: int
    one_by_one: bool = False


class ChannelBank:
    """All readings of a robot in one vector, each with random numbers of its own.

    The random numbers of a reading depend on the seed and on its name alone, not on other readings.

    Args:
        streams: The readings, in the order of the vector.
        seed: Of all random numbers, ≥ 0.
        dt: Time between readings [s].
    """

    def __init__(self, streams: Sequence[Stream], seed: int, dt: float) -> None:
        self._streams, self._dt = tuple(streams), dt
        self._rngs = [np.random.default_rng([seed, zlib.crc32(s.name.encode())]) for s in self._streams]
        self._noise = np.hypot(self._each("noise"), self._each("noise_density") / np.sqrt(dt))
        self._walk = self._each("bias_walk") * np.sqrt(dt)
        self._quantum = self._each("quantisation")
        self._coarse = np.flatnonzero(self._quantum)
        self._steps = self._quantum[self._coarse]
        self._dropout = self._each("dropout")
        self._drops = bool(self._dropout.any())
        mean_length = np.maximum(self._each("burst") / dt, 1.0 / (1.0 - self._dropout))  # [readings]
        self._stay, self._enter = 1.0 - 1.0 / mean_length, self._dropout / (1.0 - self._dropout) / mean_length
        self._delay = np.rint(self._each("delay") / dt).astype(np.int64)
        self._past = np.zeros((int(self._delay.max(initial=0)) + 1, len(self._noise)))
        self._columns = np.arange(len(self._noise))
        self._count = 0
        self._bias = self._each("bias") * self._draw("standard_normal", 1)[0]
        self._lost_now = self._draw_drops(1)[0] < self._dropout
        self._errors = np.zeros((_BLOCK, len(self._noise)))
        self._lost = np.zeros(self._errors.shape, dtype=bool)

    @property
    def size(self) -> int:
        """Entries of all readings together."""
        return len(self._noise)

    def pass_on(self, true: Array) -> Array:
        """What arrives now: a new vector (size,), NaN where nothing does.

        Args:
            true: (size,) the true values now.
        """
        row = self._count % _BLOCK
        if row == 0:
            self._draw_block()
        value = true + self._errors[row]
        coarse, quantum = self._coarse, self._steps
        value[coarse] = np.rint(value[coarse] / quantum) * quantum
        value = self._delayed(value)
        if self._drops:
            value[self._lost[row]] = np.nan
        self._count += 1
        return value

    def _delayed(self, value: Array) -> Array:
        length = len(self._past)
        if length == 1:
            return value
        if self._count == 0:
            self._past[:] = value
        self._past[self._count % length] = value
        found: Array = self._past[(self._count - self._delay) % length, self._columns]
        return found

    def _draw_block(self) -> None:
        """Errors and losses of the next readings."""
        walk = self._bias + np.cumsum(self._walk * self._draw("standard_normal", _BLOCK), axis=0)
        self._errors = walk + self._noise * self._draw("standard_normal", _BLOCK)
        self._bias = walk[-1]
        chance = self._draw_drops(_BLOCK)
        if self._drops:
            for k in range(_BLOCK):
                self._lost_now = chance[k] < np.where(self._lost_now, self._stay, self._enter)
                self._lost[k] = self._lost_now

    def _draw(self, kind: str, count: int) -> Array:
        """(count, size) random numbers, each stream from its own generator."""
        parts = [getattr(rng, kind)((count, s.size)) for rng, s in zip(self._rngs, self._streams, strict=True)]
        return np.concatenate(parts, axis=1) if parts else np.zeros((count, 0))

    def _draw_drops(self, count: int) -> Array:
        """(count, size) uniform numbers, equal for entries that are lost together."""
        out = self._draw("random", count)
        start = 0
        for stream in self._streams:
            if not stream.one_by_one:
                out[:, start : start + stream.size] = out[:, start : start + 1]
            start += stream.size
        return out

    def _each(self, name: str) -> Array:
        """(size,) a number of the settings for each entry."""
        parts = []
        for stream in self._streams:
            value = np.ravel(np.asarray(getattr(stream.channel, name), dtype=float))
            if len(value) not in (1, stream.size):
                raise ShapeError(
                    f"`{name}` of sensor `{stream.name}` has {len(value)} numbers",
                    next_step=f"give one number, or one for each of its {stream.size} entries",
                )
            parts.append(np.broadcast_to(value, stream.size))
        return np.concatenate(parts) if parts else np.zeros(0)
