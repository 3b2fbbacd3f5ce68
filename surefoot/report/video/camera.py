"""Camera, size and speed of a video."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import ShapeError, one_of

_LARGEST = 8192
_VIEWS = {
    "three-quarter": (-43.0, 17.0),
    "front": (0.0, 8.0),
    "back": (180.0, 8.0),
    "left": (90.0, 8.0),
    "right": (-90.0, 8.0),
    "top": (-90.0, 88.0),
}
"""Azimuth and elevation [deg] by name."""


@dataclass(frozen=True)
class Camera:
    """A camera that looks at the robot.

    Args:
        azimuth: Where it stands, about the vertical from the world's x axis [deg].
        elevation: Where it stands, above the horizontal [deg].
        zoom: 1 to frame the robot, 2 for twice as near.
        follow: Whether it goes with the robot; else it frames the whole way.
    """

    azimuth: float = _VIEWS["three-quarter"][0]
    elevation: float = _VIEWS["three-quarter"][1]
    zoom: float = 1.0
    follow: bool = True


@dataclass(frozen=True)
class FilmSettings:
    """Frame rate, size, speed and camera of a video.

    Args:
        fps: Pictures a second.
        size: Width and height [px].
        speed: Seconds of the motion in a second of the film.
        camera: From where it is seen.
        layers: Whether forces, centre of mass and the like are drawn (browser only).
    """

    fps: float = 30.0
    size: tuple[int, int] = (1280, 720)
    speed: float = 1.0
    camera: Camera = field(default_factory=Camera)
    layers: bool = True

    def __post_init__(self) -> None:
        for name, most in (("fps", 240.0), ("speed", 1000.0)):
            value = getattr(self, name)
            if not (np.isfinite(value) and 0.0 < value <= most):
                raise ShapeError(f"{name} must be above 0 and at most {most:g}", evidence={"given": value})
        if not all(16 <= side <= _LARGEST for side in self.size):
            raise ShapeError(f"width and height must be 16 to {_LARGEST} px", evidence={"given": self.size})


def film_times(start: float, end: float, settings: FilmSettings) -> Array:
    """Times (k,) of the pictures [s]: as many as fill the length of the film, start and end among them.

    Args:
        start: First time of the motion [s].
        end: Last time [s].
        settings: Pictures a second, and speed.
    """
    count = max(2, round((end - start) / settings.speed * settings.fps))
    return np.linspace(start, end, count)


def parse_camera(text: str) -> Camera:
    """A camera from words: a view, or "AZIMUTH,ELEVATION[,ZOOM]" [deg]; "fixed" after it to not follow.

    Args:
        text: Such as "front", "left fixed", "30,15" or "30,15,1.5 fixed".
    """
    words = text.split()
    follow = "fixed" not in words
    rest = [word for word in words if word not in ("fixed", "follow")]
    if len(rest) > 1:
        raise _no_camera(text)
    if not rest:
        return Camera(follow=follow)
    if rest[0] in _VIEWS:
        return Camera(*_VIEWS[rest[0]], follow=follow)
    if "," not in rest[0]:
        raise one_of("view", rest[0], (*_VIEWS, "fixed", "follow"))
    try:
        numbers = [float(part) for part in rest[0].split(",")]
    except ValueError as error:
        raise _no_camera(text) from error
    if len(numbers) not in (2, 3) or not np.isfinite(numbers).all() or abs(numbers[1]) > 89.0:
        raise _no_camera(text)
    if len(numbers) == 3 and not 0.01 <= numbers[2] <= 100.0:
        raise _no_camera(text)
    return Camera(numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else 1.0, follow)


def parse_size(text: str) -> tuple[int, int]:
    """Width and height [px] from "1280x720".

    Args:
        text: Two whole numbers with an x between.
    """
    found = re.fullmatch(r"\s*(\d{1,5})\s*[x×]\s*(\d{1,5})\s*", text)
    if found is None:
        raise ShapeError("expected a size such as 1280x720", evidence={"given": text, "e.g.": "1280x720"})
    return int(found[1]), int(found[2])


def _no_camera(text: str) -> ShapeError:
    return ShapeError(
        "unknown camera",
        evidence={"given": text, "views": ", ".join(_VIEWS)},
        next_step='give a view, or AZIMUTH,ELEVATION[,ZOOM] in degrees (elevation within ±89), e.g. "30,15,1.2 fixed"',
    )
