from __future__ import annotations

import numpy as np
import pytest

from surefoot.estimation import EncodedJoints
from tests.estimation.examples import arm
from tests.motion.examples import every_kind


def test_positions_and_put_are_inverse():
    robot = arm("floating")
    joints = EncodedJoints(robot)
    q = np.array(robot.neutral)
    joints.put(np.array([0.4, 3.0, -0.2]), q)
    assert joints.names == ("swing", "spin", "slide")
    assert q == pytest.approx(robot.q_of({"swing": 0.4, "spin": 3.0, "slide": -0.2}))
    assert joints.positions(q) == pytest.approx([0.4, 3.0, -0.2])
    assert joints.velocities(np.arange(9.0)) == pytest.approx([6.0, 7.0, 8.0])


def test_continuous_joints_go_the_short_way_round_and_others_do_not():
    joints = EncodedJoints(arm("fixed"))
    assert joints.shortest(np.array([6.0, 6.0, 6.0])) == pytest.approx([6.0, 6.0 - 2 * np.pi, 6.0])


def test_joints_with_several_axes_have_no_encoder():
    robot = every_kind()
    joints = EncodedJoints(robot)
    kinds = dict(zip(robot.tree.joint_names, robot.tree.kinds, strict=True))
    assert joints.others
    assert all(kinds[name] in ("spherical", "planar", "translation", "free") for name in joints.others)
    assert all(kinds[name] not in ("spherical", "planar", "translation", "free") for name in joints.names)
