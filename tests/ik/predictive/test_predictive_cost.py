import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.geometry import SweptVolume
from surefoot.ik.predictive.cost import LimitBand, Repulsion, state_cost
from surefoot.ik.predictive.study import harvester_study
from surefoot.robot import BodyVolume

WEIGHTS = (1.0, 3.0, 2.0)


@pytest.fixture(scope="module")
def study():
    return harvester_study()


def cost(study, q, vertices=None, repulsion=None):
    repulsion = repulsion or study.repulsion
    band = LimitBand(study.robot.limits.lower, study.robot.limits.upper, 0.4)
    vertices = repulsion.obstacle_vertices() if vertices is None else vertices
    return state_cost(study.robot.tree, repulsion, band, q, vertices, WEIGHTS)


@pytest.mark.parametrize("blur", [None, 0.01])
def test_gradient_against_differences(study, rng, blur):
    repulsion = Repulsion(study.repulsion.pairs, reach=0.8, slope=-5.0, blur=blur)
    for _ in range(3):
        q = study.robot.home + rng.uniform(-0.5, 0.5, 9)
        found = cost(study, q, repulsion=repulsion)
        steps = 1e-6 * np.eye(9)
        slopes = [
            (cost(study, q + e, repulsion=repulsion).value - cost(study, q - e, repulsion=repulsion).value) / 2e-6
            for e in steps
        ]
        assert_allclose(found.gradient, slopes, atol=2e-5)
        assert np.abs(found.gradient).max() > 0.1


def test_vertices_given_later_are_those_of_the_obstacle(study):
    q = study.q0
    moved = study.repulsion.obstacle_vertices() + np.array([0.3, 0.5, 0.1])
    mast = study.repulsion.obstacles[0]
    other = BodyVolume(-1, SweptVolume(moved, mast.volume.radius), "moved")
    pairs = tuple(tuple(other if x is mast else x for x in pair) for pair in study.repulsion.pairs)
    elsewhere = Repulsion(pairs, study.repulsion.reach, study.repulsion.slope)
    assert cost(study, q, moved).value == cost(study, q, repulsion=elsewhere).value
    assert cost(study, q, moved).value != cost(study, q).value


def test_an_obstacle_of_many_pairs_is_one_obstacle(study):
    assert len(study.repulsion.obstacles) == 1
    assert study.repulsion.obstacle_vertices().shape == (2, 3)
    assert Repulsion().obstacle_vertices().shape == (0, 3)


def test_limits_cost_one_where_they_are_reached():
    """Buschmann 2014, (A.58): 2 (q − q̄)/(q_M − q̄)² beyond q̄, nothing between the bands or without limits."""
    band = LimitBand(np.array([-1.0, -1.0, -1.0, -np.inf]), np.array([3.0, 3.0, 3.0, np.inf]), share=0.25)
    value, gradient = band.cost(np.array([3.0, -0.5, 1.0, 77.0]))
    assert_allclose(value, 1.0 + 0.25)
    assert_allclose(gradient, [2.0, 2.0 * (-0.5 - 0.0) / (-1.0) ** 2, 0.0, 0.0])
