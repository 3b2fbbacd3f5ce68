"""The search for the largest push of a controller, on a robot that falls as it is told."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from surefoot.errors import SimulationError
from surefoot.scenario.sweeps import controllers
from surefoot.sim import StoppedError


@dataclass
class Settings:
    after_fall: float = 0.5


@pytest.mark.parametrize("least", [0.0, 0.3, 0.9, 1.0, 5.0])
def test_bisection_finds_the_largest_push(monkeypatch: pytest.MonkeyPatch, least: float) -> None:
    pushed: list[float] = []

    class Log:
        def __init__(self, fell: bool) -> None:
            self.metadata = {"fall_time_s": 1.0 if fell else None}

        def __getitem__(self, name: str) -> np.ndarray:
            return np.zeros(1)

    def made(share: float) -> SimpleNamespace:
        def run() -> Log:
            pushed.append(share)
            if share > 1.5:
                raise StoppedError(SimulationError("it flew away"), None)  # type: ignore[arg-type]
            return Log(share > least)

        return SimpleNamespace(settings=Settings(), run=run, robot=None, timing=lambda: {"controller": [0.0]})

    monkeypatch.setattr(controllers, "_with", lambda scenario, name, share, pace: share)
    monkeypatch.setattr(controllers, "build_simulation", made)
    monkeypatch.setattr(controllers, "_measured", lambda row, *_: row)
    row = controllers._compared(None, "henze", controllers.SHARES, None)  # type: ignore[arg-type]
    expected = max((share for share in controllers.SHARES if share <= min(least, 1.5)), default=0.0)
    assert row.survived == expected
    assert pushed[0] == controllers.SHARES[0]
    assert len(pushed) <= 5
    assert ("flew" in (row.trouble or "")) == (least > 1.5)
