"""Words for people: numbers of things, names and units of metrics, relative differences."""

from __future__ import annotations

__all__ = ["are_missing", "counted", "metric_label", "name_and_unit", "share_text"]

_SUFFIXES = {  # those of several words first
    "rad_s": "rad/s", "m_s": "m/s", "kgm2": "kg m²", "ns": "N s", "nm": "N m", "n": "N", "j": "J", "w": "W",
    "deg": "°", "rad": "rad", "mm": "mm", "m": "m", "kg": "kg", "s": "s",
}  # fmt: skip
_VARIANTS = ("elastic", "rigid", "ideal", "drive")  # words after the unit that name the run
_LENGTH, _SPEED = "rad or m", "rad/s or m/s"
_WITHOUT_SUFFIX = {
    "estimate_attitude": "rad", "estimate_position": "m", "estimate_velocity": "m/s", "final_speed": _SPEED,
    "gap_max": _LENGTH, "gap_rate_max": _SPEED, "hinge_opening_max": _LENGTH, "joint_difference_max": _LENGTH,
    "largest_torque": "N m or N", "max_constraint_gap": _LENGTH, "max_constraint_rate": _SPEED,
    "momentum_residual": "N s", "peak_speed": _SPEED, "run_gap_max": _LENGTH, "tracking_peak": _LENGTH,
    "tracking_rms": _LENGTH, "velocity_jump": _SPEED,
}  # fmt: skip
_MANY = 10.0  # from this factor on a relative difference is written as a factor


def counted(number: int, noun: str) -> str:
    """`counted(1, "column")` → "1 column", `counted(3, "column")` → "3 columns".

    Args:
        number: How many.
        noun: The singular; its plural ends in s.
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def are_missing(number: int, noun: str) -> str:
    """`are_missing(1, "column")` → "1 column is missing", "3 columns are missing".

    Args:
        number: How many.
        noun: The singular.
    """
    return f"{counted(number, noun)} {'is' if number == 1 else 'are'} missing"


def name_and_unit(key: str) -> tuple[str, str]:
    """`largest_tilt_deg` as `largest tilt` and `°`, `peak_torque_nm_rigid` as `peak torque rigid` and `N m`.

    Args:
        key: Key of a metric in `metrics.json`.

    Returns:
        The name of the metric, and its unit; "" for a metric without a unit.
    """
    head, _, last = key.rpartition("_")
    body, variant = (head, f" {last}") if last in _VARIANTS else (key, "")
    for suffix, unit in _SUFFIXES.items():
        if body.endswith(f"_{suffix}"):
            return body.removesuffix(f"_{suffix}").replace("_", " ") + variant, unit
    unit = next((unit for start, unit in _WITHOUT_SUFFIX.items() if f"{body}_".startswith(f"{start}_")), "")
    return body.replace("_", " ") + variant, unit


def metric_label(key: str) -> str:
    """`slip_m` as `slip [m]`, `slip_by_contact_m.left_foot` as `slip by contact [m]: left_foot`.

    Args:
        key: Key of a metric; dotted for an entry of a table.
    """
    head, dot, part = key.partition(".")
    name, unit = name_and_unit(head)
    label = f"{name} [{unit}]" if unit else name
    return f"{label}: {part}" if dot else label


def share_text(relative: float | None, percent: str = " %") -> str:
    """A relative difference: `+12.7 %`, or `×39` for a large one; "" for none.

    Args:
        relative: Difference divided by the number that it is compared with.
        percent: Text after a number of percent.
    """
    if not relative:
        return ""
    return f"×{1.0 + relative:.3g}" if relative >= _MANY - 1.0 else f"{100.0 * relative:+.3g}{percent}"
