"""Robots are loaded once for all tabs, and a slow one does not hold up the others."""

from __future__ import annotations

import threading

import pytest

from surefoot.studio.files import RobotKey, RobotStore, robots

SLOW, QUICK = RobotKey("panda"), RobotKey("pendulum")


@pytest.fixture
def gate(monkeypatch):
    """Loading the slow robot waits for this, and is counted."""
    gate, load = threading.Event(), robots.load
    gate.loaded = []

    def waiting(source, **options):
        gate.loaded.append(source)
        assert source != SLOW.name or gate.wait(30.0)
        return load(source, **options)

    monkeypatch.setattr(robots, "load", waiting)
    yield gate
    gate.set()


def test_a_robot_that_loads_slowly_does_not_block_another_tab(tmp_path, gate):
    store, found = RobotStore(tmp_path), []
    tabs = [threading.Thread(target=lambda: found.append(store.get(SLOW))) for _ in range(3)]
    for tab in tabs:
        tab.start()
    other = threading.Thread(target=lambda: store.meshes(store.get(QUICK)), daemon=True)
    other.start()
    other.join(20.0)
    assert not other.is_alive(), "the other tab waits"
    gate.set()
    for tab in tabs:
        tab.join(30.0)
    assert gate.loaded.count(SLOW.name) == 1
    assert len(found) == 3
    assert found[0] is found[1] is found[2] is store.get(SLOW)


def test_a_robot_that_does_not_load_may_be_asked_for_again(tmp_path, monkeypatch):
    store, load = RobotStore(tmp_path), robots.load
    monkeypatch.setattr(robots, "load", lambda *_, **__: 1 / 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            store.get(QUICK)
    monkeypatch.setattr(robots, "load", load)
    assert store.get(QUICK) is store.get(QUICK)
