"""Recursions as loops over the bodies, for trees whose straight-line code would be too long.

The step functions of a `Recursion` are traced once per class of bodies (joint kind and axis), with what differs between
the bodies of a class as inputs. Every body has a record of fields in memory; the loops call the traced steps with the
records of a body and of its parent. Code length does not grow with the tree, time grows linearly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.codegen import Program, trace
from surefoot.compiler.walked import Walk, WalkCode, walk_code
from surefoot.kinematics.recursion import Body, Fields, Recursion, Step, Sweep
from surefoot.ops import Array, Symbol
from surefoot.robot import Tree
from surefoot.robot.model import NQ, NV

_CONSTANTS = ("R", "p", "axis", "pitch", "mass", "moment", "inertia", "ratio", "offset")


@dataclass(frozen=True)
class LoopSpec:
    """A quantity by a recursion.

    Args:
        recursion: Its steps.
        constants: constants(tree): the bodies that the steps see.
        inputs: Names of the inputs of the kernel.
        fixed: Joint inputs of the steps that are not inputs of the kernel: "zero", or "armature".
        joint: Name of the joint quantity that is the output; "" if fields of the bodies are.
        fields: Fields of all bodies that are the output, in their order.
        world: Field of the world that is the output.
        output: output(tree, n) -> (shape, layout, numbers): how the stored values make the result.
        adds_armature: Whether armature times "a" is added to the joint quantity.
        walk: Walks towards the root after the sweeps, whose projections are the output.
    """

    recursion: Recursion
    constants: Callable[[Tree], Sequence[Body]]
    inputs: tuple[str, ...]
    fixed: Mapping[str, str] = field(default_factory=dict)
    joint: str = ""
    fields: tuple[str, ...] = ()
    world: str = ""
    output: Callable[[Tree], tuple[tuple[int, ...], tuple[int, ...], tuple[float, ...]]] | None = None
    adds_armature: bool = False
    walk: Walk | None = None


@dataclass(frozen=True, eq=False)
class BodyClass:
    """Bodies that one traced step serves.

    Args:
        members: Numbers of the bodies.
        kind: Joint kind.
        follows: Whether the joints copy others.
        body: The constants: numbers where all members agree, symbols elsewhere.
        symbols: The symbols.
        values: (members, symbols) their numbers.
    """

    members: tuple[int, ...]
    kind: str
    follows: bool
    body: Body
    symbols: Array
    values: Array


@dataclass(frozen=True, eq=False)
class StepCode:
    """A traced step of one class.

    Args:
        program: Inputs: constants of the body, of its dofs, joint inputs, own record, parent record.
        own: Offsets in the own record of the first outputs.
        parent: Offsets in the parent record of the outputs after them.
        joint: How many outputs after these are joint quantities.
    """

    program: Program
    own: tuple[int, ...]
    parent: tuple[int, ...]
    joint: int


@dataclass(frozen=True, eq=False)
class LoopProgram:
    """What the backend emits; to the outside it looks like a `Program`.

    Args:
        tree: The tree.
        spec: The quantity.
        classes: Classes of bodies.
        steps: steps[sweep][class].
        record: Offset of every field in a record.
        record_size: Values of a record.
        world: Fields of the world.
        input_shapes: Shapes of the inputs.
        output_shapes: Shape of the output.
        slots: Stored values, counted.
        layout: Slot of every entry of the output.
        numbers: Entries that are the same for every state.
        walk: Traced steps of walks.
        starts_empty: Whether all records must be zero at the start, because sums begin in them.
    """

    tree: Tree
    spec: LoopSpec
    classes: tuple[BodyClass, ...]
    steps: tuple[tuple[StepCode, ...], ...]
    record: Mapping[str, int]
    record_size: int
    world: Fields
    input_shapes: tuple[tuple[int, ...], ...]
    output_shapes: tuple[tuple[int, ...], ...]
    slots: range
    layout: tuple[tuple[int, ...], ...]
    numbers: tuple[float, ...]
    walk: WalkCode | None = None
    starts_empty: bool = True

    @property
    def operations(self) -> int:
        """Arithmetic operations for one state."""
        return sum(
            len(group.members) * sweep[k].program.operations
            for sweep in self.steps
            for k, group in enumerate(self.classes)
        )


def loop_program(tree: Tree, spec: LoopSpec, input_shapes: Sequence[tuple[int, ...]]) -> LoopProgram:
    """Trace the steps of a recursion for the classes of bodies of a tree."""
    classes = _classes(tree, spec.constants(tree))
    world = {name: np.asarray(value, dtype=float) for name, value in spec.recursion.world(tree.gravity).items()}
    shapes, own_shapes = _field_shapes(spec, classes, world)
    record, size = _laid_out(shapes)
    by_class = [
        _steps_of_class(spec, group, (own, shapes), record, size)
        for group, own in zip(classes, own_shapes, strict=True)
    ]
    steps = tuple(zip(*by_class, strict=True))
    count = _slot_count(tree, spec, shapes)
    shape, layout, numbers = spec.output(tree) if spec.output else ((count,), tuple(range(count)), ())
    return LoopProgram(
        tree, spec, classes, steps, record, size, world, tuple(input_shapes), (shape,), range(count), (layout,),
        numbers, walk_code(spec.walk, classes, own_shapes, record, size) if spec.walk else None,
        _sums_into_unwritten(steps),
    )  # fmt: skip


def _sums_into_unwritten(steps: Sequence[Sequence[StepCode]]) -> bool:
    """Whether a sweep adds to a parent what no sweep before has written for every class of bodies."""
    written: set[int] = set()
    for sweep in steps:
        if any(set(step.parent) - written for step in sweep):
            return True
        written |= set.intersection(*(set(step.own) for step in sweep))
    return False


def _slot_count(tree: Tree, spec: LoopSpec, shapes: Mapping[str, tuple[int, ...]]) -> int:
    if spec.joint:
        return len(tree.armature)
    if spec.walk:
        ancestors = (sum(NV[tree.kinds[j]] for j in (i, *tree.ancestors(i))) for i in range(tree.n))
        return sum(NV[tree.kinds[i]] * count for i, count in enumerate(ancestors))
    if spec.world:
        return int(np.prod(shapes[spec.world]))
    return tree.n * sum(int(np.prod(shapes[name])) for name in spec.fields)


# -- classes ------------------------------------------------------------------------------------------------------


def _classes(tree: Tree, constants: Sequence[Body]) -> tuple[BodyClass, ...]:
    groups: dict[tuple[Any, ...], list[int]] = {}
    for i, body in enumerate(constants):
        aligned = sorted(np.abs(body.axis)) == [0.0, 0.0, 1.0]
        axis = tuple(float(x) for x in body.axis) if aligned else ()
        groups.setdefault((body.kind, axis, bool(tree.mimic_source[i] >= 0)), []).append(i)
    return tuple(_class(constants, members, key[2]) for key, members in groups.items())


def _class(constants: Sequence[Body], members: Sequence[int], follows: bool) -> BodyClass:
    """Numbers that all members share stay numbers, so that they fold."""
    first = constants[members[0]]
    symbols: list[Any] = []
    values: list[Array] = []
    made: dict[str, Any] = {}
    for name in _CONSTANTS:
        table = np.array([np.asarray(getattr(constants[i], name), dtype=float) for i in members])
        flat = table.reshape(len(members), -1)
        entries = np.empty(flat.shape[1], dtype=object)
        for k in range(flat.shape[1]):
            if (flat[:, k] == flat[0, k]).all():
                entries[k] = float(flat[0, k])
            else:
                entries[k] = ops.symbols(f"{name}_{k}", 1)[0]
                symbols.append(entries[k])
                values.append(flat[:, k])
        shaped = entries.reshape(table.shape[1:])
        made[name] = shaped if table.ndim > 1 else shaped[()]
    made["inertia"] = _mirrored(made["inertia"])
    kept = np.empty(len(symbols), dtype=object)
    kept[:] = symbols
    stacked = np.stack(values, axis=1) if values else np.zeros((len(members), 0))
    return BodyClass(tuple(members), first.kind, follows, replace(first, **made), kept, stacked)


def _mirrored(matrix: Array) -> Array:
    """The same symbols above and below the diagonal of a symmetric matrix."""
    out = matrix.copy()
    for i in range(3):
        for j in range(i):
            out[i, j] = matrix[j, i]
    return out


# -- fields -------------------------------------------------------------------------------------------------------


Shapes = dict[str, tuple[int, ...]]


def _field_shapes(spec: LoopSpec, classes: Sequence[BodyClass], world: Fields) -> tuple[Shapes, list[Shapes]]:
    """Shapes of all fields, the largest and those of each class: found by tracing until nothing new appears."""
    shapes: Shapes = {name: np.shape(value) for name, value in world.items()}
    own: list[Shapes] = [dict(shapes) for _ in classes]
    while True:
        before = dict(shapes)
        for sweep in spec.recursion.sweeps:
            for group, mine in zip(classes, own, strict=True):
                done = _traced_step(spec, sweep, group, (mine, shapes))[0]
                for name, value in {**done.parent, **done.own}.items():
                    mine[name] = np.shape(value)
                    shapes[name] = _larger(shapes.get(name, ()), np.shape(value))
        for mine in own:
            mine |= {name: shape for name, shape in shapes.items() if name not in mine}
        if shapes == before:
            return shapes, own


def _larger(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return a if np.prod(a) >= np.prod(b) and a else b


def _laid_out(shapes: Mapping[str, tuple[int, ...]]) -> tuple[dict[str, int], int]:
    record, size = {}, 0
    for name, shape in shapes.items():
        record[name] = size
        size += int(np.prod(shape))
    return record, size


# -- steps --------------------------------------------------------------------------------------------------------


def _traced_step(
    spec: LoopSpec, sweep: Sweep, group: BodyClass, shapes: tuple[Shapes, Shapes], written: Fields | None = None
) -> tuple[Step, dict[str, Array], Fields, Fields]:
    """The step on symbols; its joint inputs, own fields and parent fields.

    `written` are fields as earlier steps of this class have left them: what is a number in them is one here.
    """
    nv = NV[group.kind]
    joint = {
        name: ops.symbols(name, 6 if name == "external" else (NQ[group.kind] if name == "q" else nv))
        for name in spec.inputs
    }
    joint |= {name: np.zeros(nv) if what == "zero" else ops.symbols(name, nv) for name, what in spec.fixed.items()}
    seen = dict(joint)
    if group.follows:
        seen["q"] = group.body.offset + group.body.ratio * joint["q"]
    own = {name: _symbols(f"own_{name}", shape) for name, shape in shapes[0].items()}
    parent = {name: _symbols(f"parent_{name}", shape) for name, shape in shapes[1].items()}
    recalled = {name: _recalled(own[name], value) for name, value in (written or {}).items()}
    done = sweep.step(group.body, seen, own | recalled, parent)
    if spec.adds_armature and spec.joint in done.joint and not group.follows:
        total = done.joint[spec.joint] + joint["armature"] * joint["a"]
        done = replace(done, joint={**done.joint, spec.joint: total})
    return done, joint, own, parent


def _symbols(name: str, shape: tuple[int, ...]) -> Any:
    """An array of symbols, or a single one where the shape is that of a number."""
    return ops.symbols(name, shape) if shape else ops.symbols(name, 1)[0]


def _recalled(symbols: Any, written: Any) -> Any:
    """The symbols of a field with what is known of it: numbers, and entries that are equal or opposite."""
    if not isinstance(symbols, np.ndarray):
        return symbols if isinstance(written, Symbol) else float(written)
    out = symbols.copy()
    first: dict[int, Any] = {}
    for place, entry in np.ndenumerate(np.asarray(written, dtype=object)):
        if not isinstance(entry, Symbol):
            out[place] = float(entry)
        elif id(entry) in first:
            out[place] = first[id(entry)]
        elif entry.op == "neg" and id(entry.args[0]) in first:
            out[place] = -first[id(entry.args[0])]
        else:
            first[id(entry)] = out[place]
    return out


def _steps_of_class(
    spec: LoopSpec, group: BodyClass, shapes: tuple[Shapes, Shapes], record: Mapping[str, int], size: int
) -> list[StepCode]:
    """The steps of all sweeps; later ones know what earlier ones have written, but for fields that children add to."""
    sweeps = spec.recursion.sweeps
    summed = {name for sweep in sweeps for name in _traced_step(spec, sweep, group, shapes)[0].parent}
    written: dict[str, Array] = {}
    out = []
    for sweep in sweeps:
        done, step = _step(spec, sweep, group, shapes, record, size, written)
        written |= {name: value for name, value in done.own.items() if name not in summed}
        out.append(step)
    return out


def _step(
    spec: LoopSpec,
    sweep: Sweep,
    group: BodyClass,
    shapes: tuple[Shapes, Shapes],
    record: Mapping[str, int],
    size: int,
    written: Fields,
) -> tuple[Step, StepCode]:
    done, joint, own, parent = _traced_step(spec, sweep, group, shapes, written)
    own_record, parent_record = _record(own, record, size), _record(parent, record, size)
    fixed = [joint[name] for name, what in spec.fixed.items() if what == "armature"]
    states = [joint[name] for name in spec.inputs]
    constants = ops.concatenate([group.symbols, *fixed]) if fixed or len(group.symbols) else np.empty(0, dtype=object)
    outputs, own_at = _entries(done.own, record)
    sums = {name: parent[name] + value for name, value in done.parent.items()}
    added, parent_at = _entries(sums, record)
    joints = list(np.ravel(done.joint[spec.joint])) if spec.joint in done.joint else []
    found = np.empty(len(outputs) + len(added) + len(joints), dtype=object)
    found[:] = [*outputs, *added, *joints]
    program = trace([constants, *states, own_record, parent_record], [found])
    return done, StepCode(program, tuple(own_at), tuple(parent_at), len(joints))


def _record(fields: Fields, record: Mapping[str, int], size: int) -> Array:
    """All symbols of a record, with fresh ones where a class has no field."""
    out = ops.symbols("unused", size)
    for name, values in fields.items():
        flat = np.ravel(values)
        out[record[name] : record[name] + len(flat)] = flat
    return out


def _entries(fields: Fields, record: Mapping[str, int]) -> tuple[list[Any], list[int]]:
    values = [(x, record[name] + k) for name, field_ in fields.items() for k, x in enumerate(np.ravel(field_))]
    return [x for x, _ in values], [at for _, at in values]
