"""Bundles: several quantities as one, named as kernels and functions are, or by their symbols."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.codegen import MAX_ARRAYS
from surefoot.compiler.quantities import FRAME_QUANTITIES, QUANTITIES, Quantity
from surefoot.errors import NotSupportedError, one_of
from surefoot.kinematics import Frame
from surefoot.kinematics.frames import frame_of, require_reference
from surefoot.ops import Array
from surefoot.robot import Robot, Tree

SYMBOLS = {
    "M": "crba", "Minv": "minverse", "h": "nonlinear_effects", "g": "generalized_gravity", "tau": "rnea", "a": "aba",
    "Jcom": "com_jacobian", "vcom": "com_velocity", "Jdvcom": "com_bias", "Ag": "centroidal_momentum_matrix",
    "hg": "centroidal_momentum", "Agdv": "centroidal_momentum_bias", "kinetic": "kinetic_energy",
    "potential": "potential_energy", "frame_placement": "T", "frame_jacobian": "J", "frame_bias_acceleration": "Jdv",
    "frame_velocity": "V", "frame_acceleration": "A",
}  # fmt: skip
"""Symbols of quantities, and names of the quantities of frames, whose kernels are called by symbols."""
WORDS = {name: quantity for name, quantity in QUANTITIES.items() if len(quantity.outputs) == 1}


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
    frame = frame_of(robot, label)
    return FRAME_QUANTITIES[word].of_frame(frame, reference), (name, *frame_identity(frame))
