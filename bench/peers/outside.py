"""Libraries in an interpreter of their own: the robot file that all of them read, and the script that is run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Collection
from pathlib import Path
from xml.etree import ElementTree

from bench.timing import pinned
from surefoot.errors import NotSupportedError
from surefoot.files import atomic_write

__all__ = ["copy_scripts", "run_outside", "write_bare_urdf"]

_KEPT = {"link": ("inertial",), "joint": ("origin", "parent", "child", "axis", "limit")}
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def write_bare_urdf(source: Path, target: Path, fixed: Collection[str] = ()) -> str:
    """Write a URDF with nothing but masses and joints, some of them fixed; the name of its first link.

    A floating joint of the file goes, with the link above it: every library has its own way to free a base.
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


def copy_scripts(folder: Path, *scripts: str) -> None:
    """Copy scripts of this folder: our modules must not hide those of others."""
    for script in scripts:
        shutil.copy(Path(__file__).with_name(script), folder)


def run_outside(python: Path, library: str, folder: Path, scripts: tuple[str, ...], seconds: float) -> None:
    """Run the first of some scripts of this folder on the files of another, on one core.

    Raises:
        NotSupportedError: The interpreter does not run it.
    """
    copy_scripts(folder, *scripts)
    command = [str(python), str(folder / scripts[0]), str(folder)]
    environment = os.environ | dict.fromkeys(_THREADS, "1")
    try:
        with pinned():
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=seconds, check=False
            )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotSupportedError(f"`{python}` does not run {library}: {error}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise NotSupportedError(f"`{python}` does not run {library}: {last}")
