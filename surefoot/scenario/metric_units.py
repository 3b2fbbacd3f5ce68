"""Names and units of metrics, for people; the keys of `metrics.json` stay as they are."""

from __future__ import annotations

__all__ = ["name_and_unit"]

_SUFFIXES = {  # those of several words first
    "rad_s": "rad/s", "m_s": "m/s", "kgm2": "kg m²", "ns": "N s", "nm": "N m", "n": "N", "j": "J", "w": "W",
    "deg": "°", "rad": "rad", "mm": "mm", "m": "m", "kg": "kg", "s": "s",
}  # fmt: skip
_VARIANTS = ("elastic", "rigid", "ideal", "drive")  # words after the unit that say of which run it is
_LENGTH, _SPEED = "rad or m", "rad/s or m/s"
_WITHOUT_SUFFIX = {
    "estimate_attitude": "rad", "estimate_position": "m", "estimate_velocity": "m/s", "final_speed": _SPEED,
    "gap_max": _LENGTH, "gap_rate_max": _SPEED, "hinge_opening_max": _LENGTH, "joint_difference_max": _LENGTH,
    "largest_torque": "N m or N", "momentum_residual": "N s", "peak_speed": _SPEED, "run_gap_max": _LENGTH,
    "tracking_peak": _LENGTH, "tracking_rms": _LENGTH, "velocity_jump": _SPEED,
}  # fmt: skip


def name_and_unit(key: str) -> tuple[str, str]:
    """`largest_tilt_deg` as `largest tilt` and `°`, `peak_torque_nm_rigid` as `peak torque rigid` and `N m`.

    Args:
        key: Of a metric.

    Returns:
        What to call it, and the unit; "" where it has none.
    """
    head, _, last = key.rpartition("_")
    body, variant = (head, f" {last}") if last in _VARIANTS else (key, "")
    for suffix, unit in _SUFFIXES.items():
        if body.endswith(f"_{suffix}"):
            return body.removesuffix(f"_{suffix}").replace("_", " ") + variant, unit
    unit = next((unit for start, unit in _WITHOUT_SUFFIX.items() if f"{body}_".startswith(f"{start}_")), "")
    return body.replace("_", " ") + variant, unit
