"""`k = sf.compile(robot)`: every kinematic and dynamic quantity of a robot as machine code."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.codegen import MAX_ARRAYS, Kernel, Recipe, ReferenceKernel, thread_count, trace
from surefoot.codegen.llvm import kernel_text
from surefoot.compiler.constrained import HeldKernels
from surefoot.compiler.large_trees import LOOPED, is_large, refuse_too_large
from surefoot.compiler.looped import LoopSpec, loop_program
from surefoot.compiler.looped_text import loop_text
from surefoot.compiler.quantities import FRAME_QUANTITIES, QUANTITIES, Quantity, input_shape, own_quantity
from surefoot.dynamics.tree import require_invertible
from surefoot.errors import ModelError, NotSupportedError, one_of
from surefoot.kinematics import Frame, Reference, contact_frame
from surefoot.kinematics.frames import frame_of, require_reference
from surefoot.motion.exchange import joint_kinds, require_unit_length
from surefoot.ops import Array
from surefoot.robot import Robot, Tree

BACKENDS = ("llvm", "cuda", "numpy")
_known: WeakValueDictionary[tuple[Any, ...], KernelSet] = WeakValueDictionary()
_recent: deque[KernelSet] = deque(maxlen=8)  # kept alive, so that calls in a row find their kernels
STANDARD = ("placements", "rnea", "aba", "crba", "nonlinear_effects", "com_motion", "centroidal", "rnea_derivatives")
_UNIT_PARTS = {"continuous": (0, 2), "spherical": (0, 4), "planar": (2, 2), "free": (3, 4)}


def compile_robot(
    robot: Robot,
    *,
    backend: str = "llvm",
    dtype: str = "float64",
    threads: int | str = 1,
    functions: Mapping[str, Any] | None = None,
) -> KernelSet:
    """The kernels of a robot, the same object for the same robot; each is built on its first call, or read from disk.

        k = sf.compile(sf.load("g1"))
        tau = k.rnea(q, v, a)

    Args:
        robot: The robot.
        backend: "llvm": machine code of this CPU; "cuda": of the GPU, for arrays of CuPy; "numpy": the algorithms as
            they are written, slow, to debug with.
        dtype: "float64" or "float32".
        threads: Default number of threads for batches, or "all".
        functions: Functions of your own by name, written over `surefoot.ops` for one state. Their parameters are known
            by name: `tree`, `robot`, `q`, `v`, `a`, `tau`, `external`; for others give a pair of the function and a
            dictionary of their shapes. They become methods: `k.name(…)`.
    """
    if not isinstance(robot, Robot):
        raise NotSupportedError(
            f"expected a Robot, got {robot!r}", next_step=f"load it first: sf.compile(sf.load({robot!r}))"
        )
    thread_count(threads)
    if dtype not in ("float64", "float32"):
        raise NotSupportedError(f"dtype `{dtype}` is not known", next_step='use "float64" or "float32"')
    if backend not in BACKENDS:
        raise one_of("backend", backend, BACKENDS)
    bits = 64 if dtype == "float64" else 32
    if functions:
        return KernelSet(robot, bits, threads, functions, backend)
    key = (id(robot), bits, threads, backend)
    kernels = _known.get(key) or _known.setdefault(key, KernelSet(robot, bits, threads, {}, backend))
    _recent.append(kernels)
    return kernels


class KernelSet(HeldKernels):
    """The kernels of one robot, made by `surefoot.compile`.

    Every attribute of `k.names` is a `Kernel`, with the name that the quantity has in `surefoot.dynamics` and
    `surefoot.kinematics`: k.rnea(q, v, a), k.aba(q, v, tau), k.crba(q), k.nonlinear_effects(q, v), k.minverse(q),
    k.generalized_gravity(q), k.rnea_derivatives(q, v, a), k.com(q), k.centroidal_momentum(q, v) …, and your own.

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
    nonlinear_effects: Kernel
    generalized_gravity: Kernel
    minverse: Kernel
    rnea_derivatives: Kernel
    aba_derivatives: Kernel
    placements: Kernel
    com: Kernel
    com_jacobian: Kernel
    com_motion: Kernel
    centroidal: Kernel
    coupling: Kernel
    com_velocity_derivative: Kernel
    energy: Kernel
    joint_torque_regressor: Kernel

    def __init__(
        self, robot: Robot, bits: int, threads: int | str, functions: Mapping[str, Any], backend: str = "llvm"
    ) -> None:
        self.robot, self.bits, self.threads, self.backend = robot, bits, threads, backend
        self._functions = dict(functions)
        self._kernels: dict[tuple[Any, ...], Kernel] = {}
        for name in functions:
            if name in QUANTITIES or hasattr(KernelSet, name) or name in vars(self):
                raise NotSupportedError(f"the name `{name}` is taken", next_step="give the function another name")
            if not name.isidentifier() or name.startswith("_"):
                raise NotSupportedError(f"`{name}` cannot be a name", next_step="use letters, digits and underscores")

    def __reduce__(self) -> Any:
        return KernelSet, (self.robot, self.bits, self.threads, self._functions, self.backend)

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
            names: Frames: links, joints, contact surfaces; `contact NAME` where a link has the name of the surface.
            **options: As for every kernel.
        """
        key = ("frames", tuple(names))
        kernel = self._kernels.get(key) or self.frames_kernel(names)
        found: Array = kernel(q, **options)
        return found

    def jacobian(self, q: ArrayLike, name: str, reference: Reference = "local_world_aligned", **options: Any) -> Array:
        """Jacobian (6, nv) of a frame, linear rows first, or (n, 6, nv).

        Args:
            q: (nq,) or (n, nq).
            name: The frame.
            reference: "local", "world" or "local_world_aligned".
            **options: As for every kernel.
        """
        kernel = self._kernels.get(("J", name, reference)) or self.frame_kernel("J", name, reference)
        found: Array = kernel(q, **options)
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
        kernel = self._kernels.get(("Jdv", name, reference)) or self.frame_kernel("Jdv", name, reference)
        found: Array = kernel(q, v, **options)
        return found

    def frames_kernel(self, names: Sequence[str]) -> Kernel:
        """The kernel behind `frames`."""
        names = _list_of_names(names)
        if not names:
            raise NotSupportedError("no frames were named", next_step='give a list of names, as ["left_foot"]')
        frames = tuple(named_frame(self.robot, name) for name in names)
        placement = FRAME_QUANTITIES["T"].function

        def function(tree: Any, q: Array) -> Array:
            return ops.stack([placement(tree, frame, q) for frame in frames])

        return self._kernel(("frames", names), Quantity(("q",), function, "", ("T",)), frame_identity(*frames))

    def frame_kernel(self, what: str, name: str, reference: Reference = "local_world_aligned") -> Kernel:
        """The kernel of one quantity of one frame.

        Args:
            what: T (placement), J (Jacobian), Jdv (J̇ v), V (twist), A (spatial acceleration), classical, dV (∂V/∂q,
                ∂V/∂v) or dA (∂A/∂q, ∂A/∂v, ∂A/∂a).
            name: The frame.
            reference: "local", "world" or "local_world_aligned".
        """
        if what not in FRAME_QUANTITIES:
            raise one_of("quantity of a frame", what, FRAME_QUANTITIES)
        quantity, frame = FRAME_QUANTITIES[what], named_frame(self.robot, name)
        key = (what, name, reference) if quantity.reference else (what, name)
        return self._kernel(key, quantity.of_frame(frame, reference), frame_identity(frame))

    # -- bundles --------------------------------------------------------------------------------------------------

    def bundle(self, names: Sequence[str]) -> Kernel:
        """Several quantities as one kernel, which computes what they share once; it returns a dictionary.

            step = k.bundle(["M", "h", "J:left_foot", "Jdv:left_foot", "com"])
            step(q, v)["M"]

        Args:
            names: Names of kernels, as `crba` or `com`, or their symbols: M, h, g, Minv, Jcom, vcom, Jdvcom, Ag, hg,
                Agdv, kinetic, potential, tau (needs a), a (needs tau); and of a frame, as `J:left_foot`,
                `J:left_foot@local` or `J:contact left_foot`: T, J, Jdv, V, A, classical.
        """
        wanted = _list_of_names(names)
        return self._kernel(("bundle", *wanted), *bundle_quantity(self.robot, wanted))

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
            variants[quantity.optional] = self._kernel((name, quantity.optional), quantity.with_optional(), ())
        return self._kernel((name,), quantity, (), variants)

    def _own(self, name: str) -> Kernel:
        """The kernel of a function of the user; its identity is its program."""
        quantity, shapes = own_quantity(self.robot, name, self._functions[name])
        return self._kernel((name,), quantity, None, shapes=shapes, depends=(self._functions[name], self.robot))

    def _kernel(
        self,
        key: tuple[Any, ...],
        quantity: Quantity,
        identity: tuple[Any, ...] | None,
        variants: Mapping[str, Kernel] | None = None,
        shapes: Sequence[tuple[int, ...]] | None = None,
        depends: tuple[Any, ...] = (),
    ) -> Kernel:
        """The kernel of a quantity, made once per key."""
        if key in self._kernels:
            return self._kernels[key]
        tree = self.robot.tree
        if not tree.n:
            raise ModelError(f"`{self.robot.name}` has no joints, so there is nothing to compile")
        sizes = tuple(input_shape(tree, name) for name in quantity.inputs) if shapes is None else tuple(shapes)
        name = ":".join(str(x) for x in key if not isinstance(x, tuple))
        large = self.backend == "llvm" and is_large(tree, name)
        if not large and self.backend != "numpy":
            refuse_too_large(tree, name)
        recipe = Recipe(
            name=name,
            owner=self.robot.name,
            inputs=quantity.inputs,
            outputs=quantity.outputs,
            input_shapes=sizes,
            trace=lambda: self._traced(quantity, sizes, LOOPED[name] if large else None),
            reference=lambda *state: _as_tuple(quantity.function(tree, *state)),
            emit=loop_text if large else kernel_text,
            identity=None if identity is None else (str(large), *_tree_identity(self.robot), *identity),
            depends=depends,
            needs_units=_unit_parts(self.robot, quantity.inputs, sizes),
        )
        self._kernels[key] = self._made(recipe, quantity, variants)
        return self._kernels[key]

    def _made(self, recipe: Recipe, quantity: Quantity, variants: Mapping[str, Any] | None) -> Any:
        if self.backend == "cuda":
            from surefoot.codegen.cuda import GpuKernel  # most runs need no GPU

            return GpuKernel(recipe, self.bits, quantity.result, variants)
        kind = Kernel if self.backend == "llvm" else ReferenceKernel
        return kind(recipe, self.bits, self.threads, quantity.result, variants, self._explain_units)

    def _traced(self, quantity: Quantity, shapes: Sequence[tuple[int, ...]], loops: LoopSpec | None) -> Any:
        if quantity.inverts:
            require_invertible(self.robot.tree)
        if loops is not None:
            return loop_program(self.robot.tree, loops, shapes)
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


def _list_of_names(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise NotSupportedError(f"names={names!r}", next_step='give a list of names, as ["left_foot"]')
    return tuple(names)


def _unit_parts(robot: Robot, inputs: Sequence[str], shapes: Sequence[Any]) -> tuple[tuple[int, int, int], ...]:
    """Parts (input, offset, length) of q that must have unit length; none if q is not the robot's."""
    tree, parts = robot.tree, []
    if "q" not in inputs or shapes[list(inputs).index("q")] != input_shape(tree, "q"):
        return ()
    for i, kind in enumerate(tree.kinds):
        if kind in _UNIT_PARTS and tree.nq_of(i):
            offset, length = _UNIT_PARTS[kind]
            parts.append((list(inputs).index("q"), int(tree.q_index[i]) + offset, length))
    return tuple(parts)


