"""Swing a pole up with its cart, in least time, and look at the force.

The force is at its limit nearly all the time: bang-bang. The solver's gains make a feedback law.
"""

import numpy as np

import surefoot as sf
from surefoot.ocp import Formulation, Problem, SolverOptions, check

robot = sf.load("cartpole:bearing")
problem = Problem(robot, formulation=Formulation("forward", "rk4", "plc"))
problem.phase("swing", intervals=20, duration=(0.4, 3.0, 3.7))
problem.start(robot.q_of({"swing": -np.pi}))
problem.end(robot.q_of({}), only=("slide", "swing"))
problem.cost("time")

solution = problem.solve(options=SolverOptions(tolerance=1e-5))
force = np.abs(solution.nodes["tau"][:, 0])
print(f"converged: {solution.success}, {solution.transcription.program.sizes.variables} variables")
print(f"duration {solution.durations['swing']:.2f} s; at the limit of 50 N in {np.mean(force > 49.0):.0%} of the nodes")
print(f"active: {next(iter(check(solution).active))}; feedback: {solution.feedback() is not None}")
