"""Motions from anywhere: our own files, tables with named columns, logs of simulators and policies, arrays."""

from surefoot.motion.reading.base import turning
from surefoot.motion.reading.parts import PUSH, OrderJudge, OrderVerdict
from surefoot.motion.reading.read import GivenMotion, read_motion

__all__ = ["PUSH", "GivenMotion", "OrderJudge", "OrderVerdict", "read_motion", "turning"]
