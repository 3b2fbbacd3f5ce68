"""How fast a leg can swing its foot against a ball, and which limits that depends on.

The speed of the foot at the end is a free parameter that is made large. The duration is free as well.
"""

import numpy as np

import surefoot as sf
from surefoot.ocp import Formulation, Problem, prices
from surefoot.robot import NamedFrame, placement

hip = sf.Joint("hip", "revolute", axis=(0, 1, 0), lower=-1.6, upper=1.2, velocity=12.0, effort=80.0)
knee = sf.Joint(
    "knee", "revolute", placement((0.0, 0.0, -0.4)), axis=(0, 1, 0), lower=0.0, upper=2.2, velocity=15.0, effort=60.0
)
links = [
    sf.Link("thigh", None, hip, 4.0, np.array([0.0, 0.0, -0.2]), 0.06 * np.eye(3)),
    sf.Link("shin", "thigh", knee, 2.5, np.array([0.0, 0.0, -0.2]), 0.04 * np.eye(3)),
]
foot = NamedFrame("foot", "shin", placement((0.0, 0.0, -0.45)))
robot = sf.Robot.from_tree("leg", links, frames=[foot])


def as_fast(node):
    """How much faster the foot moves ahead than the parameter says [m/s]."""
    return node.velocity("foot", "local_world_aligned")[0] - node.parameters["foot speed"]


def at_the_ball(node):
    """Where the foot is ahead of the hip, and below it [m]."""
    return node.placement("foot")[[0, 2], 3]


problem = Problem(robot, formulation=Formulation("forward", "rk4", "plc"))
problem.phase("kick", intervals=50, duration=(0.1, 0.5, 1.0))
problem.start(robot.home)
problem.parameter("foot speed", 0.0, 30.0)
problem.constrain("as fast", as_fast, 0.0, at="end")
problem.constrain("at the ball", at_the_ball, [0.1, -0.9], [0.3, -0.7], at="end")
problem.maximise("foot speed")
problem.cost("torque", 1e-6)

solution = problem.solve()
speed, time = solution.parameters["foot speed"], solution.durations["kick"]
thigh, shin = solution.trajectory.v[-1]
print(f"converged: {solution.success}; the foot moves at {speed:.1f} m/s after {time:.2f} s")
print(f"joint speeds at the ball: hip {thigh:.1f}, knee {shin:.1f} rad/s")
print(f"limits that cost speed: {', '.join(list(prices(solution))[:3])}")
