"""`surefoot.load`: a robot by name or from a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from numpy.typing import ArrayLike

from surefoot.robot import zoo
from surefoot.robot.build import Mimic, locked
from surefoot.robot.files import load_file
from surefoot.robot.model import Robot

_SUFFIXES = (".urdf", ".xml", ".mjcf", ".sdf", ".xacro", ".maple")


def load(
    name_or_path: str | Path,
    base: str = "auto",
    mimic: Mimic = "coupling",
    meshes: str = "warn",
    *,
    lock: Mapping[str, ArrayLike] | Iterable[str] = (),
    only: Iterable[str] | None = None,
    package_dirs: Sequence[str | Path] = (),
) -> Robot:
    """A robot of the zoo by name, or from a URDF, MJCF, SDF or DYNAMOD file.

    Args:
        name_or_path: A name (`surefoot robots` lists them; parameters after a colon: `coil:32`) or a file.
        base: "floating", "planar", "fixed", or "auto": as the zoo, the file or its side file has it, else floating for
            a robot with legs.
        mimic: Followers of other joints: "coupling" keeps them as joints and lists the couplings, "reduce" takes their
            coordinates away, "free" forgets the couplings.
        meshes: What to do about missing meshes: "require" (an error), "warn" (a note) or "skip".
        lock: Joints to hold, as in `Robot.lock`.
        only: The joints that stay, as in `Robot.only`; None for all.
        package_dirs: Packages, or folders of packages, that `package://` and `model://` in a file mean.

    Raises:
        SurefootError: With the file and line, or the nearest names.
    """
    text = os.fspath(name_or_path)
    if isinstance(name_or_path, Path) or is_file_name(text):
        robot = load_file(text, base=base, mimic=mimic, meshes=meshes, package_dirs=package_dirs)
    else:
        robot = zoo.load(text, base=base, mimic=mimic, meshes=meshes)
    return locked(robot, lock, only)


def is_file_name(text: str) -> bool:
    """Whether a text means a file rather than a robot of the zoo: it has a folder or a known ending."""
    return os.sep in text or text.lower().endswith(_SUFFIXES)
