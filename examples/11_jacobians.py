"""Use Jacobians of frames.

A Jacobian maps joint velocities to the twist of a frame, linear first. The same matrix, transposed, maps a force at the
frame to joint torques. The ellipsoid of its singular values shows how fast a hand can go in each direction.
"""

import numpy as np

import surefoot as sf
from surefoot.ik.analysis import manipulability_ellipsoid

robot = sf.load("panda")
kernels = sf.compile(robot)
q = robot.home
J = kernels.jacobian(q, "panda_hand")  # (6, nv), in world axes at the hand

step = 1e-6 * np.arange(1.0, robot.nv + 1.0)
moved = kernels.frames(q + step, ["panda_hand"])[0] - kernels.frames(q, ["panda_hand"])[0]
print(f"J dq is the motion of the hand: {np.allclose(J[:3] @ step, moved[:3, 3], atol=1e-9)}")

torque = J.T @ np.array([0.0, 0.0, -10.0, 0.0, 0.0, 0.0])
print("a weight of 10 N in the hand, at the joints:", ", ".join(f"{value + 0.0:.1f}" for value in torque[:7]), "N m")

ellipsoid = manipulability_ellipsoid(J[:3])
for axis, length in zip(ellipsoid.axes.T, ellipsoid.lengths, strict=True):
    print(f"  {length:.2f} m/s along {np.abs(np.round(axis, 2)).tolist()}")
