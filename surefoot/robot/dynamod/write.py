"""A robot → DYNAMOD's files. Numbers are given where the parameters are declared, so that the three files are complete.

Joints whose axis is not x, y or z, and joints that are not placed in the axes of their parent, get frames without mass.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.files import write_text
from surefoot.robot.dynamod.read import NAMES
from surefoot.robot.model import Robot, placement
from surefoot.spatial import so3

_SLOTS = ("Tx", "Ty", "Tz", "Rx", "Ry", "Rz")


@dataclass
class _Frame:
    """A frame of the file: its parent's number, six constants and coordinates, and its body in the tree (−1: none)."""

    label: str
    parent: int
    constants: Array
    moves: dict[str, str] = field(default_factory=dict)
    body: int = -1


def write_dynamod(robot: Robot, folder: str | Path) -> list[Path]:
    """Write the three files; limits, shapes, friction and springs are not part of them.

    Args:
        robot: The robot, with a fixed or floating base and joints of one coordinate.
        folder: Where.

    Raises:
        NotSupportedError: It has closed chains, coupled joints or other joints.
    """
    if robot.loops or robot.couplings:
        raise NotSupportedError("DYNAMOD's files have neither closed chains nor coupled joints", subject=robot.name)
    frames = _frames(robot)
    texts = (_kinematics(robot, frames), _dynamics(robot, frames), _additions(robot, frames))
    paths = [Path(folder) / name for name in NAMES]
    for path, text in zip(paths, texts, strict=True):
        write_text(path, text)
    return paths


def _frames(robot: Robot) -> list[_Frame]:
    tree, found, place = robot.tree, list[_Frame](), {-1: 0}
    count = tree.n

    def add(label: str, parent: int, T: Array, moves: dict[str, str] | None = None, body: int = -1) -> int:
        found.append(_Frame(label, parent, np.r_[T[:3, 3], _cardan(T[:3, :3])], moves or {}, body))
        return len(found)

    for i in range(count):
        name, parent, T = tree.body_names[i], place[int(tree.parents[i])], tree.placements[i]
        coordinate = f"q[{int(tree.v_index[i]) + 1}]"
        if tree.kinds[i] == "free" and parent == 0:
            order = dict(zip(("Tx", "Ty", "Tz", "Rz", "Ry", "Rx"), range(6), strict=True))
            moves = {slot: f"q[{int(tree.v_index[i]) + 1 + k}]" for slot, k in order.items()}
            place[i] = add(name, 0, T, moves, i)
            continue
        if tree.kinds[i] not in ("revolute", "continuous", "prismatic"):
            raise NotSupportedError(f"joint `{tree.joint_names[i]}` has more than one coordinate, or couples them")
        kind = "T" if tree.kinds[i] == "prismatic" else "R"
        axis, k = tree.axes[i], int(np.argmax(np.abs(tree.axes[i])))
        is_plain = abs(abs(axis[k]) - 1.0) < 1e-12
        down = axis[2 if not is_plain else k] < 0.0
        R = np.eye(3) if is_plain else so3.turn_to(-axis if down else axis) @ so3.turn_to(np.array([1.0, 0.0, 0.0])).T
        if not (is_plain and np.allclose(T[:3, :3], np.eye(3), atol=1e-15)):
            parent, T = add(f"{name}__at", parent, T @ placement(rotation=R)), placement()
        moves = {kind + ("xyz"[k] if is_plain else "x"): ("-" if down else "") + coordinate}
        if is_plain:
            place[i] = add(name, parent, T, moves, i)
        else:
            place[i] = add(name, add(f"{name}__on", parent, T, moves), placement(rotation=R.T), None, i)
    return found + [_contact(robot, name, place) for name in robot.contacts]


def _contact(robot: Robot, name: str, place: dict[int, int]) -> _Frame:
    surface = robot.contacts[name]
    frame = robot.model.frames[robot.model.getFrameId(surface.frame)]
    T = frame.placement.homogeneous @ surface.placement
    body = robot.body_of(surface.frame)
    label = name if name not in robot.tree.body_names else f"{name}__contact"
    return _Frame(label, place[body], np.r_[T[:3, 3], _cardan(T[:3, :3])])


def _cardan(R: Array) -> Array:
    """Angles x, y, z with R = Rz Ry Rx."""
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[0, 0], R[1, 0]) < 1e-9:  # only a sum of the other two counts
        return np.array([0.0, pitch, np.arctan2(-R[0, 1], R[1, 1])])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])


