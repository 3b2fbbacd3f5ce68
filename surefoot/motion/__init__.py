"""Worlds, states, stances, trajectories and logs; what controllers and engines promise; layouts of other programs."""

from surefoot.motion.audit_result import AuditItem, AuditResult, Finding, Replay, Status
from surefoot.motion.exchange import from_layout, to_layout
from surefoot.motion.log import Column, Log, LogWriter
from surefoot.motion.mirror import Mirror, mirror_of
from surefoot.motion.protocols import Command, Controller, Engine, Estimator
from surefoot.motion.quintic import Quintic, linear_at, place_of
from surefoot.motion.side_names import side_pairs
from surefoot.motion.stance import ContactSchedule, Phase, Spot, Stance
from surefoot.motion.state import State
from surefoot.motion.trajectory import Sample, Trajectory
from surefoot.motion.world import (
    STANDARD_GRAVITY,
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
    "STANDARD_GRAVITY",
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
    "Mirror",
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
    "linear_at",
    "mirror_of",
    "place_of",
    "side_pairs",
    "stairs",
    "to_layout",
]
