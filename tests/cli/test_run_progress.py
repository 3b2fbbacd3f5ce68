"""The bar of a run: its stages, and what is made for the first time."""

from __future__ import annotations

from itertools import pairwise

import pytest

from surefoot.cli.console import FirstTime
from surefoot.cli.run import share_of_run
from surefoot.codegen import cache
from surefoot.scenario.stages import STAGES


def test_the_bar_only_goes_forward_and_to_the_end():
    ends = [(share_of_run(stage, 0.0), share_of_run(stage, 1.0)) for stage in ("loading", *STAGES)]
    assert ends[0][0] == 0.0
    assert ends[-1][1] == 1.0
    for (_, end), (begin, _) in pairwise(ends):
        assert end == pytest.approx(begin)
    assert all(begin < end for begin, end in ends)


def test_what_is_made_for_the_first_time_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "cache"))
    assert FirstTime().text() == ""
    cache.store(cache.key("old"), b"x", {"robot": "a", "algorithm": "rnea", "build": ""})
    first_time = FirstTime()
    assert first_time.text() == ""
    cache.store(cache.key("1"), b"x", {"robot": "a", "algorithm": "swept volumes", "build": ""})
    assert first_time.text() == "built and cached: collision volumes of 1 link"
    cache.store(cache.key("2"), b"x", {"robot": "a", "algorithm": "swept volumes", "build": ""})
    assert "collision volumes of 2 links" in first_time.text()
    cache.store(cache.key("3"), b"x", {"robot": "a", "algorithm": "scene meshes", "build": ""})
    cache.store(cache.key("4"), b"x", {"robot": "a", "algorithm": "crba", "build": ""})
    text = first_time.text()
    assert "1 kernel" in text
    assert "1 kernels" not in text
    assert "report meshes" in text


def test_a_cache_that_cannot_be_read_is_not_told_of_here(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("SUREFOOT_CACHE", str(blocked / "cache"))
    assert FirstTime().text() == ""
