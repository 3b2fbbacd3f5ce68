"""Put both hands of a humanoid somewhere: feet fixed, balanced, inside the joint limits; once, and for a whole grid.

Where the left hand gets to is found for 725 points at once. Run it:

    python examples/05_reach.py
"""

import numpy as np

import surefoot as sf
from surefoot.tasks import Contact, FramePosition, Posture, Support

robot = sf.load("g1")
feet = [Contact(name, robot, name) for name in robot.contacts]
soles = np.vstack(list(robot.contact_corners(robot.home).values()))
balance = Support("balance", soles, margin=0.01)
left = FramePosition("left", "left_rubber_hand", [0.30, 0.20, 0.60])
right = FramePosition("right", "right_rubber_hand", [0.30, -0.20, 0.60])

found = sf.ik.solve(robot, [*feet, balance, left, right, Posture("posture", robot)])
print(found.message)
for task, parts in found.errors.items():
    print(f"  {task:24s} " + "  ".join(f"{value:.1e} {unit}" for unit, value in parts.items()))

x, z = np.meshgrid(np.linspace(0.1, 0.7, 25), np.linspace(0.1, 1.5, 29))
grid = np.column_stack([x.ravel(), np.full(x.size, 0.15), z.ravel()])
batch = sf.ik.solve_batch(robot, [*feet, balance, left], {"left": grid}, restarts=8)
print("\nwhere the left hand gets to: x from 0.1 to 0.7 m to the right, z upward")
for row, height in zip(batch.success.reshape(x.shape)[::-1], z[::-1, 0], strict=True):
    print(f"  {height:4.2f} m  " + "".join("#" if hit else "." for hit in row))
