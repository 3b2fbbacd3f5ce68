"""How high a hurdle can be so that a ball still gets over it in a second, and what keeps it from being higher.

The height is a free parameter of the problem. The ball keeps 2 cm away from a post beside the hurdle.
"""

import numpy as np

from surefoot.geometry import Sphere
from surefoot.motion import Obstacle, World
from surefoot.ocp import Formulation, Problem, check, prices
from surefoot.robot import Drive, Geometry, Joint, Link, Robot

rail = Joint("x", "prismatic", axis=(1.0, 0.0, 0.0), lower=-2.0, upper=2.0, effort=20.0)
lift = Joint("z", "prismatic", axis=(0.0, 0.0, 1.0), lower=-2.0, upper=2.0, effort=20.0)
shapes = (Geometry("ball", "ball", Sphere(0.1)),)
links = [
    Link("cart", None, rail, mass=0.1, inertia=1e-3 * np.eye(3)),
    Link("ball", "cart", lift, mass=1.0, inertia=1e-2 * np.eye(3), collisions=shapes),
]
robot = Robot.from_tree("ball", links, drives=(Drive("x", torque_limit=20.0), Drive("z", torque_limit=20.0)))
pose = np.eye(4)
pose[:3, 3] = 0.3, 0.0, 0.6
world = World(obstacles=(Obstacle("post", Sphere(0.1), pose),))


def over_hurdle(node, least):
    """Height above the hurdle [m], and how high that must be: nothing to obey but in the middle."""
    return node.y[1:] - node.parameters["hurdle"] - least


def only_in_the_middle(t):
    """Least height above the hurdle [m] at a time."""
    return [0.0 if abs(t - 0.5) < 0.02 else -9.0]


problem = Problem(robot, world, Formulation("forward", "semi_implicit"))
problem.phase("rise", (), 15, 0.5)
problem.phase("fall", (), 15, 0.5)
problem.start(np.array([0.0, 0.0]))
problem.end(np.array([1.0, 0.0]))
problem.parameter("hurdle", 0.0, 2.0)
problem.constrain("over", over_hurdle, 0.0, reference=only_in_the_middle, of_posture=True)
problem.keep_apart([("ball", "post")], margin=0.02)
problem.maximise("hurdle", 100.0)
problem.cost("torque", 1e-3)

solution = problem.solve()
gaps = np.linalg.norm(solution.nodes["q"] - pose[[0, 2], 3], axis=1) - 0.2
print(f"converged: {solution.success}; hurdle {solution.parameters['hurdle']:.2f} m; post passed at {gaps.min():.3f} m")
print(f"limits that cost height: {', '.join(list(prices(solution))[:3])}")
print(f"active: {', '.join(check(solution).active)}")
