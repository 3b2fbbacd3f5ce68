"""Balance on any number of feet: stand, squat, lean, reach, lift a foot, wipe, and take pushes without a step."""

from surefoot.control.balance.controller import BalanceController, BalanceSettings
from surefoot.control.balance.moves import Lean, Lift, Move, Reach, Squat, Timed, Wipe
from surefoot.control.balance.recovery import StepRecovery

__all__ = [
    "BalanceController",
    "BalanceSettings",
    "Lean",
    "Lift",
    "Move",
    "Reach",
    "Squat",
    "StepRecovery",
    "Timed",
    "Wipe",
]
