"""What native loops share that feed outputs back into inputs: they read a plan besides the kernel's spec."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from surefoot.compiler.ir_builder import I64, number
from surefoot.compiler.repeated_plan import PLAN
from surefoot.compiler.row_transfers import RowTransfers
from surefoot.compiler.spec import FIELDS

__all__ = ["PlannedLoop"]


class PlannedLoop(RowTransfers):
    """A loop with `spec`, `plan`, `results` and `stride` set by the subclass."""

    spec: Any
    plan: Any
    results: Any
    stride: Any

    def planned(self, name: str, k: Any, kind: ir.Type = I64) -> Any:
        """Word k of a row of the plan."""
        return self.item(self.at(self.plan, number(8 * PLAN[name])), k, kind)

    @contextmanager
    def states(self) -> Iterator[tuple[Any, Any]]:
        """For every input k that is fed back, with the number of the output that it comes from."""
        with self.loop(self.word(self.spec, FIELDS["inputs"])) as k:
            source = self.planned("feedback", k)
            with self.b.if_then(self.b.icmp_signed(">=", source, number(0))):
                yield k, source

    def result_tile(self, tile: Any) -> Any:
        """Where the results of a tile begin."""
        return self.at(self.results, self.b.mul(tile, self.stride))
