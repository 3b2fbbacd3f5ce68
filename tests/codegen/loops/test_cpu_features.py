"""The same bits on every generation of CPUs that has AVX2: loops, kernels, and the switch that tests it."""

import json
import os
import subprocess
import sys

import pytest

from surefoot.codegen.llvm.native import _LEVELS, _has

pytestmark = pytest.mark.skipif(not _has("x86-64-v4"), reason="needs a CPU that is more than the one to compare with")

_SUMS = """
import json, numpy as np
from tests.codegen.loops.test_cpu_features import summed
from surefoot.codegen.loops import NativeCode
code, rng = NativeCode([summed]), np.random.default_rng(0)
out = []
for n in (3, 8, 17, 64, 129):
    x, y = rng.standard_normal((2, n))
    out.append(code["summed"](x.ctypes.data, y.ctypes.data, n).hex())
print(json.dumps(out))
"""
_KERNELS = """
import json, numpy as np, surefoot as sf
from surefoot.codegen.llvm import vector_width
robot, rng = sf.load("ur5"), np.random.default_rng(0)
q, v, a = rng.standard_normal((3, 37, robot.nv))
tau = sf.compile(robot).rnea(q, v, a)
print(json.dumps([vector_width(), tau.tobytes().hex()]))
"""
_SOLVER = """
import json, numpy as np
from surefoot.solvers import HierarchySolver, Level
rng, out = np.random.default_rng(0), []
for k in range(40):
    n = 12 + k % 20
    levels = []
    for m in (6, 9, 7):
        A, middle = rng.standard_normal((m, n)), rng.standard_normal(m)
        width = np.where(rng.random(m) < 0.4, 0.0, rng.random(m))
        levels.append(Level(A, middle - width, middle + width))
    out.append(HierarchySolver().solve(levels).x.tobytes().hex())
print(json.dumps(out))
"""


def summed(x: "Floats", y: "Floats", n: int) -> float:  # noqa: F821
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


def on(level: str, code: str, cache) -> list:
    """What a program prints on a CPU of a generation; on this one where none is given."""
    given = {**os.environ, "SUREFOOT_CPU": level, "SUREFOOT_CACHE": str(cache)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=given, check=False)
    assert done.returncode == 0, done.stderr[-800:]
    return json.loads(done.stdout)


def test_loops_do_not_depend_on_the_width_of_vectors(tmp_path):
    """Sums may be taken in vectors, in an order that depends on their width: the width is the same everywhere."""
    first, *others = (on(level, _SUMS, tmp_path) for level in ("", "x86-64-v3", "x86-64-v4"))
    assert all(other == first for other in others)


@pytest.mark.slow
def test_kernels_have_the_same_bits_whatever_their_width(tmp_path):
    found = {level: on(level, _KERNELS, tmp_path) for level in ("x86-64-v3", "x86-64-v4")}
    assert [width for width, _ in found.values()] == [4, 8]
    assert found["x86-64-v3"][1] == found["x86-64-v4"][1]


@pytest.mark.slow
def test_active_sets_have_the_same_bits(tmp_path):
    assert on("x86-64-v3", _SOLVER, tmp_path) == on("x86-64-v4", _SOLVER, tmp_path)


_REACH = """
import hashlib, json
import numpy as np
from surefoot.scenario import read_scenario
from surefoot.scenario.build import build_simulation
from surefoot.scenario.catalogue import overridden
log = build_simulation(overridden(read_scenario("reach"), ["simulation.duration=1.0"])).run()
content = [np.ascontiguousarray(log[name]).tobytes() for name in ("q", "v", "tau")]
print(json.dumps([hashlib.sha256(b"".join(content)).hexdigest(), len(log.time)]))
"""


@pytest.mark.slow
def test_a_plan_and_its_run_have_the_same_bits(tmp_path):
    """`reach`: by inverse kinematics with collision avoidance, simulated."""
    first, other = on("", _REACH, tmp_path), on("x86-64-v3", _REACH, tmp_path)
    assert first == other
    assert first[1] > 100


def test_a_generation_that_does_not_exist_is_named(tmp_path):
    code = """
import json
from surefoot.codegen.llvm import vector_width
from surefoot.errors import SurefootError
try:
    vector_width()
except SurefootError as error:
    print(json.dumps([error.message, error.suggestions]))
"""
    message, near = on("x86-64-v33", code, tmp_path)
    assert "SUREFOOT_CPU" in message
    assert set(near) <= set(_LEVELS)
    assert near
