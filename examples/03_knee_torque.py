"""Compile a function of your own.

What is the largest static knee torque of Talos on one leg, over a million random postures? Joints are drawn between
their limits with the trunk upright, and gravity is all that acts. The function below is written for one posture;
compiled, it takes the whole batch on all cores. The number of postures is an argument.
"""

import sys

import numpy as np

import surefoot as sf
from surefoot import ops
from surefoot.dynamics import generalized_gravity
from surefoot.kinematics import com, frame_jacobian, total_mass
from surefoot.kinematics.frames import frame_of

COUNT, CHUNK = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, 100_000
robot = sf.load("talos")
feet = [frame_of(robot, f"leg_{side}_6_link") for side in ("left", "right")]
knees = [int(robot.tree.v_index[robot.joint_index(f"leg_{side}_4_joint")]) for side in ("left", "right")]


def standing_knee_torques(tree, q):
    """Torque (2,) of each knee, N m, if the robot stands on the foot below it."""
    weight = -total_mass(tree) * tree.gravity  # carried by the ground; its moment is about the world's origin
    wrench = ops.concatenate([weight, ops.cross(com(tree, q), weight)])
    hanging = generalized_gravity(tree, q)
    jacobians = [frame_jacobian(tree, foot, q, "world") for foot in feet]
    return ops.array([hanging[k] - J[:, k] @ wrench for k, J in zip(knees, jacobians, strict=True)])


kernels = sf.compile(robot, threads="all", functions={"knees": standing_knee_torques})
rng = np.random.default_rng(0)
torques, most, worst = [], 0.0, np.array(robot.home)
for first in range(0, COUNT, CHUNK):
    q = np.tile(robot.home, (min(CHUNK, COUNT - first), 1))
    q[:, 7:] = rng.uniform(robot.limits.lower[7:], robot.limits.upper[7:], q[:, 7:].shape)
    torque = np.abs(kernels.knees(q)).max(axis=1)
    torques.append(torque)
    if torque.max() > most:
        most, worst = float(torque.max()), q[torque.argmax()]

median = np.median(np.concatenate(torques))
print(f"{COUNT} postures: largest static knee torque {most:.0f} N m, median {median:.0f} N m")
print(f"the knees are at {worst[knees[0] + 1]:.2f} and {worst[knees[1] + 1]:.2f} rad then")
print(f"the drives give {robot.limits.effort[knees].max():.0f} N m")
