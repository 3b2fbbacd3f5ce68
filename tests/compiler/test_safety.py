"""Calls that could hurt: small stacks, interrupts, overlapping arrays, failing allocations."""

import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import surefoot as sf
from surefoot.codegen.batch import _Pieces, aligned_empty
from surefoot.codegen.repeated import Repeated
from surefoot.compiler.kernel_set import compile_robot
from surefoot.errors import ModelError, NotSupportedError, ShapeError, UnknownNameError
from tests.compiler.examples import kernel_of


@pytest.fixture(scope="module")
def robot():
    return sf.load("go1")


@pytest.fixture(scope="module")
def kernels(robot):
    return compile_robot(robot)


def states(robot, n, rng):
    return np.tile(robot.home, (n, 1)), rng.standard_normal((n, robot.nv)), rng.standard_normal((n, robot.nv))


@pytest.mark.slow
def test_threads_with_small_stacks():
    """Work space and scratch are not taken from the stack: talos' derivatives have megabytes of them."""
    code = """
import threading, numpy as np, surefoot as sf
robot = sf.load("talos"); k = sf.compile(robot); n = 24
q, v = np.tile(robot.home, (n, 1)), np.ones((n, robot.nv))
k.rnea_derivatives.single, k.rnea_derivatives.batch
threading.stack_size(262144)
def go():
    k.rnea_derivatives(q, v, v); k.rnea_derivatives(q[0], v[0], v[0])
thread = threading.Thread(target=go); thread.start(); thread.join(); print("alive")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=False)
    assert done.stdout.strip() == "alive", done.stderr[-500:]


def test_an_interrupt_waits_for_the_threads(robot, kernels):
    """Arrays are not freed while other threads write into them."""

    def stop(*_):
        raise KeyboardInterrupt

    def work():
        for _ in range(2000):
            kernels.generalized_gravity(np.tile(robot.home, (200_000, 1)), threads=2)

    old = signal.signal(signal.SIGALRM, stop)
    try:
        for _ in range(3):
            signal.setitimer(signal.ITIMER_REAL, 0.02, 1.0)  # again, should a destructor swallow the first
            with pytest.raises(KeyboardInterrupt):
                work()
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, old)
    assert not [t for t in threading.enumerate() if t.name.startswith("surefoot") and not t.is_alive()]


def test_no_piece_of_work_runs_or_begins_after_an_interrupt():
    """Also of those that were handed out without anybody knowing, as where the interrupt comes just then."""
    begun, go, done = threading.Event(), threading.Event(), []

    def part(bounds):
        begun.set()
        go.wait(10.0)
        done.append(bounds)
        return -1

    def interrupted(pool, late):
        with _Pieces(part) as pieces:
            late += [pool.submit(pieces.run, bounds) for bounds in ((0, 1), (1, 2))]
            begun.wait(10.0)
            threading.Timer(0.05, go.set).start()
            raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as pool:
        futures = []
        with pytest.raises(KeyboardInterrupt):
            interrupted(pool, futures)
        assert done == [(0, 1)]
        assert [future.result(10.0) for future in futures] == [-1, -1]
    assert done == [(0, 1)]


def test_overlapping_outputs_are_refused(robot, kernels, rng):
    q, v, a = states(robot, 40, rng)
    expected = kernels.rnea(q, v, a)
    room = np.empty((41, robot.nv))
    room[:40] = v
    with pytest.raises(ShapeError, match="overlaps"):
        kernels.rnea(q, room[:40], a, out=room[1:])
    same = v.copy()
    assert np.array_equal(kernels.rnea(q, same, a, out=same), expected), "an output may be an input as it is"
    D = np.empty((robot.nv, robot.nv))
    with pytest.raises(ShapeError, match="overlaps"):
        kernels.rnea_derivatives(q[0], v[0], a[0], out=[D, D, D])


def test_several_outputs_are_written_in_place(robot, kernels, rng):
    q, v, a = states(robot, 9, rng)
    for arguments in ((q, v, a), (q[0], v[0], a[0])):
        expected = kernels.rnea_derivatives(*arguments)
        for kind in (list, tuple):
            out = kind(np.full_like(x, np.nan) for x in expected)
            found = kernels.rnea_derivatives(*arguments, out=out)
            assert all(x is y for x, y in zip(found, out, strict=True))
            assert all(np.array_equal(x, y) for x, y in zip(out, expected, strict=True))
            counts = [sys.getrefcount(x) for x in out]
            with pytest.raises(ShapeError, match="cannot take"):
                kernels.rnea_derivatives(*arguments, out=kind([*out[:2], out[2][..., :3]]))
            assert [sys.getrefcount(x) for x in out] == counts


def test_a_failing_allocation_leaks_nothing():
    code = """
import resource, numpy as np, surefoot as sf
robot = sf.load("go1"); k = sf.compile(robot); n = 100_000
q, v = np.tile(robot.home, (n, 1)), np.zeros((n, robot.nv))
k.rnea_derivatives(q[:9], v[:9], v[:9])
def used(): return int(open("/proc/self/statm").read().split()[0]) * 4096
one = n * robot.nv**2 * 8
resource.setrlimit(resource.RLIMIT_AS, (used() + int(2.5 * one), resource.RLIM_INFINITY))
before = used()
for _ in range(4):
    try: k.rnea_derivatives(q, v, v); print("no error")
    except MemoryError: pass
print((used() - before) < one)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=False)
    assert done.stdout.strip() == "True", done.stdout + done.stderr[-500:]


