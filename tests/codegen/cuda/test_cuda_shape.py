"""Shapes fit the GPU that they are for."""

import pytest

from surefoot import ops
from surefoot.codegen.cuda.plan import PITCH, WARP
from surefoot.codegen.cuda.shape import HOPPER, Device, choose
from surefoot.codegen.program import trace
from surefoot.dynamics import aba, rnea
from tests.compiler.examples import robot_named

SMALL = Device(shared=65536, per_block=65536)  # half of what most GPUs have


def traced(name, algorithm):
    robot = robot_named(name)
    q, v, a = ops.symbols("q", robot.nq), ops.symbols("v", robot.nv), ops.symbols("a", robot.nv)
    return trace([q, v, a], [algorithm(robot.tree, q, v, a)], interleaved=False)


@pytest.mark.slow
@pytest.mark.parametrize("device", [HOPPER, SMALL], ids=["hopper", "small"])
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize(("name", "algorithm"), [("g1", rnea), ("g1", aba), ("solo8", aba), ("panda", rnea)])
def test_blocks_fit_into_a_multiprocessor(name, algorithm, bits, device):
    shape, found = choose(traced(name, algorithm), bits, device)
    used = found.slots * PITCH * bits // 8 * shape.warps
    assert used <= device.per_block
    assert (used + 1024) * shape.blocks <= device.shared
    assert shape.values * bits // 32 * shape.warps * WARP * shape.blocks < device.registers
    assert found.early_angles


def test_more_warps_where_a_state_takes_less():
    shapes = {name: choose(traced(name, aba), 32)[0] for name in ("g1", "solo8")}
    assert shapes["solo8"].blocks > shapes["g1"].blocks
