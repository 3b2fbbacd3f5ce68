"""How long it takes to explain a conflict: about 500 groups, with known sets, many conflicts, or over time.

    surefoot bench explain [--repeat 3]

Before a time is printed, the answer is checked: that the members conflict, by their multipliers; that each is needed,
by a point at which all others hold; and, where the set is known, that it is this one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Annotated

import numpy as np
import typer

from bench.machine import header
from bench.page import Json, number_text, print_table
from surefoot.solvers import Explanation, Group, explain
from tests.solvers.explain.problems import crowded, cycle, planted, swing, tumble
from tests.solvers.explain.test_explain import require_proof, violation

__all__ = ["run", "show"]

_COLUMNS = ("groups", "members", "seconds")
Case = tuple[str, Callable[[], tuple[Sequence[Group], tuple[str, ...] | None]]]
CASES: Sequence[Case] = (
    ("one conflict of 12, 500 × 4 dense rows, 60 unknowns", lambda: planted(np.random.default_rng(0), 500, 4, 60, 12)),
    ("one conflict of 50, 200 unknowns", lambda: planted(np.random.default_rng(0), 500, 4, 200, 50)),
    ("a circle of 500 inequalities", lambda: (cycle(500), tuple(f"c{k:03d}" for k in range(500)))),
    ("many conflicts, 20 unknowns", lambda: (crowded(0, 500, 1, 20), None)),
    ("many conflicts, 2 rows each, 100 unknowns", lambda: (crowded(0, 500, 2, 100), None)),
    ("many conflicts, 3 rows each, 200 unknowns", lambda: (crowded(2, 500, 3, 200), None)),
    ("many conflicts, 2 rows each, sparse, 300 unknowns", lambda: (crowded(0, 500, 2, 300, 0.2, 5), None)),
    ("4 joints, 80 instants, 960 unknowns", lambda: (swing(1), None)),
    ("2 joints, 160 instants, 960 unknowns, dynamics fixed", lambda: (swing(0, 160, 2, False, False), None)),
    ("5 joints, 160 instants, 2400 unknowns", lambda: (swing(0, 160, 5, True, False), None)),
    ("the same, dynamics fixed", lambda: (swing(0, 160, 5, False, False), None)),
    ("inverted pendulum, 160 instants, 480 unknowns", lambda: (tumble(160), None)),
)


def run(repeat: Annotated[int, typer.Option(help="How often; the median counts.", min=1)] = 3) -> Json:
    """Check and time all cases."""
    rows = []
    for title, make in CASES:
        groups, names = make()
        times = []
        for _ in range(repeat):
            begin = time.process_time()
            found = explain(groups)
            times.append(time.process_time() - begin)
        _check(groups, found, names)
        rows.append({"problem": title, "groups": len(groups), "members": len(found.names), "seconds": median(times)})
    return header("explain", 0) | {"rows": rows}


def show(result: Json) -> None:
    """Print the table.

    Args:
        result: What `run` measured.
    """
    rows = [(row["problem"], *(number_text(row[k]) for k in _COLUMNS)) for row in result["rows"]]
    print_table(("problem", *_COLUMNS), rows)


def _check(groups: Sequence[Group], found: Explanation, names: tuple[str, ...] | None) -> None:
    by_name = {group.name: group for group in groups}
    assert not found.feasible
    assert names is None or found.names == names
    require_proof([by_name[name] for name in found.names], found)
    for member in found.conflict:
        others = [by_name[name] for name in found.names if name != member.name]
        assert all(violation(other, member.witness) <= 2.0 * found.tolerances[other.name] for other in others)
