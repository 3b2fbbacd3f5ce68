"""MJCF files → compiled MuJoCo model: missing meshes are dropped, complaints of MuJoCo become errors or notes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

from surefoot.errors import FileFormatError, MissingMeshError, ModelError, one_of
from surefoot.files import is_file
from surefoot.geometry import MAX_MESH_BYTES
from surefoot.robot.mjcf.guard import MjcfFiles
from surefoot.robot.model import Finding
from surefoot.robot.urdf import MESH_MODES
from surefoot.robot.xml_guard import Element

_STEP = "put the file there"


def _drop_missing_meshes(spec: mujoco.MjSpec, files: MjcfFiles, mode: str) -> list[Finding]:
    """Take meshes without a file out of the specification, with the shapes that use them.

    Raises:
        MissingMeshError: A mesh is missing, with "require".
        ModelError: The inertia of a body comes from a mesh that is missing.
        FileFormatError: A mesh file is too large.
    """
    if mode not in MESH_MODES:
        raise one_of("mesh mode", mode, MESH_MODES)
    notes = []
    for mesh in list(spec.meshes):
        if not mesh.file:
            continue
        path = _path(spec, mesh.file, files)
        file, line = _place(files, mesh.file)
        if is_file(path):
            if path.stat().st_size > MAX_MESH_BYTES:
                raise FileFormatError(f"mesh `{path}` is larger than {MAX_MESH_BYTES >> 20} MiB", file=file, line=line)
            continue
        if mode == "require":
            raise MissingMeshError(f"mesh `{path}` does not exist", next_step=_STEP, file=file, line=line)
        dropped = _drop(spec, mesh, path, file, line)
        if mode == "warn":
            message = f"mesh `{path}` does not exist; {dropped.shapes} shapes that use it are dropped"
            place = f"{file}:{line}" if line else str(file)
            notes.append(Finding("warning", place, message, line or 0, dropped.bare))
    return notes


class _Dropped(NamedTuple):
    """How many shapes were taken out, and the bodies that lost one with which they may touch."""

    shapes: int
    bare: tuple[str, ...]


def _drop(spec: mujoco.MjSpec, mesh: mujoco.MjsMesh, path: Path, file: Path, line: int | None) -> _Dropped:
    """Take out a mesh and the geoms that use it."""
    name = mesh.name or Path(mesh.file).stem  # MuJoCo names a mesh after its file where no name is given
    users = [geom for geom in spec.geoms if geom.meshname == name]
    _drop_pairs_of(spec, {geom.name for geom in users})
    bare = tuple(dict.fromkeys(geom.parent.name for geom in users if geom.contype or geom.conaffinity))
    for geom in users:
        if _gives_inertia(spec, geom):
            raise ModelError(
                f"the inertia of body `{geom.parent.name}` comes from mesh `{path}`, which does not exist",
                next_step=f"{_STEP}, or give the body an `inertial`",
                file=file,
                line=line,
            )
        spec.delete(geom)
    for site in [site for site in spec.sites if site.meshname == name]:
        site.meshname = ""
    spec.delete(mesh)
    return _Dropped(len(users), bare)


def _drop_pairs_of(spec: mujoco.MjSpec, geoms: set[str]) -> None:
    """Take out the contact pairs of geoms that are taken out."""
    for pair in [pair for pair in spec.pairs if {pair.geomname1, pair.geomname2} & (geoms - {""})]:
        spec.delete(pair)


def _path(spec: mujoco.MjSpec, name: str, files: MjcfFiles) -> Path:
    """Where the file of a mesh is or, if it is nowhere, where it is expected: in the folder of the file that names it.

    MuJoCo looks in the main file's folder of meshes first, then beside an included file, which it has in `name`; an
    attached model has folders of its own.
    """
    found = _mesh_elements(files, name)
    own = found[0][1].attributes["file"] if found else name
    own = Path(own).name if spec.strippath else own
    first = files.path.parent / (spec.compiler.meshdir or "") / own
    others = [Path(name), *(file.parent / _mesh_folder(files.elements[file]) / own for file, _ in found)]
    is_included = bool(found) and name != found[0][1].attributes["file"]
    beside = others[0] if is_included else next(iter(others[1:]), first)
    return next((path for path in (first, *others) if is_file(path)), beside)


def _mesh_folder(root: Element) -> str:
    """The folder of meshes that a file states."""
    stated = [element.attributes for element in root.all("compiler")]
    return next((text for kind in ("meshdir", "assetdir") for item in stated if (text := item.get(kind))), "")


def _place(files: MjcfFiles, name: str) -> tuple[Path, int | None]:
    """The element that names a mesh file."""
    found = _mesh_elements(files, name)
    return (found[0][0], found[0][1].line) if found else (files.path, None)


def _mesh_elements(files: MjcfFiles, name: str) -> list[tuple[Path, Element]]:
    """The elements of a mesh file; MuJoCo writes the folder of an included file before the name."""
    found = [(file, item) for file, item in files.find("mesh") if _ends_with(name, item.attributes.get("file", ""))]
    return sorted(found, key=lambda pair: -len(pair[1].attributes["file"]))


def _ends_with(name: str, own: str) -> bool:
    return bool(own) and (name == own or name.endswith(f"/{own}"))


def _gives_inertia(spec: mujoco.MjSpec, geom: mujoco.MjsGeom) -> bool:
    """Whether the inertia of a geom's body is made from this geom."""
    body, choice = geom.parent, spec.compiler.inertiafromgeom
    low, high = (int(group) for group in spec.compiler.inertiagrouprange)
    massless = geom.mass == 0.0 or (np.isnan(geom.mass) and geom.density == 0.0)
    never = choice == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    if body.name == "world" or never or massless or not low <= geom.group <= high:
        return False
    return bool(choice == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE or not body.explicitinertial)


