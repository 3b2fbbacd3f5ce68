"""Names of metrics and their differences, for people."""

from __future__ import annotations

__all__ = ["metric_label", "share_text"]

_UNITS = {
    "s": "s",
    "m": "m",
    "mm": "mm",
    "j": "J",
    "n": "N",
    "nm": "N m",
    "rad": "rad",
    "deg": "°",
    "w": "W",
    "kg": "kg",
}
_MANY = 10.0  # beyond this factor a share is told as a factor


def metric_label(key: str) -> str:
    """`slip_m` as `slip [m]`, `slip_by_contact_m.left_foot` as `slip by contact [m]: left_foot`.

    Args:
        key: Of a metric, dotted where it stands in a table.
    """
    head, dot, part = key.partition(".")
    name, _, last = head.rpartition("_")
    unit = _UNITS.get(last) if name else None
    label = f"{name} [{unit}]".replace("_", " ") if unit else head.replace("_", " ")
    return f"{label}: {part}" if dot else label


def share_text(relative: float | None, percent: str = " %") -> str:
    """A relative difference: `+12.7 %`, or `×39` where it is many times as much; "" for none.

    Args:
        relative: Difference as a share of what it is compared with.
        percent: What follows a number of percent.
    """
    if not relative:
        return ""
    return f"×{1.0 + relative:.3g}" if relative >= _MANY - 1.0 else f"{100.0 * relative:+.3g}{percent}"