# Bundles: several quantities as one, named as kernels and functions are, or by their symbols.


SYMBOLS = {
    "M": "crba", "Minv": "minverse", "h": "nonlinear_effects", "g": "generalized_gravity", "tau": "rnea", "a": "aba",
    "Jcom": "com_jacobian", "vcom": "com_velocity", "Jdvcom": "com_bias", "Ag": "centroidal_momentum_matrix",
    "hg": "centroidal_momentum", "Agdv": "centroidal_momentum_bias", "kinetic": "kinetic_energy",
    "potential": "potential_energy", "frame_placement": "T", "frame_jacobian": "J", "frame_bias_acceleration": "Jdv",
    "frame_velocity": "V", "frame_acceleration": "A",
}  # fmt: skip
"""Symbols of quantities, and names of the quantities of frames, whose kernels are called by symbols."""
WORDS = {name: quantity for name, quantity in QUANTITIES.items() if len(quantity.outputs) == 1}


def named_frame(robot: Robot, name: str) -> Frame:
    """The frame of a name; `contact NAME` is that of a contact surface, whatever else has its name.

    Args:
        robot: The robot.
        name: As in `frame_of`, or `contact NAME`.
    """
    word, _, surface = name.partition(" ")
    is_contact = word == "contact" and surface and not robot.model.existFrame(name)
    return contact_frame(robot, surface) if is_contact else frame_of(robot, name)


