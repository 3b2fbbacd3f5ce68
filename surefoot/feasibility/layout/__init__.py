"""Were the numbers read correctly? Quaternions, units, axes, and columns that lead or lag."""

from surefoot.feasibility.layout.layout import check_layout
from surefoot.feasibility.layout.readings import OtherReading, check_readings, other_readings

__all__ = ["OtherReading", "check_layout", "check_readings", "other_readings"]
