"""Words for people: numbers of things, names and units of metrics, relative differences, left and right in names."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from surefoot.errors import ModelError, one_of

__all__ = [
    "are_missing",
    "counted",
    "listed",
    "metric_label",
    "name_and_unit",
    "share_text",
    "side_pairs",
    "sides_of",
    "verdict_text",
]

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
_SIDE_WORDS = (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"))
_SIDE_TOKENS = (
    ("FL", "FR"), ("RL", "RR"), ("HL", "HR"), ("BL", "BR"), ("ML", "MR"), ("LF", "RF"), ("LH", "RH"), ("LB", "RB"),
    ("LR", "RR"), ("LM", "RM"), ("L", "R"),
)  # fmt: skip
_EDGE = r"(?<![A-Za-z])", r"(?![A-Za-z])"
_MANY = 10.0  # from this factor on a relative difference is written as a factor


def counted(number: int, noun: str) -> str:
    """`counted(1, "column")` → "1 column", `counted(3, "column")` → "3 columns".

    Args:
        number: How many.
        noun: The singular; its plural ends in s.
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names in a row; of many the first ones and how many more there are.

    Args:
        names: The names.
        most: How many are written out.
    """
    first, rest = ", ".join(names[:most]), len(names) - most
    return f"{first} and {rest} more" if rest > 0 else first


def are_missing(number: int, noun: str) -> str:
    """`are_missing(1, "column")` → "1 column is missing", "3 columns are missing".

    Args:
        number: How many.
        noun: The singular.
    """
    return f"{counted(number, noun)} {'is' if number == 1 else 'are'} missing"


def verdict_text(metrics: Mapping[str, Any]) -> str:
    """The verdict of a run; one that passed with defects in the audit of its motion is not called passed alone."""
    verdict = str(metrics.get("verdict", ""))
    defects = (metrics.get("audit") or {}).get("defects", 0)
    return f"{verdict}, but its motion has {counted(defects, 'defect')}" if verdict == "passed" and defects else verdict


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


def side_pairs(names: Iterable[str], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Each name → its name on the other side; names in the middle → themselves.

    `left_knee` ↔ `right_knee`, `LF_HAA` ↔ `RF_HAA`, `FL_hip` ↔ `FR_hip`, `hip_l` ↔ `hip_r`.

    A swap counts only where the other name exists. Words go before abbreviations, which stand alone between
    separators or digits (`l_knee`, `knee_L`, `FL_hip`) or before a capital (`LKnee`).

    Args:
        names: All names.
        given: Pairs that the names do not show; each works in both directions.

    Raises:
        ModelError: A name is the other side of two.
    """
    known = list(names)
    told = dict(given or {})
    for name, other in list(told.items()):
        for item in (name, other):
            if item not in known:
                raise one_of("name", item, known)
        told.setdefault(other, name)
    pairs = {name: told.get(name) or _other_side(name, known)[0] for name in known}
    for name, other in pairs.items():
        if pairs[other] != name:
            raise ModelError(
                f"`{name}` and `{pairs[other]}` both have `{other}` as their other side",
                next_step="give the pairs by name",
            )
    return pairs


def sides_of(names: Iterable[str]) -> dict[str, str]:
    """Each name → "left", "right" or "middle", by the rules of `side_pairs`."""
    known = list(names)
    return {name: _other_side(name, known)[1] for name in known}


def _other_side(name: str, known: list[str]) -> tuple[str, str]:
    """The name on the other side, and the side of the name itself."""
    return next((swap for swap in _swaps(name) if swap[0] in known), (name, "middle"))


@functools.cache
def _swaps(name: str) -> tuple[tuple[str, str], ...]:
    """Candidates for the name on the other side, most likely first, each with the side that the name would be on."""
    out = [(swapped, side) for pattern, new, side in _swap_rules() for swapped in _replaced(pattern, new, name)]
    return tuple(swap for swap in out if swap[0] != name)


@functools.cache
def _swap_rules() -> tuple[tuple[re.Pattern[str], str, str], ...]:
    """Words and tokens for sides: pattern, replacement, and the side that the pattern names."""
    tokens = (*_SIDE_TOKENS, *((a.lower(), b.lower()) for a, b in _SIDE_TOKENS))
    rules = [(a, b, side) for pair in _SIDE_WORDS for a, b, side in _both_ways(pair)]
    for a, b, side in (way for pair in tokens for way in _both_ways(pair)):
        rules += [(f"{_EDGE[0]}{a}{end}", b, side) for end in (_EDGE[1], *(["(?=[A-Z])"] if a.isupper() else []))]
    return tuple((re.compile(pattern), new, side) for pattern, new, side in rules)


def _both_ways(pair: tuple[str, str]) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
    """From left to right and back, with the side of the first."""
    return (*pair, "left"), (*pair[::-1], "right")


def _replaced(pattern: re.Pattern[str], new: str, name: str) -> list[str]:
    """All matches replaced, then each alone: in `LLEG_LINK1` only the first L is a side."""
    places = [match.span() for match in pattern.finditer(name)]
    return [pattern.sub(new, name), *(name[:start] + new + name[end:] for start, end in places)] if places else []
