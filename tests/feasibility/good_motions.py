"""Motions that are physically possible, with exact rates, for planting defects in."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.interpolate import CubicSpline

import surefoot as sf
from surefoot.motion import Trajectory
from surefoot.robot import Robot
from surefoot.tasks import FramePose, FramePosition, Task

KNOTS = 21


@lru_cache(maxsize=16)
def loaded(name: str) -> Robot:
    return sf.load(name)


@lru_cache(maxsize=16)
def squat(
    name: str, rate: float = 200.0, duration: float = 4.0, depth: float = 0.06, sway: float = 0.02, lean: float = 0.0
) -> Trajectory:
    """Down and up again with a sway to the side, feet where they are at home; starts and ends at rest.

    Joints are splines over the depth, so that q, v and a agree exactly.
    """
    robot, path = loaded(name), _path(name, (lean, sway, -depth))
    t = np.linspace(0.0, duration, round(rate * duration) + 1)
    u, du, ddu = _there_and_back(t / duration, duration)
    q = path(u)
    dq, ddq = path(u, 1) * du[:, None], path(u, 2) * (du**2)[:, None] + path(u, 1) * ddu[:, None]
    q[:, 3:7] = robot.home[3:7]
    v, a = (np.hstack([rate_[:, :3], np.zeros((len(t), 3)), rate_[:, 7:]]) for rate_ in (dq, ddq))
    return Trajectory.of(robot, t, q, v, a=a)


@lru_cache(maxsize=32)
def _path(name: str, way: tuple[float, float, float]) -> CubicSpline:
    """The configuration over the share of the way, whatever the rate and the duration."""
    s = np.linspace(0.0, 1.0, KNOTS)
    return CubicSpline(s, _postures(loaded(name), s, way))


def _postures(robot: Robot, s: np.ndarray, way: tuple[float, float, float]) -> np.ndarray:
    """Postures with the feet at home and the base moved along a way; the base does not turn."""
    root = robot.tree.body_names[0]
    placed = robot.placements(robot.home)
    tasks = [
        _stay(robot, name, placed)
        for name, corners in robot.contact_corners(robot.home).items()
        if abs(corners[:, 2]).max() < 0.01
    ]
    q, out = robot.home, []
    for share in s:
        T = np.array(placed[root])
        T[:3, 3] += share * np.array(way)
        q = sf.ik.solve(robot, [*tasks, FramePose(root, T, name="base")], q, tolerances={"m": 1e-7, "rad": 1e-7}).q
        out.append(q)
    return np.array(out)


def _stay(robot: Robot, name: str, placed: dict[str, np.ndarray]) -> Task:
    surface = robot.contacts[name]
    T = placed[surface.frame]
    return (
        FramePosition(surface.frame, T[:3, 3], name=name)
        if surface.kind == "point"
        else FramePose(surface.frame, T, name=name)
    )


def _there_and_back(x: np.ndarray, duration: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """0 → 1 → 0 with two derivatives over time, at rest at both ends and in the middle of every end: sin⁴(π x)."""
    w = np.pi / duration
    s, c = np.sin(np.pi * x), np.cos(np.pi * x)
    return s**4, 4.0 * w * s**3 * c, 4.0 * w**2 * (3.0 * s**2 * c**2 - s**4)
