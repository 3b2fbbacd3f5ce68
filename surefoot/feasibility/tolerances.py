"""All tolerances of the audit in one table."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from surefoot.errors import ShapeError

__all__ = ["Tolerances"]


def _entry(value: float, unit: str, about: str) -> Any:
    return field(default=value, metadata={"unit": unit, "about": about})


@dataclass(frozen=True)
class Tolerances:
    """What the audit lets pass. Every entry has its unit and meaning in the metadata of its field."""

    quaternion_norm: float = _entry(1e-3, "", "quaternions may differ from unit length by this")
    touch_height: float = _entry(0.005, "m", "a surface within this of the ground may touch")
    touch_speed: float = _entry(0.05, "m/s", "a surface that touches is slower than this")
    touch_time: float = _entry(0.03, "s", "a touch, and a gap between two, lasts at least this long")
    touch_hysteresis: float = _entry(1.5, "", "height and speed at which a touch ends, relative to where it begins")
    touch_slide: float = _entry(0.002, "m", "a surface that stays this near the height at which it stood slides")
    touch_force: float = _entry(0.01, "", "share of the weight from which a given normal force is a contact")
    column_shift: float = _entry(1.0, "samples", "columns of v may be off by this")
    jump: float = _entry(0.01, "rad", "a sample of q may leave the path and come back by this")
    jump_acceleration: float = _entry(500.0, "rad/s²", "and by as much as a turn with this acceleration is")
    velocity: float = _entry(0.05, "rad/s", "v may differ from the rate of q by this, and by `relative` of its range")
    acceleration: float = _entry(1.0, "rad/s²", "a may differ from the rate of v by this, and by `relative`")
    relative: float = _entry(0.05, "", "relative part of the tolerances of v and a")
    loop_gap: float = _entry(1e-3, "m", "gap of a closed chain")
    coupling_error: float = _entry(1e-3, "rad", "error of a follower")
    slip: float = _entry(0.01, "m", "way that a touching surface may slide during one contact")
    penetration: float = _entry(0.01, "m", "depth of a contact surface in the ground")
    contact_gap: float = _entry(0.01, "m", "height of a contact that is said to hold")
    joint_position: float = _entry(1e-3, "rad", "q beyond its limit")
    joint_velocity: float = _entry(0.01, "", "v beyond its limit, relative")
    joint_torque: float = _entry(0.01, "", "torque and power beyond their limits, relative")
    acceleration_limit: float = _entry(float("inf"), "rad/s²", "limit of joint accelerations")
    clearance: float = _entry(0.0, "m", "least distance of links and obstacles")
    overlap: float = _entry(0.002, "m", "overlap of collision volumes that passes")
    unilateral: float = _entry(0.005, "", "pulling force, relative to the weight")
    friction: float = _entry(0.01, "", "tangential force beyond the cone, relative to the weight")
    cop: float = _entry(0.005, "m", "centre of pressure outside a contact")
    zmp: float = _entry(0.005, "m", "zero moment point outside the support polygon")
    admissible: float = _entry(0.01, "", "missing contact force, relative to the weight")
    window: float = _entry(
        0.02, "s", "balances are means over this; accelerations that were not given, over twice this"
    )
    momentum: float = _entry(0.05, "", "force that nothing exerts, relative to the weight")
    energy: float = _entry(0.05, "", "power that nothing delivers, relative to the largest power")
    impact: float = _entry(1.0, "m/s", "normal speed of a surface when it touches down")
    jerk_limit: float = _entry(1e5, "rad/s³", "jerk of a joint")
    rest: float = _entry(0.05, "rad/s", "speed of the first and last sample")

    def __post_init__(self) -> None:
        wrong = {
            entry.name: getattr(self, entry.name) for entry in fields(self) if not getattr(self, entry.name) >= 0.0
        }
        if wrong:
            raise ShapeError("tolerances are not negative", evidence=wrong)

    def table(self) -> list[tuple[str, float, str, str]]:
        """Name, value, unit and meaning of every tolerance."""
        rows = fields(self)
        return [(row.name, getattr(self, row.name), row.metadata["unit"], row.metadata["about"]) for row in rows]
