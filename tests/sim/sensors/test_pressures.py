"""Centres of pressure and ZMP against the general formulas."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.contact import sum_wrenches, zero_moment_point
from surefoot.robot import placement
from surefoot.sim.sensors.sensors import PRESSURES, find_pressures


def test_points_are_those_of_the_general_formulas(rng):
    k, least = 4, 5.0
    wrenches = rng.standard_normal((k, 6))
    wrenches[:, 2] += 20.0
    wrenches[1, 2], wrenches[2, 2] = 4.9, -3.0
    T = np.array([placement(rng.standard_normal(3), pin.exp3(0.3 * rng.standard_normal(3))) for _ in range(k)])
    expected = zero_moment_point(np.vstack([wrenches, sum_wrenches(wrenches, T)]), least_load=least)[:, :2]
    assert np.isnan(expected).all(axis=1).tolist() == [False, True, True, False, False]
    native, plain = np.zeros((k + 1, 2)), np.zeros(2 * k + 2)
    PRESSURES["find_pressures"](k, wrenches.ctypes.data, T.ctypes.data, least, np.nan, native.ctypes.data)
    find_pressures(k, wrenches.ravel(), T.ravel(), least, np.nan, plain)
    np.testing.assert_allclose(native, expected, atol=1e-13)
    np.testing.assert_allclose(plain.reshape(-1, 2), expected, atol=1e-13)
    silent = wrenches.copy()
    silent[0] = np.nan
    PRESSURES["find_pressures"](k, silent.ctypes.data, T.ctypes.data, least, np.nan, native.ctypes.data)
    assert np.isnan(native).all(axis=1).tolist() == [True, True, True, False, True]
