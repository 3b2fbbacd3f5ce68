"""Hobby servos against ideal drives."""

from __future__ import annotations

import pytest

from .runs import studied

QUICK = "simulation.control_dt=0.01"


def costs(metrics):
    assert metrics["drive_kind"] == "servo"
    # ideal drives have the stiffness of the servos, too
    assert metrics["tracking_rms_drive"] > 2.0 * metrics["tracking_rms_ideal"]
    assert metrics["tracking_peak_drive"] > 3.0 * metrics["tracking_peak_ideal"]
    assert 0.005 < metrics["delay_s"] < 0.1


def test_servos_lag():
    found = studied("servo", QUICK, "simulation.duration=1.1")
    assert found.findings.trouble is None
    costs(found.metrics)


@pytest.mark.slow
def test_servos_lag_as_the_file_is():
    costs(studied("servo").metrics)


def test_ideal_drives_against_themselves_are_alike():
    metrics = studied("servo", QUICK, "robot.drives=torque", "simulation.duration=0.7").metrics
    assert metrics["tracking_rms_drive"] == metrics["tracking_rms_ideal"]
    assert metrics["delay_s"] == 0.0


def test_without_references_there_is_nothing_to_compare(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(
        'name = "x"\nstudy = "servo"\n[robot]\nname = "pendulum"\n[controller]\nkind = "limp"\n'
        "[simulation]\nduration = 0.02\n"
    )
    assert "no joint has a reference" in studied(path).findings.trouble
