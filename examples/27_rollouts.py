"""Roll out many futures.

A sampling planner wants to know how hundreds of sequences of commands would end. `sf.rollout` simulates one robot in
every lane of the processor's vectors, contacts included. A robot that diverges is frozen and flagged, and never
disturbs the others.
"""

import numpy as np

import surefoot as sf

robot = sf.load("hexapod")
n, steps, hold = 256, 20, 10
rng = np.random.default_rng(0)
start = np.tile(robot.home, (n, 1)), np.zeros((n, robot.nv))
held = np.array([robot.home[robot.tree.q_index[robot.joint_index(drive.joint)]] for drive in robot.drives])
angles = held + rng.normal(scale=np.linspace(0.0, 0.3, n)[:, None, None], size=(n, steps, robot.nu)).cumsum(1) / 4

found = sf.rollout(
    robot, start, angles, world=sf.World(), mode="position", kp=15.0, kd=0.3, hold=hold, record_every=hold
)
way = np.linalg.norm(found.q[:, -1, :2], axis=1)
print(f"{n} rollouts of {steps * hold} ms: {(found.good == found.steps).sum()} sound, {found.fallen.sum()} fallen")
print(f"the calmest moved by {1e3 * way[0]:.0f} mm, the farthest by {1e3 * way.max():.0f} mm")
