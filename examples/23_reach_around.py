"""Reach around an obstacle.

The same place for the hand, with and without a ball beside the elbow. With `collision=`, a posture counts as
found only if nothing is nearer than the margin; solutions that touch are moved away while the hand stays.
"""

import numpy as np

import surefoot as sf
from surefoot.collision import CollisionModel
from surefoot.geometry import Sphere
from surefoot.motion import Obstacle
from surefoot.robot import placement
from surefoot.tasks import FramePose

robot = sf.load("panda")
ball = Obstacle("ball", Sphere(0.07), placement((0.0, 0.07, 0.72)))
world = sf.World(ground=(), obstacles=(ball,))
model = CollisionModel(robot, world, margin=0.01)
hand = FramePose("panda_hand", robot.placements(robot.home)["panda_hand"])

blind = sf.ik.solve(robot, [hand])
seeing = sf.ik.solve(robot, [hand], collision=model)
with_ball = [k for k, pair in enumerate(model.link_pairs) if "ball" in pair]
for name, found in (("blind", blind), ("with the ball in mind", seeing)):
    distance = model.link_distances(found.q)[with_ball].min()
    print(f"{name}: {'inside the ball' if distance < 0.0 else 'clear of the ball'}")
same = np.allclose(robot.placements(seeing.q)["panda_hand"], hand.target, atol=1e-3)
print(f"found: {seeing.success}, the hand is where it was: {same}")
