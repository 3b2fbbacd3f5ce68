"""Load a robot.

A robot is one frozen object: names, limits, masses, contact surfaces and a home posture. It holds the Pinocchio model
and the same tree as plain arrays. `sf.load` takes a name from the zoo, a URDF file or an MJCF file.
"""

import numpy as np

import surefoot as sf

robot = sf.load("g1")
print(f"{robot.name}: {robot.nv} degrees of freedom, {robot.nu} drives, {robot.mass:.1f} kg")

frames = robot.placements(robot.home)  # T_world_frame (4, 4) by name
for contact in robot.contacts.values():
    position = (frames[contact.frame] @ contact.placement)[:3, 3]
    print(f"{contact.name}: {contact.kind} with {len(contact.corners)} corners at {np.round(position, 3).tolist()} m")

knee = robot.joint_index("left_knee_joint")
at = robot.tree.q_index[knee]
low, high = np.rad2deg([robot.limits.lower[at], robot.limits.upper[at]])
print(f"left knee: {low:.0f}° to {high:.0f}°, at most {robot.limits.effort[robot.tree.v_index[knee]]:.0f} N m")
