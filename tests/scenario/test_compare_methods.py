"""All methods on one scenario: they agree, and what differs is said."""

from __future__ import annotations

import typing

import numpy as np
import pytest

from surefoot.dynamics.constraints.equations import ConstrainedEquations
from surefoot.dynamics.methods import METHODS
from surefoot.errors import NotSupportedError
from surefoot.scenario.methods import compare_methods, condition_of
from surefoot.scenario.schema import ConstraintMethod

SHORT = ("simulation.duration=0.1",)


@pytest.fixture(scope="module")
def found():
    told = []
    return compare_methods("four-bar", SHORT, lambda share, text: told.append((share, text))), told


def test_every_method_has_a_row_and_agrees(found):
    comparison, _ = found
    assert [run.name for run in comparison.methods] == [*(name for name in METHODS if name != "auto"), "auto"]
    ran = {run.name: run for run in comparison.methods if not run.trouble}
    assert set(ran) == set(METHODS) - {"pinocchio"}
    for run in ran.values():
        assert run.acceleration_error < 1e-9
        assert run.force_error < 1e-9
        assert run.gap_max == pytest.approx(ran["lagrange"].gap_max, rel=0.01)
        assert len(run.gap) == len(comparison.time)
        assert run.step_s > 0.0
    assert "closing" in next(run for run in comparison.methods if run.name == "pinocchio").trouble


def test_ways_to_keep_constraints_are_ordered(found):
    gaps = {run.name: run.gap_max for run in found[0].stabilisations}
    assert gaps["projection"] < 1e-10
    assert set(gaps) == {"none", "baumgarte", "projection"}


@pytest.mark.slow
def test_numbers_are_the_same_twice_and_times_stand_apart(found):
    again = compare_methods("four-bar", SHORT)
    assert again.to_dict() == found[0].to_dict()
    assert "step_s" not in str(again.to_dict())
    assert again.timing()["methods"]["lagrange"] > 0.0


def test_progress_goes_from_nothing_to_all(found):
    shares = [share for share, _ in found[1]]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)


def test_a_tree_has_nothing_to_compare():
    with pytest.raises(NotSupportedError, match="nothing to compare"):
        compare_methods("cart-pole-004", SHORT)


def test_the_schema_knows_all_methods():
    assert set(typing.get_args(ConstraintMethod)) == set(METHODS)


def test_conditions_of_a_problem_that_is_known():
    """M = diag(4, 1), one row along a direction: scaled, M = E; J M⁻¹ Jᵀ has one entry, the free motion too."""
    equations = ConstrainedEquations(np.diag([4.0, 1.0]), np.zeros(2), np.array([[2.0, 1.0]]), np.zeros(1))
    assert condition_of("range_space", equations) == pytest.approx(1.0)
    assert condition_of("maggi_qr", equations) == pytest.approx(1.0)
    assert condition_of("pinocchio", equations) is None
    assert condition_of("lagrange", equations) == pytest.approx(0.5 * (3.0 + np.sqrt(5.0)))
    rng = np.random.default_rng(1)
    A, J = rng.standard_normal((5, 5)), rng.standard_normal((2, 5))
    random = ConstrainedEquations(A @ A.T + np.eye(5), np.zeros(5), J, np.zeros(2))
    twice = random._replace(J=np.vstack([J, J[0] + J[1]]), drift=np.zeros(3))
    for name in ("lagrange", "gauss", "elimination", "maggi_svd", "aghili", "range_space"):
        assert condition_of(name, random) >= 1.0
        assert condition_of(name, twice) == pytest.approx(condition_of(name, random), rel=1e-9)  # redundant rows
