"""The words of a bundle: names of quantities, the same as those of kernels and functions, or their symbols."""

from __future__ import annotations

from typing import Any, NamedTuple

from surefoot.codegen import MAX_ARRAYS
from surefoot.compiler.quantities import FRAME_QUANTITIES, QUANTITIES, Quantity
from surefoot.errors import NotSupportedError, one_of
from surefoot.kinematics.frames import frame_of, require_reference
from surefoot.ops import Array
from surefoot.robot import Robot

__all__ = ["SYMBOLS", "WORDS", "Part", "bundle_parts"]

SYMBOLS = {
    "M": "crba", "Minv": "minverse", "h": "nonlinear_effects", "g": "generalized_gravity", "tau": "rnea", "a": "aba",
    "Jcom": "com_jacobian", "vcom": "com_velocity", "Jdvcom": "com_bias", "Ag": "centroidal_momentum_matrix",
    "hg": "centroidal_momentum", "Agdv": "centroidal_momentum_bias", "kinetic": "kinetic_energy",
    "potential": "potential_energy", "frame_placement": "T", "frame_jacobian": "J", "frame_bias_acceleration": "Jdv",
    "frame_velocity": "V", "frame_acceleration": "A",
}  # fmt: skip
"""Symbols of quantities, and names of the quantities of frames, whose kernels are called by symbols."""
WORDS = {name: quantity for name, quantity in QUANTITIES.items() if len(quantity.outputs) == 1}


class Part(NamedTuple):
    """A word of a bundle.

    Args:
        quantity: What it means.
        identity: All that tells it from others, for the cache.
    """

    quantity: Quantity
    identity: str


def bundle_parts(robot: Robot, names: tuple[str, ...]) -> list[Part]:
    """The quantity of each word.

    Args:
        robot: The robot.
        names: Words, as `M` or `J:left_foot@local`.

    Raises:
        UnknownNameError: A word, frame or reference that there is not.
    """
    if not names:
        raise NotSupportedError("a bundle of nothing", next_step='ask for something, as k.bundle(["M", "h"])')
    if len(names) > MAX_ARRAYS:
        raise NotSupportedError(
            f"a bundle of {len(names)} words",
            evidence={"at most": MAX_ARRAYS},
            next_step="split it into several bundles",
        )
    return [_frame_part(robot, name) if ":" in name else _part(name) for name in names]


def _part(name: str) -> Part:
    full = SYMBOLS.get(name, name)
    if full not in WORDS:
        raise one_of("word of a bundle", name, [*WORDS, *SYMBOLS, *(f"{word}:FRAME" for word in FRAME_QUANTITIES)])
    return Part(WORDS[full], full)


def _frame_part(robot: Robot, name: str) -> Part:
    word, _, rest = name.partition(":")
    word = SYMBOLS.get(word, word)
    label, _, reference = rest.partition("@")
    reference = reference or "local_world_aligned"
    single = [key for key, quantity in FRAME_QUANTITIES.items() if len(quantity.outputs) < 2]
    if word not in single:
        raise one_of("quantity of a frame", word, single)
    require_reference(reference)
    quantity, frame = FRAME_QUANTITIES[word], frame_of(robot, label)
    extra = (reference,) if quantity.reference else ()

    def function(tree: Any, *state: Array) -> Any:
        return quantity.function(tree, frame, *state, *extra)

    exact = (frame.body, *(float(x).hex() for x in (*frame.R.ravel(), *frame.p)))
    return Part(Quantity(quantity.inputs, function, quantity.doc), f"{name} {exact}")
