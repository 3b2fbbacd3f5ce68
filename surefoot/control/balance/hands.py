"""`Hands`: leads frames that reach and contact surfaces that press, relative to the feet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from surefoot.arrays import Array
from surefoot.control.balance.body import BalancedBody
from surefoot.control.balance.moves import Wishes
from surefoot.control.balance.pressing import PressingForces
from surefoot.motion import Channel
from surefoot.robot import Robot

__all__ = ["Hands", "places_in"]

_REACH_GAINS = (200.0, 28.0)


class Hands:
    """What moves wish of frames and contact surfaces. They begin where they are when a move first names them.

    Args:
        body: Has a task `reach FRAME` for each frame, and the contact surfaces as hands.
        frames: That reach.
    """

    def __init__(self, body: BalancedBody, frames: Sequence[str]) -> None:
        self._body, self._frames = body, frames
        self._starts: dict[str, Array] = {}
        self._pressing = PressingForces(body.robot)
        for name in frames:
            body[f"reach {name}"].set_gains(*_REACH_GAINS)
            body[f"reach {name}"].set_activation(0.0)

    def observe(self, readings: Mapping[str, Array]) -> None:
        """See the force sensors.

        Args:
            readings: By name; NaN where nothing arrived.
        """
        self._pressing.observe(readings)

    def lead(self, q: Array, T: Array, wishes: Wishes, dt: float) -> None:
        """Set what the tasks and contacts shall do.

        Args:
            q: (nq,) configuration.
            T: (4, 4) of the stance in world.
            wishes: Of all moves.
            dt: Since the last time [s].
        """
        R, moved, body = T[:3, :3], {*wishes.frames, *wishes.presses}, self._body
        if not moved <= self._starts.keys():
            self._starts |= places_in(body.robot, q, T, moved - self._starts.keys(), body.hands)
        self._starts = {name: start for name, start in self._starts.items() if name in moved}
        for name in self._frames:
            handle = body[f"reach {name}"]
            way = wishes.frames.get(name)
            handle.set_activation(0.0 if way is None else 1.0)
            if way is not None:
                handle.target[:] = T[:3, 3] + R @ (self._starts[name][:3, 3] + way[0])
                handle.set_rates(R @ way[1], R @ way[2])
        for name in body.hands:
            press = wishes.presses.get(name)
            if press is None:
                body.rest_hand(name)
                continue
            there = T @ self._starts[name]
            there[:3, 3] += R @ press.way[0]
            force = self._pressing.commanded(name, press.force, dt, q, there[:3, 2])
            body.lead_hand(name, there, press.way[1:] @ R.T, force)
        self._pressing.asked = {name: press.force for name, press in wishes.presses.items()}

    def error(self, wishes: Wishes) -> float:
        """Largest distance of a frame or, along its surface, of a pressing hand from its reference [m].

        Args:
            wishes: Of all moves.
        """
        errors = [self._body.problem.error_of(f"reach {name}") for name in wishes.frames]
        errors += [self._body.problem.error_of(f"contact {name}")[:2] for name in wishes.presses]
        return max((float(np.linalg.norm(error)) for error in errors), default=0.0)

    @property
    def channels(self) -> list[Channel]:
        """Normal forces that hands are asked for."""
        return [Channel(f"press_{name}", "N", None, partial(self._asked, name)) for name in self._body.hands]

    def _asked(self, name: str) -> float:
        return self._pressing.asked.get(name, 0.0)


def places_in(robot: Robot, q: Array, T: Array, names: set[str], hands: Sequence[str] = ()) -> dict[str, Array]:
    """(4, 4) by name: where frames, and contact surfaces of hands, are relative to a stance.

    Args:
        robot: The robot.
        q: (nq,) configuration.
        T: (4, 4) of the stance in world.
        names: Of frames and contact surfaces.
        hands: Those that are contact surfaces.
    """
    frames, back, out = robot.placements(q), np.linalg.inv(T), {}
    for name in names:
        surface = robot.contacts.get(name) if name in hands else None
        out[name] = back @ (frames[name] if surface is None else frames[surface.frame] @ surface.placement)
    return out
