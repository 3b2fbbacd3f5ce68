"""The push map: bisection in every direction, rows with and without steps, the page."""

import pytest

from surefoot.errors import NotSupportedError
from surefoot.scenario.sweeps import push_map
from surefoot.scenario.sweeps.push_map import DIRECTIONS, PushMap, largest_survived, push_map_page


def test_bisection_finds_the_limit(monkeypatch):
    """Directions make valid scenarios; the search ends just below the largest push that is survived."""
    monkeypatch.setattr(push_map, "_survives", lambda scenario, other: scenario.events[0].impulse <= 20.0)
    for angle in DIRECTIONS[::3]:
        row = largest_survived("humanoid", "steps", float(angle), True, finest=0.01)
        unit = row.impulse_ns / row.share_of_m_omega_s
        assert 20.0 - 0.01 * unit <= row.impulse_ns <= 20.0
        assert row.stepping


def test_page_closes_whole_lines_only():
    rows = [push_map.PushRow(float(a), 20.0, 1.2, False, "balance") for a in DIRECTIONS]
    rows += [push_map.PushRow(float(a), 40.0, 2.4, True, "steps") for a in DIRECTIONS[:3]]
    page = str(push_map_page(PushMap("humanoid", True, tuple(rows))))
    assert page.count("<polygon") == 1
    assert page.count("<polyline") == 1
    assert "240%" in page


def test_only_bipeds_step():
    with pytest.raises(NotSupportedError, match="cannot stand by `steps`"):
        largest_survived("anymal", "steps", 0.0, True)
