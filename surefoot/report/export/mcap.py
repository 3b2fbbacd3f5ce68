"""Write a motion as an MCAP file of ROS 2 messages, without ROS.

    /joint_states             sensor_msgs/JointState: joints with one axis
    /tf                       tf2_msgs/TFMessage: every link in the frame of the one before it, the first in `world`;
                              contact surfaces as `contact/<name>` in the frame of their link
    /contacts/<name>/wrench   geometry_msgs/WrenchStamped: on the robot, in `contact/<name>`

Stamps are the times of the motion; quaternions are x, y, z, w. Messages are encoded in batches as CDR (OMG XCDR1,
little endian): their strings are constant, so every number has a fixed offset, and a table of offsets is filled by
columns. The message definitions (`ros2msg`) contain the fields of common_interfaces, geometry2 and rcl_interfaces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.errors import NotSupportedError
from surefoot.files import atomic_write
from surefoot.motion import Trajectory
from surefoot.report.export.joints import joint_table, nanoseconds
from surefoot.robot import Robot

_HEAD = b"\x00\x01\x00\x00"  # plain CDR, little endian


class MessageLayout:
    """The places of all fields of a message; fields are added in the order of its definition."""

    def __init__(self) -> None:
        self._content = bytearray()
        self._fields: list[tuple[str, Any, int]] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The fields to fill."""
        return tuple(name for name, _, _ in self._fields)

    def text(self, value: str) -> MessageLayout:
        """Add a constant `string`."""
        content = value.encode() + b"\0"
        return self.count(len(content))._add(content)

    def count(self, value: int) -> MessageLayout:
        """Add a constant `uint32`, such as the length of a sequence."""
        self._align(4)
        return self._add(int(value).to_bytes(4, "little"))

    def texts(self, values: tuple[str, ...]) -> MessageLayout:
        """Add a constant `string[]`."""
        self.count(len(values))
        for value in values:
            self.text(value)
        return self

    def number(self, name: str, kind: str) -> MessageLayout:
        """Add a field that is filled later.

        Args:
            name: For `encoded`.
            kind: NumPy's name of its type: "<f8", "<i4" or "<u4".
        """
        return self._field(name, np.dtype(kind), 1)

    def numbers(self, name: str, size: int) -> MessageLayout:
        """Add a `float64[size]` that is filled later; its entries only, without a count.

        Args:
            name: For `encoded`.
            size: Entries.
        """
        return self._field(name, np.dtype(("<f8", (size,))), size)

    def sequence(self, name: str, size: int) -> MessageLayout:
        """Add a `float64[]` of fixed length that is filled later.

        Args:
            name: For `encoded`.
            size: Entries; 0 for an empty one.
        """
        self.count(size)
        return self.numbers(name, size) if size else self

    def encoded(self, columns: Mapping[str, NDArray[Any]], rows: int) -> list[bytes]:
        """One message for each row.

        Args:
            columns: (n,) or (n, k) by the name of the field.
            rows: n.
        """
        names, formats, offsets = zip(*self._fields, strict=True) if self._fields else ((), (), ())
        kind = np.dtype(
            {"names": list(names), "formats": list(formats), "offsets": list(offsets), "itemsize": len(self._content)}
        )
        table = np.frombuffer(bytearray(bytes(self._content) * rows), dtype=kind)
        for name in names:
            table[name] = columns[name]
        content, size = table.tobytes(), len(self._content)
        return [_HEAD + content[k * size : (k + 1) * size] for k in range(rows)]

    def _field(self, name: str, kind: Any, size: int) -> MessageLayout:
        self._align(min(8, kind.base.itemsize) if size else 1)
        self._fields.append((name, kind, len(self._content)))
        return self._add(bytes(kind.itemsize))

    def _align(self, size: int) -> None:
        self._content.extend(bytes(-len(self._content) % size))

    def _add(self, content: bytes) -> MessageLayout:
        self._content.extend(content)
        return self


JOINT_STATE = "sensor_msgs/msg/JointState"
TF_MESSAGE = "tf2_msgs/msg/TFMessage"
WRENCH_STAMPED = "geometry_msgs/msg/WrenchStamped"

