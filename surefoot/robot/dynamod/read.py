"""DYNAMOD's files → links. A frame is T(x, y, z) Rz Ry Rx of its parent; each of the six may move with a coordinate.

The files have neither limits nor shapes, names of joints nor friction: the side file may give them. The corners of a
contact are the tags of its frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import FileFormatError, ModelError, NotSupportedError
from surefoot.robot.build import MAX_BODIES, Parts
from surefoot.robot.dynamod.maple import Declared, Maple
from surefoot.robot.model import ContactSurface, Drive, Joint, Link, placement
from surefoot.spatial import so3

NAMES = ("KinematicData.maple", "DynamicData.maple", "AdditionalData.maple")
"""The three files of a folder."""
_SLOTS = ("Tx", "Ty", "Tz", "Rz", "Ry", "Rx")
_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_WORLD, _MASK = "world", "actuation_joint_mask"


def dynamod_robot(
    path: str | Path, values: Mapping[str, ArrayLike] | None = None
) -> tuple[list[Link], str, Parts, Array | None]:
    """Links, base, parts and gravity of a robot.

    A first frame that alone hangs on the world and moves with six coordinates is a floating base.

    Args:
        path: The file with the kinematics; the two others are beside it.
        values: Numbers of parameters that the files declare only, such as {"m": [1.0, 2.0]}.

    Raises:
        FileFormatError: A file is missing or not of this kind.
        ModelError: The model contradicts itself.
    """
    maple = Maple(values or {})
    for name in (Path(path).name, *NAMES[1:]):
        maple.read(Path(path).with_name(name))
    reader = _Reader(maple, Path(path))
    return reader.links(), reader.base, reader.parts(), reader.gravity


class _Reader:
    def __init__(self, maple: Maple, path: Path) -> None:
        self.maple, self.path = maple, path
        self.count, self.coordinates = self._integer("NSOL"), self._integer("NDDL")
        if not 1 <= self.count <= MAX_BODIES:
            raise ModelError(f"{self.count} frames: expected 1 to {MAX_BODIES}", file=path)
        self.labels = {k: str(self._of(f"Label_{k}")) for k in range(1, self.count + 1)}
        if len(set(self.labels.values())) < self.count:
            raise ModelError("a label of a frame repeats", file=path)
        self.parents = {k: self._integer(f"ref_{k}") for k in self.labels}
        self.moves = {k: {slot: self._slot(k, slot) for slot in _SLOTS} for k in self.labels}
        roots = [k for k, parent in self.parents.items() if parent == 0]
        floats = len(roots) == 1 and all(k is not None for k, _, _ in self.moves[roots[0]].values())
        self.base, self.root = ("floating", roots[0]) if floats else ("fixed", 0)
        self.driven: list[Drive] = []
        self.used: set[int] = set()
        gravity = maple.known.get("Gravity")
        self.gravity = None if gravity is None else np.asarray(gravity, dtype=float)

    def _of(self, name: str) -> Any:
        found = self.maple.known.get(name)
        if found is None or isinstance(found, Declared):
            raise FileFormatError(f"`{name}` has no value", file=self.path)
        return found

    def _integer(self, name: str) -> int:
        found = self._of(name)
        if np.ndim(found) or isinstance(found, str) or float(found) != int(found):
            raise FileFormatError(f"`{name}` is not a whole number", file=self.path)
        return int(found)

    def _array(self, name: str, shape: tuple[int, ...]) -> Array:
        found = np.asarray(self._of(name), dtype=float)
        if found.shape != shape or not np.isfinite(found).all():
            raise FileFormatError(f"`{name}` is not {shape} numbers", file=self.path)
        return found

    def _slot(self, k: int, slot: str) -> tuple[int | None, float, float]:
        """Coordinate, its sign, and the constant of one of the six motions of a frame."""
        found = np.atleast_1d(np.asarray(self.maple.known.get(f"{slot}_{k}", 0.0), dtype=float))
        moving = np.flatnonzero(found[1:])
        if len(moving) > 1 or (len(moving) == 1 and abs(found[1 + moving[0]]) != 1.0):
            raise NotSupportedError(f"`{slot}_{k}` is not a constant and ± one coordinate", file=self.path)
        return (int(moving[0]), float(found[1 + moving[0]]), float(found[0])) if len(moving) else (None, 0.0, found[0])

    def links(self) -> list[Link]:
        """The links, parents first."""
        out = [Link(_WORLD)] if self.base == "fixed" else []
        done, left = {0}, list(self.labels)
        while ready := [k for k in left if self.parents[k] in done]:
            for k in ready:
                out += self._frame(k)
                done.add(k)
                left.remove(k)
        if left:
            raise ModelError(f"frame `{self.labels[left[0]]}` does not hang on the world", file=self.path)
        return out

    def _frame(self, k: int) -> list[Link]:
        """A frame, with a link before it for each of its coordinates but the last."""
        label = self.labels[k]
        body = {name: self._of_body(k, name) for name in ("m", "G", "IG")}
        inertial = {"mass": float(body["m"]), "com": body["G"], "inertia": body["IG"]}
        if k == self.root:
            self.used |= {index for index, _, _ in self.moves[k].values() if index is not None}
            return [Link(label, **inertial)]
        above = self.labels.get(self.parents[k], _WORLD)
        T, joints = placement(), []
        for slot, (index, sign, constant) in self.moves[k].items():
            kind, axis = slot[0], sign * np.array(_AXES[slot[1]]) if index is not None else np.array(_AXES[slot[1]])
            shift = np.array(_AXES[slot[1]]) * constant
            T = T @ (placement(shift) if kind == "T" else placement(rotation=so3.exp(shift)))
            if index is not None:
                joints.append(self._joint(f"{label}_{slot.lower()}", kind, T, axis, index))
                T = placement()
        if not joints or not np.allclose(T, np.eye(4)):
            joints.append(Joint(f"{label}_fixed", "fixed", T))
        names = [f"{label}__{n}" for n in range(1, len(joints))] + [label]
        parents = [above, *names[:-1]]
        own: list[dict[str, Any]] = [{} for _ in names[:-1]] + [inertial]
        given = zip(names, parents, joints, own, strict=True)
        return [Link(name, parent, joint, **extra) for name, parent, joint, extra in given]

    def _of_body(self, k: int, name: str) -> Any:
        shape: dict[str, tuple[int, ...]] = {"m": (), "G": (3,), "IG": (3, 3)}
        is_given = f"{name}_{k}" in self.maple.known
        return self._array(f"{name}_{k}", shape[name]) if is_given else np.zeros(shape[name])

    def _joint(self, name: str, kind: str, T: Array, axis: Array, index: int) -> Joint:
        if index in self.used:
            raise NotSupportedError(f"coordinate q[{index + 1}] moves two frames", file=self.path)
        self.used.add(index)
        ratio, rotor, mask = (
            self._entry("Ri", index, 1.0),
            self._entry("IR", index, 0.0),
            self._entry(_MASK, index, 1.0),
        )
        if mask != 0.0:
            self.driven.append(Drive(name, gear_ratio=ratio, rotor_inertia=rotor))
        return Joint(name, "revolute" if kind == "R" else "prismatic", T, axis, armature=ratio**2 * rotor)

    def _entry(self, name: str, index: int, usual: float) -> float:
        found = self.maple.known.get(name)
        is_given = found is not None and not isinstance(found, Declared)
        return float(self._array(name, (self.coordinates,))[index]) if is_given else usual

    def parts(self) -> Parts:
        """Contacts and drives; after `links`."""
        tags: dict[int, list[Array]] = {}
        for n in range(1, (self._integer("NTAG") if "NTAG" in self.maple.known else 0) + 1):
            tags.setdefault(self._integer(f"reftag_{n}"), []).append(self._array(f"tag_{n}", (3,)))
        contacts = []
        for k in np.atleast_1d(self.maple.known.get("lncontact", np.zeros(0))).astype(int):
            if k not in self.labels:
                raise FileFormatError(f"contact on frame {k}, which does not exist", file=self.path)
            corners = np.array(tags.get(int(k), [np.zeros(3)]))
            kind = "polygon" if len(corners) > 2 else "line" if len(corners) == 2 else "point"
            label = self.labels[int(k)]
            contacts.append(ContactSurface(label, label, kind, corners=corners))  # type: ignore[arg-type]
        return Parts(contacts=tuple(contacts), drives=tuple(self.driven), source=str(self.path))
