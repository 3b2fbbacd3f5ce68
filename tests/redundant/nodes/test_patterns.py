"""Patterns and operation counts of Busenhart's two benchmarks (tables 6.17 and 6.18)."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import UnknownNameError
from surefoot.redundant import dynamics_system, pattern, position_system, velocity_system
from surefoot.solvers.dyadic.plan import DyadicPlan
from tests.redundant.examples import generic_state, package_model

CART = {
    "position": ["0 8", "0 8", "0 1 6 8", "0 1 6 8", "2 7 8", "3 7 8", "0 2 4 6 8", "0 3 5 6 8"],
    "velocity": ["0", "0 1 6", "2 7", "3 7", "0 2 4 6", "0 3 5 6"],
    "dynamics": [
        "7 8 11 12", "8", "3 9 11", "4 10 12 15", "5 11", "6 12 15", "1", "1 2 13", "3 14", "4 14",
        "1 3 5 13 15", "1 4 6 13 15", "8 11 12", "0 9 10",
    ],
}  # fmt: skip
CART_COUNTS = {
    ("position", "columns"): (99, 65, 216, 52), ("position", "greedy"): (99, 65, 216, 52),
    ("velocity", "columns"): (88, 66, 198, 44), ("velocity", "greedy"): (88, 66, 198, 44),
    ("dynamics", "columns"): (270, 205, 605, 130), ("dynamics", "greedy"): (225, 171, 504, 108),
}  # fmt: skip
BIPED_COUNTS = {  # printed counts, and how far each of the four may be from them
    ("position", "columns"): ((17769, 16519, 36678, 2390), 0.03),
    ("position", "greedy"): ((9545, 8702, 19823, 1576), 0.015),
    ("velocity", "columns"): ((16648, 15601, 34343, 2094), 0.03),
    ("velocity", "greedy"): ((6451, 5929, 13424, 1044), 0.15),
    ("dynamics", "columns"): ((112623, 108489, 229380, 8268), 0.11),
    ("dynamics", "greedy"): ((52567, 50452, 107249, 4230), 0.11),
}
BIPED_TOTALS = {  # all operations over the printed ones: what another program gave for the same inferred graph
    ("position", "columns"): (-0.03, 0.03), ("position", "greedy"): (-0.015, 0.0),
    ("velocity", "columns"): (-0.03, 0.03), ("velocity", "greedy"): (0.11, 0.13),
    ("dynamics", "columns"): (0.09, 0.11), ("dynamics", "greedy"): (0.08, 0.10),
}  # fmt: skip


@pytest.mark.parametrize("level", CART)
def test_cart_pole_patterns(level) -> None:
    found = pattern(package_model("cart-pole"), level)
    assert [" ".join(map(str, np.flatnonzero(row))) for row in found] == CART[level]


@pytest.mark.parametrize(("level", "order"), CART_COUNTS)
def test_cart_pole_counts_are_the_printed_ones(level, order) -> None:
    plan = DyadicPlan(pattern(package_model("cart-pole"), level), explicit_rhs=level != "position", order=order)
    assert tuple(plan.counts) == CART_COUNTS[level, order]


@pytest.mark.parametrize(("level", "order"), BIPED_COUNTS)
def test_biped_counts_are_near_the_printed_ones(level, order) -> None:
    plan = DyadicPlan(pattern(package_model("planar-biped"), level), explicit_rhs=level != "position", order=order)
    printed, bound = BIPED_COUNTS[level, order]
    np.testing.assert_allclose(tuple(plan.counts), printed, rtol=bound)


@pytest.mark.parametrize(("level", "order"), BIPED_TOTALS)
def test_biped_totals_are_as_far_from_the_printed_ones_as_stated(level, order) -> None:
    plan = DyadicPlan(pattern(package_model("planar-biped"), level), explicit_rhs=level != "position", order=order)
    least, most = BIPED_TOTALS[level, order]
    assert least < plan.counts.total / sum(BIPED_COUNTS[level, order][0]) - 1.0 < most


@pytest.mark.parametrize("name", ["cart-pole", "planar-biped", "two-link"])
def test_nothing_stands_outside_the_pattern(name: str) -> None:
    model = package_model(name)
    systems = {"position": position_system, "velocity": velocity_system, "dynamics": dynamics_system}
    for level, system in systems.items():
        found = system(model, generic_state(model, 9))
        exact, generic = pattern(model, level, generic_axes=False), pattern(model, level)
        assert (exact <= generic).all()
        assert not np.column_stack([found.A, found.b])[~exact].any()


def test_unknown_levels_are_named() -> None:
    with pytest.raises(UnknownNameError, match="velocity"):
        pattern(package_model("cart-pole"), "velocities")
