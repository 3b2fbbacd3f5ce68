"""How close a kernel is to what the CPU can do."""

from __future__ import annotations

from typing import Any

from surefoot.compiler import Kernel
from surefoot.compiler.llvm_text import kernel_text

__all__ = ["limit_of", "memory_operations"]


def limit_of(kernel: Kernel, seconds: float, machine: dict[str, Any]) -> dict[str, Any]:
    """Work for one state, and arithmetic instructions per cycle against the most that the CPU does.

    An instruction works on one vector of states; a fused multiply-add is one, a sine counts as one although it is
    many, so that the true figure is a little higher.

    Args:
        kernel: The kernel.
        seconds: Time for one state of a batch in tiles [s].
        machine: Facts of the machine.
    """
    found = kernel.artifact
    per_cycle = found.operations / (found.build.width * seconds * machine["clock_hz"])
    return {
        "operations_per_state": found.operations,
        "stored_values_per_state": found.slots,
        "instructions_per_cycle": per_cycle,
        "share_of_peak": per_cycle / machine["peak_instructions_per_cycle"],
    }


def memory_operations(kernel: Kernel) -> dict[str, Any]:
    """Vector loads and stores of the assembly; what is beyond inputs and results is spilled from registers.

    Values that leave their register are planned before LLVM sees the program, so that the text tells. Looped code
    does not tell: None.

    Args:
        kernel: The kernel; its program is traced anew.
    """
    build, recipe = kernel.artifact.build, kernel.recipe
    if recipe.emit is not kernel_text:
        return {"loads": None, "spill_stores": None}
    text = recipe.emit(recipe.program, build, "limit").text
    stores = text.count(f"store {build.vector} ")
    return {"loads": text.count(f"= load {build.vector},"), "spill_stores": stores - len(recipe.program.slots)}
