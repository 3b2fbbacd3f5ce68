"""Names and units of metrics."""

from __future__ import annotations

import pytest

from surefoot.scenario.metric_units import name_and_unit


@pytest.mark.parametrize(
    ("key", "name", "unit"),
    [
        ("largest_tilt_deg", "largest tilt", "°"),
        ("energy_leak_j", "energy leak", "J"),
        ("run_largest_rate_rad_s", "run largest rate", "rad/s"),
        ("planned_clearance_m", "planned clearance", "m"),
        ("at_full_speed_s", "at full speed", "s"),
        ("peak_torque_nm_elastic", "peak torque elastic", "N m"),
        ("peak_speed_rigid", "peak speed rigid", "rad/s or m/s"),
        ("gap_max", "gap max", "rad or m"),
        ("estimate_velocity_rms", "estimate velocity rms", "m/s"),
        ("estimate_attitude_max_deg", "estimate attitude max", "°"),
        ("impulse_ns", "impulse", "N s"),
        ("mobility", "mobility", ""),
        ("closed_chains", "closed chains", ""),
    ],
)
def test_names_and_units(key, name, unit):
    assert name_and_unit(key) == (name, unit)
