"""Rates of a motion: are q, v and a consistent, and are they smooth?"""

from surefoot.feasibility.rates.consistency import (
    check_consistency,
    check_rate_spikes,
    near_switches,
    unseen_bends,
    velocity_misfit,
)
from surefoot.feasibility.rates.rates import Rates, check_base_jumps, check_jumps, check_smoothness, rates_of

__all__ = [
    "Rates",
    "check_base_jumps",
    "check_consistency",
    "check_jumps",
    "check_rate_spikes",
    "check_smoothness",
    "near_switches",
    "rates_of",
    "unseen_bends",
    "velocity_misfit",
]
