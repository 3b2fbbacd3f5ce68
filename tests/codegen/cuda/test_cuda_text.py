"""The CUDA text: run on the CPU as C++ where g++ is, compiled by nvcc where that is."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot import ops
from surefoot.codegen.cuda.shape import Shape
from surefoot.codegen.cuda.text import kernel_source
from surefoot.codegen.program import trace
from surefoot.dynamics import aba, crba, rnea
from tests.codegen.cuda.gpu_on_cpu import COMPILER, Emulated
from tests.compiler.examples import BOUNDED, random_code, robot_named, states, values_of

NVCC = shutil.which("nvcc")
needs_compiler = pytest.mark.skipif(not COMPILER, reason="no g++ to run the text with")
needs_nvcc = pytest.mark.skipif(not NVCC, reason="no nvcc")

CODE = random_code(0, 160)
NARROW = Shape(warps=1, blocks=1, values=9, slots=14)  # values far, results in many pieces, inputs one by one
TIGHT = Shape(warps=3, blocks=1, values=9, slots=4)  # not even angles
TOLERANCE = {64: 2e-13, 32: 2e-4}


def everything(x, y):
    """All operations; outputs of several shapes, with numbers, inputs and sines of inputs among them."""
    values = values_of(CODE, [*x, *y.ravel()], table=BOUNDED)
    outputs = ops.array([*values[:79], 0.25, -3.0]).reshape(3, 27), ops.array(values[79:]), x[1]
    return (
        *outputs,
        ops.sin(y[0, 0]),
        ops.cos(y[0, 0] * 2.0),
        -ops.array([x[0], y[1, 0], -x[0], ops.minimum(x[2], np.inf)]),
    )


def program_of_everything():
    x, y = ops.symbols("x", 3), ops.symbols("y", (2, 1))
    return trace([x, y], list(everything(x, y)), interleaved=False)


def program_of(name, algorithm, inputs=("q", "v", "a")):
    robot = robot_named(name)
    symbols = [ops.symbols(k, robot.nq if k == "q" else robot.nv) for k in inputs]
    return trace(symbols, [algorithm(robot.tree, *symbols)], interleaved=False)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("shape", [None, NARROW, TIGHT], ids=["chosen", "narrow", "tight"])
@pytest.mark.parametrize("bits", [64, 32])
def test_all_operations(bits, shape, tmp_path, rng):
    program = program_of_everything()
    kernel = Emulated(kernel_source(program, bits, "everything", shape=shape), tmp_path)
    dtype = np.dtype(f"f{bits // 8}")
    x, y = (rng.uniform(-1.0, 1.0, (n, *shape)).astype(dtype) for n, shape in ((101, (3,)), (101, (2, 1))))
    expected = [everything(*state) for state in zip(x.astype(float), y.astype(float), strict=True)]
    for n, columns in ((101, False), (101, True), (1, False), (32, True)):
        found = kernel(x[:n], y[:n], columns=columns)
        for k, ours in enumerate(found):
            theirs = np.array([np.asarray(state[k]) for state in expected[:n]])
            assert_allclose(ours, theirs, atol=TOLERANCE[bits], rtol=0.0)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize(
    ("name", "algorithm", "inputs", "bits"),
    [
        ("g1", rnea, "qva", 64), ("g1", rnea, "qva", 32), ("all kinds", rnea, "qva", 64), ("panda", aba, "qva", 64),
        ("all kinds", aba, "qva", 64), ("solo8", crba, "q", 64), ("solo8", crba, "q", 32),
    ],
)  # fmt: skip
def test_robots(name, algorithm, inputs, bits, tmp_path):
    """Against the same function on numbers, one state at a time."""
    robot, given = robot_named(name), states(robot_named(name), 35)._asdict()
    kernel = Emulated(kernel_source(program_of(name, algorithm, inputs), bits, "robot"), tmp_path)
    rows = [given[k] for k in inputs]
    expected = np.array([algorithm(robot.tree, *state) for state in zip(*rows, strict=True)])
    size = np.maximum(1.0, np.abs(expected).max(axis=tuple(range(1, expected.ndim)), keepdims=True))
    tolerance = 1e-10 if algorithm is aba else {64: 1e-12, 32: 1e-4}[bits]
    for columns in (False, True):
        (found,) = kernel(*rows, columns=columns)
        assert_allclose(found / size, expected / size, rtol=0.0, atol=tolerance)


def test_the_text_is_plain_and_always_the_same():
    first, second = (kernel_source(program_of_everything(), 64, "everything").text for _ in range(2))
    assert first == second
    assert "#include" not in first


@pytest.mark.parametrize("bits", [64, 32])
def test_numbers_are_exact(bits):
    x = ops.symbols("x", 1)
    number = 0.1 + 1e-17
    text = kernel_source(trace([x], [x * number], interleaved=False), bits, "scaled").text
    exact = float(np.float32(number)).hex() + "f" if bits == 32 else number.hex()
    assert exact in text


def assembled(source, folder):
    """Registers, stack frame and spills in bytes."""
    path = folder / f"{source.name}.cu"
    path.write_text(source.text)
    command = [NVCC, "-arch=sm_90", "-cubin", "-fmad=false", "-Xptxas", "-v", "-o", folder / "k.cubin", path]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert "warning" not in said
    frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", said)
    assert frames
    return [max(int(frame[k]) for frame in frames) for k in range(3)]


@pytest.mark.slow
@needs_nvcc
@pytest.mark.parametrize("bits", [64, 32])
def test_nvcc_takes_all_operations(bits, tmp_path):
    assembled(kernel_source(program_of_everything(), bits, "everything", shape=NARROW), tmp_path)


@needs_nvcc
@pytest.mark.parametrize(
    ("algorithm", "bits", "allowed"),
    [(rnea, 32, 0), *(pytest.param(*x, marks=pytest.mark.slow) for x in ((rnea, 64, 64), (aba, 32, 64)))],
)
def test_the_compiler_spills_next_to_nothing(algorithm, bits, allowed, tmp_path):
    """Where the values are was decided by us; what the compiler adds goes through device memory."""
    _, stores, loads = assembled(kernel_source(program_of("g1", algorithm), bits, "g1"), tmp_path)
    assert stores <= allowed
    assert loads <= allowed
