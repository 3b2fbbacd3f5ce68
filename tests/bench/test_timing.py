"""Percentiles, groups and the held core."""

from __future__ import annotations

import gc
import os
import time
from contextlib import suppress

import numpy as np
import pytest

from bench.machine import clock_rate, header, peak_rate, second_level_cache
from bench.timing import Effort, measure, pinned, summarise


def test_percentiles_are_the_medians_of_the_groups_for_one_state():
    steady = np.linspace(1.0, 3.0, 101)
    disturbed = 100.0 + steady
    found = summarise([steady, steady, disturbed], states=10)
    assert (found.p5, found.p50, found.p95) == pytest.approx((0.11, 0.2, 0.29))
    assert found.passes == 303
    assert found.json() == pytest.approx({"p5_us": 1.1e5, "p50_us": 2e5, "p95_us": 2.9e5, "passes": 303})


def test_percentiles_scale_with_time_and_do_not_depend_on_order(rng):
    groups = rng.uniform(1.0, 2.0, (5, 40))
    found, twice = summarise(groups, 1), summarise(2.0 * rng.permuted(groups, axis=1), 1)
    assert (twice.p5, twice.p50, twice.p95) == pytest.approx((2 * found.p5, 2 * found.p50, 2 * found.p95))
    assert found.p5 < found.p50 < found.p95


def test_every_group_has_its_passes_and_garbage_stays():
    calls = []

    def one_pass():
        calls.append(gc.isenabled())

    found = measure(one_pass, 1, Effort(repeats=3, seconds=0.0, passes=7))
    assert found.passes == 21
    assert len(calls) == 22  # one to warm up
    assert not any(calls[1:])
    assert gc.isenabled()


def test_garbage_is_collected_again_after_an_error():
    with pytest.raises(ZeroDivisionError):
        measure(lambda: 1 // 0, 1, Effort())
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system holds no threads")
def test_the_core_is_held_and_given_back():
    before = os.sched_getaffinity(0)
    with pinned() as core:
        assert os.sched_getaffinity(0) == {core}
    assert os.sched_getaffinity(0) == before
    with suppress(KeyError), pinned():
        raise KeyError
    assert os.sched_getaffinity(0) == before


def test_pinning_is_no_condition(monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", refuse, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    with pinned() as core:
        assert core is None


def test_the_header_names_machine_and_versions():
    found = header("dynamics", 7)
    assert (found["schema"], found["bench"], found["seed"]) == (1, "dynamics", 7)
    assert found["machine"]["cores"] == os.cpu_count()
    assert found["machine"]["clock_hz"] > 0
    assert {"pin", "mujoco", "numpy", "surefoot", "python"} <= set(found["versions"])


def test_a_clock_and_a_peak_of_this_world():
    assert 1e8 < clock_rate() < 1e10
    assert 1e7 < peak_rate() < 1e11
    assert second_level_cache() >= 1 << 14


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system holds no threads")
def test_what_else_runs_on_a_held_core_does_not_count():
    effort = Effort(repeats=1, seconds=0.0, passes=3)
    with pinned():
        assert measure(lambda: time.sleep(0.02), 1, effort).p50 < 0.01
    if len(os.sched_getaffinity(0)) > 1:
        assert measure(lambda: time.sleep(0.02), 1, effort).p50 >= 0.02
