"""`BodyVolume`: a swept volume that a body of the robot carries."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.geometry import SweptVolume

__all__ = ["BodyVolume"]


@dataclass(frozen=True, eq=False)
class BodyVolume:
    """A swept volume on a body, or in the world.

    Args:
        body: Index of the body in the tree; −1 for the world.
        volume: In the frame of that body.
        link: The link, or the thing in the world, that it stands for.
    """

    body: int
    volume: SweptVolume
    link: str
