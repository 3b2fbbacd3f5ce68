import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.motion import LogWriter
from surefoot.scenario.metrics import metrics_of

ALWAYS = [
    "schema", "scenario", "robot", "seed", "duration_s", "completed", "fallen", "fall_time_s", "slip_m",
    "max_torque_ratio", "energy_residual_j", "momentum_residual", "tracking_rms", "versions",
]  # fmt: skip
UNITS = dict.fromkeys(
    ["torque.ratio", "energy.residual", "momentum.residual", "tracking.error", "push.force", "base.tilt", "base.height",
     "v", "contact.left.foot.slip", "contact.left.foot.wrench"], "1")  # fmt: skip
SIZES = {"momentum.residual": 3, "tracking.error": 2, "push.force": 3, "v": 2, "contact.left.foot.wrench": 6}
FACTS = {"seed": 4, "fall_time_s": None, "planned_duration_s": 1.0, "lifted": [], "locked": ["x"], "notes": [],
         "engine": "native", "incidents": []}  # fmt: skip


def log_of(rows, **facts):
    writer = LogWriter(UNITS, SIZES)
    for row in rows:
        writer.append(row)
    return writer.log(metadata={**FACTS, **facts})


def row(t, error=(0.0, 0.0), momentum=(0.0, 0.0, 0.0), **others):
    zeros = {name: np.zeros(SIZES[name]) if name in SIZES else 0.0 for name in UNITS}
    return {**zeros, "time": t, "tracking.error": np.array(error), "momentum.residual": np.array(momentum), **others}


def test_numbers():
    rows = [row(0.0, (3.0, 4.0), **{"energy.residual": -2.0, "torque.ratio": 0.3}),
            row(0.5, (0.0, np.nan), (0, 3, 4), **{"energy.residual": 1.0, "contact.left.foot.slip": 0.02})]  # fmt: skip
    found = metrics_of(log_of(rows, fall_time_s=0.4), "s", "r")
    assert set(ALWAYS) <= set(found)
    assert found["fallen"] is True
    assert found["fall_time_s"] == 0.4
    assert found["locked"] == ["x"]
    assert found["slip_by_contact_m"] == {"left.foot": 0.02}
    assert_allclose([found["duration_s"], found["energy_residual_j"], found["momentum_residual"]], [0.5, 2.0, 5.0])
    assert_allclose([found["tracking_rms"], found["max_torque_ratio"]], [np.sqrt(25.0 / 3.0), 0.3])


@pytest.mark.parametrize("rows", [[], [row(0.0, (np.nan, np.nan), (np.nan,) * 3)]])
def test_what_does_not_exist_is_null(rows):
    found = metrics_of(log_of(rows), "s", "r")
    assert found["tracking_rms"] is None
    assert found["momentum_residual"] is None
    json.dumps(found, allow_nan=False)
