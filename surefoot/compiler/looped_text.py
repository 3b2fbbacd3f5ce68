"""Loop programs as LLVM assembly: loops over bodies that call straight-line steps.

The kernel has the interface of `llvm.text`. Records of all bodies, the world's first, are in memory from the heap.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.codegen import Build, Program
from surefoot.codegen.llvm import ALIGNMENT, KernelText, KernelWriter, Operations, module_text
from surefoot.compiler.looped import LoopProgram, StepCode
from surefoot.compiler.walked import WalkWriter
from surefoot.kinematics.recursion import dof_rows


def loop_text(program: LoopProgram, build: Build, name: str) -> KernelText:
    """LLVM assembly of a loop program.

    Args:
        program: What to compute.
        build: Lanes and type.
        name: Name of the function.
    """
    return KernelText(_LoopWriter(program, build, name).text(), program.record_size * (program.tree.n + 1))


def _constants(program: LoopProgram) -> tuple[list[int], list[int], list[float]]:
    """Class of every body, the place of its constants in the table, and the table."""
    tree = program.tree
    group_of, place_of = [0] * tree.n, [0] * tree.n
    table: list[float] = []
    armature = program.walk is not None or "armature" in program.spec.fixed.values()
    for c, group in enumerate(program.classes):
        for row, i in zip(group.values, group.members, strict=True):
            group_of[i], place_of[i] = c, len(table)
            table.extend(float(x) for x in row)
            if armature:
                table.extend(float(x) for x in tree.armature[dof_rows(tree, i)])
    return group_of, place_of, table or [0.0]


def _direct(step: StepCode, inputs: int) -> dict[int, tuple[int, int]]:
    """Results that a step can write straight into the records: nothing reads the old values any more.

    Either nothing reads the old value at all, or only the instruction that makes the new one of it.
    """
    program, own = step.program, 1 + inputs
    places = [(own, at) for at in step.own] + [(own + 1, at) for at in step.parent]
    readers = _readers(program)
    found = {}
    for place, slot in zip(places, program.layout[0], strict=False):
        alone = slot >= 0 and program.layout[0].count(slot) == 1
        if alone and readers.get(place, set()) <= {program.slots[slot]}:
            found[slot] = place
    return found


def _readers(program: Program) -> dict[tuple[int, int], set[int]]:
    """Instructions that read each entry of each input."""
    entries = [(k, e) for k, shape in enumerate(program.input_shapes) for e in range(int(np.prod(shape)))]
    entry_of = {i: entries[args[0]] for i, (op, args) in enumerate(program.instructions) if op == "input"}
    out: dict[tuple[int, int], set[int]] = {}
    for i, (op, args) in enumerate(program.instructions):
        for x in () if op in ("input", "const") else args:
            if x in entry_of:
                out.setdefault(entry_of[x], set()).add(i)
    for i in program.slots:  # an input that is a result as it is
        if i in entry_of:
            out.setdefault(entry_of[i], set()).add(-1)
    return out


class _LoopWriter(Operations):
    def __init__(self, program: LoopProgram, build: Build, name: str) -> None:
        super().__init__(build)
        self.program, self.name, self.spec = program, name, program.spec
        self.count = len(self.spec.inputs)
        kinds, record_bytes = tuple(group.kind for group in program.classes), program.record_size * build.stride
        self.walk: WalkWriter | None = None
        if program.walk is not None:
            self.walk = WalkWriter(program.walk, program.tree, kinds, build, name, record_bytes)
        self.most_slots = max(len(step.program.slots) for sweep in program.steps for step in sweep)

    def text(self) -> str:
        writers: list[Operations] = [self]
        functions = []
        for s, sweep in enumerate(self.program.steps):
            for c, step in enumerate(sweep):
                name, direct = f"{self.name}.step.{s}.{c}", _direct(step, self.count)
                writer = KernelWriter(step.program, self.build, name, frozenset([0]), direct)
                functions.append(writer.functions())
                writers.append(writer)
        if self.walk is not None:
            steps = self.walk.steps()
            functions += [step.functions() for step in steps]
            writers += [self.walk, *steps]
        functions.append(self.main())
        return module_text(self.build, functions, writers, self.tables())

    # -- tables ---------------------------------------------------------------------------------------------------

    def tables(self) -> str:
        """Per body: class, record of the parent, rows in q and v, where its constants are; and the constants."""
        tree = self.program.tree
        group_of, place_of, constants = _constants(self.program)
        rows = {
            "class": group_of,
            "parent": [int(p) + 1 for p in tree.parents],
            "q": [int(tree.q_index[i if tree.mimic_source[i] < 0 else tree.mimic_source[i]]) for i in range(tree.n)],
            "v": [dof_rows(tree, i).start for i in range(tree.n)],
            "constants": place_of,
        }
        if self.walk is not None:
            rows |= self.walk.tables(group_of)
        texts = [
            f"@{self.name}.{name} = internal constant [{len(values)} x i64] [{', '.join(f'i64 {x}' for x in values)}]"
            for name, values in rows.items()
        ]
        scalar = Build(1, self.build.bits)
        numbers = ", ".join(f"{self.build.scalar} {scalar.number(x)}" for x in constants)
        kind = f"[{len(constants)} x {self.build.scalar}]"
        texts.append(f"@{self.name}.data = internal constant {kind} [{numbers}], align {ALIGNMENT}")
        self.used |= {"declare ptr @aligned_alloc(i64, i64)", "declare void @free(ptr)"}
        self.used.add("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        return "\n".join(texts)

    # -- the kernel -----------------------------------------------------------------------------------------------

    def main(self) -> str:
        tree, size = self.program.tree, self.program.record_size * self.build.stride
        total = -(-size * (tree.n + 1) // ALIGNMENT) * ALIGNMENT
        slots = max(1, self.most_slots) * self.build.stride
        head = [
            f"%pointers = alloca [{self.count + 3} x ptr]",
            f"%slots = alloca [{slots} x i8], align {ALIGNMENT}",
            f"%records = call ptr @aligned_alloc(i64 {ALIGNMENT}, i64 {total})",
        ]
        head += self.walk.locals() if self.walk is not None else []
        for k in range(self.count):
            head += [f"%a{k} = getelementptr ptr, ptr %inputs, i64 {k}", f"%first{k} = load ptr, ptr %a{k}"]
        body = [*self.prepared(total), *(line for s in range(len(self.program.steps)) for line in self.sweep(s))]
        body += self.walk.lines_of_walk(self.fresh) if self.walk is not None else self.outputs()
        loop = [*head, "br label %tile", "tile:", *self.tile_pointers(), *body, *self.next_tile(), "leave:"]
        end = ["call void @free(ptr %records)", "ret void"]
        text = "\n  ".join([*loop, *end])
        signature = f"define void @{self.name}(ptr %inputs, ptr noalias %out.first, i64 %stride, i64 %tiles) #0"
        return f"{signature} {{\nentry:\n  {text}\n}}\n"

    def tile_pointers(self) -> list[str]:
        moving = [f"%in{k}" for k in range(self.count)] + ["%out"]
        first = [f"%first{k}" for k in range(self.count)] + ["%out.first"]
        lines = ["%t = phi i64 [ %tiles, %entry ], [ %t.next, %tile.end ]"]
        return lines + [
            f"{x} = phi ptr [ {start}, %entry ], [ {x}.next, %tile.end ]"
            for x, start in zip(moving, first, strict=True)
        ]

    def next_tile(self) -> list[str]:
        sizes = [int(np.prod(shape)) * self.build.stride for shape in self.program.input_shapes]
        lines = ["br label %tile.end", "tile.end:", "%t.next = sub i64 %t, 1"]
        lines += [f"%in{k}.next = getelementptr i8, ptr %in{k}, i64 {size}" for k, size in enumerate(sizes)]
        lines += ["%out.next = getelementptr i8, ptr %out, i64 %stride", "%more = icmp ne i64 %t.next, 0"]
        return [*lines, "br i1 %more, label %tile, label %leave"]

    def prepared(self, total: int) -> list[str]:
        """Empty records, the world's fields, and zeros where joint quantities are summed."""
        world = self.program.record_size * self.build.stride
        size = total if self.program.starts_empty else world
        self.lines = [f"call void @llvm.memset.p0.i64(ptr %records, i8 0, i64 {size}, i1 false)"]
        for name, values in self.program.world.items():
            for k, value in enumerate(np.ravel(values)):
                if value != 0.0:
                    self.store(self.build.number(float(value)), "%records", self.program.record[name] + k)
        if self.spec.joint:
            count = len(self.program.slots) * self.build.stride
            self.lines.append(f"call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 {count}, i1 false)")
        return self.lines

    def sweep(self, s: int) -> list[str]:
        """A loop over the bodies."""
        n, inward = self.program.tree.n, self.spec.recursion.sweeps[s].direction == "inward"
        tag = f"s{s}"
        lines = [
            f"br label %{tag}.enter", f"{tag}.enter:", f"br label %{tag}.body", f"{tag}.body:",
            f"%{tag}.k = phi i64 [ 0, %{tag}.enter ], [ %{tag}.next, %{tag}.end ]",
            f"%{tag}.i = {f'sub i64 {n - 1}, %{tag}.k' if inward else f'add i64 %{tag}.k, 0'}",
        ]  # fmt: skip
        for name in ("class", "parent", "q", "v", "constants"):
            place = f"getelementptr i64, ptr @{self.name}.{name}, i64 %{tag}.i"
            lines += [f"%{tag}.{name}.at = {place}", f"%{tag}.{name} = load i64, ptr %{tag}.{name}.at"]
        lines += self.common_pointers(tag)
        cases = " ".join(f"i64 {c}, label %{tag}.c{c}" for c in range(len(self.program.classes)))
        lines.append(f"switch i64 %{tag}.class, label %{tag}.c0 [ {cases} ]")
        for c, step in enumerate(self.program.steps[s]):
            lines += [f"{tag}.c{c}:", *self.call_step(s, c, step), f"br label %{tag}.end"]
        lines += [
            f"{tag}.end:", f"%{tag}.next = add i64 %{tag}.k, 1", f"%{tag}.more = icmp slt i64 %{tag}.next, {n}",
            f"br i1 %{tag}.more, label %{tag}.body, label %{tag}.done", f"{tag}.done:",
        ]  # fmt: skip
        return lines

    def common_pointers(self, tag: str) -> list[str]:
        """Where the body's constants, inputs and records are."""
        stride, size = self.build.stride, self.program.record_size * self.build.stride
        lines = [
            f"%{tag}.con = getelementptr {self.build.scalar}, ptr @{self.name}.data, i64 %{tag}.constants",
            f"%{tag}.record = add i64 %{tag}.i, 1",
            f"%{tag}.own.off = mul i64 %{tag}.record, {size}",
            f"%{tag}.own = getelementptr i8, ptr %records, i64 %{tag}.own.off",
            f"%{tag}.par.off = mul i64 %{tag}.parent, {size}",
            f"%{tag}.par = getelementptr i8, ptr %records, i64 %{tag}.par.off",
            f"%{tag}.v.off = mul i64 %{tag}.v, {stride}",
        ]
        for k, name in enumerate(self.spec.inputs):
            row = {"q": f"%{tag}.q", "external": f"%{tag}.i"}.get(name, f"%{tag}.v")
            lines.append(f"%{tag}.in{k}.off = mul i64 {row}, {stride * (6 if name == 'external' else 1)}")
            lines.append(f"%{tag}.in{k} = getelementptr i8, ptr %in{k}, i64 %{tag}.in{k}.off")
        pointers = [f"%{tag}.con", *(f"%{tag}.in{k}" for k in range(self.count)), f"%{tag}.own", f"%{tag}.par"]
        for k, pointer in enumerate(pointers):
            lines.append(f"%{tag}.slot{k} = getelementptr ptr, ptr %pointers, i64 {k}")
            lines.append(f"store ptr {pointer}, ptr %{tag}.slot{k}")
        return lines

    def call_step(self, s: int, c: int, step: StepCode) -> list[str]:
        """Run a step, then put its results into the records."""
        tag = f"s{s}"
        call = f"call void @{self.name}.step.{s}.{c}(ptr %pointers, ptr %slots, i64 0, i64 1)"
        self.lines = [call]
        places = [(f"%{tag}.own", at) for at in step.own] + [(f"%{tag}.par", at) for at in step.parent]
        layout, numbers = step.program.layout[0], step.program.numbers
        direct = _direct(step, self.count)
        for (base, at), slot in zip(places, layout, strict=False):
            if slot not in direct:
                self.store(self.result(slot, numbers), base, at)
        if step.joint:
            self.add_joint(tag, layout[len(places) :], numbers)
        return self.lines

    def result(self, slot: int, numbers: Sequence[float]) -> str:
        if slot < 0:
            return self.build.number(numbers[-1 - slot])
        self.fresh += 1
        name = f"%r{self.fresh}"
        self.load(name, "%slots", slot)
        return name

    def add_joint(self, tag: str, layout: Sequence[int], numbers: Sequence[float]) -> None:
        """Joint quantities are summed, because followers add theirs to the joint that leads them."""
        self.fresh += 1
        rows = f"%rows{self.fresh}"
        self.lines.append(f"{rows} = getelementptr i8, ptr %out, i64 %{tag}.v.off")
        for k, slot in enumerate(layout):
            value = self.result(slot, numbers)
            self.fresh += 1
            so_far, total = f"%before{self.fresh}", f"%sum{self.fresh}"
            self.load(so_far, rows, k)
            self.lines.append(f"{total} = fadd {self.build.vector} {so_far}, {value}")
            self.store(total, rows, k)

    def outputs(self) -> list[str]:
        """Fields of the world or of all bodies into the slots."""
        self.lines = []
        if self.spec.world:
            self.copy("%records", self.program.record[self.spec.world], "%out", 0, len(self.program.slots))
        elif self.spec.fields:
            self.copy_fields()
        return self.lines

    def copy(self, source: str, first: int, target: str, at: int, count: int) -> None:
        for k in range(count):
            self.fresh += 1
            name = f"%copy{self.fresh}"
            self.load(name, source, first + k)
            self.store(name, target, at + k)

    def copy_fields(self) -> None:
        n, record = self.program.tree.n, self.program.record_size * self.build.stride
        shapes = len(self.program.slots) // n
        self.lines += [
            "br label %copy.enter", "copy.enter:", "br label %copy.body", "copy.body:",
            "%copy.i = phi i64 [ 0, %copy.enter ], [ %copy.next, %copy.body ]",
            "%copy.next = add i64 %copy.i, 1", f"%copy.off = mul i64 %copy.next, {record}",
            "%copy.own = getelementptr i8, ptr %records, i64 %copy.off",
            f"%copy.to = mul i64 %copy.i, {shapes * self.build.stride}",
            "%copy.out = getelementptr i8, ptr %out, i64 %copy.to",
        ]  # fmt: skip
        at = 0
        for name in self.spec.fields:
            program = self.program
            later = [at for at in program.record.values() if at > program.record[name]]
            count = min(later, default=program.record_size) - program.record[name]
            self.copy("%copy.own", self.program.record[name], "%copy.out", at, count)
            at += count
        self.lines += [
            f"%copy.more = icmp slt i64 %copy.next, {n}",
            "br i1 %copy.more, label %copy.body, label %copy.done", "copy.done:",
        ]  # fmt: skip
