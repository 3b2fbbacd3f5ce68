"""Work with trajectories.

A trajectory is a sampled motion on the configuration manifold: quaternions stay quaternions between samples. It can be
sampled, resampled, slowed down, mirrored from left to right, joined, saved and loaded.
"""

import tempfile
from pathlib import Path

import numpy as np

import surefoot as sf
from surefoot.motion import Quintic

robot = sf.load("g1")
time = np.linspace(0.0, 1.0, 51)
q = np.tile(robot.home, (len(time), 1))
at = robot.tree.q_index[robot.joint_index("left_shoulder_pitch_joint")]
q[:, at] += Quintic.at_rest(0.0, -1.2, 1.0).sample(time)[0]
raise_left = sf.Trajectory.of(robot, time, q)

raise_right = raise_left.mirrored(robot)
other = robot.tree.q_index[robot.joint_index("right_shoulder_pitch_joint")]
print(f"left arm at the end: {raise_left.q[-1, at]:.2f} rad; right arm, mirrored: {raise_right.q[-1, other]:.2f} rad")

fine = raise_left.resample(dt=0.005)
print(f"{len(time)} samples, resampled {len(fine.time)}; at 0.333 s: {raise_left.sample(0.333).q[at]:.3f} rad")
print(f"at half the speed it takes {raise_left.time_scaled(2.0).duration:.1f} s")

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "wave.npz"
    fine.save(file)
    print(f"saved and loaded, the same bits: {np.array_equal(sf.Trajectory.load(file).q, fine.q)}")
