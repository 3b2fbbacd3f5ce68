"""The hand that a scenario means if it names none."""

from __future__ import annotations

from surefoot.errors import NotSupportedError
from surefoot.robot import Robot, anatomy


def hand_of(robot: Robot) -> str:
    """The first hand of a robot: a link or frame."""
    hands = anatomy(robot).hands
    if not hands:
        raise NotSupportedError(
            f"`{robot.name}` has no hands that could reach",
            subject=robot.name,
            kind="robot",
            next_step="give a `frame`",
        )
    return hands[0]
