"""The controller under absurd ticks."""

import pytest

import surefoot as sf
from bench.cases.abuse import KINDS, abuse


def test_every_tick_is_safe_and_every_failure_has_a_name():
    found = abuse(sf.load("small-humanoid"), 300, seed=1)
    assert found["ticks"] == 300
    assert set(found["kinds"]) == {"calm", *KINDS}
    assert {"implausible state", "crossed bounds", "not finite", "no end"} <= set(found["reasons"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["g1", "talos", "hexapod"])
def test_ten_thousand_ticks(name):
    found = abuse(sf.load(name), 10_000, seed=2)
    assert found["fallbacks"] > 1000
    assert "error" not in found["reasons"]
