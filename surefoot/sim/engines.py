"""The engines by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.errors import one_of
from surefoot.motion import World
from surefoot.robot import Robot
from surefoot.sim.engine import PhysicsEngine
from surefoot.sim.mujoco_engine import MujocoEngine
from surefoot.sim.settings import Settings

__all__ = ["ENGINES", "make_engine"]

ENGINES = {
    "mujoco": ("convex_pieces", "progress"),
    "native": (
        *("contact", "integrator", "limits", "friction", "springs"),
        *("constraint_method", "stabilisation", "baumgarte", "held"),
    ),
}
"""The options of each engine."""


def make_engine(robots: Sequence[Robot], world: World | None, settings: Settings) -> PhysicsEngine:
    """The engine that the settings name.

    Args:
        robots: The robots as they are simulated.
        world: The world; None for empty space.
        settings: How to simulate.
    """
    if settings.engine not in ENGINES:
        raise one_of("engine", settings.engine, ENGINES)
    for name in settings.options:
        if name not in ENGINES[settings.engine]:
            raise one_of(f"option of the engine `{settings.engine}`", name, ENGINES[settings.engine])
    match settings.engine:
        case "mujoco":
            return MujocoEngine(robots, world, settings.dt, self_collision=settings.self_collision, **settings.options)
        case "native":
            from surefoot.sim.native_engine import NativeEngine  # compiles kernels

            own: dict[str, Any] = {"self_collision": True} if settings.self_collision else {}
            return NativeEngine(robots, world, settings.dt, **own, **settings.options)
    raise one_of("engine", settings.engine, ENGINES)
