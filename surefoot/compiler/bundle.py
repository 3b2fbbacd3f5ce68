"""The words of a bundle: what a controller asks for, by short names."""

from __future__ import annotations

from typing import Any, NamedTuple

from surefoot.codegen import MAX_ARRAYS
from surefoot.compiler.quantities import FRAME_QUANTITIES, QUANTITIES, Quantity
from surefoot.dynamics import (
    centroidal_momentum,
    centroidal_momentum_bias,
    centroidal_momentum_matrix,
    kinetic_energy,
    potential_energy,
)
from surefoot.errors import NotSupportedError, one_of
from surefoot.kinematics import com_bias, com_velocity
from surefoot.kinematics.frames import frame_of, require_reference
from surefoot.ops import Array
from surefoot.robot import Robot

__all__ = ["WORDS", "Part", "bundle_parts"]

WORDS = {
    "M": QUANTITIES["crba"], "Minv": QUANTITIES["minv"], "h": QUANTITIES["nonlinear"], "g": QUANTITIES["gravity"],
    "tau": QUANTITIES["rnea"], "a": QUANTITIES["aba"], "com": QUANTITIES["com"], "Jcom": QUANTITIES["com_jacobian"],
    "vcom": Quantity(("q", "v"), com_velocity, "velocity of the centre of mass (3,)"),
    "Jdvcom": Quantity(("q", "v"), com_bias, "its J̇ v (3,)"),
    "Ag": Quantity(("q",), centroidal_momentum_matrix, "centroidal momentum matrix (6, nv)"),
    "hg": Quantity(("q", "v"), centroidal_momentum, "centroidal momentum (6,)"),
    "Agdv": Quantity(("q", "v"), centroidal_momentum_bias, "its bias (6,)"),
    "kinetic": Quantity(("q", "v"), kinetic_energy, "kinetic energy"),
    "potential": Quantity(("q",), potential_energy, "potential energy"),
}  # fmt: skip


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
    if name not in WORDS:
        raise one_of("word of a bundle", name, [*WORDS, *(f"{word}:FRAME" for word in FRAME_QUANTITIES)])
    return Part(WORDS[name], name)


def _frame_part(robot: Robot, name: str) -> Part:
    word, _, rest = name.partition(":")
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
