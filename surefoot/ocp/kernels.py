"""Machine code of stage functions: values, first and second derivatives of all nodes of one structure at once."""

from __future__ import annotations

import functools
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.codegen import Kernel, cache, compile_function, trace_key
from surefoot.ocp.shape import Block
from surefoot.ocp.stage import Structure
from surefoot.ops import Array
from surefoot.robot import Robot


@functools.cache
def _source() -> str:
    """Hash of what stage functions are made of, read once for each process."""
    folder = Path(__file__).parent
    names = ["blocks.py", "chart.py", "formulation.py", "kernels.py", "node.py", "shape.py", "stage.py"]
    names.append("centroidal/step.py")
    return cache.key(cache.source_version(), np.__version__, *((folder / name).read_bytes() for name in names))


def _identity(structure: Structure) -> tuple[Any, ...] | None:
    """All that the function depends on; None if users change the robot: then only its trace tells."""
    robot, design = structure.robot, structure.design
    if design is not None and design.key is None:
        return None
    blocks = [(b.name, b.use, b.place, b.data, b.slack, b.is_integral, _key_of(structure, b)) for b in structure.blocks]
    surfaces = [(name, robot.contacts[name].tied) for name in structure.contacts]
    places = [x for name in structure.contacts for x in (robot.contacts[name].placement, robot.contacts[name].frame)]
    words = (
        str(structure.formulation),
        structure.kind,
        surfaces,
        structure.parameters,
        blocks,
        robot.springs,
        robot.loops,
        None if design is None else design.key,
    )
    held = [x for part in structure.held.parts for x in part.numbers]
    return ("ocp stage", repr(words), robot.driven, robot.model.damping, *robot_identity(robot), *places, *held)


def _key_of(structure: Structure, block: Block) -> tuple[Any, ...]:
    """What a block depends on: for a function of the user, the operations that it does on the numbers of a node."""
    if block.key is not None:
        return block.key
    alone = replace(structure, blocks=(replace(block, slack=False),))
    sizes = {name: len(part) for name, part in zip("xupd", alone.sample(), strict=True)}

    def values(*given: Array) -> Array:
        parts = dict(zip((name for name in sizes if sizes[name]), given, strict=True))
        x, u, p, d = (parts.get(name, np.zeros(0)) for name in sizes)
        return block.values(alone.node(x, u, p, d), d[alone.data_place(block.name)])

    return (trace_key(values, {name: (size,) for name, size in sizes.items() if size}),)


def robot_identity(robot: Robot) -> tuple[Any, ...]:
    """Numbers of the tree, and the source that functions of it are made of."""
    values = [getattr(robot.tree, item.name) for item in fields(robot.tree)]
    return (_source(), *(x if isinstance(x, np.ndarray) else ",".join(x) for x in values))


class StageKernels:
    """Kernels of a structure, each built or read from the cache on first use.

    Args:
        structure: The structure.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        values, _, _ = structure.sizes
        self.count = len(values.all)
        s = structure
        self.shapes: dict[str, tuple[int, ...]] = {
            "x": (s.states,),
            "u": (s.controls + s.slacks,),
            "p": (1 + len(s.parameters),),
            "d": (s.data,),
        }
        if not self.shapes["u"][0]:
            self.shapes.pop("u")
        self.variables = sum(self.shapes[name][0] for name in self.shapes if name != "d")

    def _arguments(self, given: tuple[Array, ...]) -> tuple[Array, Array, Array, Array]:
        """The arguments x, u, p, d; u is empty where there are no controls."""
        x, *u, p, d = given
        return x, u[0] if u else np.zeros(0), p, d

    def _all(self, *given: Array) -> Array:
        return self.structure.parts(*self._arguments(given)).all

    def _compiled(self, name: str, function: Any, shapes: dict[str, tuple[int, ...]]) -> Kernel:
        identity = None if self._identity is None else (name, *self._identity)
        return compile_function(name, function, shapes, identity=identity)

    @functools.cached_property
    def _identity(self) -> tuple[Any, ...] | None:
        return _identity(self.structure)

    @functools.cached_property
    def values(self) -> Kernel:
        """All functions (m,) of (x, u, p, d)."""
        return self._compiled("stage_values", self._all, self.shapes)

    @functools.cached_property
    def jacobian(self) -> Kernel:
        """Derivatives (m, n) of all functions by (x, u, p)."""

        def jacobian(*given: Array) -> Array:
            return ops.gradient(self._all(*given), ops.concatenate(given[:-1]))

        return self._compiled("stage_jacobian", jacobian, self.shapes)

    @functools.cached_property
    def hessian(self) -> Kernel:
        """Second derivatives (n, n) of multipliers · functions by (x, u, p)."""

        def hessian(*given: Array) -> Array:
            *arguments, multipliers = given
            z = ops.concatenate(arguments[:-1])
            total = sum((m * f for m, f in zip(multipliers, self._all(*arguments), strict=True)), start=0.0)
            if not isinstance(total, ops.Symbol):
                return np.zeros((len(z), len(z)))
            full = ops.gradient(ops.gradient(total, z), z)
            lower = np.tril_indices(len(z), -1)
            full.T[lower] = full[lower]
            return full

        return self._compiled("stage_hessian", hessian, {**self.shapes, "m": (self.count,)})

    @functools.cached_property
    def node(self) -> Kernel:
        """q, v, a, tau and contact wrenches (contacts, 6) of (x, u, p, d); zeros where there are none."""
        robot, contacts = self.structure.robot, self.structure.contacts

        def node(*given: Array) -> tuple[Array, ...]:
            found = self.structure.node(*self._arguments(given))
            none = found.accelerations is None
            wrenches = found.contact_wrenches or {}
            return (
                found.q,
                np.zeros(robot.nv) if found.rates is None else found.v,
                np.zeros(robot.nv) if none else found.a,
                np.zeros(robot.nu) if found.forces is None else found.forces,
                ops.stack([np.zeros(6), *(wrenches.get(name, np.zeros(6)) for name in contacts)])[1:],
            )

        return self._compiled("stage_node", node, self.shapes)

    @functools.cached_property
    def acceleration(self) -> Kernel:
        """Second rates (nv,) and forces of the drives (nu,) of state x, input w and p (forward dynamics, IdOP)."""

        def acceleration(x: Array, w: Array, p: Array) -> tuple[Array, Array]:
            node = self.structure.moving_node(x, w, p)
            return node.ddy, node.tau

        shapes = {"x": (2 * self.structure.robot.nv,), "w": (self.structure.inputs,), "p": self.shapes["p"]}
        return self._compiled("stage_acceleration", acceleration, shapes)

    @functools.cached_property
    def point_forces(self) -> Kernel:
        """Forces of the drives (points, nu) of (x, u, p, d); see `Structure.point_forces`."""
        return self._compiled(
            "stage_forces", lambda *given: self.structure.point_forces(*self._arguments(given)), self.shapes
        )

    @functools.cached_property
    def patterns(self) -> tuple[Array, Array]:
        """Entries of the Jacobian and of the Hessian that can differ from zero."""
        return self.slopes, _pattern(self.hessian)

    @functools.cached_property
    def slopes(self) -> Array:
        """Entries of the Jacobian that can differ from zero."""
        return _pattern(self.jacobian)


def _pattern(kernel: Kernel) -> Array:
    layout = kernel.layout[0]
    constant = np.where(layout < 0, -1 - layout, len(kernel.numbers))
    return np.asarray((layout >= 0) | (np.append(kernel.numbers, 0.0)[constant] != 0.0))
