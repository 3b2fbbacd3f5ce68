from threading import Barrier, Thread

import numpy as np
from threadpoolctl import threadpool_info

from surefoot.solvers.one_core import on_one_core


def threads() -> list[int]:
    np.linalg.norm(np.ones(2))
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_one_thread_inside_and_the_others_back_after_the_last_has_left():
    before, both, left = threads(), Barrier(2), Barrier(2)
    seen: list[list[int]] = []

    def first() -> None:
        with on_one_core():
            both.wait()
        left.wait()

    other = Thread(target=first)
    other.start()
    with on_one_core():
        both.wait()
        left.wait()
        seen.append(threads())
    other.join()
    assert set(seen[0]) == {1}
    assert threads() == before


def test_threads_are_back_after_an_error():
    before = threads()
    try:
        with on_one_core():
            raise ValueError
    except ValueError:
        assert threads() == before
    else:
        raise AssertionError
