"""Solve inverse kinematics in batches.

Where does the left hand of g1 get to, if the feet stay and the robot keeps its balance? `sf.ik.solve_batch` solves 725
problems at once, one in every lane of the processor's vectors, with restarts where it gets stuck.
"""

import numpy as np

import surefoot as sf
from surefoot.tasks import Contact, FramePosition, Support

robot = sf.load("g1")
feet = [Contact(robot, name) for name in robot.contacts]
balance = Support(np.vstack(list(robot.contact_corners(robot.home).values())), margin=0.01)
hand = FramePosition("left_rubber_hand", np.zeros(3))

x, z = np.meshgrid(np.linspace(0.1, 0.7, 25), np.linspace(0.1, 1.5, 29))
points = np.column_stack([x.ravel(), np.full(x.size, 0.15), z.ravel()])
found = sf.ik.solve_batch(robot, [*feet, balance, hand], {hand.name: points}, restarts=8)
reached = found.success.reshape(x.shape)

print("x from 0.1 to 0.7 m to the right, z upward")
for row, height in zip(reached[::-4], z[::-4, 0], strict=True):
    print(f"{height:4.2f} m  " + "".join("#" if hit else "." for hit in row))
