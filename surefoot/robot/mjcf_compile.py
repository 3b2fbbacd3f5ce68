"""MJCF files → compiled MuJoCo model: what MuJoCo says becomes an error with its place, or a note."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import mujoco
import numpy as np

from surefoot.errors import FileFormatError, ModelError
from surefoot.robot.findings import Finding
from surefoot.robot.mjcf_guard import MjcfFiles
from surefoot.robot.mjcf_meshes import drop_missing_meshes

__all__ = ["compile_mjcf"]

_LARGEST = 1e12  # no length, mass or inertia of a robot is larger, in SI units
_MUST_BE_FINITE = (
    "body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia", "jnt_pos", "jnt_axis", "qpos0",
    "dof_armature", "dof_damping", "dof_frictionloss", "geom_pos", "geom_quat", "geom_friction", "site_pos",
    "site_quat", "eq_data", "actuator_gear", "actuator_armature", "actuator_damping", "key_qpos", "mesh_vert",
)  # fmt: skip
_MUST_NOT_BE_NEGATIVE = (
    "dof_armature", "dof_damping", "dof_frictionloss", "geom_friction", "actuator_armature", "actuator_damping",
)  # fmt: skip
_LINE = re.compile(r"line (\d+)")
_ELEMENT_NAME = re.compile(r"Element name '([^']+)'")
_ATTRIBUTE = re.compile(r"attribute:? '(\w+)'")
_ELEMENT = re.compile(r"Element '(\w+)'")


def compile_mjcf(files: MjcfFiles, meshes: str = "warn") -> tuple[mujoco.MjModel, tuple[Finding, ...]]:
    """The compiled model of checked files, and what was dropped on the way.

    Args:
        files: The files, checked.
        meshes: What to do about meshes that do not exist: "warn" or "skip" drops them, "require" refuses.

    Raises:
        MissingMeshError: A mesh is missing, with `meshes="require"`.
        FileFormatError: MuJoCo cannot read the files.
        ModelError: MuJoCo cannot compile them, or numbers are too large, or the inertia of a body comes from a mesh
            that is missing.
    """
    notes: list[Finding] = []
    with _quiet() as said:
        try:
            spec = mujoco.MjSpec.from_file(str(files.path))
        except (ValueError, mujoco.FatalError) as error:
            raise _placed(FileFormatError, "MuJoCo cannot read the file", error, files, said) from error
        notes += drop_missing_meshes(spec, files, meshes)
        notes += _drop_what_is_no_robot(spec, files)
        try:
            model = spec.compile()
        except (ValueError, mujoco.FatalError) as error:
            raise _placed(ModelError, "MuJoCo cannot compile the model", error, files, said) from error
    _require_moderate(model, files)
    notes += [Finding("warning", str(files.path), f"MuJoCo says: {text}") for text in dict.fromkeys(said)]
    return model, tuple(notes)


@contextmanager
def _quiet() -> Iterator[list[str]]:
    """Catch MuJoCo's warnings in a list; nothing is printed and no log file is written."""
    said: list[str] = []
    before, handler = mujoco.MjLogConfig.get(), mujoco.get_mju_user_warning()
    silent = mujoco.MjLogConfig.get()
    silent.logto_file = silent.logto_console = False
    silent.set()
    mujoco.set_mju_user_warning(lambda text: said.append(str(text).strip()))
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield said
    finally:
        said += [str(item.message) for item in caught]
        mujoco.set_mju_user_warning(handler)
        before.set()


def _placed(
    kind: type[FileFormatError] | type[ModelError], what: str, error: Exception, files: MjcfFiles, said: list[str]
) -> FileFormatError | ModelError:
    """Our error for one of MuJoCo's, with the file and line that it speaks of."""
    text = " ".join(str(error).split())
    file, line = _place_in_message(text, files)
    evidence = {"MuJoCo": text} | ({"warnings": said[:5]} if said else {})
    return kind(what, evidence=evidence, file=file, line=line, next_step="correct the description")


def _place_in_message(text: str, files: MjcfFiles) -> tuple[Path, int | None]:
    """File and line; MuJoCo writes line 0 for elements of included files, which are then looked up."""
    line = _LINE.search(text)
    if line and int(line[1]) > 0:
        return files.path, int(line[1])
    name, tag, attribute = _ELEMENT_NAME.search(text), _ELEMENT.search(text), _ATTRIBUTE.search(text)
    found = files.find(tag[1]) if tag else files.find(name=name[1]) if name else []
    included = [(f, e) for f, e in found if f != files.path and (not attribute or attribute[1] in e.attributes)]
    return (included[0][0], included[0][1].line) if len(included) == 1 else (files.path, None)


def _drop_what_is_no_robot(spec: mujoco.MjSpec, files: MjcfFiles) -> list[Finding]:
    """Take out what a robot description does not need, and reset sizes that only MuJoCo's memory needs."""
    notes = []
    if len(spec.pairs) or len(spec.excludes):
        notes.append(Finding("note", str(files.path), "contact pairs and excludes are dropped"))
    heights = [geom for geom in spec.geoms if geom.type == mujoco.mjtGeom.mjGEOM_HFIELD]
    if heights:
        notes.append(Finding("note", str(files.path), f"{len(heights)} height fields: not part of the robot"))
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for items in (spec.textures, spec.lights, spec.cameras, spec.sensors, spec.skins, spec.pairs, heights,
                  spec.hfields):  # fmt: skip
        for item in list(items):
            spec.delete(item)
    spec.nkey = spec.nuserdata = 0
    spec.memory = spec.nconmax = spec.njmax = spec.nstack = -1
    for kind in ("actuator", "body", "cam", "geom", "jnt", "sensor", "site", "tendon"):
        setattr(spec, f"nuser_{kind}", -1)
    spec.compiler.LRopt.mode = int(mujoco.mjtLRMode.mjLRMODE_NONE)
    return notes


def _require_moderate(model: mujoco.MjModel, files: MjcfFiles) -> None:
    """Refuse numbers that are not finite, too large to compute with, or negative where nature has no such thing."""
    for name in _MUST_BE_FINITE:
        values = np.asarray(getattr(model, name))
        lowest = 0.0 if name in _MUST_NOT_BE_NEGATIVE else -_LARGEST
        bad = np.argwhere(~((values >= lowest) & (values <= _LARGEST)))
        if len(bad):
            value = values[tuple(bad[0])]
            raise ModelError(
                f"`{name}` is negative" if -_LARGEST <= value < 0 else f"`{name}` is not finite or too large to use",
                evidence={"index": bad[0].tolist(), "value": value},
                next_step="check the units (kg, m, kg m²) and signs",
                file=files.path,
            )
