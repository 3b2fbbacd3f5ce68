from __future__ import annotations

import numpy as np
import pytest

from surefoot.sim.sensor_points import centres_of_pressure, zero_moment_point
from surefoot.spatial import so3


def pressed(points: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """Wrench (6,) about the origin of forces at points."""
    return np.concatenate([forces.sum(axis=0), np.cross(points, forces).sum(axis=0)])


def test_centre_of_pressure_is_the_mean_of_the_points_by_load(rng):
    points = np.column_stack([rng.uniform(-0.1, 0.1, (5, 2)), np.zeros(5)])
    forces = np.column_stack([rng.normal(0, 3, (5, 2)), rng.uniform(1, 20, 5)])
    found = centres_of_pressure(np.array([pressed(points, forces), np.zeros(6)]), 1.0)
    assert found[0] == pytest.approx(forces[:, 2] @ points[:, :2] / forces[:, 2].sum())
    assert np.isnan(found[1]).all()


def test_zmp_is_the_mean_of_all_points_by_load_wherever_the_frames_are(rng):
    """Forces at points on the ground z = 0; the wrenches are given in turned frames above it."""
    wrenches, rotations, positions, points, loads = [], [], [], [], []
    for _ in range(3):
        ground = np.column_stack([rng.uniform(-0.5, 0.5, (4, 2)), np.zeros(4)])
        forces = np.column_stack([rng.normal(0, 3, (4, 2)), rng.uniform(1, 20, 4)])
        R, r = so3.random(rng), rng.standard_normal(3)
        about = pressed(ground - r, forces)
        wrenches.append(np.concatenate([R.T @ about[:3], R.T @ about[3:]]))
        rotations.append(R)
        positions.append(r)
        points.append(ground[:, :2])
        loads.append(forces[:, 2])
    load, place = np.concatenate(loads), np.concatenate(points)
    found = zero_moment_point(np.array(wrenches), np.array(rotations), np.array(positions), 0.1)
    assert found == pytest.approx(load @ place / load.sum(), abs=1e-12)


@pytest.mark.parametrize("force", [0.0, 0.5, -3.0, np.nan])
def test_there_is_no_zmp_in_the_air_or_without_readings(force):
    wrench = np.array([[0.0, 0.0, force, 0.1, 0.2, 0.0]])
    assert np.isnan(zero_moment_point(wrench, np.eye(3)[None], np.zeros((1, 3)), 1.0)).all()
