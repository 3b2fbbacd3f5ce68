"""`Simulation`: controllers and robots in closed loop, everything measured; and the engines by name."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from surefoot.errors import NotSupportedError, ShapeError, SimulationError, SurefootError, one_of
from surefoot.files import MAX_DATA_BYTES
from surefoot.motion import Channel, Column, Controller, Estimator, Log, State, World
from surefoot.robot import Robot
from surefoot.sim.drives import DriveBank
from surefoot.sim.engine import PhysicsEngine
from surefoot.sim.event_player import EventPlayer, robots_in_truth
from surefoot.sim.events import Event
from surefoot.sim.mujoco import MujocoEngine
from surefoot.sim.native import NativeEngine
from surefoot.sim.participant import PARTS, Participant
from surefoot.sim.sensors import Sensors, SensorSettings
from surefoot.sim.settings import Settings
from surefoot.spatial import se3

ENGINES = {
    "mujoco": ("convex_pieces", "progress"),
    "native": (
        *("contact", "integrator", "limits", "friction", "springs"),
        *("constraint_method", "stabilisation", "baumgarte", "held"),
    ),
}
"""The options of each engine."""


def make_engine(robots: Sequence[Robot], world: World | None, settings: Settings) -> PhysicsEngine:
    """Make the engine that the settings name.

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
            own: dict[str, Any] = {"self_collision": True} if settings.self_collision else {}
            return NativeEngine(robots, world, settings.dt, **own, **settings.options)
    raise one_of("engine", settings.engine, ENGINES)


Progress = Callable[[float], None]


class StoppedError(SimulationError):
    """A simulation could not go on; `log` holds what was measured before.

    Args:
        error: Why.
        log: Until then.
    """

    def __init__(self, error: SurefootError, log: Log) -> None:
        super().__init__(error.message, evidence=error.evidence, next_step=error.next_step)
        self.log = log


class DivergedError(StoppedError):
    """The numbers grew beyond all bounds."""


class ControlError(StoppedError):
    """A controller, or an estimator, failed, or the controller did not return a command for its robot."""


