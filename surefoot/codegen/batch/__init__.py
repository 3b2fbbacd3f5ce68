"""Whole batches through one kernel: rows in and out of SIMD tiles, threads."""

from surefoot.codegen.batch.batches import (
    BatchRunner,
    addresses,
    aligned_empty,
    from_tiles,
    span,
    thread_count,
    to_tiles,
)
from surefoot.codegen.batch.driver import with_wide_vectors
from surefoot.codegen.batch.ir_builder import DOUBLE, I32, I64, POINTER, Writer, number
from surefoot.codegen.batch.rows import UNIT_TOLERANCE, RowTransfers

__all__ = [
    "DOUBLE",
    "I32",
    "I64",
    "POINTER",
    "UNIT_TOLERANCE",
    "BatchRunner",
    "RowTransfers",
    "Writer",
    "addresses",
    "aligned_empty",
    "from_tiles",
    "number",
    "span",
    "thread_count",
    "to_tiles",
    "with_wide_vectors",
]
