"""`simulate`: a run in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from surefoot.motion import Controller, Estimator, Log, State, World
from surefoot.robot import Robot
from surefoot.sim.events import Event
from surefoot.sim.native import ContactLaw, HoldingOptions, Rigid
from surefoot.sim.sensors import SensorSettings
from surefoot.sim.settings import Settings
from surefoot.sim.simulation import Progress, Simulation


class RunOptions(HoldingOptions, total=False):
    """Further options of `simulate`, those of the engines last."""

    initial: State | Sequence[State] | None
    sensors: SensorSettings | Sequence[SensorSettings | None] | None
    estimators: Estimator | Sequence[Estimator | None] | None
    drives: str | Mapping[str, str] | None
    self_collision: bool
    progress: Progress | None
    convex_pieces: bool
    contact: ContactLaw | Rigid | str
    integrator: str
    limits: bool
    friction: bool
    springs: bool


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
    **options: Unpack[RunOptions],
) -> Log:
    """Simulate one controlled robot or several; same arguments, same log bit by bit.

    Options:

    - `initial`: first states; at home and at rest if omitted;
    - `sensors`: what is measured, for each robot; nothing if omitted;
    - `estimators`: from readings to states, for each robot; controllers see the truth if omitted;
    - `drives`: kind of all drives, or by joint; as each drive is described if omitted;
    - `self_collision`: whether robots may touch themselves (`mujoco`);
    - `progress`: called now and then with the share that is done, 0…1;
    - those of the engine: `convex_pieces` of `MujocoEngine`; `contact`, `integrator` and more of `NativeEngine`.

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
        **options: See above.

    Raises:
        DivergedError: The numbers grew beyond all bounds; the error's `log` has what was measured before.
        ControlError: A controller failed, or did not return a command for its robot; `log` as well.
    """
    parts = options.pop("initial", None), options.pop("sensors", None), options.pop("estimators", None)
    progress = options.pop("progress", None)
    settings = Settings(
        duration=duration,
        dt=dt,
        control_dt=control_dt,
        seed=seed,
        self_collision=options.pop("self_collision", False),
        engine=engine,
        drives=options.pop("drives", None),
        options=options,
    )
    return Simulation(robots, controllers, world, settings, events, *parts).run(progress)
