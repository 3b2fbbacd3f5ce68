"""How long an audit takes: 10 s at 1 kHz of a humanoid that waves its arms, self-collision included, replay aside.

python bench/audit.py [ROBOT]
"""

from __future__ import annotations

import sys
import time

import numpy as np

import surefoot as sf

ARMS = ("shoulder", "elbow", "arm_left_2", "arm_right_2", "arm_left_4", "arm_right_4")


def waving(robot: sf.Robot) -> sf.Trajectory:
    """Arms swing by 0.05 rad while the robot stands at home; v and a are exact."""
    t = np.linspace(0.0, 10.0, 10_001)
    q, v, a = np.tile(robot.home, (len(t), 1)), np.zeros((len(t), robot.nv)), np.zeros((len(t), robot.nv))
    fade, w = np.sin(np.pi * t / 10.0) ** 2, 2.0
    for i, name in enumerate(robot.joint_names):
        if any(word in name for word in ARMS) and robot.tree.nv_of(i) == 1:
            wave = 0.05 * fade * np.sin(w * t + i)
            q[:, robot.tree.q_index[i]] += wave
            v[:, robot.tree.v_index[i]] = np.gradient(wave, t, edge_order=2)
            a[:, robot.tree.v_index[i]] = np.gradient(v[:, robot.tree.v_index[i]], t, edge_order=2)
    return sf.Trajectory.of(robot, t, q, v, a=a)


def main() -> None:
    """Audit twice; the second time nothing has to be compiled or fitted."""
    robot = sf.load(sys.argv[1] if len(sys.argv) > 1 else "g1")
    motion = waving(robot)
    for run in ("first", "second"):
        start = time.perf_counter()
        result = sf.audit(motion, robot, replay=False)
        parts = ", ".join(f"{name} {value:.2f}" for name, value in result.seconds.items())
        verdict = "passed" if result.passed else result.findings[0].message
        print(f"{run}: {time.perf_counter() - start:.2f} s ({parts}); {verdict}")


if __name__ == "__main__":
    main()
