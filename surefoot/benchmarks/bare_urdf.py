"""The same robot for everybody: its file with nothing but masses and joints."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from xml.etree import ElementTree

from surefoot.files import atomic_write

__all__ = ["write_bare_urdf"]

_KEPT = {"link": ("inertial",), "joint": ("origin", "parent", "child", "axis", "limit")}


def write_bare_urdf(source: Path, target: Path, fixed: Collection[str] = ()) -> str:
    """Write a URDF without shapes, transmissions and couplings, its base left to who reads it; its first link's name.

    A floating joint of the file goes, with the link above it: every library has its own way to free a base.

    Args:
        source: The URDF file of the robot.
        target: The file to write.
        fixed: Joints that shall not move.
    """
    tree = ElementTree.parse(source)
    robot = tree.getroot()
    free = [joint for joint in robot.iter("joint") if joint.get("type") == "floating"]
    above = {parent.get("link") for joint in free for parent in joint.findall("parent")}
    for part in list(robot):
        if part.tag not in _KEPT or part in free or part.get("name") in above:
            robot.remove(part)
        for item in list(part):
            if item.tag not in _KEPT.get(part.tag, ()):
                part.remove(item)
        if part.tag == "joint" and part.get("name") in fixed:
            part.set("type", "fixed")
    with atomic_write(target) as temporary:
        tree.write(temporary, encoding="utf-8")
    children = {child.get("link") for joint in robot.iter("joint") for child in joint.findall("child")}
    return next(name for link in robot.iter("link") if (name := str(link.get("name"))) not in children)
