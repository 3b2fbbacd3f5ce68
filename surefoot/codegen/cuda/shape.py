"""How a kernel is spread over a multiprocessor of a GPU: warps, registers and shared memory."""

from __future__ import annotations

from typing import NamedTuple

from surefoot.codegen.cuda.plan import PITCH, WARP, Placement, place
from surefoot.codegen.program import Program

_SCHEDULERS = 4  # of a multiprocessor; its warps and registers are dealt out to them


class Device(NamedTuple):
    """Resources of one multiprocessor.

    Args:
        shared: Bytes of shared memory.
        per_block: Bytes of it that one block may use.
        registers: Registers of 32 bits.
    """

    shared: int = 233472
    per_block: int = 232448
    registers: int = 65536


HOPPER = Device()


class Shape(NamedTuple):
    """How a kernel is spread over a multiprocessor.

    Args:
        warps: Warps of a block.
        blocks: Blocks at the same time.
        values: Values of a state in registers.
        slots: Values of a state in the tile, about.
    """

    warps: int
    blocks: int
    values: int
    slots: int


def choose(program: Program, bits: int, device: Device = HOPPER) -> tuple[Shape, Placement]:
    """The shape of a kernel, and where its values are.

    As many warps as find room for all their values in registers and tiles, and for most of the inputs. If even eight do
    not, it is eight: fewer would not have more registers each, and too little to do while one of them waits. Less than
    that only to have the angles in the tile. (Measured on an H200 for inverse and forward dynamics and mass matrices.)

    Args:
        program: What to compute.
        bits: 64 or 32.
        device: The GPU that it is for.
    """
    for warps in range(16, 0, -2):
        shape = _shape(warps, bits, device)
        found = place(program, shape.values, shape.slots)
        if (warps > 8 and _is_comfortable(found)) or (warps <= 8 and found.early_angles):
            break
    return shape, found


def _shape(warps: int, bits: int, device: Device) -> Shape:
    """Blocks of two warps; some registers are the compiler's, and some shared memory the system's."""
    neighbours = -(-warps // _SCHEDULERS)
    registers = min(255, device.registers // _SCHEDULERS // (neighbours * WARP) // 8 * 8)
    values = registers * 9 // 10 - 9 if bits == 32 else (registers - 74) // 2
    bytes_of_block = min(device.per_block, device.shared * 2 // warps - 1024)
    return Shape(2, warps // 2, values, bytes_of_block // 2 // (PITCH * bits // 8))


def _is_comfortable(found: Placement) -> bool:
    """Nothing is far, and not much more than a third of the inputs is waited for one by one."""
    fetched = sum(step.action == "fetch" for step in found.steps)
    return found.early_angles and not found.far and 5 * fetched <= 3 * sum(run.size for run in found.runs)
