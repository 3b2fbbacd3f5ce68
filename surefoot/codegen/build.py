"""How a kernel is built: lanes and floating-point type, and LLVM's names for them."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Build:
    """How a kernel is built.

    Args:
        width: SIMD lanes; 1 for single states.
        bits: 64 or 32: the floating-point type.
    """

    width: int
    bits: int

    @property
    def scalar(self) -> str:
        """LLVM's name of the floating-point type."""
        return "double" if self.bits == 64 else "float"

    @property
    def vector(self) -> str:
        """LLVM's name of a value of all lanes."""
        return self.scalar if self.width == 1 else f"<{self.width} x {self.scalar}>"

    @property
    def registers(self) -> int:
        """Values that the CPU holds in registers, but for a few that operations need."""
        return 28 if self.width * self.bits == 512 else 13

    @property
    def suffix(self) -> str:
        """The type in names of intrinsics."""
        return f"f{self.bits}" if self.width == 1 else f"v{self.width}f{self.bits}"

    @property
    def stride(self) -> int:
        """Bytes of one value of all lanes."""
        return self.width * self.bits // 8

    def number(self, value: float) -> str:
        """A constant of all lanes."""
        exact = float(np.float32(value)) if self.bits == 32 else value
        text = f"0x{struct.unpack('>Q', struct.pack('>d', exact))[0]:016X}"
        return text if self.width == 1 else f"splat ({self.scalar} {text})"
