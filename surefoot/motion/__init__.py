"""Worlds, states, stances, trajectories and logs; protocols of controllers and engines; layouts of other programs."""

from surefoot.motion.audit_result import AuditItem, AuditResult, Finding, Replay, Status
from surefoot.motion.exchange import from_layout, to_layout
from surefoot.motion.log import Column, Log, LogWriter
from surefoot.motion.protocols import Command, Controller, Engine, Estimator
from surefoot.motion.quintic import Quintic
from surefoot.motion.stance import ContactSchedule, Phase, Spot, Stance
from surefoot.motion.state import State
from surefoot.motion.trajectory import Sample, Trajectory
from surefoot.motion.world import (
    Ground,
    GroundBox,
    GroundPlane,
    HeightField,
    MovableObject,
    Obstacle,
    World,
    stairs,
)

__all__ = [
    "AuditItem",
    "AuditResult",
    "Column",
    "Command",
    "ContactSchedule",
    "Controller",
    "Engine",
    "Estimator",
    "Finding",
    "Ground",
    "GroundBox",
    "GroundPlane",
    "HeightField",
    "Log",
    "LogWriter",
    "MovableObject",
    "Obstacle",
    "Phase",
    "Quintic",
    "Replay",
    "Sample",
    "Spot",
    "Stance",
    "State",
    "Status",
    "Trajectory",
    "World",
    "from_layout",
    "stairs",
    "to_layout",
]
