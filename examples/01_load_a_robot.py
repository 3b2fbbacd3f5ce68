"""Load a humanoid, look at it, and put its state into MuJoCo's layout.

A robot is one frozen object: names, limits, masses, contact surfaces, a home posture, the Pinocchio model and the same
tree as plain arrays.
"""

import numpy as np

import surefoot as sf
from surefoot.motion.exchange import to_layout

robot = sf.load("g1")
print(f"{robot.name}: {robot.nv} degrees of freedom, {robot.nu} drives, {robot.mass:.1f} kg")

frames = robot.placements(robot.home)
for contact in robot.contacts.values():
    T_world_contact = frames[contact.frame] @ contact.placement
    print(
        f"{contact.name}: {contact.kind} with {len(contact.corners)} corners at {np.round(T_world_contact[:3, 3], 3)}"
    )

mujoco = to_layout(robot, "mujoco", robot.home, np.zeros(robot.nv))
print("base in MuJoCo's order (xyz, wxyz):", np.round(mujoco["qpos"][:7], 3))
