"""The words of a bundle: what a controller asks for, by short names."""

from __future__ import annotations

from typing import Any

from surefoot.compiler.quantities import FRAME_QUANTITIES, Quantity
from surefoot.dynamics import (
    centroidal_momentum,
    centroidal_momentum_bias,
    centroidal_momentum_matrix,
    forward_dynamics,
    gravity_terms,
    inverse_mass_matrix,
    kinetic_energy,
    mass_matrix,
    nonlinear_terms,
    potential_energy,
    rnea,
)
from surefoot.errors import NotSupportedError, one_of
from surefoot.kinematics import com, com_bias, com_jacobian, com_velocity, frame_of
from surefoot.kinematics.frame import require_reference
from surefoot.ops import Array
from surefoot.robot import Robot

__all__ = ["WORDS", "bundle_parts"]

WORDS = {
    "M": Quantity(("q",), mass_matrix, "mass matrix (nv, nv)"),
    "Minv": Quantity(("q",), inverse_mass_matrix, "inverse mass matrix (nv, nv)", inverts=True),
    "h": Quantity(("q", "v"), nonlinear_terms, "Coriolis, centrifugal and gravity forces (nv,)"),
    "g": Quantity(("q",), gravity_terms, "gravity forces (nv,)"),
    "tau": Quantity(("q", "v", "a"), rnea, "joint forces of an acceleration (nv,)"),
    "a": Quantity(("q", "v", "tau"), forward_dynamics, "acceleration of joint forces (nv,)", inverts=True),
    "com": Quantity(("q",), com, "centre of mass (3,)"),
    "Jcom": Quantity(("q",), com_jacobian, "its Jacobian (3, nv)"),
    "vcom": Quantity(("q", "v"), com_velocity, "its velocity (3,)"),
    "Jdvcom": Quantity(("q", "v"), com_bias, "its J̇ v (3,)"),
    "Ag": Quantity(("q",), centroidal_momentum_matrix, "centroidal momentum matrix (6, nv)"),
    "hg": Quantity(("q", "v"), centroidal_momentum, "centroidal momentum (6,)"),
    "Agdv": Quantity(("q", "v"), centroidal_momentum_bias, "its bias (6,)"),
    "kinetic": Quantity(("q", "v"), kinetic_energy, "kinetic energy"),
    "potential": Quantity(("q",), potential_energy, "potential energy"),
}


def bundle_parts(robot: Robot, names: tuple[str, ...]) -> list[Quantity]:
    """The quantity of each word; `doc` holds all that tells it from others, for the cache.

    Args:
        robot: The robot.
        names: Words, as `M` or `J:left_foot@local`.

    Raises:
        UnknownNameError: A word, frame or reference that there is not.
    """
    if not names:
        raise NotSupportedError("a bundle of nothing", next_step='ask for something, as k.bundle(["M", "h"])')
    return [_frame_part(robot, name) if ":" in name else _part(name) for name in names]


def _part(name: str) -> Quantity:
    if name not in WORDS:
        raise one_of("word of a bundle", name, [*WORDS, *(f"{word}:FRAME" for word in FRAME_QUANTITIES)])
    word = WORDS[name]
    return Quantity(word.inputs, word.function, name, inverts=word.inverts)


def _frame_part(robot: Robot, name: str) -> Quantity:
    word, _, rest = name.partition(":")
    label, _, reference = rest.partition("@")
    reference = reference or "local_world_aligned"
    if word not in FRAME_QUANTITIES:
        raise one_of("quantity of a frame", word, FRAME_QUANTITIES)
    require_reference(reference)
    quantity, frame = FRAME_QUANTITIES[word], frame_of(robot, label)
    extra = (reference,) if quantity.reference else ()

    def function(tree: Any, *state: Array) -> Any:
        return quantity.function(tree, frame, *state, *extra)

    exact = (frame.body, *(float(x).hex() for x in (*frame.R.ravel(), *frame.p)))
    return Quantity(quantity.inputs, function, f"{name} {exact}")
