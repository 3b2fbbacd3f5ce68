from collections.abc import Iterator
from threading import Barrier, Thread

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from surefoot.solvers import Group, explain
from surefoot.solvers.one_core import on_one_core


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    """Whatever the environment allows."""
    with threadpool_limits(2, user_api="blas"):
        assert set(threads()) == {2}
        yield


def threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_one_thread_inside_and_the_others_back_afterwards():
    explain([Group("a", [[1.0]], 1.0, 2.0)])  # as any caller before, on this thread
    before = threads()
    with on_one_core():
        assert set(threads()) == {1}
        with on_one_core():
            assert set(threads()) == {1}
        assert set(threads()) == {1}
    assert threads() == before


def test_threads_are_back_where_the_first_to_come_is_the_first_to_leave():
    before, both, left = threads(), Barrier(2), Barrier(2)

    def first() -> None:
        with on_one_core():
            both.wait()
        left.wait()

    other = Thread(target=first)
    other.start()
    both.wait(timeout=10.0)
    with on_one_core():
        left.wait(timeout=10.0)
    other.join()
    assert threads() == before
    with on_one_core():
        assert set(threads()) == {1}


def test_threads_are_back_after_an_error():
    before = threads()
    with pytest.raises(ValueError, match="inside"), on_one_core():
        raise ValueError("inside")
    assert threads() == before
