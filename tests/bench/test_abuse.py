"""The controller under absurd ticks."""

import pytest

import surefoot as sf
from bench.cases.abuse import CONTROLLERS, KINDS, abuse


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_every_tick_is_safe_and_every_trouble_has_a_name_in_the_log(controller):
    found = abuse(sf.load("small-humanoid"), 500, 1, controller)
    assert found["ticks"] == 500
    assert set(found["kinds"]) - {"calm"} == set(KINDS)
    assert {"implausible state", "crossed bounds", "not finite", "no end"} <= set(found["reasons"])
    bugs = found["kinds"]["bug in the command"] + found["kinds"]["bug in observing"]
    assert (found["reasons"]["error"], found["reasons"]["silent sensors"]) == (bugs, found["kinds"]["silent sensors"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "controller"),
    [*((name, "balance") for name in ("g1", "talos", "hexapod")), ("g1", "steps"), ("g1", "walk")],
)
def test_ten_thousand_ticks(name, controller):
    found = abuse(sf.load(name), 10_000, 2, controller)
    assert found["fallbacks"] > 1000
    assert found["reasons"]["error"] == found["kinds"]["bug in the command"] + found["kinds"]["bug in observing"]
