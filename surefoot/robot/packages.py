"""Files that a robot names by package: `package://PACKAGE/REST` (ROS) and `model://MODEL/REST` (Gazebo)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from surefoot.errors import FileFormatError
from surefoot.files import is_file
from surefoot.robot.xml_guard import read_xml

_PATHS = ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH")
_MOST_NEIGHBOURS = 500
_LEVELS = 4  # above the file whose neighbouring folders are looked at


def find_file(name: str, file: str | Path, package_dirs: Sequence[str | Path] = ()) -> Path | None:
    """The file that a robot description means, or None.

    A package is looked up, in this order, in `package_dirs`, in the folders of ROS_PACKAGE_PATH, AMENT_PREFIX_PATH
    (`share/`), GAZEBO_MODEL_PATH and GZ_SIM_RESOURCE_PATH, in the folders above the file, and in their neighbours. A
    folder is the package if it has that name, or if its `package.xml` says so. `file://` is absolute; anything else is
    relative to the file.
    """
    folder = Path(file).resolve().parent
    scheme, found, rest = name.partition("://")
    if not found or scheme == "file":
        candidates: Iterator[Path] = iter([folder / name.removeprefix("file://")])
    else:
        package, _, inside = rest.lstrip("/").partition("/")
        candidates = (home / inside for home in _homes(package, folder, package_dirs))
    return next((path for path in candidates if _is_file(path)), None)


def _homes(package: str, folder: Path, package_dirs: Sequence[str | Path]) -> Iterator[Path]:
    """Folders that may be the package."""
    given = [Path(entry) for entry in package_dirs]
    paths = [Path(x) for key in _PATHS for x in os.environ.get(key, "").split(os.pathsep) if x]
    above = [folder, *folder.parents]
    for place in (*given, *paths, *(path / "share" for path in paths), *above):
        yield place / package
        if place.name == package or _package_name(place) == package:
            yield place
    for place in (*given, *paths, *above[: _LEVELS + 1]):
        yield from (child for child in _neighbours(place) if _package_name(child) == package)


@lru_cache(maxsize=64)
def _neighbours(place: Path) -> tuple[Path, ...]:
    """Folders with a `package.xml` in a place; none in one that has very many entries."""
    try:
        with os.scandir(place) as entries:
            listed = [Path(entry.path) for entry, _ in zip(entries, range(_MOST_NEIGHBOURS), strict=False)]
    except OSError:
        return ()
    return tuple(sorted(path for path in listed if _is_file(path / "package.xml")))


@lru_cache(maxsize=1024)
def _package_name(place: Path) -> str:
    """Name in the `package.xml` of a folder; "" without one."""
    if not _is_file(place / "package.xml"):
        return ""
    try:
        named = read_xml(place / "package.xml").first("name")
    except FileFormatError:
        return ""
    return named.text.strip() if named else ""


def _is_file(path: Path) -> bool:
    try:
        return is_file(path)
    except (OSError, ValueError):  # a name that no file system takes
        return False