def _vector(values: Iterable[float]) -> str:
    return f"vector([{', '.join(repr(float(x)) for x in values)}])"


def _kinematics(robot: Robot, frames: list[_Frame]) -> str:
    tree, base = robot.tree, len(robot.base_rows)
    bodies = [frame.body for frame in frames]
    drives = {drive.joint: drive for drive in robot.drives}
    ratio, mask = np.ones(robot.nv), np.zeros(robot.nv)
    for name, drive in drives.items():
        row = int(tree.v_index[robot.joint_index(name)])
        ratio[row], mask[row] = drive.gear_ratio, 1.0
    inertias = np.array([tree.inertias[i] if i >= 0 else np.zeros((3, 3)) for i in bodies])
    coms = np.array([tree.coms[i] if i >= 0 else np.zeros(3) for i in bodies])
    vectors: dict[str, Iterable[float]] = {
        "Grav": tree.gravity,
        "m": [tree.masses[i] if i >= 0 else 0.0 for i in bodies],
        **{f"l{axis}": [frame.constants[k] for frame in frames] for k, axis in enumerate("xyz")},
        **{f"CoM{axis}": coms[:, k] for k, axis in enumerate("xyz")},
        **{f"I{'xyz'[a]}{'xyz'[b]}": inertias[:, a, b] for a in range(3) for b in range(a, 3)},
        **{f"t{axis}": column for axis, column in zip("xyz", _tags(robot, frames)[1].T, strict=True)},
        "Ri": ratio,
        "IR": tree.armature / ratio**2,
    }
    lines = [f"# {robot.name}", f"NSOL := {len(frames)}:", f"GNDDL := {base}:", f"PNDDL := {robot.nv - base}:"]
    lines += ["NDDL := PNDDL+GNDDL:", "q := vector(NDDL):", "qdot := vector(NDDL):"]
    lines += [f"actuation_joint_mask := [{', '.join(str(int(x)) for x in mask)}]:", ""]
    lines += [f"{name} := {_vector(values)}:" for name, values in vectors.items()]
    lines += [f"parameter := [{', '.join(repr(name).replace(chr(39), chr(39) * 2) for name in vectors)}]:"]
    for n, frame in enumerate(frames, 1):
        lines += ["", f"ref_{n} := {frame.parent}:"]
        for k, slot in enumerate(_SLOTS):
            constant = f"l{slot[1]}[{n}]" if k < 3 else repr(float(frame.constants[k]))
            move = frame.moves.get(slot)
            lines.append(f"{slot}_{n} := {constant if move is None else f'{move}+{constant}'}:")
        lines.append(f'Label_{n} := "{frame.label}":')
    return "\n".join(lines) + "\n"


def _dynamics(robot: Robot, frames: list[_Frame]) -> str:
    lines = ["Gravity := vector([Grav[1], Grav[2], Grav[3]]):"]
    for n in range(1, len(frames) + 1):
        rows = [", ".join(f"I{min(a, b)}{max(a, b)}[{n}]" for b in "xyz") for a in "xyz"]
        lines += ["", f"m_{n} := m[{n}]:", f"G_{n} := vector([CoMx[{n}], CoMy[{n}], CoMz[{n}]]):"]
        lines.append(f"IG_{n} := matrix([{', '.join(f'[{row}]' for row in rows)}]):")
    return "\n".join(lines) + "\n"


def _tags(robot: Robot, frames: list[_Frame]) -> tuple[list[int], Array]:
    """Frames of the corners of the contacts, and their places [mm]."""
    first = len(frames) - len(robot.contacts) + 1
    owners = [first + k for k, c in enumerate(robot.contacts.values()) for _ in c.corners]
    corners = [1e3 * np.asarray(c.corners) for c in robot.contacts.values()]
    return owners, np.concatenate([np.zeros((0, 3)), *corners])


def _additions(robot: Robot, frames: list[_Frame]) -> str:
    owners, _ = _tags(robot, frames)
    first = len(frames) - len(robot.contacts) + 1
    contacts = ", ".join(str(first + k) for k in range(len(robot.contacts)))
    lines = [f"NLNCONT := {len(robot.contacts)}:", f"lncontact := [{contacts}]:", f"NTAG := {len(owners)}:"]
    for n, owner in enumerate(owners, 1):
        lines += ["", f"reftag_{n} := {owner}:", f"tag_{n} := vector([tx[{n}], ty[{n}], tz[{n}]]*1e-3):"]
        lines.append(f'tagLabel_{n} := "{frames[owner - 1].label} {n}":')
    return "\n".join(lines) + "\n"
