"""Logs: what was appended is there, at any capacity."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import ShapeError, UnknownNameError
from surefoot.motion import Column, Log, LogWriter


def written(capacity: int = 2, n: int = 37) -> Log:
    writer = LogWriter({"base.height": "m", "force": "N"}, {"force": 3}, capacity)
    for k in range(n):
        tick = {"time": 0.1 * k, "force": [k, 2 * k, 3 * k]}
        writer.append(tick if k % 5 == 4 else {**tick, "base.height": k / 7})
    return writer.log(partial=True, metadata={"seed": 3})


def test_what_was_appended_is_there_whatever_the_capacity():
    small, large = written(1), written(1000)
    assert len(small) == 37
    for log in (small, large):
        np.testing.assert_array_equal(log["force"], np.outer(np.arange(37), [1, 2, 3]))
        height = log["base.height"]
        np.testing.assert_array_equal(np.isnan(height), np.arange(37) % 5 == 4)
        np.testing.assert_array_equal(height[~np.isnan(height)], (np.arange(37) / 7)[~np.isnan(height)])
    assert small.partial
    assert small.metadata["seed"] == 3
    assert small.column("force").unit == "N"


def test_slices_by_time_include_both_ends():
    log = written()
    part = log.between(log.time[3], log.time[9])
    np.testing.assert_array_equal(part.time, log.time[3:10])
    np.testing.assert_array_equal(part["force"], log["force"][3:10])
    assert part.partial
    assert len(log.between(50.0, 60.0)) == 0


def test_a_refused_tick_leaves_the_log_as_it_was():
    writer = LogWriter({"x": "m"})
    writer.append({"time": 0.0, "x": 1.0})
    for tick, kind in [
        ({"x": 1.0}, ShapeError),
        ({"time": 0.0}, ShapeError),
        ({"time": np.nan}, ShapeError),
        ({"time": 1.0, "x": [1.0, 2.0]}, ShapeError),
        ({"time": 1.0, "y": 1.0}, UnknownNameError),
    ]:
        with pytest.raises(kind):
            writer.append(tick)
    assert len(writer) == len(writer.log()) == 1


def test_columns_whose_entries_have_the_same_name_are_refused():
    time = Column("time", "s", np.arange(3.0))
    with pytest.raises(ShapeError, match=r"both have an entry `x\[0\]`"):
        Log.of(time, Column("x", "m", np.zeros((3, 2))), Column("x[0]", "m", np.ones(3)))
    with pytest.raises(ShapeError, match="both have an entry"):
        LogWriter({"x": "m", "x[1]": "m"}, {"x": 2})
    assert len(Log.of(time, Column("x", "m", np.zeros((3, 2))), Column("x[2]", "m", np.ones(3))).columns) == 3


def test_wrong_logs_are_refused():
    time = Column("time", "s", np.arange(3.0))
    with pytest.raises(ShapeError):
        Log.of(time, Column("x", "m", np.zeros(2)))
    with pytest.raises(ShapeError):
        Log.of(Column("x", "m", np.zeros(2)))
    with pytest.raises(ShapeError):
        Log.of(Column("time", "s", [0.0, 0.0]))
    with pytest.raises(UnknownNameError, match="did you mean `time`"):
        Log.of(time)["tme"]
