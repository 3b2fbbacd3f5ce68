"""The benchmark of walking references: what it measures, and that it refuses a wrong one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bench.cases import walking
from bench.check import WrongAnswerError
from surefoot.reduced import METHODS


def test_all_methods_are_timed(capsys):
    found = json.loads(json.dumps(walking.run(steps=2, quick=True)))
    assert set(found["rows_ms"]) == {*METHODS, "plan of mpc"}
    assert all(value > 0.0 for value in found["rows_ms"].values())
    walking.show(found)
    assert "preview" in capsys.readouterr().out


def test_a_reference_that_ends_elsewhere_is_refused(monkeypatch):
    right = walking.walking_reference
    monkeypatch.setattr(
        walking, "walking_reference", lambda *a, **k: replace(found := right(*a, **k), com=found.com + 0.02)
    )
    with pytest.raises(WrongAnswerError, match="does not end in the middle"):
        walking.run(steps=2, quick=True)
