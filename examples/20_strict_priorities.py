"""Keep priorities strict.

A control loop with tasks that conflict: the hand of g1 is pulled ahead, farther than it can reach. The feet come first,
then balance, then the hand. A lower priority never changes what a higher one has got, so the robot leans as far as it
may and stops there.
"""

import numpy as np

import surefoot as sf
from surefoot.geometry import convex_hull, distance_inside
from surefoot.tasks import Contact, FramePosition, Posture, Support

robot = sf.load("g1")
kernels = sf.compile(robot)
soles = np.vstack(list(robot.contact_corners(robot.home).values()))
start = robot.placements(robot.home)["left_rubber_hand"][:3, 3]
tasks = [
    *(Contact(robot, name, gain=5.0) for name in robot.contacts),
    Support(soles, margin=0.02, priority=1),
    FramePosition("left_rubber_hand", start, name="hand", priority=2, gain=5.0),
    Posture(robot, priority=3),
]

stepper = sf.ik.Stepper(robot, tasks, dt=0.005, speed_share=0.05)  # joints at 5 % of their speed
time, hand, margin = np.arange(800) * 0.005, [], []
outline = convex_hull(soles[:, :2])
for t in time:
    stepper.set_target("hand", start + np.array([0.25 * t, 0.0, 0.0]))
    q = stepper.step().q_next
    hand.append(robot.placements(q)["left_rubber_hand"][0, 3] - start[0])
    margin.append(float(distance_inside(kernels.com(q)[:2], outline)))

print(f"asked for {0.25 * time[-1]:.2f} m, the hand got {max(hand):.2f} m ahead")
print(f"the centre of mass was never nearer than {1e3 * min(margin):.0f} mm to the edge of the support")
frames = [surface.frame for surface in robot.contacts.values()]
slip = np.abs(kernels.frames(q, frames) - kernels.frames(robot.home, frames)).max()
print(f"the feet stayed where they were to 1 mm: {slip < 1e-3}")
