"""Simulation by MuJoCo: the judge of our motions, independent of our own dynamics."""

from surefoot.sim.mujoco_engine import MujocoEngine
from surefoot.sim.mujoco_model import MujocoModel, build_mujoco
from surefoot.sim.mujoco_state import q_v, qpos_qvel
from surefoot.sim.pushes import Push
from surefoot.sim.simulate import DivergedError, Settings, Simulation, simulate

__all__ = [
    "DivergedError",
    "MujocoEngine",
    "MujocoModel",
    "Push",
    "Settings",
    "Simulation",
    "build_mujoco",
    "q_v",
    "qpos_qvel",
    "simulate",
]
