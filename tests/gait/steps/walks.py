"""What every walk must keep, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import cos, sin

import numpy as np

from surefoot.gait import StepLimits, stance_of
from surefoot.motion import Footstep
from surefoot.robot import Robot, load

__all__ = ["BIPEDS", "limits_of", "require_lawful", "robot_of", "soles_apart", "standing", "step_at"]

BIPEDS = ["g1", "talos", "humanoid", "small-humanoid", "lola", "icub"]
Pose = tuple[float, float, float]


@cache
def robot_of(name: str) -> Robot:
    return load(name)


@cache
def limits_of(name: str) -> StepLimits:
    return StepLimits.of(robot_of(name))


@cache
def standing(name: str) -> tuple[Footstep, Footstep]:
    return stance_of(robot_of(name), robot_of(name).home)


def step_at(foot: str, x: float, y: float, yaw: float, z: float = 0.0) -> Footstep:
    c, s = cos(yaw), sin(yaw)
    return Footstep(foot, [[c, -s, 0, x], [s, c, 0, y], [0, 0, 1, z], [0, 0, 0, 1]])


def soles_apart(limits: StepLimits, a: Footstep, b: Footstep) -> bool:
    """Whether the soles do not overlap: a grid of points on each is outside the other one."""
    grid = np.array(np.meshgrid(*(np.linspace(-half, half, 15) for half in limits.sole))).reshape(2, -1).T
    for one, other in ((a, b), (b, a)):
        world = grid @ one.T[:2, :2].T + one.T[:2, 3]
        inside = (world - other.T[:2, 3]) @ other.T[:2, :2]
        if (np.abs(inside) < np.array(limits.sole) - 1e-9).all(axis=1).any():
            return False
    return True


def require_lawful(limits: StepLimits, support: Footstep, steps: Sequence[Footstep]) -> None:
    """Feet alternate, reaches are kept as the limits name them, soles do not overlap."""
    for step in steps:
        assert {step.foot, support.foot} == {limits.left, limits.right}
        sign = 1.0 if step.foot == limits.left else -1.0
        seen = np.linalg.inv(support.T) @ step.T
        out, turn = sign * seen[1, 3] - limits.width, sign * np.arctan2(seen[1, 0], seen[0, 0])
        shares = [
            seen[0, 3] / (limits.forward if seen[0, 3] > 0 else limits.backward),
            out / (limits.outward if out > 0 else limits.inward),
            turn / (limits.turn_out if turn > 0 else limits.turn_in),
        ]
        assert np.abs(shares).max() < 1.0 + 1e-6
        assert shares[0] ** 2 + max(shares[1], 0.0) ** 2 + shares[2] ** 2 < 1.0 + 1e-6
        assert soles_apart(limits, support, step)
        support = step
