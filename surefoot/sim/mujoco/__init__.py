"""The engine MuJoCo, on a model that is built from the robot itself."""

from surefoot.sim.mujoco.engine import MujocoEngine
from surefoot.sim.mujoco.model import MujocoModel, build_mujoco, q_v, qpos_qvel
from surefoot.sim.mujoco.physics import warnings_kept
from surefoot.sim.mujoco.shapes import Meshes, add_shape
from surefoot.sim.mujoco.world import add_world

__all__ = [
    "Meshes",
    "MujocoEngine",
    "MujocoModel",
    "add_shape",
    "add_world",
    "build_mujoco",
    "q_v",
    "qpos_qvel",
    "warnings_kept",
]
