"""Worlds, states, stances, trajectories and logs; what controllers and engines promise; layouts of other programs."""

from surefoot.motion.exchange import LAYOUTS, from_layout, to_layout
from surefoot.motion.exchange_files import StateTable, read_states, write_states
from surefoot.motion.ground import Ground, GroundBox, GroundPlane, HeightField, stairs
from surefoot.motion.log import Column, Log, LogWriter
from surefoot.motion.mirror import Mirror, mirror_of
from surefoot.motion.protocols import Command, Controller, Engine, Estimator
from surefoot.motion.quintic import Quintic
from surefoot.motion.stance import ContactSchedule, Phase, Spot, Stance
from surefoot.motion.state import State
from surefoot.motion.storage import export_csv, load_log, load_trajectory, save_log, save_trajectory
from surefoot.motion.trajectory import Sample, Trajectory
from surefoot.motion.world import MovableObject, Obstacle, World

__all__ = [
    "LAYOUTS",
    "Column",
    "Command",
    "ContactSchedule",
    "Controller",
    "Engine",
    "Estimator",
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
    "Sample",
    "Spot",
    "Stance",
    "State",
    "StateTable",
    "Trajectory",
    "World",
    "export_csv",
    "from_layout",
    "load_log",
    "load_trajectory",
    "mirror_of",
    "read_states",
    "save_log",
    "save_trajectory",
    "stairs",
    "to_layout",
    "write_states",
]
