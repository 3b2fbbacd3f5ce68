"""Put both hands somewhere.

The feet of the humanoid g1 stay where they are, its centre of mass stays over them, and all joints stay inside their
limits. Each of these wishes is a task; `sf.ik.solve` finds one posture for all of them. A posture of lower priority
decides what is left.
"""

import numpy as np

import surefoot as sf
from surefoot.tasks import Contact, FramePosition, Posture, Support

robot = sf.load("g1")
feet = [Contact(robot, name) for name in robot.contacts]
soles = np.vstack(list(robot.contact_corners(robot.home).values()))
balance = Support(soles, margin=0.01)
left = FramePosition("left_rubber_hand", [0.30, 0.20, 0.60])
right = FramePosition("right_rubber_hand", [0.30, -0.20, 0.60])

found = sf.ik.solve(robot, [*feet, balance, left, right, Posture(robot)])
print("found" if found.success else found.message)
for name in ("left", "right"):
    reached = robot.placements(found.q)[f"{name}_rubber_hand"][:3, 3]
    print(f"{name} hand: {np.round(reached, 3).tolist()} m")
com = sf.compile(robot).com(found.q)
print(f"the centre of mass is {com[0]:.2f} m ahead of the origin, the toes {soles[:, 0].max():.2f} m")
