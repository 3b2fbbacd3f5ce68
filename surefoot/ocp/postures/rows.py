"""Rows that depend on the posture alone, such as distances: kernels of their own beside those of the stage.

A row of coordinates y and free parameters needs no derivatives by rates and controls, and to compile it apart leaves
the large kernels of the dynamics as they are: pairs of bodies are added to a problem in less than a second each.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.arrays import Array
from surefoot.codegen import Kernel, cache, compile_function
from surefoot.ocp.kernels import StageKernels, robot_identity
from surefoot.ocp.shape import Block
from surefoot.ocp.stage import Structure


class PostureRows:
    """Kernels of one block of rows.

    Args:
        structure: The structure that it belongs to.
        block: The block.
    """

    def __init__(self, structure: Structure, block: Block) -> None:
        self.structure, self.block = structure, block
        s = structure
        sizes = {"y": s.robot.nv, "p": len(s.parameters), "d": block.data}
        self.shapes: dict[str, tuple[int, ...]] = {name: (size,) for name, size in sizes.items() if size}
        self.variables = s.robot.nv + len(s.parameters)
        values, groups, _ = s.sizes
        group = next(group for group in groups if group.name == block.name)
        place = len(values.all) - len(values.rows) + group.start
        self.rows = slice(place, place + group.size)
        first = s.states + s.controls + s.slacks + 1
        self.columns = np.r_[: s.robot.nv, first : first + len(s.parameters)]
        self.data = s.data_place(block.name)

    def arguments(self, x: Array, p: Array, d: Array) -> list[Array]:
        """Arguments (n, …) of the kernels from those of a stage."""
        parts = {"y": x[:, : self.structure.robot.nv], "p": p[:, 1:], "d": d[:, self.data]}
        return [np.ascontiguousarray(parts[name]) for name in self.shapes]

    def _rows(self, given: tuple[Array, ...]) -> Array:
        named = dict(zip(self.shapes, given, strict=True))
        node = self.structure.posture(named["y"], named.get("p", np.zeros(0)))
        return self.block.values(node, named.get("d", np.zeros(0)))

    def _point(self, given: tuple[Array, ...]) -> Array:
        return ops.concatenate([x for name, x in zip(self.shapes, given, strict=False) if name != "d"])

    def _compiled(self, name: str, function: Any, shapes: dict[str, tuple[int, ...]]) -> Kernel:
        key, s = self.block.key, self.structure
        design = None if s.design is None else s.design.key
        if key is None or (s.design is not None and design is None):
            return compile_function(name, function, shapes)
        own = (name, repr((key, design, s.parameters, self.rows.stop - self.rows.start)), _text_of(self.block.function))
        return compile_function(name, function, shapes, identity=(*own, *robot_identity(s.robot)))

    @functools.cached_property
    def values(self) -> Kernel:
        """Rows (m,)."""
        return self._compiled("posture_values", lambda *given: self._rows(given), self.shapes)

    @functools.cached_property
    def jacobian(self) -> Kernel:
        """Their derivatives (m, n) by (y, p)."""

        def jacobian(*given: Array) -> Array:
            return ops.gradient(self._rows(given), self._point(given))

        return self._compiled("posture_jacobian", jacobian, self.shapes)

    @functools.cached_property
    def hessian(self) -> Kernel:
        """Second derivatives (n, n) of multipliers · rows by (y, p)."""

        def hessian(*given: Array) -> Array:
            z, rows = self._point(given[:-1]), self._rows(given[:-1])
            total = sum((m * row for m, row in zip(given[-1], rows, strict=True)), start=0.0)
            return ops.gradient(ops.gradient(total, z), z)

        count = self.rows.stop - self.rows.start
        return self._compiled("posture_hessian", hessian, {**self.shapes, "m": (count,)})


@functools.cache
def _text_of(function: Callable[..., Any]) -> str:
    """Hash of the files that a function of postures is written in."""
    files = {getattr(function, "__code__", _text_of.__wrapped__.__code__).co_filename, __file__}
    files.add(str(Path(__file__).with_name("clearance.py")))
    return cache.key(*(Path(file).read_bytes() for file in sorted(files) if Path(file).is_file()))


class JoinedKernels:
    """The kernels of a stage and of its rows of postures, as one; see `StageKernels`.

    Args:
        structure: A structure whose blocks of postures come last.
    """

    def __init__(self, structure: Structure) -> None:
        own = tuple(block for block in structure.blocks if not block.of_posture)
        self.structure = structure
        self.core = StageKernels(replace(structure, blocks=own))
        self.parts = [PostureRows(structure, block) for block in structure.blocks if block.of_posture]
        self.shapes = {**self.core.shapes, "d": (structure.data,)}
        self.count = len(structure.sizes[0].all)

    def _core(self, given: tuple[Array, ...], at: int) -> tuple[Array, ...]:
        """Arguments of the stage's own kernels; `at` is the place of d."""
        d = np.ascontiguousarray(given[at][:, : self.core.shapes["d"][0]])
        return (*given[:at], d, *given[at + 1 :])

    def values(self, *given: Array) -> Array:
        """All functions (n, m) of (x, u, p, d)."""
        found = [self.core.values(*self._core(given, len(given) - 1))]
        found += [part.values(*part.arguments(given[0], given[-2], given[-1])) for part in self.parts]
        return np.hstack(found)

    def jacobian(self, *given: Array) -> Array:
        """Derivatives (n, m, k) of all functions by (x, u, p)."""
        own = self.core.jacobian(*self._core(given, len(given) - 1))
        found = np.zeros((len(own), self.count, own.shape[2]))
        found[:, : own.shape[1]] = own
        for part in self.parts:
            rows = part.jacobian(*part.arguments(given[0], given[-2], given[-1]))
            found[:, part.rows][:, :, part.columns] = rows
        return found

    def hessian(self, *given: Array) -> Array:
        """Second derivatives (n, k, k) of multipliers · functions by (x, u, p)."""
        m = given[-1]
        *others, _ = self._core(given, len(given) - 2)
        found = self.core.hessian(*others, np.ascontiguousarray(m[:, : self.core.count]))
        for part in (part for part in self.parts if part.block.is_curved):
            arguments = part.arguments(given[0], given[-3], given[-2])
            H = part.hessian(*arguments, np.ascontiguousarray(m[:, part.rows]))
            found[:, part.columns[:, None], part.columns] += 0.5 * (H + H.transpose(0, 2, 1))
        return found

    @property
    def node(self) -> Callable[..., tuple[Array, ...]]:
        """As of `StageKernels`."""
        return lambda *given: self.core.node(*self._core(given, len(given) - 1))

    @functools.cached_property
    def patterns(self) -> tuple[Array, Array]:
        """Entries of the Jacobian and of the Hessian that can differ from zero."""
        H = self.core.patterns[1].copy()
        for part in self.parts:
            if part.block.is_curved:
                H[np.ix_(part.columns, part.columns)] = True
        return self.slopes, H

    @functools.cached_property
    def slopes(self) -> Array:
        """Entries of the Jacobian that can differ from zero."""
        own = self.core.slopes
        J = np.zeros((self.count, own.shape[1]), dtype=bool)
        J[: len(own)] = own
        for part in self.parts:
            J[part.rows, part.columns] = True
        return J


def stage_kernels(structure: Structure) -> StageKernels | JoinedKernels:
    """The kernels of a structure, made once and kept with it."""
    own = vars(structure)
    if "kernels" not in own:
        joined = any(block.of_posture for block in structure.blocks)
        own["kernels"] = JoinedKernels(structure) if joined else StageKernels(structure)
    found: StageKernels | JoinedKernels = own["kernels"]
    return found
