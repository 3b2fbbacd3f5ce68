"""States moved onto their constraints, and loops that cannot close."""

import numpy as np
import pytest

from surefoot.dynamics import close, closed_state, constraints_of, crba, kinetic_energy, project_velocity
from surefoot.dynamics.constraints.projection import violations
from surefoot.errors import ModelError, UnknownNameError
from surefoot.kinematics import integrate
from surefoot.robot import Joint, Link, Loop, Robot
from surefoot.robot.model.loops import Coupling
from tests.dynamics.constraint_examples import held_trees, tied, trees
from tests.dynamics.examples import armed, assert_same, state


def bars(lengths=(0.5, 1.0, 0.8), ground=1.2) -> Robot:
    """Three rods in a plane; the last one ends at a pivot of the ground."""
    links, at, parent = [Link("floor")], 0.0, "floor"
    for k, length in enumerate(lengths):
        place = np.eye(4)
        place[0, 3] = at
        rod = {"mass": length, "com": np.array([0.5 * length, 0.0, 0.0]), "inertia": 0.1 * np.eye(3)}
        links.append(Link(f"rod{k}", parent, Joint(f"j{k}", "revolute", place, axis=(0.0, 0.0, 1.0)), **rod))
        at, parent = length, f"rod{k}"
    end, pivot = np.eye(4), np.eye(4)
    end[0, 3], pivot[0, 3] = lengths[-1], ground
    loop = Loop("pivot", "universe", parent, pivot, end, (True, True, False, False, False, False))
    return Robot.from_tree("bars", links, "fixed", drives=(), loops=(loop,))


@pytest.mark.parametrize("weighted", [False, True])
def test_closes_random_trees(weighted):
    for _, robot, q, _, _, constraints in held_trees(1):
        rng = np.random.default_rng(1)
        beside = np.asarray(integrate(robot.tree, q, 0.2 * rng.standard_normal(robot.nv)))
        found = close(robot, constraints, beside, weighted=weighted)
        assert np.abs(constraints_of(robot, constraints).residual(robot.tree, found)).max() < 1e-10
        robot.checked_q(found)


def test_what_is_closed_stays():
    robot = bars()
    q = close(robot, None, np.array([1.0, -0.8, -1.0]))
    assert_same(close(robot, None, q), q, 1e-12)


def test_closes_from_dead_centre_and_from_far_away():
    for start in (np.zeros(3), np.array([3.0, 0.0, 0.0]), np.array([-2.0, 2.9, 2.9])):
        q = close(bars(), None, start)
        assert np.abs(constraints_of(bars(), bars().loops).residual(bars().tree, q)).max() < 1e-10


def test_held_joints_stay():
    robot = bars()
    q = close(robot, None, np.array([0.7, 0.0, 0.0]), hold=("j0",))
    assert q[0] == 0.7
    assert np.abs(constraints_of(robot, robot.loops).residual(robot.tree, q)).max() < 1e-10
    with pytest.raises(UnknownNameError):
        close(robot, None, np.zeros(3), hold=("nowhere",))


def test_a_loop_that_cannot_close_is_named_with_what_is_left():
    """Rods of 0.5, 1 and 0.8 m do not reach a pivot 3 m away: 0.7 m are missing."""
    with pytest.raises(ModelError) as caught:
        close(bars(ground=3.0), None, np.array([0.3, -0.2, 0.1]))
    assert "`pivot`" in caught.value.message
    assert float(caught.value.evidence["`pivot` stays open by"].split()[0]) == pytest.approx(0.7, abs=1e-4)


def test_held_joints_that_do_not_let_it_close_are_told():
    with pytest.raises(ModelError) as caught:
        close(bars(ground=2.2), None, np.array([2.0, 0.0, 0.0]), hold=("j0",))
    assert caught.value.evidence["held joints"] == "j0"


def test_constraints_that_contradict_each_other_are_named():
    robot = bars()
    gears = [Coupling("j1", "j0", 2.0, 0.1), Coupling("j1", "j2", 2.0, 0.3), Coupling("j2", "j0", 1.0, 0.2)]
    with pytest.raises(ModelError, match="contradict") as caught:
        close(robot, gears, np.zeros(3))
    assert {"`j1~j0` stays open by", "`j1~j2` stays open by", "`j2~j0` stays open by"} == set(caught.value.evidence)


@pytest.mark.parametrize("weighted", [False, True])
def test_velocities_keep_the_constraints_and_change_least(weighted):
    rng = np.random.default_rng(2)
    for _, robot, q, _, _, constraints in held_trees(2):
        v = rng.standard_normal(robot.nv)
        J = np.asarray(constraints_of(robot, constraints).jacobian(robot.tree, q))
        found = project_velocity(robot, constraints, q, v, weighted)
        assert np.abs(J @ found).max() < 1e-12
        W = crba(robot.tree, q) if weighted else np.eye(robot.nv)
        null = np.linalg.svd(J)[2][np.linalg.matrix_rank(J, 1e-9) :]
        assert np.abs(null @ (W @ (found - v))).max() < 1e-9 * np.abs(W).max()
        assert_same(project_velocity(robot, constraints, q, found, weighted), found, 1e-11)


def test_weighted_projection_never_adds_energy():
    rng = np.random.default_rng(3)
    for _, robot, q, _, _, constraints in held_trees(3):
        v = rng.standard_normal(robot.nv)
        found = project_velocity(robot, constraints, q, v)
        assert kinetic_energy(robot.tree, q, found) <= kinetic_energy(robot.tree, q, v) * (1.0 + 1e-12)


def test_state_after_a_step():
    """Position first, then the velocity there; the way back is as short as the gap."""
    robot = armed()
    q, v, _ = state(robot, 4)
    loop = tied(robot, q, "loop", (robot.link_names[3], robot.link_names[-1]), np.random.default_rng(4))
    held = constraints_of(robot, [loop])
    off_it = np.asarray(integrate(robot.tree, q, 1e-4 * v))
    for weighted in (True, False):
        q_closed, v_closed = closed_state(robot, held, off_it, v, weighted)
        assert np.abs(held.residual(robot.tree, q_closed)).max() < 1e-12
        assert np.abs(held.jacobian(robot.tree, q_closed) @ v_closed).max() < 1e-12
        assert 0.0 < np.abs(q_closed - off_it).max() < 1e-2


def test_violations_in_words():
    robot = trees()[2]
    q, v, _ = state(robot, 5)
    loop = tied(robot, q, "loop", (robot.link_names[3], robot.link_names[-1]), np.random.default_rng(5))
    held = constraints_of(robot, [loop])
    assert violations(robot, held, q) == {}
    words = violations(robot, held, q, v)["loop"]
    assert "m/s and" in words
    assert "rad/s" in words
