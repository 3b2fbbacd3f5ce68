"""Share the weight of a leaning robot between its feet: evenly, or by where its weight is."""

import numpy as np

import surefoot as sf
from surefoot.contact.distribution import distribute, stance_of

robot = sf.load("g1", base="floating")
stance = stance_of(robot)
lean = stance.weight + np.array([0.0, 0.15, 0.0, 0.0, 0.0, 0.0]) * stance.weight[2]  # 0.15 g to the left
for method in ("pseudoinverse", "dcm", "cones"):
    forces = distribute(method, stance, lean)[:, 2]
    print(f"{method:<14}", *(f"{name}: {force:6.1f} N" for name, force in zip(stance.names, forces, strict=True)))
