"""Protocols of controllers, engines and estimators. None of them imports another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Protocol, runtime_checkable

from surefoot.arrays import Array, finite_array
from surefoot.errors import ShapeError
from surefoot.motion.state import State


@dataclass(frozen=True, eq=False)
class Command:
    """Command to the drives until the next one; one entry for each driven degree of freedom (`robot.driven`).

    The drive applies torque + kp (position − q) + kd (velocity − v); terms that are None are omitted. `torque` alone is
    torque control, `position` with gains is position control, all together is position control with feedforward.

    Args:
        torque: (nu,) [N m] or [N].
        position: (nu,) joint positions [rad] or [m] to go to; needs `kp`.
        velocity: (nu,) [rad/s] or [m/s]; needs `kd`. Without it `kd` damps towards rest.
        kp: (nu,) [N m/rad] or [N/m], ≥ 0.
        kd: (nu,) [N m s/rad] or [N s/m], ≥ 0.
    """

    torque: Array | None = None
    position: Array | None = None
    velocity: Array | None = None
    kp: Array | None = None
    kd: Array | None = None

    def __post_init__(self) -> None:
        sizes = set()
        for name, value in vars(self).items():
            if value is not None:
                checked = finite_array(value, (None,), _WHAT[name])
                object.__setattr__(self, name, checked)
                sizes.add(len(checked))
        if len(sizes) != 1:
            raise ShapeError(f"a command needs arrays of one length, got lengths {sorted(sizes)}")
        if (self.position is None) != (self.kp is None):
            raise ShapeError("`position` and `kp` of a command come together")
        if self.velocity is not None and self.kd is None:
            raise ShapeError("`velocity` of a command needs `kd`")
        for name, gain in (("kp", self.kp), ("kd", self.kd)):
            if gain is not None and gain.min(initial=0.0) < 0.0:
                raise ShapeError(f"`{name}` of a command is negative")

    @classmethod
    def trusted(cls, **terms: Array) -> Command:
        """A command of finite numbers in arrays of its own: they become read-only, nothing is checked or copied."""
        for term in terms.values():
            term.setflags(write=False)
        out = object.__new__(cls)
        out.__dict__.update(_NO_TERMS, **terms)
        return out

    @property
    def size(self) -> int:
        """nu, the number of driven degrees of freedom."""
        return next(len(value) for value in vars(self).values() if value is not None)


_WHAT = {item.name: f"`{item.name}` of a command" for item in fields(Command)}
_NO_TERMS = dict.fromkeys(_WHAT)


@dataclass(frozen=True, eq=False, slots=True)
class Observation:
    """What a controller may see beside the state.

    Args:
        t: Time [s].
        touching: (contacts,) probabilities of touch, in the order of `robot.contacts`.
        readings: Of the sensors, by name; NaN where nothing arrived. Empty without sensors.
    """

    t: float
    touching: Array
    readings: Mapping[str, Array]


@runtime_checkable
class Controller(Protocol):
    """Decides what the drives do. Pure apart from its own memory.

    A controller may also have, and a simulation then uses:

    - `observe(observation: Observation) -> None`: called before each command but the first, with what is known at its
      time;
    - `channels: Sequence[Channel]`: columns of its own in the log, as `control.NAME`, read after each command;
    - `solver_time: float`: seconds of the last command that an optimiser took.
    """

    def command(self, t: float, state: State) -> Command:
        """The command at time t [s] in a (measured or estimated) state."""
        ...


@runtime_checkable
class Engine(Protocol):
    """Moves a robot by physics, or is one."""

    @property
    def state(self) -> State:
        """The state now."""
        ...

    def reset(self, state: State) -> None:
        """Begin again from a state."""
        ...

    def step(self, command: Command) -> State:
        """Go on by one tick under a command; returns the new state."""
        ...


@runtime_checkable
class Estimator(Protocol):
    """From sensors to a state. Keeps its own memory.

    It may also have `touching`: (contacts,) probabilities of touch now, in the order of `robot.contacts`.
    """

    def reset(self, state: State) -> None:
        """Begin again from a state."""
        ...

    def update(self, t: float, measurements: Mapping[str, Array]) -> State:
        """The best guess of the state at time t [s] from named sensor readings."""
        ...