_LARGEST = 1e12  # no length, mass or inertia of a robot is larger, in SI units
_MUST_BE_FINITE = (
    "body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia", "jnt_pos", "jnt_axis", "qpos0",
    "dof_armature", "dof_damping", "dof_frictionloss", "geom_pos", "geom_quat", "geom_friction", "geom_size",
    "site_pos", "site_quat", "eq_data", "actuator_gear", "actuator_armature", "actuator_damping", "actuator_biasprm",
    "key_qpos", "mesh_vert",
)  # fmt: skip
_MUST_NOT_BE_NEGATIVE = (
    "dof_armature", "dof_damping", "dof_frictionloss", "geom_friction", "actuator_armature", "actuator_damping",
)  # fmt: skip
_REFUSALS = (ValueError, mujoco.FatalError, RuntimeError, MemoryError)
_LINE = re.compile(r"line (\d+)")
_ELEMENT_NAME = re.compile(r"Element name '([^']+)'")
_ATTRIBUTE = re.compile(r"attribute:? '(\w+)'")
_ELEMENT = re.compile(r"Element '(\w+)'")


def compile_mjcf(files: MjcfFiles, meshes: str = "warn") -> tuple[mujoco.MjModel, tuple[Finding, ...]]:
    """The compiled model of checked files, and findings on dropped elements.

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
        except _REFUSALS as error:
            raise _placed(FileFormatError, "MuJoCo cannot read the file", error, files, said) from error
        notes += _drop_missing_meshes(spec, files, meshes)
        notes += _drop_unrelated_elements(spec, files)
        try:
            model = spec.compile()
        except _REFUSALS as error:
            raise _placed(ModelError, "MuJoCo cannot compile the model", error, files, said) from error
    _require_moderate(model, files)
    notes += [Finding("warning", str(files.path), f"MuJoCo warns: {text}") for text in dict.fromkeys(said)]
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


def _drop_unrelated_elements(spec: mujoco.MjSpec, files: MjcfFiles) -> list[Finding]:
    """Delete elements that do not describe the robot, and reset sizes that only MuJoCo's memory needs."""
    notes = []
    heights = [geom for geom in spec.geoms if geom.type == mujoco.mjtGeom.mjGEOM_HFIELD]
    if heights:
        notes.append(Finding("note", str(files.path), f"{len(heights)} height fields: not part of the robot"))
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    _drop_pairs_of(spec, {geom.name for geom in heights})
    for items in (spec.textures, spec.lights, spec.cameras, spec.sensors, spec.skins, heights, spec.hfields):
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
