"""`g1:hands` and `talos:hands`: balls in the hands, beside the feet."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError
from surefoot.robot import anatomy


@pytest.mark.parametrize("name", ["g1", "talos"])
def test_hands_are_added_to_the_feet(name: str) -> None:
    plain, robot = sf.load(name), sf.load(f"{name}:hands")
    assert list(robot.contacts) == [*plain.contacts, "left_hand", "right_hand"]
    assert [foot.contacts for foot in anatomy(robot).feet] == [foot.contacts for foot in anatomy(plain).feet]
    frames = robot.placements(robot.home)
    left, right = (frames[robot.contacts[h].frame] @ robot.contacts[h].placement for h in ("left_hand", "right_hand"))
    np.testing.assert_allclose(left[:3, 3] * [1, -1, 1], right[:3, 3], atol=2e-3)  # mirrored
    hands = [frames[link][:3, 3] for link in anatomy(robot).hands]
    assert 0.05 < np.linalg.norm(left[:3, 3] - hands[0]) < 0.25


def test_other_robots_have_none() -> None:
    with pytest.raises(NotSupportedError, match="takes no parameters"):
        sf.load("solo12:hands")
