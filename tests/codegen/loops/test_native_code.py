"""Machine code of loops against the same text run by Python."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from surefoot.codegen.loops.machine_code import Floats, Ints, NativeCode
from surefoot.errors import NotSupportedError
from surefoot.solvers.hierarchy.passes import PASS_FUNCTIONS, least_squares


def half(a: int) -> int:
    return a // 2


def mixture(a: Floats, marks: Ints, count: int, scale: float) -> float:
    total = 0.0
    k = 0
    while k < count and a[k] < 5.0:
        if a[k] > 1.0 or marks[k] == 7:
            total += scale * a[k]
        elif not a[k] > -1.0:
            total -= abs(a[k]) / 2
        else:
            marks[k] += half(k)
        k += 1
    for i in range(count - 1, 0, -2):
        if a[i] == 2.0:
            break
        total = max(total, min(a[i], 3)) + (1 if i > 3 else 0.5)
    return total


def refused_power(a: Floats) -> None:
    a[0] **= 2.0


def refused_chain(a: Floats) -> None:
    if 0.0 < a[0] < 1.0:
        a[0] = 2.0


def refused_else(a: Floats) -> None:
    for i in range(3):
        a[i] = 0.0
    else:  # noqa: PLW0120
        a[0] = 1.0


def refused_keyword(a: Floats) -> None:
    a[0] = half(a=4)


def is_number(x: float) -> int:
    return 0 if x != x else 1


CODE, EXACT = NativeCode([half, mixture]), NativeCode([half, mixture, is_number], exact=True)


def address(array):
    return array.ctypes.data


@pytest.mark.parametrize("seed", range(20))
def test_it_does_what_python_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, marks = np.round(3.0 * rng.normal(size=12)), rng.integers(0, 9, size=12)
    theirs = marks.copy()
    expected = mixture(a, theirs, 12, 0.3)
    assert CODE["mixture"](address(a), address(marks), 12, 0.3) == pytest.approx(expected, rel=1e-14, abs=1e-14)
    assert (marks == theirs).all()
    bound = CODE.bind("mixture", a, marks, 3, 0.0)
    bound.whole[2], bound.real[3], marks[:] = 12, 0.3, 9
    assert bound.run() == CODE["mixture"](address(a), address(marks), 12, 0.3)
    assert EXACT["mixture"](address(a), address(marks), 12, 0.3) == mixture(a, marks, 12, 0.3)


def test_a_real_one_solves_least_squares() -> None:
    rng, native = np.random.default_rng(0), NativeCode(PASS_FUNCTIONS)["least_squares"]
    A, b = rng.normal(size=(9, 4)), rng.normal(size=9)
    expected = np.linalg.lstsq(A, b)[0]
    for run in (
        lambda T, y, z: native(address(T), address(y), 9, 4, address(z), 1),
        lambda T, y, z: least_squares(T, y, 9, 4, z, 1),
    ):
        z = np.zeros(6)
        run(A.T.copy().ravel(), b.copy(), z)
        np.testing.assert_allclose(z, [0.0, *expected, 0.0], atol=1e-13)


def test_whole_numbers_are_divided_as_python_does() -> None:
    assert [CODE["half"](k) for k in range(-5, 6)] == [k // 2 for k in range(-5, 6)]


def test_nan_differs_from_itself() -> None:
    assert [EXACT["is_number"](x) for x in (1.0, np.inf, np.nan)] == [1, 1, 0]


@pytest.mark.parametrize("function", [refused_power, refused_chain, refused_else, refused_keyword])
def test_what_it_does_not_know_is_refused(function) -> None:
    with pytest.raises(NotSupportedError, match="cannot be translated"):
        _ = NativeCode([half, function])[function.__name__]


SOLVE = """
import sys
import os
import subprocess
import sys

import numpy as np
from surefoot.codegen.loops import machine_code
from surefoot.solvers.hierarchy import HierarchySolver, Level

if sys.argv[1] == "second":
    machine_code.translate = None  # calling it fails
A = np.random.default_rng(0).normal(size=(4, 6))
print(HierarchySolver().solve([Level(A, 1.0, 2.0), Level(np.eye(6), 0.5, 0.5)], -0.3, 0.3).x.tobytes().hex())
"""


@pytest.mark.slow
def test_a_second_process_reads_it_from_the_cache(tmp_path) -> None:
    def run(which: str) -> str:
        environment = {**os.environ, "SUREFOOT_CACHE": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", SOLVE, which], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    first = run("first")
    (file,) = (tmp_path / "kernels").iterdir()
    assert run("second") == first
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    with pytest.raises(subprocess.CalledProcessError):
        run("second")
