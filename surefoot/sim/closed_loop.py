"""`simulate`: a run in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from surefoot.motion import Controller, Estimator, Log, State, World
from surefoot.robot import Robot
from surefoot.sim.events import Event
from surefoot.sim.sensors import SensorSettings
from surefoot.sim.settings import Settings
from surefoot.sim.simulation import Progress, Simulation

__all__ = ["simulate"]


def simulate(
    robots: Robot | Sequence[Robot],
    controllers: Controller | Sequence[Controller],
    world: World | None,
    duration: float,
    engine: str = "mujoco",
    dt: float = 0.002,
    control_dt: float = 0.002,
    seed: int = 0,
    events: Sequence[Event] = (),
    *,
    initial: State | Sequence[State] | None = None,
    sensors: SensorSettings | Sequence[SensorSettings | None] | None = None,
    estimators: Estimator | Sequence[Estimator | None] | None = None,
    drives: str | Mapping[str, str] | None = None,
    self_collision: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> Log:
    """Simulate one controlled robot or several; same arguments, same log bit by bit.

    Args:
        robots: The robots.
        controllers: One for each robot: decides what the drives do.
        world: Where; None for empty space.
        duration: How long [s]; the run ends 0.5 s after a fall.
        engine: "mujoco" or "native".
        dt: Step of the physics [s].
        control_dt: Time between commands [s], a multiple of dt.
        seed: Of all randomness.
        events: What happens: pushes, changes of friction, terrain and load, losses of sensors, errors of parameters.
        initial: First states; at home and at rest if left out.
        sensors: What is measured, for each robot; nothing if left out.
        estimators: From readings to states, for each robot; controllers see the truth if left out.
        drives: Kind of all drives, or by joint; what each drive says of itself if left out.
        self_collision: Whether robots may touch themselves (`mujoco`).
        progress: Called now and then with the share that is done, 0…1.
        **options: Of the engine, such as `contact` and `integrator` of `native`.

    Raises:
        DivergedError: The numbers grew beyond all bounds; the error's `log` has what was measured before.
        ControlError: A controller failed or returned something that is no command for its robot; `log` as well.
    """
    settings = Settings(
        duration=duration,
        dt=dt,
        control_dt=control_dt,
        seed=seed,
        self_collision=self_collision,
        engine=engine,
        options=options,
        drives=drives,
    )
    return Simulation(robots, controllers, world, settings, events, initial, sensors, estimators).run(progress)
