"""Joints as rows of tasks: which entries of q and v belong to a list of joints, and how far positions are apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np

from surefoot import ops
from surefoot.errors import ShapeError, one_of
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.robot.model import NV
from surefoot.spatial import quaternion
from surefoot.tasks.task import Task

_ADDED = ("revolute", "prismatic", "helical", "translation")


class JointRows(NamedTuple):
    """Rows of selected joints.

    Args:
        kinds: Kind of each.
        q: Slice of q of each.
        v: Entries of v of all of them, in order.
        units: Unit of each row.
    """

    kinds: tuple[str, ...]
    q: tuple[slice, ...]
    v: tuple[int, ...]
    units: tuple[str, ...]

    def selection(self, nv: int) -> Array:
        """(rows, nv) that picks the rows out of v."""
        return np.eye(nv)[list(self.v)]

    def difference(self, q: Array, target: Array) -> Array:
        """Target − position (rows,), the short way round for joints without end; over `ops`.

        Args:
            q: (nq,) configuration.
            target: (nq,) configuration.
        """
        parts = [_difference(kind, q[part], target[part]) for kind, part in zip(self.kinds, self.q, strict=True)]
        return ops.concatenate(parts)


def joint_rows(robot: Robot, joints: Sequence[str] | None = None) -> JointRows:
    """The rows of joints by name; of all but the base if omitted."""
    tree = robot.tree
    names = tree.joint_names if joints is None else tuple(joints)
    kinds: list[str] = []
    entries: list[slice] = []
    rows: list[int] = []
    units: list[str] = []
    for name in names:
        i = robot.joint_index(name)
        if (joints is None and i == robot.base_joint) or not tree.nv_of(i):
            continue
        kind, start, first = tree.kinds[i], int(tree.q_index[i]), int(tree.v_index[i])
        if kind in ("free", "planar"):
            raise ShapeError(f"joint `{name}` is {kind}", next_step="use a FramePose of the link that it moves")
        kinds.append(kind)
        entries.append(slice(start, start + tree.nq_of(i)))
        rows += range(first, first + NV[kind])
        units += ["m" if kind in ("prismatic", "translation") else "rad"] * NV[kind]
    if not rows:
        raise ShapeError("there are no joints", evidence={"joints": list(names)})
    return JointRows(tuple(kinds), tuple(entries), tuple(rows), tuple(units))


def one_axis(robot: Robot, name: str) -> tuple[int, int]:
    """Entries of q and v of a joint that has one position."""
    i = robot.joint_index(name)
    if robot.tree.kinds[i] not in ("revolute", "prismatic", "helical") or not robot.tree.nv_of(i):
        known = [n for k, n in enumerate(robot.joint_names) if robot.tree.kinds[k] in ("revolute", "prismatic")]
        raise one_of("joint with one position", name, known)
    return int(robot.tree.q_index[i]), int(robot.tree.v_index[i])


def _difference(kind: str, q: Array, target: Array) -> Array:
    if kind in _ADDED:
        return target - q
    if kind == "continuous":
        sine, cosine = target[1] * q[0] - target[0] * q[1], target[0] * q[0] + target[1] * q[1]
        return ops.array([ops.arctan2(sine, cosine)])
    return quaternion.log(quaternion.product(quaternion.conjugate(q), target))


def measures_of(units: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Measures of rows with these units."""
    return tuple((unit, len(list(run))) for unit, run in groupby(units))


@dataclass(frozen=True, eq=False)
class JointTask(Task):
    """Rows that are joints."""

    robot: Robot

    @cached_property
    def joint_rows(self) -> JointRows:
        """The joints of the rows."""
        return joint_rows(self.robot, getattr(self, "joints", None))

    @cached_property
    def measures(self) -> tuple[tuple[str, int], ...]:
        """Radians, metres for joints that slide."""
        return measures_of(self.joint_rows.units)

    def jacobian(self, robot: Robot, q: Array, target: Array) -> Array:
        """Ones where a row has its joint."""
        return self.joint_rows.selection(robot.nv)

    def bias(self, robot: Robot, q: Array, v: Array, target: Array) -> Array:
        """Zero."""
        return np.zeros(self.rows)