def frame_identity(*frames: Frame) -> tuple[Any, ...]:
    """All numbers of frames, for the cache."""
    return tuple(x for frame in frames for x in (str(frame.body), np.asarray(frame.R), np.asarray(frame.p)))


def bundle_quantity(robot: Robot, names: tuple[str, ...]) -> tuple[Quantity, tuple[Any, ...]]:
    """Several quantities as one whose result is a dictionary, and its identity for the cache.

    Args:
        robot: The robot.
        names: Words, as `M` or `J:left_foot@local`.

    Raises:
        UnknownNameError: A word, frame or reference that does not exist.
    """
    if not names:
        raise NotSupportedError("a bundle of nothing", next_step='ask for something, as k.bundle(["M", "h"])')
    if len(names) > MAX_ARRAYS:
        raise NotSupportedError(
            f"a bundle of {len(names)} words",
            evidence={"at most": MAX_ARRAYS},
            next_step="split it into several bundles",
        )
    parts = [_frame_part(robot, name) if ":" in name else _part(name) for name in names]
    quantities = [quantity for quantity, _ in parts]
    inputs = tuple(name for name in ("q", "v", "a", "tau") if any(name in x.inputs for x in quantities))

    def function(tree: Tree, *state: Array) -> tuple[Any, ...]:
        given = dict(zip(inputs, state, strict=True))
        return tuple(x.function(tree, *(given[name] for name in x.inputs)) for x in quantities)

    def result(*arrays: Array) -> dict[str, Array]:
        return dict(zip(names, arrays, strict=True))

    whole = Quantity(inputs, function, "", names, result, any(x.inverts for x in quantities))
    return whole, tuple(x for _, identity in parts for x in identity)


def _part(name: str) -> tuple[Quantity, tuple[Any, ...]]:
    full = SYMBOLS.get(name, name)
    if full not in WORDS:
        raise one_of("word of a bundle", name, [*WORDS, *SYMBOLS, *(f"{word}:FRAME" for word in FRAME_QUANTITIES)])
    return WORDS[full], (full,)


def _frame_part(robot: Robot, name: str) -> tuple[Quantity, tuple[Any, ...]]:
    word, _, rest = name.partition(":")
    word = SYMBOLS.get(word, word)
    label, _, reference = rest.partition("@")
    reference = reference or "local_world_aligned"
    single = [key for key, quantity in FRAME_QUANTITIES.items() if len(quantity.outputs) < 2]
    if word not in single:
        raise one_of("quantity of a frame", word, single)
    require_reference(reference)
    frame = named_frame(robot, label)
    return FRAME_QUANTITIES[word].of_frame(frame, reference), (name, *frame_identity(frame))
