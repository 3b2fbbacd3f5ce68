"""Explain why something is impossible.

A solver that says "infeasible" leaves all constraints to look through. `explain` names the few that conflict, and what
each of them would have to yield. It takes groups of linear constraints, or tasks of inverse kinematics.
"""

import numpy as np

import surefoot as sf
from surefoot.solvers import Group, explain
from surefoot.tasks import FramePosition

found = explain(  # x: knee torque [N m], length of a step [m]
    [
        Group("right-knee torque limit", [1.0, 0.0], -80.0, 80.0, unit="Nm"),
        Group("20 cm step", [0.0, 1.0], 0.20, 0.20, unit="cm", scale=0.01),
        Group("statics", [1.0, -420.0], 0.0, 0.0, may_relax=False),
    ]
)
print(found.sentence)

robot = sf.load("panda")
here = robot.placements(robot.home)["panda_hand"][:3, 3]
cup = FramePosition("panda_hand", here, name="cup")
plate = FramePosition("panda_hand", here + np.array([0.0, 0.05, 0.0]), name="plate")
posture = sf.ik.solve(robot, [cup, plate], restarts=0)
print(sf.ik.explain_posture(robot, [cup, plate], posture).sentence)
