"""A robot from a file: URDF, MJCF, SDF or DYNAMOD, with the side file beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin

from surefoot.errors import FileFormatError, ScenarioError, SurefootError, one_of
from surefoot.robot.build import Mimic, Parts, assemble, assemble_links, build_model, lowest_points
from surefoot.robot.mjcf import mjcf_links, with_base
from surefoot.robot.model import Robot, under_gravity
from surefoot.robot.side_file import SideFile, find_side_file, merged, placed_in_side_file, read_side_file
from surefoot.robot.urdf import (
    UrdfDocument,
    require_sound,
    scan_urdf,
    urdf_couplings,
    urdf_geometries,
    urdf_links,
    urdf_model,
)
from surefoot.robot.xml_guard import Element, read_xml

BASES = ("auto", "floating", "planar", "fixed")


def load_file(
    path: str | Path,
    *,
    base: str = "auto",
    mimic: Mimic = "coupling",
    meshes: str = "warn",
    side: str | Path | None = None,
    name: str | None = None,
    prepare: Callable[[UrdfDocument], None] | None = None,
    root_rotation: np.ndarray | None = None,
    home: dict[str, float] | None = None,
    package_dirs: Sequence[str | Path] = (),
) -> Robot:
    """Load a URDF, MJCF, SDF or DYNAMOD file.

    Args:
        path: The file.
        base: "auto", "floating", "planar" or "fixed".
        mimic: "coupling", "reduce" or "free".
        meshes: What to do about missing meshes: "require", "warn" or "skip".
        side: The side file; None for `NAME.surefoot.toml` beside the file, if there is one.
        name: Name of the robot; None for the one in the file.
        prepare: Changes the scanned URDF before it is built.
        root_rotation: (3, 3) rotation of the base joint against the world.
        home: Home posture by joint name, unless the side file gives one.
        package_dirs: Packages, or folders of packages, that `package://` and `model://` mean.
    """
    if base not in BASES:
        raise one_of("base", base, BASES)
    side_path = Path(side) if side is not None else find_side_file(path)
    extra = read_side_file(side_path) if side_path else SideFile()
    root = None if Path(path).suffix == ".maple" else document_of(path)
    try:
        if root is None:
            return _load_dynamod(Path(path), base, extra, side_path, name)
        if root.tag == "mujoco":
            return _load_mjcf(path, base, mimic, meshes, extra, side_path, name)
        if root.tag == "sdf":
            from surefoot.robot.sdf import sdf_links

            found = sdf_links(root, path, meshes, package_dirs)
            wanted = extra.base or found.base if base == "auto" else base
            parts = _with_side(found.parts, extra, side_path)
            return assemble_links(name or found.name, found.links, wanted, mimic=mimic, parts=parts)
        document = scan_urdf(root, str(path))
        document.package_dirs = tuple(package_dirs)
        if prepare is not None:
            prepare(document)
        return _load_urdf(document, base, mimic, meshes, extra, side_path, name, root_rotation, home)
    except SurefootError as error:
        raise placed_in_side_file(error, side_path).with_place(path) from error.__cause__


def document_of(path: str | Path) -> Element:
    """The root element of a robot file, or an error with the reason.

    Raises:
        FileFormatError: Not readable, not XML, or neither URDF, MJCF nor SDF.
    """
    root = read_xml(path)
    if root.tag not in ("robot", "mujoco", "sdf"):
        raise FileFormatError(
            f"the root element is <{root.tag}>, expected <robot> (URDF), <mujoco> (MJCF) or <sdf>",
            file=path,
            line=root.line,
        )
    return root


def _load_urdf(
    document: UrdfDocument,
    base: str,
    mimic: Mimic,
    meshes: str,
    side: SideFile,
    side_path: Path | None,
    name: str | None,
    root_rotation: np.ndarray | None,
    home: dict[str, float] | None,
) -> Robot:
    require_sound(document)
    parts = Parts(
        collisions=urdf_geometries(document, "collision", meshes),
        visuals=urdf_geometries(document, "visual", meshes),
        couplings=urdf_couplings(document),
        home=_of_moving_joints(document, home) if home else None,
        source=document.file,
    )
    parts = merged(parts, side, side_path or "") if side_path else parts
    _require_links(document, parts, side_path)
    base = side.base or _guess_base(document, parts) if base == "auto" else base
    base_of_root = "fixed" if base == "floating" and _floats_in_world(document) else base
    if side.joints:
        changes = {
            key: {k: v for k, v in table.model_dump().items() if v is not None} for key, table in side.joints.items()
        }
        for joint in changes:
            if joint not in document.joints:
                raise one_of("joint", joint, document.joints).with_place(side_path)
        model = build_model(name or document.name, urdf_links(document, changes), base_of_root)
    else:
        model = urdf_model(document, base_of_root)
    if root_rotation is not None:
        model.jointPlacements[1] = pin.SE3(root_rotation, model.jointPlacements[1].translation)
    notes = tuple(dict.fromkeys(document.findings))
    return assemble(name or document.name, model, base, replace(parts, notes=notes), mimic)


def _of_moving_joints(document: UrdfDocument, posture: dict[str, float]) -> dict[str, float]:
    """The entries of a posture that this robot has a joint for (postures are shared by variants of a robot)."""
    moving = {name for name, joint in document.joints.items() if joint.attributes["type"] not in ("fixed", "floating")}
    return {name: value for name, value in posture.items() if name in moving}


def _guess_base(document: UrdfDocument, parts: Parts) -> str:
    """Floating for a robot with legs: at least two limbs of two or more moving joints reach below the root.

    A root link called `world` (or `map`, `odom`) means that the robot is fixed to it, unless by a floating joint.
    """
    if _floats_in_world(document):
        return "floating"
    if document.root.lower() in ("world", "map", "odom", "universe"):
        return "fixed"
    model = urdf_model(document, "fixed")
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    lowest: dict[int, float] = {}
    floor_of_root = _low_of_root(document, parts, model, data)
    for i in range(1, model.njoints):
        limb = i
        while model.parents[limb] != 0:
            limb = model.parents[limb]
        lowest[limb] = min(lowest.get(limb, np.inf), float(data.oMi[i].translation[2]))
    legs = [limb for limb, low in lowest.items() if low < floor_of_root - 0.02 and len(model.subtrees[limb]) >= 2]
    return "floating" if len(legs) >= 2 else "fixed"


def _floats_in_world(document: UrdfDocument) -> bool:
    """Whether the file itself puts the robot into the world by one floating joint on its root."""
    kinds = [
        document.joints[name].attributes["type"]
        for name in document.joints
        if document.parent_of(name) == document.root
    ]
    return kinds == ["floating"] and not document.links[document.root].children


def _require_links(document: UrdfDocument, parts: Parts, side_path: Path | None) -> None:
    """Volumes of the side file hang on links that exist."""
    for item in parts.collisions:
        if item.link not in document.links:
            raise one_of("link", item.link, document.links).with_place(side_path)


def _low_of_root(document: UrdfDocument, parts: Parts, model: pin.Model, data: pin.Data) -> float:
    """Height of the lowest point of what is fixed to the root link, at least its origin [m]."""
    low = 0.0
    for item in parts.collisions:
        frame = model.getFrameId(item.link, pin.FrameType.BODY)
        if model.frames[frame].parentJoint == 0:
            points = lowest_points(item.shape, data.oMf[frame].homogeneous @ item.placement)
            low = min(low, float(points[:, 2].min())) if len(points) else low
    return low


def _load_mjcf(
    path: str | Path, base: str, mimic: Mimic, meshes: str, side: SideFile, side_path: Path | None, name: str | None
) -> Robot:
    found = mjcf_links(path, meshes)
    wanted = side.base or "auto" if base == "auto" else base
    found = with_base(found, wanted)
    parts = _with_side(found.parts, side, side_path)
    return assemble_links(name or found.name, found.links, found.base, mimic=mimic, parts=parts)


def _load_dynamod(path: Path, base: str, side: SideFile, side_path: Path | None, name: str | None) -> Robot:
    from surefoot.robot.dynamod import dynamod_robot

    links, own, parts, gravity = dynamod_robot(path)
    parts = _with_side(parts, side, side_path)
    robot = assemble_links(name or path.stem, links, side.base or own if base == "auto" else base, parts=parts)
    return robot if gravity is None else under_gravity(robot, gravity)


def _with_side(parts: Parts, side: SideFile, side_path: Path | None) -> Parts:
    """Add the side file of a robot whose own file defines its joints."""
    if side.joints:
        raise ScenarioError(
            "`joints` is for URDF; other files define their joints themselves",
            file=side_path,
            key=("joints",),
            next_step="change the file of the robot",
        )
    return merged(parts, side, side_path) if side_path else parts
