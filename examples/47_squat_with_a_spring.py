"""Which spring beside the knee makes a squat with a load easiest.

Load and stiffness are parameters of the problem that change the robot. One is given, the other is found.
"""

from dataclasses import replace

import numpy as np

import surefoot as sf
from surefoot import ops
from surefoot.ocp import Problem
from surefoot.robot import ContactSurface, placement

rail = sf.Joint("height", "prismatic", axis=(0, 0, 1), lower=0.2, upper=2.0)
hip = sf.Joint("hip", "revolute", axis=(0, 1, 0), lower=-2.0, upper=0.5)
knee = sf.Joint("knee", "revolute", placement((0.0, 0.0, -0.4)), axis=(0, 1, 0), lower=0.05, upper=2.4)
links = [
    sf.Link("trunk", None, rail, 30.0, np.zeros(3), np.eye(3)),
    sf.Link("thigh", "trunk", hip, 5.0, np.array([0.0, 0.0, -0.2]), 0.08 * np.eye(3)),
    sf.Link("shin", "thigh", knee, 3.0, np.array([0.0, 0.0, -0.2]), 0.05 * np.eye(3)),
]
robot = sf.Robot.from_tree(
    "squatter",
    links,
    contacts=[ContactSurface("foot", "shin", "point", placement((0.0, 0.0, -0.4)))],
    drives=(sf.Drive("hip", torque_limit=150.0), sf.Drive("knee", torque_limit=150.0)),
    home={"height": 0.8 * np.cos(0.6), "hip": -0.6, "knee": 1.2},
)


def loaded(tree, parameters):
    """The tree with a load on its trunk."""
    return replace(tree, masses=tree.masses + parameters["load"] * np.array([1.0, 0.0, 0.0]))


def spring(node):
    """Torque of a spring beside the knee, at rest where the leg is straight [N, N m, N m]."""
    return ops.stack([0.0, 0.0, -node.parameters["stiffness"] * node.y[2]])


problem = Problem(robot)
problem.phase("down", ["foot"], intervals=20, duration=0.8)
problem.start(robot.home)
problem.end()
problem.fix("end", "height", 0.45)
problem.parameter("load", 20.0, 20.0)
problem.parameter("stiffness", 0.0, 400.0, 10.0)
problem.design(loaded, spring)
problem.cost("torque", 1e-3)
problem.cost("acceleration", 1e-4)

solution = problem.solve()
stiffness, knee = solution.parameters["stiffness"], np.abs(solution.nodes["tau"][:, 1]).max()
share = solution.sensitivities["load"] / solution.objective
print(
    f"converged: {solution.success}; best stiffness {stiffness:.0f} N m/rad, largest torque at the knee {knee:.0f} N m"
)
print(f"one more kilogram costs {share:.1%}")
