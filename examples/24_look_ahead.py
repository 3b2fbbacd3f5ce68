"""Look ahead among obstacles.

An arm with more joints than its hand needs has a choice. `LocalIk` chooses in the moment. `PredictiveIk` minimises
joint speeds and nearness to a stem over the next two seconds, in every cycle. Both lead the gripper of a harvesting arm
along the same straight line.
"""

import numpy as np

import surefoot as sf
from surefoot.collision import robot_volumes
from surefoot.geometry import SweptVolume
from surefoot.ik.predictive import LocalIk, PredictiveIk, PredictiveWeights, Repulsion, StraightLine
from surefoot.robot import BodyVolume

robot = sf.load("harvester")
bent = {"lift": 0.34, "shoulder_pitch": 1.43, "elbow": -0.95, "arm_roll": 0.55, "forearm_pitch": -0.73}
start = robot.q_of(bent)
hand = robot.placements(start)["gripper"]
line = StraightLine(hand, hand[:3, 3] + [0.0, -0.37, 0.27], duration=3.0)
stem = BodyVolume(-1, SweptVolume([[0.7, -0.25, 0.0], [0.7, -0.25, 2.2]], 0.03), "stem")
arm = [volume for volume in robot_volumes(robot).volumes if volume.body >= 2]
keep_clear = Repulsion(tuple((volume, stem) for volume in arm), reach=0.1, slope=-20.0)

ahead = PredictiveWeights(collision=5000.0, limits=80.0)
methods = {
    "local": LocalIk(robot, "gripper", line, PredictiveWeights(collision=2.0), keep_clear),
    "ahead": PredictiveIk(robot, "gripper", line, 2.0, 0.01, ahead, keep_clear),
}
speeds, q = {}, {}
for name, method in methods.items():
    postures, rates = [start], []
    for k in range(300):
        rates.append(method.step(0.01 * k, postures[-1]))
        postures.append(postures[-1] + 0.01 * rates[-1])
    q[name], speeds[name] = np.array(postures), np.linalg.norm(rates, axis=1)
    print(f"{name}: joint speeds up to {speeds[name].max():.2f} rad/s", end=", ")
    print(f"never nearer than {1e3 * method.distances(q[name]).min():.0f} mm")
