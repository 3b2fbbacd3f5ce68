"""What all parametrisations of rotation share: the frame of ω, and the error where their rates do not exist."""

from __future__ import annotations

from typing import Any, Literal

from surefoot import ops
from surefoot.errors import SurefootError, one_of

__all__ = ["Frame", "SingularParametersError", "cross_sign", "refuse_singular"]

Frame = Literal["body", "world"]

_CROSS_SIGN = {"body": -1.0, "world": 1.0}


class SingularParametersError(SurefootError):
    """The parameters of a rotation, or their rates, are not defined at this rotation."""


def cross_sign(frame: Frame) -> float:
    """The sign of the cross-product term in a rate map: -1 for ω in body axes, +1 for ω in world axes.

    ω_world = R ω_body turns one form of a rate map into the other; in each of them only this sign changes.
    """
    if frame not in _CROSS_SIGN:
        raise one_of("frame of angular velocity", str(frame), _CROSS_SIGN)
    return _CROSS_SIGN[frame]


def refuse_singular(
    what: str, distance: Any, evidence: dict[str, Any], next_step: str, tolerance: float = 1e-9
) -> None:
    """Raise if a number says that a singularity is too near; symbols pass.

    Args:
        what: What does not exist, e.g. "rates of the Cardan angles".
        distance: A dimensionless measure that is 0 at the singularity.
        evidence: The offending values by name.
        next_step: What the user can do.
        tolerance: The smallest distance that passes.
    """
    if ops.is_symbolic(distance) or abs(float(distance)) >= tolerance:
        return
    facts = {**evidence, "distance to the singularity": float(distance), "smallest allowed": tolerance}
    raise SingularParametersError(f"{what} do not exist here", evidence=facts, next_step=next_step)
