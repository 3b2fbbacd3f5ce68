"""Build a simulation from a scenario."""

from surefoot.scenario.build.events import build_event, capture_impulse
from surefoot.scenario.build.simulation import DURATION, build_simulation, load_robot
from surefoot.scenario.build.world import build_ground, build_world

__all__ = [
    "DURATION",
    "build_event",
    "build_ground",
    "build_simulation",
    "build_world",
    "capture_impulse",
    "load_robot",
]