_RULE = "=" * 80
_HEADER = ("std_msgs/Header", "builtin_interfaces/Time")
_PARTS = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    "geometry_msgs/Transform": "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation",
    "geometry_msgs/TransformStamped": (
        "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform"
    ),
    "geometry_msgs/Wrench": "geometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque",
}
_MESSAGES = {
    JOINT_STATE: (
        "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort",
        _HEADER,
    ),
    TF_MESSAGE: (
        "geometry_msgs/TransformStamped[] transforms",
        (
            "geometry_msgs/TransformStamped", *_HEADER,
            "geometry_msgs/Transform", "geometry_msgs/Vector3", "geometry_msgs/Quaternion",
        ),
    ),
    WRENCH_STAMPED: (
        "std_msgs/Header header\ngeometry_msgs/Wrench wrench",
        (*_HEADER, "geometry_msgs/Wrench", "geometry_msgs/Vector3"),
    ),
}  # fmt: skip


def definition(message: str) -> str:
    """The definition of a message with those of all its parts.

    Args:
        message: One of the names above.
    """
    own, parts = _MESSAGES[message]
    return own + "\n" + "".join(f"{_RULE}\nMSG: {name}\n{_PARTS[name]}\n" for name in parts)


_WORLD = "world"
_BATCH = 1000  # messages of one kind that are in memory at once


@dataclass(frozen=True, eq=False)
class _Topic:
    """A topic with its messages: their places, and the numbers of some rows."""

    name: str
    message: str
    layout: MessageLayout
    columns: Callable[[slice], Mapping[str, NDArray[Any]]]


def write_mcap(
    path: str | Path, trajectory: Trajectory, robot: Robot, progress: Callable[[float], None] | None = None
) -> tuple[str, ...]:
    """Write a motion, whole or not at all.

    Args:
        path: The file, `.mcap`.
        trajectory: The motion.
        robot: Its robot.
        progress: Called with the share that is done, 0…1.

    Returns:
        The topics.

    Raises:
        NotSupportedError: The package `mcap` is not installed.
        ShapeError: Times are not ones that ROS can have.
    """
    stamps = nanoseconds(trajectory.time)
    moving = [_transforms(trajectory, robot)] if robot.tree.n else []
    topics = [_joint_states(trajectory, robot), *moving, *_wrenches(trajectory)]
    with atomic_write(path) as temporary, temporary.open("wb") as stream:
        _write(stream, topics, stamps, progress)
    return tuple(topic.name for topic in topics)


