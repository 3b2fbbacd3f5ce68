"""Simulation with sensors, drives, contacts and events, in two engines: ours, and MuJoCo, the judge of our motions."""

from surefoot.sim.closed_loop import simulate
from surefoot.sim.events import Event, FrictionChange, ParameterError, Payload, Push, SensorLoss, TerrainChange
from surefoot.sim.mujoco import MujocoEngine, MujocoModel, build_mujoco, q_v, qpos_qvel
from surefoot.sim.native import NativeEngine
from surefoot.sim.rollouts import Rollout, rollout
from surefoot.sim.sensors import SensorSettings
from surefoot.sim.settings import Settings
from surefoot.sim.simulation import ControlError, DivergedError, Simulation, StoppedError

__all__ = [
    "ControlError",
    "DivergedError",
    "Event",
    "FrictionChange",
    "MujocoEngine",
    "MujocoModel",
    "NativeEngine",
    "ParameterError",
    "Payload",
    "Push",
    "Rollout",
    "SensorLoss",
    "SensorSettings",
    "Settings",
    "Simulation",
    "StoppedError",
    "TerrainChange",
    "build_mujoco",
    "q_v",
    "qpos_qvel",
    "rollout",
    "simulate",
]
