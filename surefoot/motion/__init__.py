"""Worlds, states, stances, footsteps, trajectories and logs; protocols of controllers and estimators."""

from surefoot.motion.audit_result import AuditItem, AuditResult, Finding, Replay
from surefoot.motion.footstep import Footstep, StepSource
from surefoot.motion.log import Channel, Column, Log, LogWriter
from surefoot.motion.protocols import Command, Controller, Estimator, Observation
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
    "Channel",
    "Column",
    "Command",
    "ContactSchedule",
    "Controller",
    "Estimator",
    "Finding",
    "Footstep",
    "Ground",
    "GroundBox",
    "GroundPlane",
    "HeightField",
    "Log",
    "LogWriter",
    "MovableObject",
    "Observation",
    "Obstacle",
    "Phase",
    "Quintic",
    "Replay",
    "Sample",
    "Spot",
    "Stance",
    "State",
    "StepSource",
    "Trajectory",
    "World",
    "stairs",
]
