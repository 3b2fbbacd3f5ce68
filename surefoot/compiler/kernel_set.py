"""`k = sf.compile(robot)`: every kinematic and dynamic quantity of a robot as machine code."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot import ops
from surefoot.compiler.artifact import Recipe
from surefoot.compiler.bundle import bundle_parts
from surefoot.compiler.gpu_kernel import GpuKernel
from surefoot.compiler.kernel import Kernel
from surefoot.compiler.large_trees import LOOPED, is_large, refuse_too_large
from surefoot.compiler.llvm_text import kernel_text
from surefoot.compiler.looped import loop_program
from surefoot.compiler.looped_text import loop_text
from surefoot.compiler.program import Program, trace
from surefoot.compiler.quantities import FRAME_QUANTITIES, QUANTITIES, Quantity, input_shape
from surefoot.compiler.reference import ReferenceKernel
from surefoot.dynamics import require_invertible
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.kinematics import Frame, Reference, frame_of
from surefoot.motion.manifold import joint_kinds, require_unit_length
from surefoot.robot import Robot

__all__ = ["BACKENDS", "STANDARD", "KernelSet", "compile_robot"]

Array = NDArray[Any]
BACKENDS = ("llvm", "cuda", "numpy")
STANDARD = ("placements", "rnea", "aba", "crba", "nonlinear", "com_motion", "centroidal", "rnea_derivatives")
_UNIT_PARTS = {"continuous": (0, 2), "spherical": (0, 4), "planar": (2, 2), "free": (3, 4)}


def compile_robot(
    robot: Robot,
    *,
    backend: str = "llvm",
    dtype: str = "float64",
    threads: int | str = 1,
    functions: Mapping[str, Any] | None = None,
) -> KernelSet:
    """The kernels of a robot; each is built when it is first called, or read from the cache.

        k = sf.compile(sf.load("g1"))
        tau = k.rnea(q, v, a)

    Args:
        robot: The robot.
        backend: "llvm": machine code of this CPU; "cuda": of the GPU, for arrays of CuPy; "numpy": the algorithms as
            they are written, slow, to debug with.
        dtype: "float64" or "float32".
        threads: Default number of threads for batches, or "all".
        functions: Functions of your own by name, written over `surefoot.ops` for one state. Their parameters are told
            by name: `tree`, `robot`, `q`, `v`, `a`, `tau`, `external`; for others give a pair of the function and a
            dictionary of their shapes. They become methods: `k.name(…)`.
    """
    if dtype not in ("float64", "float32"):
        raise NotSupportedError(f"dtype `{dtype}` is not known", next_step='use "float64" or "float32"')
    if backend not in BACKENDS:
        raise one_of("backend", backend, BACKENDS)
    return KernelSet(robot, 64 if dtype == "float64" else 32, threads, functions or {}, backend)


class KernelSet:
    """The kernels of one robot, made by `surefoot.compile`.

    Every attribute of `k.names` is a `Kernel`: k.rnea(q, v, a), k.aba(q, v, tau), k.crba(q), k.nonlinear(q, v),
    k.gravity(q), k.minv(q), k.rnea_derivatives(q, v, a), k.aba_derivatives(q, v, tau), k.placements(q), k.com(q),
    k.com_jacobian(q), k.com_motion(q, v), k.centroidal(q, v), k.energy(q, v), k.regressor(q, v, a), and your own.

    Args:
        robot: The robot.
        bits: 64 or 32.
        threads: Default number of threads for batches, or "all".
        functions: Functions of the user by name.
        backend: "llvm", "cuda" or "numpy".
    """

    rnea: Kernel
    aba: Kernel
    crba: Kernel
    nonlinear: Kernel
    gravity: Kernel
    minv: Kernel
    rnea_derivatives: Kernel
    aba_derivatives: Kernel
    placements: Kernel
    com: Kernel
    com_jacobian: Kernel
    com_motion: Kernel
    centroidal: Kernel
    energy: Kernel
    regressor: Kernel

    def __init__(
        self, robot: Robot, bits: int, threads: int | str, functions: Mapping[str, Any], backend: str = "llvm"
    ) -> None:
        self.robot, self.bits, self.threads, self.backend = robot, bits, threads, backend
        self._functions = dict(functions)
        self._kernels: dict[tuple[Any, ...], Kernel] = {}
        for name in functions:
            if name in QUANTITIES or hasattr(KernelSet, name):
                raise NotSupportedError(f"the name `{name}` is taken", next_step="give the function another name")

    @property
    def names(self) -> tuple[str, ...]:
        """Kernels that are attributes of this set."""
        return (*QUANTITIES, *self._functions)

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self.names]

    def __getattr__(self, name: str) -> Kernel:
        """The kernel of a name; looked up once, an attribute from then on."""
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._functions:
            kernel = self._own(name)
        elif name in QUANTITIES:
            kernel = self._standard(name)
        else:
            raise AttributeError(f"no kernel `{name}`; there are: {', '.join(self.names)}")
        setattr(self, name, kernel)
        return kernel

    # -- frames ---------------------------------------------------------------------------------------------------

    def frames(self, q: ArrayLike, names: Sequence[str], **options: Any) -> Array:
        """Placements (k, 4, 4) of k frames in world, or (n, k, 4, 4).

        Args:
            q: (nq,) or (n, nq).
            names: Frames: links, joints, contact surfaces.
            **options: As for every kernel.
        """
        found: Array = self.frames_kernel(tuple(names))(q, **options)
        return found

    def jacobian(self, q: ArrayLike, name: str, reference: Reference = "local_world_aligned", **options: Any) -> Array:
        """Jacobian (6, nv) of a frame, linear rows first, or (n, 6, nv).

        Args:
            q: (nq,) or (n, nq).
            name: The frame.
            reference: "local", "world" or "local_world_aligned".
            **options: As for every kernel.
        """
        found: Array = self.frame_kernel("J", name, reference)(q, **options)
        return found

    def bias(
        self, q: ArrayLike, v: ArrayLike, name: str, reference: Reference = "local_world_aligned", **options: Any
    ) -> Array:
        """J̇ v (6,) of a frame, or (n, 6).

        Args:
            q: (nq,) or (n, nq).
            v: (nv,) or (n, nv).
            name: The frame.
            reference: Of the Jacobian that it belongs to.
            **options: As for every kernel.
        """
        found: Array = self.frame_kernel("Jdv", name, reference)(q, v, **options)
        return found

    def frames_kernel(self, names: tuple[str, ...]) -> Kernel:
        """The kernel behind `frames`.

        Args:
            names: Frames.
        """
        frames = tuple(frame_of(self.robot, name) for name in names)
        placement = FRAME_QUANTITIES["T"].function

        def function(tree: Any, q: Array) -> Array:
            return ops.stack([placement(tree, frame, q) for frame in frames])

        return self._kernel(("frames", names), Quantity(("q",), function, "", ("T",)), _frame_identity(*frames))

    def frame_kernel(self, what: str, name: str, reference: Reference = "local_world_aligned") -> Kernel:
        """The kernel of one quantity of one frame.

        Args:
            what: T (placement), J (Jacobian), Jdv (J̇ v), V (twist), A (spatial acceleration) or classical.
            name: The frame.
            reference: "local", "world" or "local_world_aligned".
        """
        if what not in FRAME_QUANTITIES:
            raise one_of("quantity of a frame", what, FRAME_QUANTITIES)
        quantity, frame = FRAME_QUANTITIES[what], frame_of(self.robot, name)
        extra = (reference,) if quantity.reference else ()

        def function(tree: Any, *state: Array) -> Array:
            found: Array = quantity.function(tree, frame, *state, *extra)
            return found

        key = (what, name, *extra)
        return self._kernel(key, Quantity(quantity.inputs, function, "", (what,)), _frame_identity(frame))

    # -- bundles --------------------------------------------------------------------------------------------------

    def bundle(self, names: Sequence[str]) -> Kernel:
        """Several quantities as one kernel, which computes what they share once; it returns a dictionary.

            step = k.bundle(["M", "h", "J:left_foot", "Jdv:left_foot", "com"])
            step(q, v)["M"]

        Args:
            names: M, h, g, Minv, com, Jcom, vcom, Jdvcom, Ag, hg, Agdv, kinetic, potential, tau (needs a), a (needs
                tau); and of a frame, as `J:left_foot` or `J:left_foot@local`: T, J, Jdv, V, A, classical.
        """
        wanted = tuple(names)
        parts = bundle_parts(self.robot, wanted)
        inputs = tuple(name for name in ("q", "v", "a", "tau") if any(name in part.inputs for part in parts))

        def function(tree: Any, *state: Array) -> tuple[Any, ...]:
            given = dict(zip(inputs, state, strict=True))
            return tuple(part.function(tree, *(given[name] for name in part.inputs)) for part in parts)

        def result(*arrays: Array) -> dict[str, Array]:
            return dict(zip(wanted, arrays, strict=True))

        quantity = Quantity(inputs, function, "", wanted, result, any(part.inverts for part in parts))
        return self._kernel(("bundle", *wanted), quantity, tuple(part.doc for part in parts))

    # -- preparation ----------------------------------------------------------------------------------------------

    def prepare(self, names: Sequence[str] = STANDARD, builds: Sequence[str] = ("single", "batch")) -> KernelSet:
        """Build kernels now, rather than when they are first called; returns the set.

        Args:
            names: Kernels.
            builds: "single" (one state per call), "batch" (many), or both.
        """
        for name in names:
            if name not in self.names:
                raise one_of("kernel", name, self.names)
            for build in builds:
                getattr(self, name).prepare(build)
        return self

    # -- making kernels -------------------------------------------------------------------------------------------

    def _standard(self, name: str) -> Kernel:
        quantity = QUANTITIES[name]
        variants = {}
        if quantity.optional:
            whole = Quantity(
                (*quantity.inputs, quantity.optional), quantity.function, quantity.doc, quantity.outputs,
                quantity.result, quantity.inverts,
            )  # fmt: skip
            variants[quantity.optional] = self._kernel((name, quantity.optional), whole, ())
        return self._kernel((name,), quantity, (), variants)

    def _own(self, name: str) -> Kernel:
        """The kernel of a function of the user; only its program can tell what it depends on."""
        given = self._functions[name]
        function, shapes = given if isinstance(given, tuple) else (given, {})
        parameters = [p for p in inspect.signature(function).parameters if p not in ("tree", "robot")]
        for parameter in parameters:
            if parameter not in ("q", "v", "a", "tau", "external") and parameter not in shapes:
                raise ShapeError(
                    f"the shape of parameter `{parameter}` of `{name}` is not known",
                    next_step=f'give functions={{"{name}": (function, {{"{parameter}": (3,)}})}}',
                )
        fixed = {"tree": self.robot.tree, "robot": self.robot}
        extra = {p: fixed[p] for p in inspect.signature(function).parameters if p in fixed}

        def traced(tree: Any, *state: Array) -> Any:
            return function(**extra, **dict(zip(parameters, state, strict=True)))

        return self._kernel((name,), Quantity(tuple(parameters), traced, ""), None, shapes=shapes)

    def _kernel(
        self,
        key: tuple[Any, ...],
        quantity: Quantity,
        identity: tuple[Any, ...] | None,
        variants: Mapping[str, Kernel] | None = None,
        shapes: Mapping[str, tuple[int, ...]] | None = None,
    ) -> Kernel:
        """The kernel of a quantity, made once per key."""
        if key in self._kernels:
            return self._kernels[key]
        if quantity.inverts:
            require_invertible(self.robot.tree)
        tree = self.robot.tree
        sizes = tuple(tuple((shapes or {}).get(name, ())) or input_shape(tree, name) for name in quantity.inputs)
        name = ":".join(str(x) for x in key)
        large = self.backend == "llvm" and is_large(tree, name)
        if not large and self.backend != "numpy":
            refuse_too_large(tree, name)
        recipe = Recipe(
            name=name,
            owner=self.robot.name,
            inputs=quantity.inputs,
            outputs=quantity.outputs,
            input_shapes=sizes,
            trace=lambda: loop_program(tree, LOOPED[name], sizes) if large else self._traced(quantity, sizes),
            reference=lambda *state: _as_tuple(quantity.function(tree, *state)),
            emit=loop_text if large else kernel_text,
            identity=None if identity is None else (*_tree_identity(self.robot), *identity),
            needs_units=_unit_parts(self.robot) if quantity.inputs[:1] == ("q",) else (),
        )
        self._kernels[key] = self._made(recipe, quantity, variants)
        return self._kernels[key]

    def _made(self, recipe: Recipe, quantity: Quantity, variants: Mapping[str, Any] | None) -> Any:
        if self.backend == "cuda":
            return GpuKernel(recipe, self.bits, quantity.result, variants)
        kind = Kernel if self.backend == "llvm" else ReferenceKernel
        return kind(recipe, self.bits, self.threads, quantity.result, variants, self._explain_units)

    def _traced(self, quantity: Quantity, shapes: Sequence[tuple[int, ...]]) -> Program:
        inputs = [ops.symbols(name, shape) for name, shape in zip(quantity.inputs, shapes, strict=True)]
        found = _as_tuple(quantity.function(self.robot.tree, *inputs))
        return trace(inputs, list(found), interleaved=self.backend == "llvm")

    def _explain_units(self, q: Array) -> None:
        require_unit_length(q, self.robot.tree.joint_names, joint_kinds(self.robot))


def _as_tuple(found: Any) -> tuple[Any, ...]:
    return tuple(found) if isinstance(found, tuple | list) else (found,)


def _tree_identity(robot: Robot) -> tuple[Any, ...]:
    """All numbers of the tree that algorithms see."""
    tree = robot.tree
    arrays = (
        tree.parents, tree.placements, tree.axes, tree.pitches, tree.masses, tree.coms, tree.inertias, tree.q_index,
        tree.v_index, tree.armature, tree.mimic_source, tree.mimic_ratio, tree.mimic_offset, tree.gravity,
    )  # fmt: skip
    return (",".join(tree.kinds), *arrays)


def _frame_identity(*frames: Frame) -> tuple[Any, ...]:
    return tuple(x for frame in frames for x in (str(frame.body), np.asarray(frame.R), np.asarray(frame.p)))


def _unit_parts(robot: Robot) -> tuple[tuple[int, int], ...]:
    """Parts (offset, length) of q that must have unit length."""
    tree, parts = robot.tree, []
    for i, kind in enumerate(tree.kinds):
        if kind in _UNIT_PARTS and tree.nq_of(i):
            offset, length = _UNIT_PARTS[kind]
            parts.append((int(tree.q_index[i]) + offset, length))
    return tuple(parts)