def test_functions_with_a_q_of_their_own(robot):
    k = compile_robot(robot, functions={"f": (lambda q: 2 * q, {"q": (1,)}), "g": lambda v, q: 2 * q})
    assert k.f(np.array([3.0])) == 6.0
    with pytest.raises(ShapeError, match="quaternion"):
        k.g(np.zeros(robot.nv), np.zeros(robot.nq))


def test_scalar_parameters(robot):
    k = compile_robot(robot, functions={"f": (lambda s, q: q * s, {"s": ()})})
    assert np.array_equal(k.f(2.0, robot.home), 2 * robot.home)


@pytest.mark.parametrize("name", ["robot", "bits", "backend", "rnea", "_hidden", "not a name"])
def test_names_that_functions_cannot_have(robot, name):
    with pytest.raises(NotSupportedError, match="name"):
        compile_robot(robot, functions={name: lambda q: q})


def test_sets_travel_by_pickle(robot, kernels):
    kernels.generalized_gravity(robot.home)
    other = pickle.loads(pickle.dumps(kernels))
    assert np.array_equal(other.generalized_gravity(robot.home), kernels.generalized_gravity(robot.home))


def test_a_robot_without_joints_is_refused():
    still = sf.Robot.from_tree("still", [sf.Link("base", mass=1.0)], base="fixed")
    with pytest.raises(ModelError, match="no joints"):
        _ = compile_robot(still).rnea


def test_a_name_is_no_robot():
    with pytest.raises(NotSupportedError, match="load it first"):
        sf.compile("go1")


def unaligned(array):
    """A copy one byte past an aligned address."""
    memory = np.zeros(array.nbytes + 1, dtype=np.uint8)
    moved = memory[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


@pytest.mark.parametrize("name", ["g1", "talos"])
@pytest.mark.parametrize("n", [None, 1, 5, 64])
def test_arrays_that_are_not_aligned(name, n, rng):
    """Machine code may move whole vectors: such inputs are copied, such outputs refused, wherever they come in."""
    robot = sf.load(name)
    kernel = compile_robot(robot).rnea
    given = [x if n else x[0] for x in states(robot, n or 1, rng)]
    right, out = kernel(*given), np.zeros(given[1].shape)
    assert (kernel(*map(unaligned, given)) == right).all()
    assert (kernel(*(x.astype(">f8") for x in given), out=out) == right).all()
    for wrong in (unaligned(out), out.astype(">f8"), np.broadcast_to(0.0, out.shape)):
        with pytest.raises(ShapeError, match="`out` of `rnea` cannot take the result"):
            kernel(*given, out=wrong)
    with pytest.raises(ShapeError, match="`out` of `rnea` cannot take the result"):
        kernel.packed(*given, out=unaligned(kernel.packed(*given)))


def test_bound_arrays_are_aligned_and_do_not_overlap_in_part(robot, kernels, rng):
    q, v, a = (x[0] for x in states(robot, 1, rng))
    shared = np.zeros(robot.nv + 3)
    for arrays, reason in (
        ((q, v, a, unaligned(v)), "aligned"),
        ((unaligned(q), v, a, np.zeros(robot.nv)), "aligned"),
        ((q, v, shared[3:], shared[:-3]), "overlaps"),
    ):
        with pytest.raises(ShapeError, match=reason):
            kernels.rnea.bind(*arrays)
    tiles = [kernels.rnea.to_tiles(x) for x in states(robot, 64, rng)]
    size = len(tiles[1])
    whole = aligned_empty((size + 1, 2 * tiles[1].shape[1], tiles[1].shape[2])).reshape(-1, *tiles[1].shape[1:])
    with pytest.raises(ShapeError, match="overlaps"):
        kernels.rnea.tiled(tiles[0], tiles[1], whole[:size], out=whole[2 : size + 2])


def test_loops_end_only_by_outputs_that_they_have(rng):
    """Machine code reads the mark of a state where it is told to."""
    loop = Repeated(kernel_of(lambda x, u: x + u, (9,), (9,)), feedback={"x0": 0})
    given = {name: rng.standard_normal((3, 9)) for name in loop.names}
    for until in (1, -3, 1 << 40, 0.5):
        for run in (partial(loop, until=until), partial(loop.bind, until=until), partial(loop.each, until=until)):
            with pytest.raises(UnknownNameError, match="marks states as done"):
                run(given, 4)
    with pytest.raises(ShapeError, match="steps"):
        loop.bind(given, -1)


@pytest.mark.parametrize("wrong", [None, 7.0, np.ones((3, 2), complex), np.ma.ones((3, 2)), np.ones((3, 1, 1, 1, 1))])
def test_tiles_of_other_things_are_refused(kernels, wrong):
    for call in (kernels.crba.to_tiles, kernels.crba.tiled, kernels.crba.unpack):
        with pytest.raises(ShapeError):
            call(wrong)


def test_loops_over_time_write_only_what_can_be_written(rng):
    loop = Repeated(kernel_of(lambda x, u: x + u, (9,), (9,)), feedback={"x0": 0}, record=(0,))
    first, second = loop.names
    given = {first: rng.standard_normal((3, 9)), second: rng.standard_normal((3, 9))}
    record = loop(given, 4).records[0]
    for wrong in (unaligned(record), record.astype(">f8"), np.broadcast_to(0.0, record.shape), 7.0):
        with pytest.raises(ShapeError, match="`out` cannot take the records"):
            loop(given, 4, out={0: wrong})
    assert (loop({name: unaligned(x) for name, x in given.items()}, 4).records[0] == record).all()
    with pytest.raises(ShapeError, match="aligned"):
        loop.bind({**given, first: unaligned(given[first])}, 4)
    given[first].setflags(write=False)
    with pytest.raises(ShapeError, match="cannot be written"):
        loop.bind(given, 4)
