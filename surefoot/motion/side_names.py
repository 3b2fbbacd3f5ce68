"""Left and right in names: `left_knee` ↔ `right_knee`, `LF_HAA` ↔ `RF_HAA`, `FL_hip` ↔ `FR_hip`, `hip_l` ↔ `hip_r`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from surefoot.errors import ModelError, one_of

__all__ = ["side_pairs"]

_WORDS = (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"))
_TOKENS = (
    ("FL", "FR"), ("RL", "RR"), ("HL", "HR"), ("BL", "BR"), ("ML", "MR"), ("LF", "RF"), ("LH", "RH"), ("LB", "RB"),
    ("LR", "RR"), ("LM", "RM"), ("L", "R"),
)  # fmt: skip
_EDGE = r"(?<![A-Za-z])", r"(?![A-Za-z])"


def side_pairs(names: Iterable[str], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Each name → its name on the other side; names in the middle → themselves.

    A swap counts only where the other name exists. Words go before abbreviations, which stand alone between
    separators or digits (`l_knee`, `knee_L`, `FL_hip`) or before a capital (`LKnee`).

    Args:
        names: All names.
        given: Pairs that the names do not tell; each works in both directions.

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
    pairs = {name: told.get(name) or _other_side(name, known) for name in known}
    for name, other in pairs.items():
        if pairs[other] != name:
            raise ModelError(
                f"`{name}` and `{pairs[other]}` both have `{other}` as their other side",
                next_step="give the pairs by name",
            )
    return pairs


def _other_side(name: str, known: list[str]) -> str:
    return next((other for other in _swaps(name) if other != name and other in known), name)


def _swaps(name: str) -> list[str]:
    """What the name would be on the other side, most likely first."""
    out = []
    for pair in _WORDS:
        for a, b in (pair, pair[::-1]):
            out.append(name.replace(a, b))
    for pair in (*_TOKENS, *((a.lower(), b.lower()) for a, b in _TOKENS)):
        for a, b in (pair, pair[::-1]):
            out.append(re.sub(f"{_EDGE[0]}{a}{_EDGE[1]}", b, name))
            out.append(re.sub(f"{_EDGE[0]}{a}(?=[A-Z])", b, name) if a.isupper() else name)
    return out
