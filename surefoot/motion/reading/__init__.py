"""Motions from anywhere: our own files, tables with named columns, logs of simulators and policies, arrays."""

from surefoot.motion.reading.order import OrderVerdict, judge_order_over_time, other_order
from surefoot.motion.reading.parts import PUSH
from surefoot.motion.reading.read import GivenMotion, read_motion

__all__ = ["PUSH", "GivenMotion", "OrderVerdict", "judge_order_over_time", "other_order", "read_motion"]