class Simulation:
    """One run. `run()` goes to its end; `log()` gives what there is so far, also after an interrupt.

    Row k of the log is the state at time t_k with the torques and contact wrenches of the step that ended there (row 0:
    those at the start of the first step, under the first command), and the readings and estimates of that moment;
    row 0 has no readings. With several robots, the columns of each begin with its name and a slash.

    Args:
        robots: The robots, as their controllers know them.
        controllers: One for each robot.
        world: Where; None for empty space.
        settings: How.
        events: What happens.
        initial: First states; at home and at rest if omitted.
        sensors: One for each robot, None for robots without.
        estimators: One for each robot, None for robots whose controller sees the truth.
        notes: Further notes for the reader of the log.
    """

    def __init__(
        self,
        robots: Robot | Sequence[Robot],
        controllers: Controller | Sequence[Controller],
        world: World | None,
        settings: Settings,
        events: Sequence[Event] = (),
        initial: State | Sequence[State] | None = None,
        sensors: SensorSettings | Sequence[SensorSettings | None] | None = None,
        estimators: Estimator | Sequence[Estimator | None] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.robots = tuple(_listed(robots, Robot))
        for robot in self.robots:
            if robot.tree.n == 0:
                raise NotSupportedError(f"`{robot.name}` has no joint; there is nothing to simulate")
        self.settings, self.world, self.events = settings, world, tuple(events)
        self.engine = make_engine(robots_in_truth(self.robots, events), world, settings)
        parts = zip(
            self.robots,
            self._one_each(controllers, "controllers"),
            self._one_each(sensors, "sensors"),
            self._one_each(estimators, "estimators"),
            strict=True,
        )
        self.participants = tuple(self._participant(k, *part) for k, part in enumerate(parts))
        self.notes = (*self.engine.notes, *notes)
        self._player = EventPlayer(events, self.engine, self.participants, world)
        states = self._one_each(initial, "initial states")
        self._reset([state or State.of(robot) for state, robot in zip(states, self.robots, strict=True)])
        self.notes = (*self.notes, *_too_late(events, self.engine.time + settings.duration))
        self._drifts = [self._drift(k) for k in range(len(self.robots))]
        self._balance, self._spent = self.engine.balance, np.zeros(len(PARTS) + 1)
        self._recorder = Recorder(self._channels(), settings.ticks + 1)
        parts_of_tick = enumerate((*PARTS, "physics"))
        clocks = [Channel(x, "s", None, partial(self._spent.__getitem__, k)) for k, x in parts_of_tick]
        self._timing = Recorder([self._now(), *clocks], settings.ticks + 1)

    @property
    def robot(self) -> Robot:
        """The first robot."""
        return self.robots[0]

    @property
    def controller(self) -> Controller:
        """Controller of the first robot."""
        return self.participants[0].controller

    @property
    def fall_time(self) -> float | None:
        """When the first robot fell that fell [s]."""
        return min((x.book.fall_time for x in self.participants if x.book.fall_time is not None), default=None)

    def _one_each(self, given: Any, what: str) -> list[Any]:
        """One thing for each robot, from one thing, or a sequence, or nothing."""
        count = len(self.robots)
        found = [None] * count if given is None else list(given) if isinstance(given, list | tuple) else [given]
        if len(found) != count:
            raise ShapeError(f"there are {count} robots and {len(found)} {what}")
        return found

    def _participant(
        self, k: int, robot: Robot, controller: Controller, sensors: SensorSettings | None, estimator: Estimator | None
    ) -> Participant:
        settings = self.settings
        gravity = None if self.world is None else self.world.gravity
        source = np.random.default_rng([settings.seed, 1 + k])
        reading = None if sensors is None else Sensors(robot, sensors, source, settings.control_dt, gravity)
        bank = DriveBank(robot, settings.drives, settings.dt)
        return Participant(robot, k, controller, bank, self.world, reading, estimator)

    def _reset(self, states: Sequence[State]) -> None:
        pairs = enumerate(zip(self.robots, states, strict=True))
        first = [_spread(robot, state, self.settings, k) for k, (robot, state) in pairs]
        self.engine.reset(*first)
        for participant, state in zip(self.participants, self.engine.states, strict=True):
            participant.reset(state)

    def run(self, progress: Progress | None = None, watch: Callable[[Simulation], None] | None = None) -> Log:
        """Go to the end, or to some time after a fall.

        Args:
            progress: Called now and then with the share that is done, 0…1.
            watch: Called after every command with this simulation, to look at its state.

        Raises:
            DivergedError: The numbers grew beyond all bounds.
            ControlError: A controller failed, or did not return a command for its robot.
            StoppedError: An event asks for something that the engine cannot do.
        """
        if len(self._recorder):
            raise ShapeError("a simulation runs once", next_step="make another `Simulation`, or call `simulate`")
        ticks = self.settings.ticks
        for k in range(ticks):
            self._tick(first=k == 0)
            if watch is not None:
                watch(self)
            if progress is not None and (k % 50 == 49 or k == ticks - 1):
                progress((k + 1) / ticks)
            if self.fall_time is not None and self.engine.time >= self.fall_time + self.settings.after_fall:
                break
        return self.log()

    def _tick(self, first: bool) -> None:
        """One command of each robot, and the steps until the next."""
        begin, states = clock.perf_counter(), self.engine.states
        self._decide(states)
        try:
            if first:
                self._player.before_step()
                self.engine.begin(*self._actuations(states))
                self._measure(states)
                self._record()
            for k in range(self.settings.substeps):
                self._step(states if k == 0 else self.engine.states, acted=first and k == 0)
        except SimulationError as error:
            raise DivergedError(error, self.log()) from error
        except SurefootError as error:
            raise StoppedError(error, self.log()) from error
        self._sense()
        self._spent[:-1] = np.sum([x.spent for x in self.participants], axis=0)
        self._spent[-1] = clock.perf_counter() - begin - self._spent[:-1].sum()
        self._timing.append()
        self._look()

    def _decide(self, states: Sequence[State]) -> None:
        """Ask the controllers."""
        for participant, state in zip(self.participants, states, strict=True):
            try:
                participant.decide(state.t)
            except (Exception, SystemExit) as error:
                raise ControlError(_named(error, participant, state.t), self.log()) from error

    def _sense(self) -> None:
        """Read sensors and estimators after the steps of a tick; before the first one there is nothing to measure."""
        for participant, state in zip(self.participants, self.engine.states, strict=True):
            try:
                participant.sense(self.engine, state)
            except (Exception, SystemExit) as error:
                raise ControlError(_named(error, participant, state.t), self.log()) from error

    def _actuations(self, states: Sequence[State]) -> list[Any]:
        self._acting = [x.act(state) for x, state in zip(self.participants, states, strict=True)]
        return self._acting

    def _step(self, states: Sequence[State], acted: bool) -> None:
        """One step of the physics; the drives of the first one have acted already."""
        if not acted:
            self._player.before_step()
            self._actuations(states)
        self.engine.advance(*self._acting)
        for participant in self.participants:
            participant.note_torques(self.engine.torques(participant.index))

    def _look(self) -> None:
        """After a tick: incidents, and a row of the log."""
        self._measure(self.engine.states)
        for participant in self.participants:
            participant.look(self.engine, self.settings.control_dt)
        try:
            self._record()
        except ShapeError as error:
            raise StoppedError(error, self.log()) from error

    def _measure(self, states: Sequence[State]) -> None:
        self._balance = self.engine.balance
        for k, (participant, state) in enumerate(zip(self.participants, states, strict=True)):
            participant.measure(self.engine, state)
            if self._drifts[k] is not None:
                self._drifts[k] = self._drift(k)

    def _record(self) -> None:
        """One row of the log, after `_measure`."""
        self._recorder.append()
        for participant in self.participants:
            participant.begin_row()

    def _drift(self, k: int) -> tuple[float, float] | None:
        """How far and how fast a robot leaves its constraints, where its engine holds them exactly."""
        drift = getattr(self.engine, "drift", None)
        residual, rate = ((), ()) if drift is None else drift(k)
        return (float(np.abs(residual).max()), float(np.abs(rate).max())) if len(residual) else None

    def _prefix(self, k: int) -> str:
        """Before the names of the columns of a robot."""
        return "" if len(self.robots) == 1 else f"{self._label(k)}/"

    def _label(self, k: int) -> str:
        """The name of a robot, with its number where several have the same."""
        names = [robot.name for robot in self.robots]
        return names[k] if names.count(names[k]) == 1 else f"{names[k]}-{k}"

    def _now(self) -> Channel:
        return Channel("time", "s", None, lambda: self.engine.time)

    def _drift_of(self, robot: int, k: int) -> float:
        drift = self._drifts[robot]
        return np.nan if drift is None else drift[k]

    def _channels(self) -> list[Channel]:
        """The columns of the log."""
        out = [
            self._now(),
            Channel("energy.total", "J", None, lambda: self._balance.energy),
            Channel("energy.drives", "J", None, lambda: self._balance.drives),
            Channel("energy.contacts", "J", None, lambda: self._balance.contacts),
            Channel("energy.damping", "J", None, lambda: self._balance.damping),
            Channel("energy.pushes", "J", None, lambda: self._balance.pushes),
            Channel("energy.residual", "J", None, lambda: self._balance.energy_residual),
            Channel("momentum.residual", "N s", 3, lambda: self._balance.momentum_residual),
        ]
        out += _ground_channels(self.engine)
        for k, participant in enumerate(self.participants):
            own = participant.channels(self.engine, self._player.force[k])
            if self._drifts[k] is not None:
                own.append(Channel("constraint.gap", "m | rad", None, partial(self._drift_of, k, 0)))
                own.append(Channel("constraint.rate", "m/s | rad/s", None, partial(self._drift_of, k, 1)))
            out += [channel._replace(name=self._prefix(k) + channel.name) for channel in own]
        return out

    def log(self) -> Log:
        """The log so far; partial before the planned end."""
        incidents = [
            {"robot": self._label(x.index), **incident.to_dict()}
            for x in self.participants
            for incident in x.book.incidents
        ]
        return self._recorder.log(
            partial=len(self._recorder) != self.settings.ticks + 1,
            metadata={
                "robot": self.robot.name,
                "robots": [robot.name for robot in self.robots],
                "engine": self.settings.engine,
                "seed": self.settings.seed,
                "planned_duration_s": self.settings.duration,
                "fall_time_s": self.fall_time,
                "incidents": sorted(incidents, key=lambda item: item["start"]),
                "lifted": list(getattr(self.engine, "lifted", ())),
                "locked": list(getattr(self.engine, "locked", ())),
                "notes": list(self.notes),
            },
        )

    def timing(self) -> Log:
        """Wall-clock time of each tick [s]: sensors, estimator, controller, its solver (counted apart) and physics."""
        return self._timing.log()


def _too_late(events: Sequence[Event], end: float) -> list[str]:
    """Notes on events that never happen, because the run ends [s] before them."""
    times = [(type(event).__name__, getattr(event, "time", -np.inf)) for event in events]
    return [f"{name} at {time:g} s: the run ends before, at {end:g} s" for name, time in times if time >= end]


def _ground_channels(engine: PhysicsEngine) -> list[Channel]:
    """Poses (7,) of the pieces of ground that move, where the engine has such."""
    places: Callable[[], dict[int, Any]] = getattr(engine, "ground_places", dict)

    def pose(k: int) -> Any:
        return se3.to_pose(places()[k])

    return [Channel(f"ground.{k}.pose", "m | 1", 7, partial(pose, k)) for k in places()]


def _listed(given: Any, kind: type) -> list[Any]:
    found = [given] if isinstance(given, kind) else list(given)
    if not found:
        raise ShapeError("a simulation needs a robot")
    return found


def _named(error: BaseException, participant: Participant, t: float) -> SurefootError:
    """The error, with the robot and the time of the failed controller."""
    who = f"the controller of `{participant.robot.name}` failed at t = {t:.4g} s"
    if isinstance(error, SurefootError):
        return SimulationError(f"{who}: {error.message}", evidence=error.evidence, next_step=error.next_step)
    return SimulationError(f"{who}: {type(error).__name__}: {error}", next_step="repair the controller")


def _spread(robot: Robot, state: State, settings: Settings, k: int) -> State:
    """The state with its driven joints moved at random, and what is coupled to them."""
    if settings.initial_spread == 0.0:
        return state
    import pinocchio as pin

    step = np.zeros(robot.nv)
    source = np.random.default_rng(settings.seed if k == 0 else [settings.seed, k, 1])  # not that of any sensors
    step[robot.driven] = settings.initial_spread * source.standard_normal(robot.nu)
    for item in robot.couplings:
        follower, leader = (int(robot.tree.v_index[robot.joint_index(name)]) for name in (item.joint, item.source))
        step[follower] = item.ratio * step[leader]
    return State(state.t, pin.integrate(robot.model, np.array(state.q), step), state.v)


class Recorder:
    """One row of numbers for each tick.

    Args:
        channels: The columns, `time` [s] among them.
        capacity: Most rows.

    Raises:
        ShapeError: Two columns have entries of the same name, or the rows take too much memory.
    """

    def __init__(self, channels: Sequence[Channel], capacity: int) -> None:
        self._channels = tuple(channels)
        ends = np.cumsum([1 if channel.size is None else channel.size for channel in channels]).tolist()
        places: list[int | slice] = []
        for channel, start, end in zip(channels, [0, *ends], ends, strict=False):
            places.append(start if channel.size is None else slice(start, end))
        self._places = tuple(places)
        self._cells = tuple((place, channel.read) for place, channel in zip(places, channels, strict=True))
        if (size := 8 * capacity * ends[-1]) > MAX_DATA_BYTES:
            raise ShapeError(
                f"the log would take {size / 2**30:.3g} GiB",
                evidence={"rows": capacity, "columns": ends[-1], "most": f"{MAX_DATA_BYTES >> 30} GiB"},
                next_step="shorten the run (`duration`), or take longer steps (`dt`, `control_dt`)",
            )
        self._rows, self._count = np.empty((capacity, ends[-1])), 0
        self.log()

    def __len__(self) -> int:
        return self._count

    def append(self) -> None:
        """Read all channels.

        Raises:
            ShapeError: A value is not of the size of its column.
        """
        row, k = self._rows[self._count], 0
        try:
            for k, (place, read) in enumerate(self._cells):  # noqa: B007
                row[place] = read()
        except (TypeError, ValueError, OverflowError) as error:
            name, _, size, _ = self._channels[k]
            wanted = "a number" if size is None else f"{size} numbers"
            raise ShapeError(f"column `{name}` of the log needs {wanted}", evidence={"reason": error}) from error
        self._count += 1

    def log(self, partial: bool = False, metadata: Mapping[str, Any] | None = None) -> Log:
        """The log so far.

        Args:
            partial: Whether the run stopped before its end.
            metadata: About the run.
        """
        done = self._rows[: self._count]
        pairs = zip(self._channels, self._places, strict=True)
        return Log.of(*(Column(x.name, x.unit, done[:, at]) for x, at in pairs), partial=partial, metadata=metadata)
