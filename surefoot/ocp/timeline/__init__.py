"""Phases of a motion and its two ends; names and numbers that users give."""

from surefoot.ocp.timeline.phases import Ends, PhaseSpec, Timeline, finite, names_of

__all__ = ["Ends", "PhaseSpec", "Timeline", "finite", "names_of"]
