"""What Buschmann 2014 measured: Table 3.1, and what it says about it. Time of one forward dynamics [s]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["READINGS", "TABLE_3_1", "Reading"]

Cell = tuple[str, int, str, str]
"""Family, bodies, method, kind."""

TABLE_3_1: Mapping[Cell, float] = {
    ("coil", 32, "O(n)", "base"): 1.55e-4,
    ("coil", 32, "CRBA", "base"): 3.73e-4,
    ("coil", 32, "NE", "base"): 5.42e-4,
    ("coil", 32, "O(n)", "compiled"): 2.21e-5,
    ("coil", 32, "CRBA", "compiled"): 8.62e-5,
    ("coil", 32, "NE", "compiled"): 1.98e-4,
    ("dill", 32, "O(n)", "base"): 1.54e-4,
    ("dill", 32, "CRBA", "base"): 2.01e-4,
    ("dill", 32, "NE", "base"): 5.41e-4,
    ("dill", 32, "O(n)", "compiled"): 2.20e-5,
    ("dill", 32, "CRBA", "compiled"): 6.85e-5,
    ("dill", 32, "NE", "compiled"): 4.95e-5,
}
"""Core i5-660, 3.33 GHz; "compiled" is what is called optimised there. On the dill CRBA and NE are sparse."""


@dataclass(frozen=True)
class Reading:
    """A statement about two times.

    Args:
        text: What it says.
        above: The time that is divided.
        below: By what it is divided.
        holds: holds(ratio): whether the statement is true.
        source: The ratio there; None where only a figure shows it.
    """

    text: str
    above: Cell
    below: Cell
    holds: Callable[[float], bool]
    source: float | None


def _about_one(ratio: float) -> bool:
    return 0.85 <= ratio <= 1.15


def _compiled(family: str, method: str) -> Cell:
    return family, 32, method, "compiled"


def _reading(text: str, above: Cell, below: Cell, holds: Callable[[float], bool]) -> Reading:
    known = above in TABLE_3_1 and below in TABLE_3_1
    return Reading(text, above, below, holds, TABLE_3_1[above] / TABLE_3_1[below] if known else None)


READINGS = (
    _reading("branching leaves O(n) unchanged: dill(5) / coil(32)", _compiled("dill", "O(n)"),
             _compiled("coil", "O(n)"), _about_one),
    _reading("the same of the base", ("dill", 32, "O(n)", "base"), ("coil", 32, "O(n)", "base"), _about_one),
    _reading("branching helps NE: coil(32) / dill(5) is 2 or more", _compiled("coil", "NE"),
             _compiled("dill", "NE"), lambda x: x >= 2.0),
    _reading("NE beats CRBA on dill(5): CRBA / NE is above 1", _compiled("dill", "CRBA"),
             _compiled("dill", "NE"), lambda x: x > 1.0),
    _reading("CRBA beats NE on coil(32): NE / CRBA is above 1", _compiled("coil", "NE"),
             _compiled("coil", "CRBA"), lambda x: x > 1.0),
    _reading("O(n) beats CRBA on coil(32): CRBA / O(n) is above 1", _compiled("coil", "CRBA"),
             _compiled("coil", "O(n)"), lambda x: x > 1.0),
    _reading("O(n) beats CRBA on dill(5): CRBA / O(n) is above 1", _compiled("dill", "CRBA"),
             _compiled("dill", "O(n)"), lambda x: x > 1.0),
    _reading("O(n) beats NE on dill(5): NE / O(n) is above 1", _compiled("dill", "NE"),
             _compiled("dill", "O(n)"), lambda x: x > 1.0),
    _reading("compiled O(n) beats the base on coil(32): base / compiled is above 1", ("coil", 32, "O(n)", "base"),
             _compiled("coil", "O(n)"), lambda x: x > 1.0),
    _reading("16 links and 16 free rotors cost O(n) as much as coil(32)",
             _compiled("coil, free rotors", "O(n)"), _compiled("coil", "O(n)"), _about_one),
)  # fmt: skip
