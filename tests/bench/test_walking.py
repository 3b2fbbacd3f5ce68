"""The benchmark of walking references: what it measures, and that it refuses a wrong one."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from bench.cases import walking
from bench.check import WrongAnswerError
from bench.peers.walk import _trajectory, _write_robot
from surefoot import load
from surefoot.reduced import METHODS
from surefoot.robot import anatomy


def test_all_methods_are_timed(capsys):
    found = json.loads(json.dumps(walking.run(steps=2, quick=True)))
    assert set(found["rows_ms"]) == {*METHODS, "plan of mpc"}
    assert all(value > 0.0 for value in found["rows_ms"].values())
    walking.show(found)
    assert "preview" in capsys.readouterr().out


def test_a_reference_that_ends_elsewhere_is_refused(monkeypatch):
    right = walking.walking_reference
    monkeypatch.setattr(
        walking, "walking_reference", lambda *a, **k: replace(found := right(*a, **k), com=found.com + 0.02)
    )
    with pytest.raises(WrongAnswerError, match="does not end in the middle"):
        walking.run(steps=2, quick=True)


def test_a_plan_of_another_library_becomes_a_motion(tmp_path):
    """Soles and trunk lie in its robot file as they do in ours; supports become phases of contact."""
    robot = load("g1")
    _write_robot(robot, tmp_path / "robot.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "robot.urdf"), pin.JointModelFreeFlyer())
    q, data, body = pin.neutral(model), model.createData(), anatomy(robot)
    q[:7] = robot.home[:7]
    joints = {drive.joint: robot.home[robot.tree.q_index[robot.joint_index(drive.joint)]] for drive in robot.drives}
    for name, value in joints.items():
        q[model.joints[model.getJointId(name)].idx_q] = value
    pin.framesForwardKinematics(model, data, q)
    places = robot.placements(robot.home)
    for foot in body.feet:
        T = data.oMf[model.getFrameId(f"{foot.side}_foot")].homogeneous
        np.testing.assert_allclose(T, places[foot.link] @ foot.placement, atol=1e-9)
    np.testing.assert_allclose(data.oMf[model.getFrameId("trunk")].rotation, np.eye(3), atol=1e-9)

    rows, carrying = [[*robot.home[:7], *joints.values(), 0.0, 0.0, 0.0]] * 6, [[True, True]] * 3 + [[True, False]] * 3
    motion = _trajectory(robot, {"rows": rows, "joints": list(joints), "carrying": carrying})
    np.testing.assert_allclose(motion.q[4], robot.home)
    left = next(foot for foot in body.feet if foot.side == "left")
    assert [len(motion.schedule.at(t).names) for t in (0.0, 0.009)] == [2, 1]
    assert motion.schedule.at(0.009).names == left.contacts
