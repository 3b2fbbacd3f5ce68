"""Kernels of a robot on the GPU: built when they are first called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.codegen.arguments import Arguments
from surefoot.codegen.artifact import Recipe
from surefoot.codegen.cuda.module import CudaKernel


class GpuKernel:
    """A function of a robot for arrays of CuPy, or of any library that speaks DLPack; one thread per state.

    Args:
        recipe: What to compute.
        bits: 64 or 32.
        result: Makes the result of several outputs from their arrays; by default a tuple.
        variants: Further kernels by the name of the optional argument that calls for them.
    """

    def __init__(
        self,
        recipe: Recipe,
        bits: int,
        result: Callable[..., Any] | None = None,
        variants: Mapping[str, GpuKernel] | None = None,
    ) -> None:
        self.recipe, self.bits, self.result, self.variants = recipe, bits, result, dict(variants or {})
        self._arguments = Arguments(recipe, np.dtype(f"f{bits // 8}"), tuple(self.variants), options=("out",))

    @cached_property
    def compiled(self) -> CudaKernel:
        """The kernel for the GPU at hand."""
        name = "".join(c if c.isalnum() else "_" for c in self.recipe.name)
        return CudaKernel(self.recipe.program, self.bits, name)

    def __call__(self, *args: Any, out: Any = None, **named: Any) -> Any:
        """Compute on CuPy's current stream.

        Args:
            *args: Inputs in their order, (n, …) or of one state.
            out: CuPy array (or list of them) to write into.
            **named: Inputs by name.
        """
        given = self._arguments.by_name(args, named)
        for name, variant in self.variants.items():
            if given.get(name) is not None:
                return variant(*(given[x] for x in variant.recipe.inputs), out=out)
        found = self.compiled(*(given[name] for name in self.recipe.inputs if name in given), out=out)
        return self.result(*found) if self.result is not None and isinstance(found, tuple) else found

    def prepare(self, build: str) -> None:
        """Build now what would be built at the first call.

        Args:
            build: Not used: one build serves one state and many.
        """
        self.compiled  # noqa: B018
