"""Left and right found in names of real robots' styles."""

from __future__ import annotations

import pytest

from surefoot.errors import ModelError, UnknownNameError
from surefoot.motion.side_names import side_pairs


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
