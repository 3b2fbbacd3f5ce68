"""Walks from every degree of freedom to the root, as loops: matrices of pairs of joints, as the mass matrix.

After the sweeps of a recursion, a wrench (6,) starts at every degree of freedom and is carried from body to parent; on
every body it is projected on the joint. Steps are traced once per class of bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.compiler.program import Program, trace
from surefoot.kinematics.bodies import Body, joint_subspace
from surefoot.kinematics.recursion import Fields, dof_rows
from surefoot.ops import Array
from surefoot.robot.tree import NV, Tree

__all__ = ["Walk", "WalkCode", "symmetric_layout", "walk_code"]


@dataclass(frozen=True)
class Walk:
    """What is carried.

    Args:
        start: start(body, fields, S (6,)) -> the wrench (6,) of a degree of freedom, on its body.
        onward: onward(fields, wrench (6,)) -> the same on the parent.
    """

    start: Callable[[Body, Fields, Array], Array]
    onward: Callable[[Fields, Array], Array]


@dataclass(frozen=True, eq=False)
class WalkCode:
    """Traced steps.

    Args:
        starts: starts[class][column]: constants and own record to the wrench and its projections on the own joint.
        onwards: onwards[class of the parent]: its constants, record of the child and wrench to the wrench on the
            parent and its projections there.
    """

    starts: tuple[tuple[Program, ...], ...]
    onwards: tuple[Program, ...]


def walk_code(
    walk: Walk, classes: Sequence[Any], own_shapes: Sequence[Mapping[str, tuple[int, ...]]], record: Mapping[str, int],
    size: int,
) -> WalkCode:  # fmt: skip
    """Trace the steps of a walk.

    Args:
        walk: What is carried.
        classes: Classes of bodies (`looped.BodyClass`).
        own_shapes: Shapes of the fields of each class.
        record: Offset of every field in a record.
        size: Values of a record.
    """
    starts = tuple(
        tuple(_start(walk, group, shapes, record, size, column) for column in range(NV[group.kind]))
        for group, shapes in zip(classes, own_shapes, strict=True)
    )
    onwards = tuple(_onward(walk, group, own_shapes[0], record, size) for group in classes)
    return WalkCode(starts, onwards)


def _fields(shapes: Mapping[str, tuple[int, ...]], record: Mapping[str, int], size: int) -> tuple[Array, Fields]:
    """The symbols of a record, and its fields."""
    values = ops.symbols("record", size)
    fields = {}
    for name, shape in shapes.items():
        part = values[record[name] : record[name] + int(np.prod(shape))].reshape(shape)
        fields[name] = part if shape else part[()]
    return values, fields


def _start(walk: Walk, group: Any, shapes: Any, record: Any, size: int, column: int) -> Program:
    values, fields = _fields(shapes, record, size)
    armature = ops.symbols("armature", NV[group.kind])
    S = joint_subspace(group.body)
    wrench = walk.start(group.body, fields, S[:, column])
    entries = S.T @ wrench
    entries[column] = entries[column] + armature[column]
    return trace([ops.concatenate([group.symbols, armature]), values], [ops.concatenate([wrench, entries])])


def _onward(walk: Walk, group: Any, shapes: Any, record: Any, size: int) -> Program:
    values, fields = _fields(shapes, record, size)
    armature, wrench = ops.symbols("armature", NV[group.kind]), ops.symbols("wrench", 6)
    moved = walk.onward(fields, wrench)
    entries = joint_subspace(group.body).T @ moved
    return trace([ops.concatenate([group.symbols, armature]), values, wrench], [ops.concatenate([moved, entries])])


def symmetric_layout(tree: Tree) -> tuple[tuple[int, ...], tuple[int, ...], tuple[float, ...]]:
    """Entries of a symmetric (nv, nv) matrix from what walks store.

    Of every degree of freedom these are the entries of its own joint and of all ancestors, in the order of the walk.
    """
    nv = len(tree.armature)
    layout = np.full((nv, nv), -1)
    slot = 0
    for i in range(tree.n):
        columns = [k for j in (i, *tree.ancestors(i)) for k in range(*dof_rows(tree, j).indices(nv))]
        for d in range(*dof_rows(tree, i).indices(nv)):
            layout[d, columns] = layout[columns, d] = np.arange(slot, slot + len(columns))
            slot += len(columns)
    return (nv, nv), tuple(int(x) for x in layout.ravel()), (0.0,)
