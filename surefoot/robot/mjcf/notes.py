"""Remarks on elements of an MJCF file → findings: one for each message, with the file and line of the first element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from surefoot.robot.mjcf.guard import MjcfFiles
from surefoot.robot.model import Finding, Level
from surefoot.robot.xml_guard import Element
from surefoot.words import listed

_SECTIONS = ("actuator", "tendon", "equality", "contact", "deformable")  # their children have tags of their own
_MOST_NAMES = 5
MOVES_OTHERWISE = "dropped: the robot moves otherwise than in MuJoCo"


class Remark(NamedTuple):
    """A remark on one element.

    Args:
        level: As of a finding.
        tag: Of the element, or of the section that it is in; "" for none.
        name: Of the element; "" for a remark on the whole file.
        message: The remark, the same for all elements that it is true of.
    """

    level: Level
    tag: str
    name: str
    message: str


def grouped(remarks: Sequence[Remark], files: MjcfFiles) -> list[Finding]:
    """One finding for each message: at the first element, with the names of all."""
    groups: dict[tuple[Level, str], list[Remark]] = {}
    for item in remarks:
        groups.setdefault((item.level, item.message), []).append(item)
    out = []
    for (level, message), items in groups.items():
        names = listed([f"`{item.name}`" for item in items], most=_MOST_NAMES)
        file, line = _place_of(files, items[0].tag, items[0].name)
        text = f"{names}: {message}" if items[0].name else message
        out.append(Finding(level, f"{file}:{line}" if line else str(file), text, line))
    return out


def _place_of(files: MjcfFiles, tag: str, name: str) -> tuple[Path, int]:
    """File and line of an element; line 0 where it is not found. Copies and attached elements have longer names.

    Args:
        files: The files.
        tag: Its tag, or that of its section.
        name: Its name in the compiled model.
    """
    found = [
        (len(own), file, element)
        for file, element in _elements(files, tag)
        if (own := element.attributes.get("name", "")) and (name.endswith(own) or name.startswith(own))
    ]
    if not found:
        return files.path, 0
    _, file, element = max(found, key=lambda item: item[0])
    return file, element.line


def _elements(files: MjcfFiles, tag: str) -> Iterator[tuple[Path, Element]]:
    for file, element in files.find(tag):
        if tag in _SECTIONS:
            yield from ((file, child) for child in element.children)
        else:
            yield file, element
    if tag == "joint":
        yield from files.find("freejoint")
