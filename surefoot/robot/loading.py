"""`surefoot.load`: a robot by name or from a file."""

from __future__ import annotations

import os
from pathlib import Path

from surefoot.robot import zoo
from surefoot.robot.build import Mimic
from surefoot.robot.files import load_file
from surefoot.robot.model import Robot

_SUFFIXES = (".urdf", ".xml", ".mjcf", ".sdf", ".xacro")


def load(name_or_path: str | Path, base: str = "auto", mimic: Mimic = "coupling", meshes: str = "warn") -> Robot:
    """A robot of the zoo by name, or from a URDF or MJCF file.

    Args:
        name_or_path: A name (`surefoot robots` lists them; parameters after a colon: `coil:32`) or a file.
        base: "floating", "planar", "fixed", or "auto": as the zoo, the file or its side file has it, else floating for
            a robot with legs.
        mimic: Followers of other joints: "coupling" keeps them as joints and lists the couplings, "reduce" takes their
            coordinates away, "free" forgets the couplings.
        meshes: What to do about missing meshes: "require" (an error), "warn" (a note) or "skip".

    Raises:
        SurefootError: With the file and line, or the nearest names.
    """
    text = os.fspath(name_or_path)
    if isinstance(name_or_path, Path) or is_file_name(text):
        return load_file(text, base=base, mimic=mimic, meshes=meshes)
    return zoo.load(text, base=base, mimic=mimic, meshes=meshes)


def is_file_name(text: str) -> bool:
    """Whether a text means a file rather than a robot of the zoo: it has a folder or a known ending."""
    return os.sep in text or text.lower().endswith(_SUFFIXES)
