"""Short runs of a MuJoCo engine with everything measured at every step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from surefoot.motion import State, World
from surefoot.robot import Robot
from surefoot.sim.drives.actuation import Actuation
from surefoot.sim.mujoco.engine import MujocoEngine


def actuation(robot: Robot, **parts) -> Actuation:
    """An actuation without limits; parts left out are zero."""
    full = {name: np.zeros(robot.nu) for name in ("torque", "position", "kp", "velocity", "kd")}
    full |= {"lower": np.full(robot.nu, -np.inf), "upper": np.full(robot.nu, np.inf)}
    return Actuation(**full | {name: np.full(robot.nu, value, dtype=float) for name, value in parts.items()})


class Run:
    """Rows of what was measured, that at the start first.

    Args:
        robot: The robot.
        world: The world.
        duration: [s].
        dt: [s].
        initial: First state.
        parts: Of the actuation.
        before: Called before each step with the engine and the time [s].
    """

    def __init__(
        self,
        robot: Robot,
        world: World | None,
        duration: float,
        dt: float = 0.002,
        initial: State | None = None,
        before: Callable[[MujocoEngine, float], None] | None = None,
        **parts: Sequence[float] | float,
    ) -> None:
        self.engine = MujocoEngine(robot, world, dt)
        self.engine.reset(initial or State.of(robot))
        self._rows: list[dict] = []
        for k in range(round(duration / dt) + 1):
            if k:
                if before is not None:
                    before(self.engine, (k - 1) * dt)
                self.engine.advance(actuation(robot, **parts))
            self._rows.append(self._row())

    def _row(self) -> dict:
        engine, balance = self.engine, self.engine.balance
        names = ("energy", "drives", "contacts", "damping", "pushes", "energy_residual", "momentum_residual")
        row = {name: getattr(balance, name) for name in names}
        row |= {"t": engine.time, "q": engine.state.q, "v": engine.state.v}
        row |= {f"{name}.wrench": engine.wrench(name) for name in engine.robot.contacts}
        return row | {f"{name}.slip": engine.slip(name) for name in engine.robot.contacts}

    def __getitem__(self, name: str) -> np.ndarray:
        return np.array([row[name] for row in self._rows])


__all__ = ["Run", "actuation"]
