"""`EventPlayer`: makes events happen at their time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.motion import World
from surefoot.robot import Robot
from surefoot.robot.model import with_inertia_error
from surefoot.sim.engine import PhysicsEngine
from surefoot.sim.events import Event, FrictionChange, ParameterError, Payload, Push, SensorLoss, TerrainChange
from surefoot.sim.native import with_friction, with_ground
from surefoot.sim.participant import Participant


def robots_in_truth(robots: Sequence[Robot], events: Sequence[Event]) -> list[Robot]:
    """The robots as they are simulated: with their errors of parameters.

    Args:
        robots: As they are described.
        events: Among them `ParameterError`s.
    """
    out = list(robots)
    for event in events:
        if isinstance(event, ParameterError):
            _require_robot(event.robot, len(out))
            out[event.robot] = with_inertia_error(out[event.robot], event.mass, event.com, event.link)
    return out


class EventPlayer:
    """Pushes while they last, and every change once.

    Args:
        events: What happens; names of robots, links and sensors and pieces of ground are checked at once.
        engine: Where.
        participants: Whose sensors may fail.
        world: Where they are at the start; None for empty space.
    """

    def __init__(
        self, events: Sequence[Event], engine: PhysicsEngine, participants: Sequence[Participant], world: World | None
    ) -> None:
        self._engine, self._participants, self._world = engine, participants, world
        self._pushes = [event for event in events if isinstance(event, Push)]
        self._changes = sorted(  # at the same time, what ends comes first
            [change for event in events for change in _changes_of(event)], key=lambda change: (change[0], change[2])
        )
        for event in events:
            self._check(event)
        _require_one_payload_at_a_time([event for event in events if isinstance(event, Payload)])
        self._losses: list[SensorLoss] = []
        self.force = np.zeros((len(participants), 3))

    def _check(self, event: Event) -> None:
        match event:
            case FrictionChange():
                if self._world is None or not self._world.ground:
                    raise ShapeError("there is no ground whose friction could change")
                with_friction(self._world, event.friction, event.pieces)
            case TerrainChange():
                with_ground(self._world, event.ground)
            case SensorLoss():
                _require_robot(event.robot, len(self._participants))
                self._participants[event.robot].require_sensor(event.sensor)
            case _:
                _require_robot(event.robot, len(self._participants))
                _require_moving_link(event.link, self._participants[event.robot].robot)

    def before_step(self) -> None:
        """Whatever is due in the step that begins now."""
        now, dt = self._engine.time, self._engine.dt
        while self._changes and self._changes[0][0] - 0.5 * dt <= now:
            self._apply(*self._changes.pop(0)[1:])
        if self._pushes:
            self._push(now, dt)

    def _push(self, now: float, dt: float) -> None:
        self._engine.release()
        self.force[:] = 0.0
        for push in self._pushes:
            share = push.share(now, dt)
            if share > 0.0:
                self._engine.push(push.link, share * push.wrench, push.robot, self._point(push))
                self.force[push.robot] += share * push.wrench[:3]

    def _point(self, push: Push) -> np.ndarray | None:
        """Where the force of a push acts; None for the centre of mass of the body."""
        if push.at == "body":
            return None
        robot = self._participants[push.robot].robot
        T = self._engine.placement(push.link, push.robot)
        i = robot.body_of(push.link)
        T_body_link = robot.model.frames[robot.frame_id(push.link)].placement
        point = T[:3, :3] @ T_body_link.actInv(np.array(robot.tree.coms[i])) + T[:3, 3]
        return np.array([point[0], point[1], self._engine.com(push.robot)[2]])

    def _apply(self, event: Event, begins: bool) -> None:
        match event:
            case FrictionChange():
                self._engine.set_friction(event.friction, event.pieces)
            case TerrainChange():
                self._change_ground(event)
            case Payload():
                mass = event.mass if begins else 0.0
                self._engine.set_payload(event.link, mass, event.position, event.robot)
            case SensorLoss():
                self._lose(event, begins)

    def _change_ground(self, event: TerrainChange) -> None:
        self._engine.set_ground(event.ground)
        self._world = with_ground(self._world, event.ground)
        for participant in self._participants:
            participant.stand_on(self._world)

    def _lose(self, event: SensorLoss, begins: bool) -> None:
        """Losses may overlap: a sensor works again when the last one is over."""
        self._losses = [*self._losses, event] if begins else [loss for loss in self._losses if loss is not event]
        participant = self._participants[event.robot]
        participant.set_sensor(event.sensor, working=not begins)
        for loss in self._losses:
            if loss.robot == event.robot:
                participant.set_sensor(loss.sensor, working=False)


def _changes_of(event: Event) -> list[tuple[float, Event, bool]]:
    """(time, event, whether it begins) of everything but pushes."""
    match event:
        case FrictionChange() | TerrainChange():
            return [(event.time, event, True)]
        case Payload() | SensorLoss():
            end = event.time + event.duration
            return [(event.time, event, True), *([(end, event, False)] if np.isfinite(end) else [])]
        case _:
            return []


def _require_robot(number: int, count: int) -> None:
    if not 0 <= number < count:
        raise ShapeError(f"an event names robot {number}, there are {count}", next_step=f"use 0 … {count - 1}")


def _require_moving_link(link: str | None, robot: Robot) -> None:
    if link is None:
        return
    if link not in robot.link_names:
        raise one_of("link", link, robot.link_names)
    if robot.body_of(link) < 0:
        raise NotSupportedError(
            f"link `{link}` is fixed to the world; pushes and payloads do nothing there", subject=link, kind="link"
        )


def _require_one_payload_at_a_time(payloads: Sequence[Payload]) -> None:
    """An engine knows one payload of each link."""
    for k, first in enumerate(payloads):
        for second in payloads[k + 1 :]:
            same = (first.robot, first.link) == (second.robot, second.link)
            if same and max(first.time, second.time) < min(first.time + first.duration, second.time + second.duration):
                raise NotSupportedError(
                    f"link `{first.link}` has two payloads at the same time",
                    subject=first.link,
                    kind="link",
                    next_step="end the first one when the second begins, or use one that weighs as much as both",
                )
