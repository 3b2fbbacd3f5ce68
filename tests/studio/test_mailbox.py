"""Work of a tab: in order, the newest of each kind, and errors end nothing."""

from __future__ import annotations

import threading

import pytest

from surefoot.studio.jobs import Mailbox


class Desk:
    """A mailbox whose first work waits until it is let go."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.errors: list[Exception] = []
        self._gate = threading.Event()
        self.box = Mailbox(self._guard, "test")
        self.box.post(self._gate.wait)

    def _guard(self, work) -> None:
        try:
            work()
        except ValueError as error:
            self.errors.append(error)

    def post(self, text: str, key: object = None) -> None:
        self.box.post(lambda: self.done.append(text), key)

    def finish(self) -> list[str]:
        over = threading.Event()
        self.box.post(over.set)
        self._gate.set()
        assert over.wait(20.0)
        return self.done


@pytest.fixture
def desk():
    desk = Desk()
    yield desk
    desk.box.close()


def test_work_is_done_in_order(desk):
    for text in "abc":
        desk.post(text)
    assert desk.finish() == ["a", "b", "c"]


def test_of_work_with_one_key_only_the_newest_is_done(desk):
    for k in range(100):
        desk.post(f"slider {k}", "slider")
    desk.post("button")
    assert desk.finish() == ["slider 99", "button"]


def test_an_error_does_not_end_the_thread(desk):
    def fail() -> None:
        raise ValueError("no")

    desk.box.post(fail)
    desk.post("after")
    assert desk.finish() == ["after"]
    assert len(desk.errors) == 1


def test_a_ticker_is_called_until_it_is_stopped(desk):
    ticks = threading.Semaphore(0)
    desk.finish()
    desk.box.tick(ticks.release, 0.001)
    assert all(ticks.acquire(timeout=20.0) for _ in range(5))
    desk.box.tick(None)
    desk.post("between")
    assert desk.finish() == ["between"]


def test_a_closed_mailbox_takes_nothing(desk):
    desk.finish()
    desk.box.close()
    desk.post("late")
    desk.box._thread.join(20.0)
    assert desk.done == []
