"""Measure distances.

A `CollisionModel` knows how far a robot is from itself and from the world. Its links are swept volumes that contain the
collision shapes. Distances come with nearest points and gradients, for one posture or for thousands.
"""

import numpy as np

import surefoot as sf
from surefoot.collision import CollisionModel, motion_is_free, random_postures
from surefoot.geometry import Box
from surefoot.motion import Obstacle
from surefoot.robot import placement

robot = sf.load("anymal")
step = Obstacle("step", Box((0.3, 1.0, 0.1)), placement((0.7, 0.0, 0.05)))
world = sf.World(obstacles=(step,))
model = CollisionModel(robot, world)
print(f"{len(model.self_pairs)} pairs of volumes of the robot, {len(model.obstacles)} obstacles")

nearest = model.nearest(robot.home)
print(f"nearest at home: {nearest.links[0]} and a thigh, {1e3 * nearest.distance:.0f} mm apart")

postures = random_postures(robot, 1000, np.random.default_rng(0))
print(f"of 1000 random postures {model.in_collision(postures).sum()} touch something")

ahead = np.array(robot.home)
ahead[0] += 0.4
check = motion_is_free(model, robot.home, ahead)
print(f"0.4 m straight ahead: {'free' if check.free else 'hits ' + ' and '.join(check.links)}")
