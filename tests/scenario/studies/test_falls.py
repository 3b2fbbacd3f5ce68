"""Causes of falls, from logs made by hand, and of robots that really fell."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.motion import LogWriter
from surefoot.robot import anatomy
from surefoot.robot.loading import load
from surefoot.scenario.studies.falls import balance_lost, fall_cause
from tests.scenario.studies.runs import studied

ROBOT = load("small-humanoid")
LEFT, RIGHT = (foot.contacts[0] for foot in anatomy(ROBOT).feet)
LOST, FALL = 2.0, 2.8
DT = 0.01
OUT = "capture point out of reach"
SIZES = {"control.dcm": 2, "control.dcm_reference": 2, "push.force": 3, "tau": ROBOT.nu}
KNEE = np.eye(ROBOT.nu)[[drive.joint for drive in ROBOT.drives].index("left_knee")]
COLUMNS = ("com.height", "base.tilt", "control.phase", "control.support", "control.capturable", "control.late",
           "control.fallbacks", *SIZES)  # fmt: skip


def fallen(incidents=(), fall=FALL, **columns):
    """The log of a robot on its first foot whose DCM runs away at 2 s, with changes of columns from a time on."""
    writer = LogWriter(dict.fromkeys(COLUMNS, "1"), SIZES)
    for t in np.arange(0.0, 3.0, DT):
        row = {name: np.zeros(SIZES[name]) if name in SIZES else 0.0 for name in COLUMNS}
        row |= {"com.height": 0.3, "control.capturable": 1.0, "control.phase": 2.0}
        row["control.dcm"] = np.array([0.0, 0.2 * max(0.0, t - LOST + 0.09)])
        for name, (start, end, value) in columns.items():
            if start <= t < end:
                row[name.replace("__", ".")] = value
        writer.append({"time": t, **row})
    items = [
        {"robot": 0, "kind": kind, "where": where, "start": start, "end": end, "worst": worst}
        for kind, where, start, end, worst in incidents
    ]
    return writer.log(metadata={"fall_time_s": fall, "incidents": items})


def test_no_fall_has_no_cause():
    assert fall_cause(ROBOT, fallen(fall=None)) is None


def test_balance_is_lost_when_the_dcm_goes_away_for_good():
    assert balance_lost(fallen(), FALL) == pytest.approx(LOST, abs=2 * DT)
    brief = fallen(control__dcm=(2.3, 2.4, np.zeros(2)))  # passes by its reference while falling
    assert balance_lost(brief, FALL) == pytest.approx(LOST, abs=2 * DT)
    tilted = fallen(base__tilt=(1.0, 3.0, 0.6))
    assert balance_lost(tilted, FALL) == pytest.approx(1.0, abs=2 * DT)


@pytest.mark.parametrize(
    ("incidents", "columns", "cause"),
    [
        ([], {}, OUT),
        ([("slip", LEFT, 1.8, 2.2, 0.05)], {}, f"slip of {LEFT}"),
        ([("slip", RIGHT, 1.8, 2.2, 0.05)], {}, f"swing foot {RIGHT} hit the ground"),
        ([("slip", LEFT, 1.8, 2.2, 0.006)], {}, OUT),
        ([("slip", LEFT, 0.5, 0.9, 0.05)], {}, OUT),
        ([("slip", LEFT, 2.5, 2.8, 0.5)], {}, OUT),
        ([("torque_limit", "left_knee", 1.7, 2.5, 0.3)], {}, "torque limit of left_knee"),
        ([], {"tau": (1.7, 2.5, 0.999 * 12.0 * KNEE)}, "torque limit of left_knee"),
        ([], {"tau": (1.7, 1.75, 12.0 * KNEE)}, OUT),
        ([], {"tau": (1.7, 2.5, 0.9 * 12.0 * KNEE)}, OUT),
        ([("torque_limit", "left_elbow", 1.7, 2.5, 0.3)], {}, OUT),
        ([("position_limit", "right_ankle_pitch", 0.5, 2.5, 0.1)], {}, "joint limit of right_ankle_pitch"),
        ([("self_collision", "left_hand", 1.9, 1.95, 50.0)], {}, "self-collision of left_hand"),
        ([("self_collision", "left_hand", 1.9, 1.95, 5.0)], {}, OUT),
        ([], {"control__late": (1.9, 2.0, 0.2)}, "late touch-down"),
        ([], {"control__capturable": (2.05, 3.0, 0.0)}, OUT),
        ([], {"control__fallbacks": (1.95, 3.0, 3.0)}, "whole-body problem without solution"),
        (
            [("slip", LEFT, 1.95, 2.2, 0.05), ("torque_limit", "left_knee", 1.8, 2.5, 0.3)],
            {"control__late": (2.05, 2.3, 0.2)},
            "torque limit of left_knee",
        ),
        ([], {"push__force": (1.9, 2.0, np.array([0.0, 30.0, 0.0]))}, f"{OUT} after a push of 3.0 N s"),
        ([], {"control__dcm": (0.0, 3.0, np.zeros(2)), "base__tilt": (2.0, 3.0, 1.0)}, "trunk tilted over"),
    ],
)  # fmt: skip
def test_the_first_sign_about_the_loss_of_balance_is_named(incidents, columns, cause):
    assert fall_cause(ROBOT, fallen(incidents, **columns)) == cause


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "overrides", "word"),
    [
        ("walk", ["world.friction=0.08"], "slip of"),
        ("push-walk", ["events.0.margin=1.5"], "after a push of"),
        ("push", ["events.0.margin=1.8"], "capture point out of reach after a push of"),
        ("carry", ["events.0.share=1.5"], ""),
    ],
)
def test_robots_that_fall_say_why(name, overrides, word):
    found = studied(name, *overrides, robot="g1").metrics["fall_cause"]
    assert found
    assert word in found
