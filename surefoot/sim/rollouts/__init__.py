"""Many copies at once, open loop."""

from surefoot.sim.rollouts.mujoco import MujocoRollout
from surefoot.sim.rollouts.native import NativeRollout, Variant, compiled_step
from surefoot.sim.rollouts.request import Request, RolloutSettings, make_request
from surefoot.sim.rollouts.rollout import Rollout, rollout

__all__ = [
    "MujocoRollout",
    "NativeRollout",
    "Request",
    "Rollout",
    "RolloutSettings",
    "Variant",
    "compiled_step",
    "make_request",
    "rollout",
]
