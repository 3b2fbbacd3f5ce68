"""SRDF files: which pairs of links need not be looked at."""

from __future__ import annotations

from pathlib import Path

from surefoot.errors import FileFormatError, UnknownNameError
from surefoot.robot import Robot
from surefoot.robot.xml_guard import read_xml

__all__ = ["disabled_in_srdf", "shipped_srdf"]


def disabled_in_srdf(path: str | Path) -> dict[frozenset[str], str]:
    """Pairs of links that an SRDF file disables, each with the reason that it gives.

    Args:
        path: The file.

    Raises:
        FileFormatError: It cannot be read, or a pair lacks a link.
    """
    root = read_xml(path)
    out: dict[frozenset[str], str] = {}
    for item in (element for element in root.walk() if element.tag == "disable_collisions"):
        links = frozenset(item.attributes.get(key, "") for key in ("link1", "link2"))
        if "" in links:
            raise FileFormatError("`disable_collisions` names less than two links", file=path, line=item.line)
        out[links] = item.attributes.get("reason", "")
    return out


def shipped_srdf(robot: Robot) -> Path:
    """The SRDF file that example-robot-data ships for a robot of the zoo.

    Args:
        robot: The robot, as `surefoot.load` gives it by name.

    Raises:
        UnknownNameError: There is none.
    """
    from example_robot_data.robots_loader import ROBOTS, getModelPath

    entry = ROBOTS.get(robot.name)
    if entry is not None and entry.srdf_filename:
        file = Path(getModelPath(entry.path)).resolve() / entry.path / entry.srdf_subpath / entry.srdf_filename
        if file.is_file():
            return file
    raise UnknownNameError(f"no SRDF file is shipped for `{robot.name}`", next_step="give the path of one, or none")
