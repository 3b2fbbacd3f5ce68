"""Receding horizons: a window of an optimal-control problem is solved anew from each measured state."""

from surefoot.ocp.receding.horizon import Horizon, Plan
from surefoot.ocp.receding.mpc import Mpc

__all__ = ["Horizon", "Mpc", "Plan"]
