"""The search for the largest push of a controller, on a robot that falls as it is told."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from surefoot.errors import NotSupportedError, SimulationError
from surefoot.scenario.catalogue import resolved_scenario
from surefoot.scenario.sweeps import CONTROLLERS, compare_controllers, controllers, controllers_page, push_unit
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


def test_pushes_without_a_margin_are_scaled() -> None:
    wipe = resolved_scenario("wipe", None)
    assert push_unit(wipe) == "the scenario's push"
    assert push_unit(resolved_scenario("push", None)) == "M ω s"
    half = controllers._with(wipe, "henze", 0.5, None)
    np.testing.assert_allclose(half.events[0].moment, [0.0, 1.5, 0.0])
    np.testing.assert_allclose(half.events[1].force, [0.0, 2.5, 0.0])
    with pytest.raises(NotSupportedError, match="no push"):
        push_unit(resolved_scenario("squat", None))


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["g1", "talos"])
def test_the_page_compares_at_least_eight_controllers(robot: str) -> None:
    rows = compare_controllers("push", robot, shares=(0.25,))
    assert [row.name for row in rows] == list(CONTROLLERS)
    stand = [row for row in rows if row.survived == 0.25]
    assert len(stand) >= 8
    page = str(controllers_page("push", robot, rows, (0.25,)))
    for row in stand:
        assert row.com_error_mm is not None
        assert page.count(row.name) >= 2, "in the table and in the figure"
