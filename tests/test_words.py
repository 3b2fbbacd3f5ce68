"""Numbers of things, names and units of metrics, left and right in names of real robots' styles."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import surefoot.scenario
from surefoot.errors import ModelError, UnknownNameError
from surefoot.words import (
    are_missing,
    counted,
    metric_label,
    name_and_unit,
    share_text,
    side_pairs,
    sides_of,
    verdict_text,
)


@pytest.mark.parametrize(("number", "text"), [(0, "0 columns"), (1, "1 column"), (2, "2 columns")])
def test_one_is_no_plural(number: int, text: str) -> None:
    assert counted(number, "column") == text
    assert are_missing(number, "column") == f"{text} {'is' if number == 1 else 'are'} missing"


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


UNITS = {"rad_s": "rad/s", "m_s": "m/s", "kgm2": "kg m²", "ns": "N s", "nm": "N m", "n": "N", "j": "J", "w": "W",
         "deg": "°", "rad": "rad", "mm": "mm", "m": "m", "kg": "kg", "s": "s"}  # fmt: skip


def keys_with_units() -> list[str]:
    """All keys of dictionaries in the modules of scenarios that end in a unit, those of metrics among them."""
    keys = set()
    for path in Path(surefoot.scenario.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Dict):
                keys |= {str(key.value) for key in node.keys if isinstance(key, ast.Constant)}
            elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                keys.add(str(node.slice.value))
    return sorted(key for key in keys if key.isidentifier() and key.rpartition("_")[2] in UNITS and "_" in key)


def test_every_metric_of_a_scenario_has_its_whole_unit() -> None:
    keys = keys_with_units()
    assert len(keys) > 60
    assert "planned_joint_rate_rad_s" in keys
    for key in keys:
        words = key.split("_")
        size = 2 if "_".join(words[-2:]) in UNITS else 1
        assert name_and_unit(key) == (" ".join(words[:-size]), UNITS["_".join(words[-size:])])


def test_labels_have_units_and_parts() -> None:
    assert metric_label("planned_joint_rate_rad_s") == "planned joint rate [rad/s]"
    assert metric_label("slip_by_contact_m.left_foot") == "slip by contact [m]: left_foot"
    assert metric_label("max_torque_ratio") == "max torque ratio"
    assert metric_label("audit.first") == "audit: first"
    assert metric_label("momentum_residual") == "momentum residual [N s]"


@pytest.mark.parametrize(
    ("relative", "text"), [(None, ""), (0.0, ""), (0.127, "+12.7 %"), (-0.5, "-50 %"), (38.4, "×39.4"), (9.0, "×10")]
)
def test_shares_are_percent_and_large_ones_factors(relative: float | None, text: str) -> None:
    assert share_text(relative) == text


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("left_knee_joint", "right_knee_joint"),
        ("LeftHip", "RightHip"),
        ("leg_left_1_joint", "leg_right_1_joint"),
        ("l_knee", "r_knee"),
        ("knee_l", "knee_r"),
        ("arm_l_1", "arm_r_1"),
        ("LKnee", "RKnee"),
        ("kneeL_1".replace("L", "_L"), "kneeL_1".replace("L", "_R")),
        ("LF_HAA", "RF_HAA"),
        ("LH_KFE", "RH_KFE"),
        ("FL_hip_joint", "FR_hip_joint"),
        ("RL_hip_joint", "RR_hip_joint"),
        ("hl.knee", "hr.knee"),
    ],
)
def test_pairs_go_both_ways(left, right):
    assert side_pairs([left, "waist_roll", right]) == {left: right, right: left, "waist_roll": "waist_roll"}
    assert sides_of([left, "waist_roll", right]) == {left: "left", right: "right", "waist_roll": "middle"}


def test_all_legs_of_quadrupeds_at_once():
    names = [f"{leg}_{part}" for leg in ("FL", "FR", "RL", "RR") for part in ("hip", "calf")]
    assert side_pairs(names)["RL_calf"] == "RR_calf"
    assert side_pairs(names)["FR_hip"] == "FL_hip"
    names = [f"{leg}_{part}" for leg in ("LF", "RF", "LH", "RH") for part in ("HAA", "KFE")]
    assert side_pairs(names)["RH_KFE"] == "LH_KFE"


def test_pairs_can_be_given():
    assert side_pairs(["port", "starboard"], {"port": "starboard"}) == {"port": "starboard", "starboard": "port"}
    with pytest.raises(UnknownNameError):
        side_pairs(["port"], {"port": "starboard"})
    with pytest.raises(ModelError):
        side_pairs(["a", "b", "c"], {"a": "b", "c": "b"})


@pytest.mark.parametrize(
    ("metrics", "text"),
    [
        ({"verdict": "passed"}, "passed"),
        ({"verdict": "passed", "audit": None}, "passed"),
        ({"verdict": "passed", "audit": {"defects": 0}}, "passed"),
        ({"verdict": "passed", "audit": {"defects": 1}}, "passed, but its motion has 1 defect"),
        ({"verdict": "passed", "audit": {"defects": 6}}, "passed, but its motion has 6 defects"),
        ({"verdict": "failed", "audit": {"defects": 6}}, "failed"),
        ({}, ""),
    ],
)
def test_a_run_with_defects_is_not_called_passed_alone(metrics, text):
    assert verdict_text(metrics) == text
