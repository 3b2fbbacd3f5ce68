"""`RobotStore`: robots with their meshes, loaded once for all tabs."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.collision import CollisionModel, robot_volumes
from surefoot.errors import FileFormatError, one_of
from surefoot.report import SceneMesh, robot_meshes
from surefoot.robot import BodyVolume, Robot, is_file_name, load, zoo
from surefoot.studio.safety import inside

_SUFFIXES = (".urdf", ".xml", ".mjcf", ".sdf")
_MOST_FILES, _MOST_ROBOTS = 200, 12


@dataclass(frozen=True)
class RobotKey:
    """Source of a robot.

    Args:
        name: Name in the zoo, or a file.
        base: As in `surefoot.load`.
        mimic: As in `surefoot.load`.
    """

    name: str
    base: str = "auto"
    mimic: Any = "coupling"


class RobotStore:
    """Robots by name or file, for several threads: who asks for the same thing waits for it, others do not.

    Args:
        folder: Files must lie in it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._robots: OrderedDict[object, Robot] = OrderedDict()
        self._things: dict[object, tuple[Robot, Any]] = {}
        self._lock = threading.Lock()
        self._making: dict[object, threading.Lock] = {}

    def choices(self, search: str = "") -> list[str]:
        """Robots of the zoo and files of the folder whose names have all words of a text."""
        words = search.lower().split()
        known = [*zoo.names(), *self._files()]
        return [name for name in known if all(word in name.lower() for word in words)]

    def choice(self, name: str | Path) -> str:
        """A robot as the list of choices has it.

        Args:
            name: Name in the zoo, or a file: in the folder, or from where the program was started.

        Raises:
            OutsideError: The file lies outside of the folder.
            FileFormatError: There is no such file.
            UnknownNameError: There is no such robot.
        """
        if not is_file_name(str(name)):
            self._source(str(name))
            return str(name)
        here, started = self._folder / Path(name).expanduser(), Path(name).expanduser().absolute()
        found = inside(self._folder, started if started.is_file() and not here.is_file() else here)
        if not found.is_file():
            raise FileFormatError("there is no such file", file=name, next_step=f"put it into {self._folder}")
        return f"./{found.relative_to(self._folder.resolve())}"

    def _files(self) -> list[str]:
        """URDF, MJCF and SDF files of the folder, three levels deep, as paths in it."""
        found = []
        for pattern in ("*", "*/*", "*/*/*"):
            for path in sorted(self._folder.glob(pattern)):
                if path.suffix.lower() in _SUFFIXES and path.is_file():
                    found.append(f"./{path.relative_to(self._folder)}")
                if len(found) >= _MOST_FILES:
                    return found
        return found

    def get(self, key: RobotKey) -> Robot:
        """A robot.

        Raises:
            OutsideError: A file lies outside of the folder.
            SurefootError: It cannot be loaded.
        """
        source, stamp = self._source(key.name)
        place = (source, key.base, key.mimic, stamp)
        with self._turn(place):
            with self._lock:
                robot = self._robots.get(place)
            if robot is None:
                robot = load(source, base=key.base, mimic=key.mimic)
            with self._lock:
                self._robots[place] = robot
                self._robots.move_to_end(place)
                self._drop_oldest()
        return robot

    @contextmanager
    def _turn(self, place: object) -> Iterator[None]:
        """One at a time makes a thing; the things of other places are made meanwhile."""
        with self._lock:
            turn = self._making.setdefault(place, threading.Lock())
        try:
            with turn:
                yield
        finally:
            with self._lock:
                self._making.pop(place, None)

    def _source(self, name: str) -> tuple[str, float]:
        """Name in the zoo, or real path and age of a file."""
        if is_file_name(name):
            path = inside(self._folder, name)
            return str(path), path.stat().st_mtime if path.is_file() else 0.0
        if name.partition(":")[0] not in zoo.names():
            raise one_of("robot", name, zoo.names())
        return name, 0.0

    def _drop_oldest(self) -> None:
        while len(self._robots) > _MOST_ROBOTS:
            _, robot = self._robots.popitem(last=False)
            self._things = {place: kept for place, kept in self._things.items() if kept[0] is not robot}

    def meshes(self, robot: Robot) -> tuple[SceneMesh, ...]:
        """Meshes of a robot."""
        return self._kept("meshes", robot, robot_meshes)

    def volumes(self, robot: Robot) -> tuple[BodyVolume, ...]:
        """Its collision volumes; the first time may take some ten seconds."""
        return self._kept("volumes", robot, lambda one: robot_volumes(one).volumes)

    def collision(self, robot: Robot) -> CollisionModel:
        """Its collision model; the first time may take some ten seconds."""
        return self._kept("collision", robot, CollisionModel)

    def _kept(self, what: str, robot: Robot, make: Any) -> Any:
        place = (what, id(robot))
        with self._turn(place):
            with self._lock:
                kept = self._things.get(place)
            if kept is None:
                kept = (robot, make(robot))
            with self._lock:
                self._things[place] = kept
        return kept[1]