def topic_name(text: str) -> str:
    """A part of a topic name: letters, digits and underscores, no digit first."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", text)
    return f"_{name}" if not name or name[0].isdigit() else name


def _write(
    stream: Any,
    topics: Sequence[_Topic],
    stamps: tuple[NDArray[np.int64], NDArray[np.int64]],
    progress: Callable[[float], None] | None,
) -> None:
    try:
        from mcap.writer import Writer
    except ImportError as error:
        raise NotSupportedError("MCAP files need the package mcap", next_step="run `pip install mcap`") from error
    writer = Writer(stream)
    writer.start(profile="ros2", library="surefoot")
    kinds = dict.fromkeys(topic.message for topic in topics)
    schemas = {kind: writer.register_schema(kind, "ros2msg", definition(kind).encode()) for kind in kinds}
    channels = [writer.register_channel(topic.name, "cdr", schemas[topic.message]) for topic in topics]
    seconds, rest = stamps
    total = len(seconds)
    for rows in _batches(total):
        times = (seconds[rows] * 1_000_000_000 + rest[rows]).tolist()
        stamp = {"sec": seconds[rows], "nanosec": rest[rows]}
        encoded = [
            topic.layout.encoded({**_stamped(stamp, topic), **topic.columns(rows)}, len(times)) for topic in topics
        ]
        for k, time in enumerate(times):
            for channel, messages in zip(channels, encoded, strict=True):
                writer.add_message(channel, time, messages[k], time, rows.start + k)
        if progress is not None:
            progress(rows.stop / total)
    writer.finish()


def _stamped(stamp: Mapping[str, NDArray[Any]], topic: _Topic) -> dict[str, NDArray[Any]]:
    """The stamp of a row, in all headers of its message."""
    return {field: stamp[field.partition(" ")[0]] for field in topic.layout.names if field.partition(" ")[0] in stamp}


def _batches(count: int) -> Iterator[slice]:
    for start in range(0, count, _BATCH):
        yield slice(start, min(start + _BATCH, count))


def _add_header(layout: MessageLayout, frame: str, which: str = "") -> MessageLayout:
    return layout.number(f"sec {which}", "<i4").number(f"nanosec {which}", "<u4").text(frame)


def _joint_states(trajectory: Trajectory, robot: Robot) -> _Topic:
    table = joint_table(trajectory, robot)
    layout = _add_header(MessageLayout(), "").texts(table.names)
    series = {"position": table.position, "velocity": table.velocity, "effort": table.effort}
    for name, values in series.items():
        layout.sequence(name, 0 if values is None else values.shape[1])
    given = {name: values for name, values in series.items() if values is not None and values.shape[1]}
    return _Topic(
        "/joint_states", JOINT_STATE, layout, lambda rows: {name: values[rows] for name, values in given.items()}
    )


def _wrenches(trajectory: Trajectory) -> list[_Topic]:
    out = []
    for name, values in trajectory.wrenches.items():
        layout = _add_header(MessageLayout(), f"contact/{name}").numbers("wrench", 6)
        out.append(_Topic(f"/contacts/{topic_name(name)}/wrench", WRENCH_STAMPED, layout, _one("wrench", values)))
    return out


def _one(name: str, values: Array) -> Callable[[slice], Mapping[str, NDArray[Any]]]:
    return lambda rows: {name: values[rows]}


def _transforms(trajectory: Trajectory, robot: Robot) -> _Topic:
    """All bodies, one after the other; then the contact surfaces, which do not move in their link."""
    tree = robot.tree
    names = tree.body_names
    parents = [_WORLD if tree.parents[i] < 0 else names[int(tree.parents[i])] for i in range(tree.n)]
    frames = list(zip(parents, names, strict=True))
    surfaces = _surfaces(robot)
    frames += [(_WORLD if i < 0 else names[i], f"contact/{name}") for i, name, _ in surfaces]
    layout = MessageLayout().count(len(frames))
    for k, (parent, child) in enumerate(frames):
        _add_header(layout, parent, str(k)).text(child).numbers(f"pose {k}", 7)

    def columns(rows: slice) -> dict[str, NDArray[Any]]:
        links = np.asarray(compile_robot(robot).frames(trajectory.q[rows], list(names)))
        relative = _relative(tree.parents, links)
        fixed = [np.broadcast_to(T, (len(relative), 4, 4)) for _, _, T in surfaces]
        # x, y, z, then the quaternion x, y, z, w: (n, frames, 7)
        T = np.concatenate([relative, *(T[:, None] for T in fixed)], axis=1)
        count = T.shape[0] * T.shape[1]
        turns = Rotation.from_matrix(T[..., :3, :3].reshape(count, 3, 3)).as_quat()
        found = np.concatenate([T[..., :3, 3], turns.reshape(*T.shape[:2], 4)], axis=-1)
        return {f"pose {k}": found[:, k] for k in range(len(frames))}

    return _Topic("/tf", TF_MESSAGE, layout, columns)


def _surfaces(robot: Robot) -> list[tuple[int, str, Array]]:
    """Contact surfaces: body, name, T_link_contact (in world where there is no body)."""
    out = []
    for name, contact in robot.contacts.items():
        i = robot.body_of(contact.frame)
        T = np.asarray(_in_body(robot, contact.frame) @ contact.placement)
        link = np.eye(4) if i < 0 else _in_body(robot, robot.tree.body_names[i])
        out.append((i, name, np.asarray(np.linalg.solve(link, T), dtype=float)))
    return out


def _in_body(robot: Robot, frame: str) -> Array:
    """T_body_frame (4, 4)."""
    return np.asarray(robot.model.frames[robot.frame_id(frame)].placement.homogeneous)


def _relative(parents: NDArray[np.int64], T: Array) -> Array:
    """T_parent_body (n, bodies, 4, 4) from T_world_body."""
    out = T.copy()
    for i, parent in enumerate(parents.tolist()):
        if parent >= 0:
            out[:, i] = np.linalg.solve(T[:, parent], T[:, i])
    return out
