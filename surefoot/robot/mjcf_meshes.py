"""Mesh files of an MJCF description: which are missing, and whether the robot can do without them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

from surefoot.errors import FileFormatError, MissingMeshError, ModelError, one_of
from surefoot.geometry.meshes import MAX_MESH_BYTES
from surefoot.robot.findings import Finding
from surefoot.robot.mjcf_guard import MjcfFiles
from surefoot.robot.urdf_shapes import MESH_MODES
from surefoot.robot.xml_guard import Element

__all__ = ["drop_missing_meshes"]

_STEP = "put the file there"


def drop_missing_meshes(spec: mujoco.MjSpec, files: MjcfFiles, mode: str) -> list[Finding]:
    """Take meshes without a file out of the specification, with the shapes that use them.

    Args:
        spec: The specification; it is changed.
        files: The files that it was read from.
        mode: "warn" leaves a finding, "skip" does not, "require" refuses.

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
        if path.is_file():
            _require_small(path, file, line)
            continue
        if mode == "require":
            raise MissingMeshError(f"mesh `{path}` does not exist", next_step=_STEP, file=file, line=line)
        dropped = _drop(spec, mesh, path, file, line)
        if mode == "warn":
            message = f"mesh `{path}` does not exist; {dropped.shapes} shapes that use it are dropped"
            notes.append(Finding("warning", str(file), message, line or 0, dropped.bare))
    return notes


class _Dropped(NamedTuple):
    """How many shapes were taken out, and the bodies that lost one with which they may touch."""

    shapes: int
    bare: tuple[str, ...]


def _drop(spec: mujoco.MjSpec, mesh: mujoco.MjsMesh, path: Path, file: Path, line: int | None) -> _Dropped:
    """Take out a mesh and the geoms that use it."""
    name = mesh.name or Path(mesh.file).stem  # MuJoCo names a mesh after its file where no name is given
    users = [geom for geom in spec.geoms if geom.meshname == name]
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


def _path(spec: mujoco.MjSpec, name: str, files: MjcfFiles) -> Path:
    """Where the file of a mesh is or, if it is nowhere, where it must be; an attached model has folders of its own."""
    name = Path(name).name if spec.strippath else name
    first = files.path.parent / (spec.compiler.meshdir or "") / name
    others = [file.parent / _mesh_folder(files.elements[file]) / name for file, _ in files.find("mesh", file=name)]
    return next((path for path in (first, *others) if path.is_file()), first)


def _mesh_folder(root: Element) -> str:
    """The folder of meshes that a file states."""
    stated = [element.attributes for element in root.all("compiler")]
    return next((text for kind in ("meshdir", "assetdir") for item in stated if (text := item.get(kind))), "")


def _place(files: MjcfFiles, name: str) -> tuple[Path, int | None]:
    """The element that names a mesh file."""
    found = files.find("mesh", file=name)
    return (found[0][0], found[0][1].line) if found else (files.path, None)


def _require_small(path: Path, file: Path, line: int | None) -> None:
    if path.stat().st_size > MAX_MESH_BYTES:
        raise FileFormatError(f"mesh `{path}` is larger than {MAX_MESH_BYTES >> 20} MiB", file=file, line=line)


def _gives_inertia(spec: mujoco.MjSpec, geom: mujoco.MjsGeom) -> bool:
    """Whether the inertia of a geom's body is made from this geom."""
    body, choice = geom.parent, spec.compiler.inertiafromgeom
    low, high = (int(group) for group in spec.compiler.inertiagrouprange)
    massless = geom.mass == 0.0 or (np.isnan(geom.mass) and geom.density == 0.0)
    never = choice == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    if body.name == "world" or never or massless or not low <= geom.group <= high:
        return False
    return bool(choice == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE or not body.explicitinertial)
