"""Time parametrisation: from a path of configurations to the fastest trajectory within limits."""

from surefoot.motion.timing.curve import Curve, rounded_curve, spline_curve
from surefoot.motion.timing.path import Lift, Path, PathPoints, path_through
from surefoot.motion.timing.retime import retime
from surefoot.motion.timing.timing import PathLimits, PathRows, RowsOf, Timing, affine_rows, time_path

__all__ = [
    "Curve",
    "Lift",
    "Path",
    "PathLimits",
    "PathPoints",
    "PathRows",
    "RowsOf",
    "Timing",
    "affine_rows",
    "path_through",
    "retime",
    "rounded_curve",
    "spline_curve",
    "time_path",
]
