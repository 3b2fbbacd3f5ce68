"""Phases of a motion, its two ends and its limits; names and numbers that users give."""

from surefoot.ocp.timeline.limits import LimitedTimeline, guessed, in_order, path_of
from surefoot.ocp.timeline.own import own_blocks, own_row_limits, variable_limits
from surefoot.ocp.timeline.phases import (
    Ends,
    PhaseSpec,
    Timeline,
    finite,
    names_of,
    of_type,
    require_start_on_contacts,
    share_at_end,
    swing_heights,
)

__all__ = [
    "Ends",
    "LimitedTimeline",
    "PhaseSpec",
    "Timeline",
    "finite",
    "guessed",
    "in_order",
    "names_of",
    "of_type",
    "own_blocks",
    "own_row_limits",
    "path_of",
    "require_start_on_contacts",
    "share_at_end",
    "swing_heights",
    "variable_limits",
]
