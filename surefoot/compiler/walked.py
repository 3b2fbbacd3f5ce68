"""Walks from every degree of freedom to the root, as loops: matrices of pairs of joints, as the mass matrix.

After the sweeps of a recursion, a wrench (6,) starts at every degree of freedom and is carried from body to parent; on
every body it is projected on the joint. Steps are traced once per class of bodies; in LLVM assembly, every degree of
freedom has a loop over its ancestors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.codegen import Build, Program, trace
from surefoot.codegen.llvm import ALIGNMENT, KernelWriter, Operations
from surefoot.kinematics.recursion import Body, Fields, dof_rows, joint_subspace
from surefoot.ops import Array
from surefoot.robot import Tree
from surefoot.robot.model import NV


@dataclass(frozen=True)
class Walk:
    """The quantity carried along a walk.

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


class WalkWriter(Operations):
    """Writes the loops of a walk into a kernel of `looped_text`, which has the tables of the bodies and their records.

    Args:
        code: The traced steps.
        tree: The tree.
        kinds: Joint kind of every class.
        build: Lanes and type.
        name: Name of the kernel.
        record_bytes: Bytes of a record.
    """

    def __init__(
        self, code: WalkCode, tree: Tree, kinds: tuple[str, ...], build: Build, name: str, record_bytes: int
    ) -> None:
        super().__init__(build)
        self.code, self.tree, self.kinds, self.name, self.record_bytes = code, tree, kinds, name, record_bytes

    def steps(self) -> list[KernelWriter]:
        """The straight-line steps; their texts are functions of the module."""
        out = []
        for c, programs in enumerate(self.code.starts):
            out += [self.step(program, f"start.{c}.{k}") for k, program in enumerate(programs)]
        return out + [self.step(program, f"onward.{c}") for c, program in enumerate(self.code.onwards)]

    def step(self, program: Program, name: str) -> KernelWriter:
        """The writer of one step."""
        return KernelWriter(program, self.build, f"{self.name}.{name}", frozenset([0]))

    def tables(self, group_of: list[int]) -> dict[str, list[int]]:
        """For every degree of freedom its body, which start it has, and how many slots come before."""
        body, start, slot, total = [], [], [], 0
        for i in range(self.tree.n):
            count = NV[self.kinds[group_of[i]]] + sum(NV[self.kinds[group_of[j]]] for j in self.tree.ancestors(i))
            for column in range(dof_rows(self.tree, i).stop - dof_rows(self.tree, i).start):
                body.append(i)
                start.append(6 * group_of[i] + column)
                slot.append(total)
                total += count
        return {"walk.body": body, "walk.start": start, "walk.slot": slot}

    def locals(self) -> list[str]:
        """Variables of the kernel."""
        most = max(len(p.slots) for p in (*self.code.onwards, *(p for row in self.code.starts for p in row)))
        return [
            f"%walk.out = alloca [{most * self.build.stride} x i8], align {ALIGNMENT}",
            f"%wrench = alloca [{6 * self.build.stride} x i8], align {ALIGNMENT}",
            "%walk.pointers = alloca [3 x ptr]",
        ]

    def lines_of_walk(self, fresh: int) -> list[str]:
        """The loops.

        Args:
            fresh: Numbers of names up to here are taken in the kernel.
        """
        self.fresh, n = fresh, len(self.tree.armature)
        lines = ["br label %w.enter", "w.enter:", "br label %w.body", "w.body:"]
        lines.append("%w.d = phi i64 [ 0, %w.enter ], [ %w.next, %w.end ]")
        for table in ("walk.body", "walk.start", "walk.slot"):
            lines += self.entry(f"%w.{table}", table, "%w.d")
        lines += [*self.entry("%w.class", "class", "%w.walk.body"), *self.entry("%w.con", "constants", "%w.walk.body")]
        lines += [*self.place("w.own", "%w.walk.body", 1), *self.set_pointers("w", "%w.con", "%w.own", None)]
        cases = [(6 * c + k, c, k) for c, row in enumerate(self.code.starts) for k in range(len(row))]
        labels = " ".join(f"i64 {key}, label %w.s{key}" for key, _, _ in cases)
        lines.append(f"switch i64 %w.walk.start, label %w.s{cases[0][0]} [ {labels} ]")
        for key, c, k in cases:
            call = self.run_step(f"start.{c}.{k}", self.code.starts[c][k], "%w.walk.slot")
            lines += [
                f"w.s{key}:",
                *call,
                f"%w.n{key} = add i64 %w.walk.slot, {NV[self.kinds[c]]}",
                "br label %a.enter",
            ]
        lines.append("a.enter:")
        sources = ", ".join(f"[ %w.n{key}, %w.s{key} ]" for key, _, _ in cases)
        lines += [f"%a.first = phi i64 {sources}", "br label %a.head", "a.head:", *self.ancestors(), "w.end:"]
        lines += ["%w.next = add i64 %w.d, 1", f"%w.more = icmp slt i64 %w.next, {n}"]
        return [*lines, "br i1 %w.more, label %w.body, label %w.done", "w.done:"]

    def ancestors(self) -> list[str]:
        """The loop towards the root."""
        classes = range(len(self.code.onwards))
        lines = [
            "%a.k = phi i64 [ %w.walk.body, %a.enter ], [ %a.up, %a.end ]",
            "%a.slot = phi i64 [ %a.first, %a.enter ], [ %a.slot.next, %a.end ]",
            *self.entry("%a.parent", "parent", "%a.k"),
            "%a.up = sub i64 %a.parent, 1",
            "%a.root = icmp slt i64 %a.up, 0",
            "br i1 %a.root, label %w.end, label %a.body",
            "a.body:",
            *self.entry("%a.class", "class", "%a.up"),
            *self.entry("%a.con", "constants", "%a.up"),
            *self.place("a.own", "%a.k", 1),
            *self.set_pointers("a", "%a.con", "%a.own", "%wrench"),
        ]
        labels = " ".join(f"i64 {c}, label %a.c{c}" for c in classes)
        lines.append(f"switch i64 %a.class, label %a.c0 [ {labels} ]")
        for c in classes:
            call = self.run_step(f"onward.{c}", self.code.onwards[c], "%a.slot")
            lines += [f"a.c{c}:", *call, f"%a.n{c} = add i64 %a.slot, {NV[self.kinds[c]]}", "br label %a.end"]
        sources = ", ".join(f"[ %a.n{c}, %a.c{c} ]" for c in classes)
        return [*lines, "a.end:", f"%a.slot.next = phi i64 {sources}", "br label %a.head"]

    def entry(self, name: str, table: str, index: str) -> list[str]:
        """An entry of a table."""
        return [
            f"{name}.at = getelementptr i64, ptr @{self.name}.{table}, i64 {index}",
            f"{name} = load i64, ptr {name}.at",
        ]

    def place(self, name: str, body: str, shift: int) -> list[str]:
        """The record of a body."""
        return [
            f"%{name}.row = add i64 {body}, {shift}", f"%{name}.off = mul i64 %{name}.row, {self.record_bytes}",
            f"%{name} = getelementptr i8, ptr %records, i64 %{name}.off",
        ]  # fmt: skip

    def set_pointers(self, tag: str, constants: str, record: str, wrench: str | None) -> list[str]:
        """Inputs of a step."""
        scalar = self.build.scalar
        lines = [f"%{tag}.data = getelementptr {scalar}, ptr @{self.name}.data, i64 {constants}"]
        for k, pointer in enumerate(x for x in (f"%{tag}.data", record, wrench) if x):
            lines.append(f"%{tag}.p{k} = getelementptr ptr, ptr %walk.pointers, i64 {k}")
            lines.append(f"store ptr {pointer}, ptr %{tag}.p{k}")
        return lines

    def run_step(self, step: str, program: Program, slot: str) -> list[str]:
        """Run a step; the wrench is kept, its projections are results."""
        self.fresh += 1
        target = f"%to{self.fresh}"
        self.lines = [
            f"call void @{self.name}.{step}(ptr %walk.pointers, ptr %walk.out, i64 0, i64 1)",
            f"{target}.off = mul i64 {slot}, {self.build.stride}",
            f"{target} = getelementptr i8, ptr %out, i64 {target}.off",
        ]
        for k, place in enumerate(program.layout[0]):
            base, at = ("%wrench", k) if k < 6 else (target, k - 6)
            if place < 0:
                self.store(self.build.number(program.numbers[-1 - place]), base, at)
                continue
            self.fresh += 1
            name = f"%kept{self.fresh}"
            self.load(name, "%walk.out", place)
            self.store(name, base, at)
        return self.lines
