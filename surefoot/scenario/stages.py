"""The stages of a run, for progress reports."""

from __future__ import annotations

from collections.abc import Callable

COMPILING = "compiling"
SIMULATING = "simulating"
AUDITING = "auditing"
REPORTING = "writing the report"

STAGES = (COMPILING, SIMULATING, AUDITING, REPORTING)
"""In their order; a run without an audit omits that one."""

Tell = Callable[[str, float], None]
"""Called with a stage and the share of it that is done, 0…1."""


def told_nobody(stage: str, share: float) -> None:
    """Report progress to nobody.

    Args:
        stage: What is done now.
        share: How much of it is done.
    """
