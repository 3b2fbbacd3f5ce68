"""`TickGuard`: no tick of a controller raises, and no trouble goes without a name in the log."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from itertools import groupby

import numpy as np

from surefoot.arrays import Array
from surefoot.control.legged.body import LeggedBody
from surefoot.control.whole_body import TROUBLES
from surefoot.motion import Channel, Command, Observation, State

__all__ = ["TickGuard"]

_SILENT, _ERROR = "silent sensors", "error"
_NUMBERS = {name: k for k, name in enumerate((*TROUBLES, _SILENT, _ERROR), 1)}


class TickGuard:
    """Stands around `observe` and `command` of a controller: what fails there becomes a fallback with a name.

    The name of an exception says its type and message; it is counted in `body.troubles` and seen in the metrics of a
    run as `fallback_reasons`. Of messages from the same line only the first is kept: they may hold numbers.

    Args:
        body: Gives the safe command, and counts.
    """

    def __init__(self, body: LeggedBody) -> None:
        self._body, self._noted = body, ""
        self.sound = 0.0
        """When a tick was solved last [s]."""
        self._kinds: dict[str, list[str]] | None = None  # readings by kind: joint, imu, contact, …
        self._names: dict[tuple[str, int | None], str] = {}

    def observe(self, seen: Observation, *others: Callable[[Mapping[str, Array]], None]) -> list[float] | None:
        """What is known about contacts. If nothing arrives from all sensors of a kind, they are noted as silent.

        Args:
            seen: Now.
            *others: Take the readings.

        Returns:
            How sure each foot touches; None if nobody knows.
        """
        touching = None
        try:
            self._noted = _SILENT if self._is_silent(seen) else ""
            for take in others:
                take(seen.readings)
            touching = self._body.touching(seen.touching) if _arrives(seen.touching) else None
        except Exception as error:  # noqa: BLE001 - a robot that stands must not be dropped
            self._noted = self._named(error)
        if self._noted:
            self._body.troubles[self._noted] += 1
        return touching

    def command(self, t: float, state: State, make: Callable[[float, Array, Array], Command]) -> Command:
        """The command of a controller, or a safe one; `body.trouble` then says why.

        Args:
            t: Time [s].
            state: The state.
            make: Makes the command from the time, q and v.
        """
        body, q, v = self._body, np.asarray(state.q), np.asarray(state.v)
        fallbacks = body.fallbacks
        try:
            found = make(t, q, v) if body.problem.is_plausible(q, v) else body.fall_back("implausible state")
        except Exception as error:  # noqa: BLE001 - as above
            found = body.fall_back(self._named(error))
        self.sound = t if body.fallbacks == fallbacks else self.sound
        body.trouble, self._noted = body.trouble or self._noted, ""
        return found

    def _is_silent(self, observation: Observation) -> bool:
        if self._kinds is None and (readings := observation.readings):
            names = groupby(sorted(readings), lambda name: name.partition(".")[0])
            self._kinds = {kind: list(of_kind) for kind, of_kind in names}
        read, kinds = observation.readings, self._kinds.values() if self._kinds and observation.readings else ()
        silent = (not any(_arrives(read[name]) for name in names) for names in kinds)
        return not _arrives(observation.touching) or any(silent)

    def _named(self, error: Exception) -> str:
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{_ERROR}: {type(error).__name__}: {error}".partition("\n")[0]
        return self._names.setdefault((place.filename, place.lineno), text)

    @property
    def channels(self) -> list[Channel]:
        """Columns of the log. A trouble is logged by its place in `TROUBLES`, from 1; then silent sensors, errors."""
        body = self._body
        return [
            Channel("passes", "1", None, lambda: float(body.passes)),
            Channel("violation", "N | N m", None, lambda: body.violation),
            Channel("fallbacks", "1", None, lambda: float(body.fallbacks)),
            Channel("trouble", "1", None, lambda: float(self.number_of(body.trouble))),
        ]

    @staticmethod
    def number_of(trouble: str) -> int:
        """How a trouble is logged; 0 for none.

        Args:
            trouble: Its name.
        """
        return _NUMBERS[trouble.partition(":")[0]] if trouble else 0


def _arrives(x: Array) -> bool:
    return bool(x[0] == x[0]) or not np.isnan(x).all()
