"""Which pairs a collision model looks at: pairs given by names, pairs that an SRDF file disables, obstacles."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from surefoot.collision.obstacles import PlacedObstacle
from surefoot.collision.pairs import Pruning
from surefoot.errors import FileFormatError, ShapeError, UnknownNameError, one_of
from surefoot.robot import BodyVolume, Robot, read_xml


def require_known_names(
    robot: Robot,
    volumes: Sequence[BodyVolume],
    obstacles: Sequence[PlacedObstacle],
    listed: Collection[frozenset[str]] | None,
    ignored: Collection[frozenset[str]],
) -> None:
    """Refuse pairs with unknown names, and pairs to look at whose links have no volumes.

    Args:
        robot: The robot.
        volumes: Its volumes.
        obstacles: The obstacles.
        listed: Pairs of names to look at; None for all.
        ignored: Pairs of names not to look at.
    """
    seen = {*(item.link for item in volumes), *(item.name for item in obstacles)}
    known = {*seen, *robot.link_names}
    for pair in (*(listed or ()), *ignored):
        for name in sorted(pair - known):
            raise one_of("link or obstacle", name, known)
    if blind := [sorted(pair) for pair in listed or () if len(pair) != 2 or not pair <= seen]:
        message = "each pair must name two links with volumes, or a link with volumes and an obstacle"
        raise ShapeError(message, evidence={"pairs": blind})


def listed_pairs(volumes: Sequence[BodyVolume], listed: Collection[frozenset[str]]) -> Pruning:
    """All pairs of volumes of the links that are named together; those on one body never move against each other.

    Args:
        volumes: The volumes.
        listed: Pairs of names.
    """
    count = len(volumes)
    pairs = [
        (i, j)
        for i in range(count)
        for j in range(i + 1, count)
        if frozenset((volumes[i].link, volumes[j].link)) in listed and volumes[i].body != volumes[j].body
    ]
    return Pruning(np.array(pairs, dtype=np.int64).reshape(-1, 2))


def watched_obstacles(
    robot: Robot,
    volumes: Sequence[BodyVolume],
    obstacles: Sequence[PlacedObstacle],
    listed: Collection[frozenset[str]] | None,
    ignored: Collection[frozenset[str]],
) -> NDArray[np.bool_]:
    """Which volumes are held against which obstacles: (V, M).

    What does not move is held against nothing, and bodies with contact surfaces not against the ground, unless they
    are listed.

    Args:
        robot: The robot.
        volumes: Its volumes.
        obstacles: The obstacles.
        listed: Pairs of names to look at; None for all.
        ignored: Pairs of names not to look at.
    """
    feet = {robot.body_of(contact.frame) for contact in robot.contacts.values()}
    out = np.zeros((len(volumes), len(obstacles)), dtype=bool)
    for i, item in enumerate(volumes):
        for k, obstacle in enumerate(obstacles):
            names = frozenset((item.link, obstacle.name))
            stands = obstacle.is_ground and item.body in feet
            wanted = names in listed if listed is not None else not stands and names not in ignored
            out[i, k] = wanted and item.body >= 0
    return out


def disabled_in_srdf(path: str | Path) -> dict[frozenset[str], str]:
    """Pairs of links that an SRDF file disables, each with the reason that it gives.

    Raises:
        FileFormatError: It cannot be read, or a pair lacks a link.
    """
    root = read_xml(path)
    out: dict[frozenset[str], str] = {}
    for item in (element for element in root.walk() if element.tag == "disable_collisions"):
        links = frozenset(item.attributes.get(key, "") for key in ("link1", "link2"))
        if "" in links:
            raise FileFormatError("`disable_collisions` names fewer than two links", file=path, line=item.line)
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
    raise UnknownNameError(
        f"no SRDF file is shipped for `{robot.name}`", next_step="give the path of an SRDF file, or omit it"
    )
