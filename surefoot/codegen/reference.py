"""The numpy backend: the algorithms as they are written, state by state. Slow; to debug with and to compare against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from surefoot.codegen.kernel import Kernel
from surefoot.errors import NotSupportedError
from surefoot.ops import Array


class ReferenceKernel(Kernel):
    """A `Kernel` that computes with numpy. It takes the same calls, but there are no tiles and nothing to bind."""

    def _entry(self) -> Callable[..., Any]:
        self._front = None
        return self._general

    def _run(self, arrays: Sequence[Array], out: Any, n: int | None, threads: int | str | None) -> Any:
        batch = [x if n is not None else x[None] for x in arrays]
        if self.recipe.needs_units and self.explain_units is not None:
            self.explain_units(np.asarray(batch[0], dtype=float))
        if self.recipe.reference is None:
            raise NotSupportedError(f"`{self.recipe.name}` has no reference")
        states = [self.recipe.reference(*state) for state in zip(*batch, strict=True)]
        if not states:
            zeros = [np.zeros(shape) for shape in self.recipe.input_shapes]
            states = [self.recipe.reference(*zeros)]
        found = [np.stack([np.asarray(x, dtype=float) for x in parts]) for parts in zip(*states, strict=True)]
        outputs = self.arguments.outputs(out, n, [x.shape[1:] for x in found])
        for target, values in zip(outputs, found, strict=True):
            target[...] = values[: len(target)] if n is not None else values[0]
        return self._result(outputs)

    def prepare(self, build: str) -> None:
        """There is nothing to build."""

    def tiled(self, *tiles: Array, out: Array | None = None, threads: int | str | None = None) -> Array:
        """Not with numpy."""
        raise NotSupportedError("the numpy backend has no tiles", next_step='compile with backend="llvm"')
