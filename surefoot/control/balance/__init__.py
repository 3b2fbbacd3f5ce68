"""Balance on any number of feet: stand, squat, lean, reach, lift a foot, wipe, and take pushes without a step."""

from surefoot.control.balance.controller import BalanceController, BalanceSettings
from surefoot.control.balance.foot_lift import UNLOAD_TIME
from surefoot.control.balance.moves import Lean, Lift, Move, Reach, Squat, Timed, Wipe
from surefoot.control.balance.recovery import StepRecovery
from surefoot.control.balance.timed_tasks import HoldOrientation, HoldPosition, LookAt, TimedTask

__all__ = [
    "UNLOAD_TIME",
    "BalanceController",
    "BalanceSettings",
    "HoldOrientation",
    "HoldPosition",
    "Lean",
    "Lift",
    "LookAt",
    "Move",
    "Reach",
    "Squat",
    "StepRecovery",
    "Timed",
    "TimedTask",
    "Wipe",
]
