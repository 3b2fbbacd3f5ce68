"""Links that keep apart: the nearest pairs are found in one tick and measured in a later one."""

from __future__ import annotations

import numpy as np

import surefoot as sf
from surefoot.collision import CollisionModel
from surefoot.control.whole_body import BodyClearance, ClearanceSettings


def test_only_the_first_tick_both_finds_and_measures_pairs(monkeypatch):
    robot = sf.load("small-humanoid")
    calls: list[str] = []
    for name in ("distances", "proximity"):
        method = getattr(CollisionModel, name)

        def spied(self, *args, name=name, method=method):
            calls.append(name)
            return method(self, *args)

        monkeypatch.setattr(CollisionModel, name, spied)
    q, v = np.array(robot.home), np.zeros(robot.nv)
    clearance = BodyClearance(robot, q, ClearanceSettings(influence=1.0))
    row = int(robot.tree.v_index[robot.joint_index("left_shoulder_pitch")])
    v[row] = 0.5
    ticks = []
    for k in range(26):
        calls.clear()
        gradients, _ = clearance.rows(0.002 * k, q, v)
        ticks.append(list(calls))
        q[int(robot.tree.q_index[robot.joint_index("left_shoulder_pitch")])] += 0.002 * 0.5
    assert ticks[0] == ["distances", "proximity"]
    assert max(len(tick) for tick in ticks[1:]) == 1
    measured = [k for k, tick in enumerate(ticks) if "proximity" in tick]
    assert set(np.diff(measured)) <= {5, 6}  # each 10 ms
    columns = clearance._columns
    assert len(columns) > 0
    np.testing.assert_allclose(
        gradients[: len(columns)], CollisionModel(robot).proximity(q, columns).gradient, atol=5e-3
    )
