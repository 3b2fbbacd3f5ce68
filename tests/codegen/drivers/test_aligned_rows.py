"""Dense results at any place in memory: every number where it belongs, and none beside it."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot import ops
from surefoot.codegen import compile_function


def sized(size: int, dtype: str):
    """A function with an output of so many entries: some vary, some are the same for all states."""

    def values(x):
        return ops.array([x[k % 3] * (k + 1.0) if k % 5 < 3 else float(k // 16) for k in range(size)])

    return compile_function(f"values {size}", values, {"x": (3,)}, dtype=dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [1, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100])
def test_rows_of_any_length_at_any_place(size: int, dtype: str, rng) -> None:
    kernel = sized(size, dtype)
    for n in (1, 2, 7, 8, 9, 16, 17, 40):
        x = rng.normal(size=(n, 3)).astype(dtype)
        expected = kernel.unpack(kernel.packed(x))[0].reshape(n, size)
        for beyond in range(0, 16, 1 if n == 9 else 5):
            room = np.full(n * size + 64, 7.0, dtype=dtype)
            out = room[32 + beyond : 32 + beyond + n * size].reshape(n, size)
            kernel(x, out=out)
            assert np.array_equal(out, expected)
            assert (room[: 32 + beyond] == 7.0).all()
            assert (room[32 + beyond + n * size :] == 7.0).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_matrices_of_a_robot_at_odd_places(threads: int, rng) -> None:
    robot = sf.load("panda")
    k = sf.compile(robot)
    q = rng.uniform(-1.0, 1.0, (203, robot.nq))
    kernel = k.bundle(["M", "J:panda_hand", "T:panda_hand"])
    expected = kernel.unpack(kernel.packed(q))
    shapes = [(203, *shape) for shape in kernel.artifact.output_shapes]
    rooms = [np.full(int(np.prod(shape)) + 9, np.nan) for shape in shapes]
    outs = [
        room[3 + i : 3 + i + int(np.prod(shape))].reshape(shape)
        for i, (room, shape) in enumerate(zip(rooms, shapes, strict=True))
    ]
    kernel(q, out=outs, threads=threads)
    for i, (out, right, room) in enumerate(zip(outs, expected, rooms, strict=True)):
        assert np.array_equal(out, right)
        assert np.isnan(room[: 3 + i]).all()
        assert np.isnan(room[3 + i + out.size :]).all()
