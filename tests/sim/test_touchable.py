"""Touchable obstacles carry robots in both engines, and touching them is no incident."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.geometry import Box
from surefoot.motion import Obstacle
from surefoot.robot import placement
from tests.sim.test_incidents import Still


@pytest.mark.parametrize("engine", ["mujoco", "native"])
@pytest.mark.parametrize("touchable", [True, False])
def test_a_table_carries_a_block(engine: str, touchable: bool) -> None:
    """Friction 0.3 holds on a slope of 0.2 rad, tan 0.2 < 0.3. Only obstacles that are not touchable are reported."""
    robot = sf.load("block")
    turn = np.array([[np.cos(0.2), 0, np.sin(0.2)], [0, 1, 0], [-np.sin(0.2), 0, np.cos(0.2)]])
    table = Obstacle("table", Box((1.0, 1.0, 0.1)), placement((0, 0, 0.5), turn), 0.3, touchable)
    world = sf.World(obstacles=(table,))
    q0 = np.array(robot.home)
    q0[:3] = turn @ [0.0, 0.0, 0.05 + 0.0502] + [0, 0, 0.5]
    q0[3:7] = [0.0, np.sin(0.1), 0.0, np.cos(0.1)]
    log = sf.simulate(robot, Still(0), world, 1.0, engine=engine, initial=sf.State.of(robot, q0))
    stays = np.linalg.norm(np.asarray(log["q"])[-1, :3] - q0[:3]) < 0.01
    assert stays == (touchable or engine == "mujoco")
    kinds = {item["kind"] for item in log.metadata["incidents"]}
    assert ("obstacle_touch" in kinds) == (engine == "mujoco" and not touchable)
