import numpy as np
import pytest

from surefoot.dynamics import close, own_constraints
from surefoot.dynamics.constraints.projection import closure_findings
from surefoot.robot import Joint, Link, Loop, Robot, placement


def two_arms(reach: float) -> Robot:
    """Arms on pivots 3 m apart, tied at points `reach` along each."""
    solid = {"mass": 1.0, "inertia": 0.1 * np.eye(3)}
    axis = np.array([0.0, 1.0, 0.0])
    links = [
        Link("base"),
        Link("a", "base", Joint("ja", "revolute", axis=axis), **solid),
        Link("b", "base", Joint("jb", "revolute", placement((3.0, 0.0, 0.0)), axis=axis), **solid),
    ]
    ends = [placement((reach, 0.0, 0.0)), placement((-reach, 0.0, 0.0))]
    tie = Loop("rod", "a", "b", *ends, directions=(True, False, True, False, False, False))
    return Robot.from_tree("arms", links, "fixed", loops=(tie,))


def test_a_chain_that_is_closed_at_home_needs_no_words():
    assert closure_findings(two_arms(1.5)) == []


@pytest.mark.parametrize(
    ("reach", "level", "gap"), [(1.7, "error", "0.4 m"), (1.6, "error", "0.2 m"), (1.50001, "warning", "2e-05 m")]
)
def test_a_chain_that_is_open_at_home_is_named_with_its_gap(reach, level, gap):
    (finding,) = closure_findings(two_arms(reach))
    assert (finding.level, finding.place) == (level, "rod")
    assert gap in finding.message


def test_a_chain_that_is_open_by_the_rounding_of_its_file_is_closed():
    assert closure_findings(two_arms(1.5 + 6e-9)) == []


def test_an_open_chain_can_be_closed():
    robot = two_arms(1.7)
    q = close(robot, None, robot.home)
    assert np.abs(own_constraints(robot).residual(robot.tree, q)).max() < 1e-9


def test_a_chain_that_cannot_close_is_an_error_with_what_remains():
    (finding,) = closure_findings(two_arms(1.0))
    assert (finding.level, finding.place) == ("error", "rod")
    assert "1 m" in finding.message
