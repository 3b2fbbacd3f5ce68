"""`NAME.surefoot.toml`: additions to a URDF or MJCF file, beside the file or in the package.

base = "floating"

[home.joints]
left_knee = 0.4

[contacts.left_foot]
frame = "left_ankle_roll_link"
kind = "rectangle"
position = [0.03, 0.0, -0.03]
size = [0.2, 0.06]

[drives.left_knee]
gear_ratio = 100.0
rotor_inertia = 1e-5

[joints.shoulder]
kind = "spherical"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
import pinocchio as pin
from pydantic import Field, model_validator

from surefoot.arrays import Array
from surefoot.errors import ModelError, ScenarioError, SurefootError, UnknownNameError, one_of
from surefoot.files import is_file
from surefoot.geometry import Box, Capsule, Cylinder, Shape, Sphere
from surefoot.robot.build import Parts
from surefoot.robot.model import (
    AnatomyHints,
    ContactKind,
    ContactSurface,
    Coupling,
    Drive,
    Geometry,
    JointKind,
    Loop,
    placement,
)
from surefoot.tables import KeyPath, StrictModel, key_lines, line_of, parse_toml, read_toml, read_toml_text, walk_tables

Vector = tuple[float, float, float]
Positive = Annotated[float, Field(gt=0.0)]
Direction = Literal["x", "y", "z", "rx", "ry", "rz"]
_DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
_OF_FRAMES = (
    "frame",
    "frame_a",
    "frame_b",
    "link",
    "torso",
)  # keys whose values name links and frames; the rest names joints


class HomeTable(StrictModel):
    """The home posture: positions by joint name [rad] or [m]; `base` only if the feet do not determine the height."""

    joints: dict[str, float] = {}
    base: list[float] | None = None


class ContactTable(StrictModel):
    """A contact surface: corners (x, y) in its frame, or `size` (x, y) of a rectangle about its origin [m]."""

    frame: str
    kind: ContactKind
    position: Vector = (0.0, 0.0, 0.0)
    rpy: Vector = (0.0, 0.0, 0.0)
    corners: list[tuple[float, float]] | None = None
    size: tuple[Positive, Positive] | None = None
    friction: float = Field(default=0.7, ge=0.0)
    torsional_friction: float = Field(default=0.0, ge=0.0)
    radius: float = Field(default=0.0, ge=0.0)


class DriveTable(StrictModel):
    """A drive; omitted values are those of the robot file."""

    gear_ratio: float | None = Field(default=None, gt=0.0)
    rotor_inertia: float | None = Field(default=None, ge=0.0)
    gear: Literal["rigid", "elastic"] | None = None
    stiffness: float | None = Field(default=None, ge=0.0)
    damping: float | None = Field(default=None, ge=0.0)
    dry_friction: float | None = Field(default=None, ge=0.0)
    viscous_friction: float | None = Field(default=None, ge=0.0)
    torque_limit: float | None = Field(default=None, gt=0.0)
    speed_limit: float | None = Field(default=None, gt=0.0)
    corner_speed: float | None = Field(default=None, gt=0.0)
    resistance: float | None = Field(default=None, ge=0.0)
    inductance: float | None = Field(default=None, ge=0.0)
    torque_constant: float | None = Field(default=None, ge=0.0)
    voltage: float | None = Field(default=None, ge=0.0)
    servo_stiffness: float | None = Field(default=None, ge=0.0)
    servo_damping: float | None = Field(default=None, ge=0.0)
    servo_dead_band: float | None = Field(default=None, ge=0.0)
    servo_step: float | None = Field(default=None, ge=0.0)

    @model_validator(mode="after")
    def _elastic_gears_have_a_spring(self) -> Self:
        if self.gear == "elastic" and not self.stiffness:
            raise ValueError("an elastic gear needs `stiffness`")
        return self


class LoopTable(StrictModel):
    """A closed chain between two frames; `directions` of the tied frame on `frame_a` are held."""

    frame_a: str
    frame_b: str
    position_a: Vector = (0.0, 0.0, 0.0)
    rpy_a: Vector = (0.0, 0.0, 0.0)
    position_b: Vector = (0.0, 0.0, 0.0)
    rpy_b: Vector = (0.0, 0.0, 0.0)
    directions: list[Direction] = ["x", "y", "z", "rx", "ry", "rz"]


class CouplingTable(StrictModel):
    """q_joint = offset + ratio · q_source."""

    source: str
    ratio: float = 1.0
    offset: float = 0.0


class JointTable(StrictModel):
    """A joint kind that URDF lacks, or another axis."""

    kind: JointKind
    axis: Vector | None = None
    second_axis: Vector | None = None
    pitch: float | None = None

    @model_validator(mode="after")
    def _screws_have_a_pitch(self) -> Self:
        if self.kind == "helical" and self.pitch is None:
            raise ValueError("a helical joint needs `pitch` [m/rad]")
        return self


class CollisionTable(StrictModel):
    """A collision volume on a link: sphere, box, cylinder or capsule [m]."""

    link: str
    shape: Literal["sphere", "box", "cylinder", "capsule"]
    radius: float | None = Field(default=None, gt=0.0)
    length: float | None = Field(default=None, gt=0.0)
    size: tuple[Positive, Positive, Positive] | None = None
    position: Vector = (0.0, 0.0, 0.0)
    rpy: Vector = (0.0, 0.0, 0.0)


class AnatomyTable(StrictModel):
    """Where the robot looks, its torso and its feet, where they are not found right."""

    forward: Vector | None = None
    torso: str | None = None
    feet: dict[str, list[str]] = {}


class SideFile(StrictModel):
    """The whole side file."""

    base: Literal["floating", "planar", "fixed"] | None = None
    passive: list[str] = []
    home: HomeTable | None = None
    contacts: dict[str, ContactTable] = {}
    drives: dict[str, DriveTable] = {}
    loops: dict[str, LoopTable] = {}
    couplings: dict[str, CouplingTable] = {}
    joints: dict[str, JointTable] = {}
    collisions: dict[str, CollisionTable] = {}
    anatomy: AnatomyTable = AnatomyTable()


def find_side_file(robot_file: str | Path) -> Path | None:
    """`NAME.surefoot.toml` beside `NAME.urdf` or `NAME.xml`, or None."""
    path = Path(robot_file)
    side = path.with_name(path.stem + ".surefoot.toml")
    return side if is_file(side) else None


def read_side_file(path: str | Path) -> SideFile:
    """Read and check a side file; its errors name key and line."""
    try:
        return read_toml(path, SideFile)
    except ScenarioError as error:
        error.next_step = error.next_step or "correct the entry; docs/side-file.md lists all keys"
        raise


def placed_in_side_file(error: SurefootError, side: Path | None) -> SurefootError:
    """The error with file and line of the side file, if it is about a key or a name there.

    Args:
        error: Raised while a robot with this side file was loaded; one that knows another file is left as it is.
        side: The side file, or None.

    Returns:
        The same error.
    """
    if side is None or error.line is not None or error.file not in (None, str(side)):
        return error
    text = read_toml_text(side)
    for path, value in walk_tables(parse_toml(text, side)):
        if _is_about(error, path, value):
            return error.with_place(side, line_of(path, key_lines(text)))
    return error


def _is_about(error: SurefootError, path: KeyPath, value: str) -> bool:
    """Whether an error is about a key or the text there."""
    if not isinstance(error, UnknownNameError):
        return path == error.key
    names_frame = path[-1] in _OF_FRAMES
    if error.kind in ("frame", "link"):
        return names_frame and value == error.subject
    return not names_frame and error.subject in (path[-1], value)


def merged(parts: Parts, side: SideFile, file: str | Path) -> Parts:
    """Merge the side file into the parts that a reader found.

    Args:
        parts: From the reader.
        side: The side file.
        file: Its path, for messages.
    """
    contacts = tuple(_contact(name, table, file) for name, table in side.contacts.items())
    couplings = {item.joint: item for item in parts.couplings}
    couplings |= {name: Coupling(name, t.source, t.ratio, t.offset) for name, t in side.couplings.items()}
    loops = {item.name: item for item in parts.loops} | {name: _loop(name, t) for name, t in side.loops.items()}
    volumes = tuple(
        Geometry(name, t.link, _volume(name, t, file), _pose(t.position, t.rpy)) for name, t in side.collisions.items()
    )
    replaced = {volume.link for volume in volumes}
    return replace(
        parts,
        contacts=contacts or parts.contacts,
        couplings=tuple(couplings.values()),
        loops=tuple(loops.values()),
        collisions=(*(g for g in parts.collisions if g.link not in replaced), *volumes),
        home=side.home.joints if side.home else parts.home,
        home_base=side.home.base if side.home else parts.home_base,
        grounded=parts.grounded and not side.home,
        other_homes=() if side.home else parts.other_homes,
        hints=_hints(side.anatomy),
        adjust_drives=partial(_adjust_drives, side, file),
    )


def _hints(table: AnatomyTable) -> AnatomyHints:
    return AnatomyHints(table.forward, table.torso, {name: tuple(contacts) for name, contacts in table.feet.items()})


def _adjust_drives(
    side: SideFile, file: str | Path, drives: tuple[Drive, ...], joint_names: Sequence[str]
) -> tuple[Drive, ...]:
    """The drives as the side file changes them; passive joints have none."""
    for name in (*side.passive, *side.drives):
        if name not in joint_names:
            raise one_of("joint", name, joint_names).with_place(file)
    by_joint = {drive.joint: drive for drive in drives if drive.joint not in side.passive}
    for name in sorted(side.drives, key=list(joint_names).index):  # new ones come after those of the robot file
        by_joint[name] = _changed_drive(by_joint.get(name, Drive(name)), side.drives[name])
    return tuple(by_joint.values())


def _changed_drive(drive: Drive, table: DriveTable) -> Drive:
    """The drive as the table changes it; a gear ratio alone keeps the inertia at the joint."""
    given = {key: value for key, value in table.model_dump().items() if value is not None}
    if table.gear_ratio is not None and table.rotor_inertia is None:
        given["rotor_inertia"] = drive.rotor_inertia * (drive.gear_ratio / table.gear_ratio) ** 2
    return replace(drive, **given)


def _pose(position: Vector, rpy: Vector) -> Array:
    return placement(position, pin.rpy.rpyToMatrix(np.array(rpy)))


def _contact(name: str, table: ContactTable, file: str | Path) -> ContactSurface:
    if table.size is not None:
        x, y = 0.5 * table.size[0], 0.5 * table.size[1]
        flat: list[tuple[float, float]] = [(x, y), (-x, y), (-x, -y), (x, -y)]
    else:
        flat = table.corners or [(0.0, 0.0)]
    if table.kind in ("rectangle", "polygon", "line") and table.size is None and table.corners is None:
        message = f"`contacts.{name}` ({table.kind}) needs `corners` or `size`"
        raise ScenarioError(message, file=file, key=("contacts", name))
    try:
        return ContactSurface(
            name, table.frame, table.kind, _pose(table.position, table.rpy),
            np.column_stack([flat, np.zeros(len(flat))]), table.friction, table.torsional_friction, table.radius,
        )  # fmt: skip
    except ModelError as error:
        raise error.with_place(file) from None


def side_contacts(path: str | Path) -> dict[str, ContactSurface]:
    """The contact surfaces of a side file, by name."""
    return {name: _contact(name, table, path) for name, table in read_side_file(path).contacts.items()}


def _loop(name: str, table: LoopTable) -> Loop:
    directions: Any = tuple(item in table.directions for item in _DIRECTIONS)
    return Loop(
        name,
        table.frame_a,
        table.frame_b,
        _pose(table.position_a, table.rpy_a),
        _pose(table.position_b, table.rpy_b),
        directions,
    )


def _volume(name: str, table: CollisionTable, file: str | Path) -> Shape:
    needed = {
        "sphere": ("radius",),
        "box": ("size",),
        "cylinder": ("radius", "length"),
        "capsule": ("radius", "length"),
    }
    missing = [key for key in needed[table.shape] if getattr(table, key) is None]
    if missing:
        message = f"`collisions.{name}` ({table.shape}) needs `{'` and `'.join(missing)}`"
        raise ScenarioError(message, file=file, key=("collisions", name))
    radius, length = table.radius or 0.0, table.length or 0.0
    shapes: dict[str, Shape] = {"sphere": Sphere(radius), "box": Box(table.size or (0.0, 0.0, 0.0)),
                                "cylinder": Cylinder(radius, length), "capsule": Capsule(radius, length)}  # fmt: skip
    return shapes[table.shape]
