"""Plan footfalls.

Which foot where, and how to get there? A hexapod is to go sideways onto a step. The planner searches over stances,
samples states in which a foot can leave and land, and plans the motions between them. Contacts hold exactly all along.
"""

import numpy as np

import surefoot as sf
from surefoot.motion import GroundBox, GroundPlane
from surefoot.planning import StancePlanner, audit_plan, plan_trajectory
from surefoot.robot import placement

robot = sf.load("hexapod")
step = GroundBox((2.0, 1.0, 0.06), placement((0.0, 0.8, 0.03)))
world = sf.World(ground=(GroundPlane(), step))

planner = StancePlanner(robot, world)
plan = planner.plan(np.array(robot.home), goal=(0.0, 0.3, 0.0), seed=0)
print(f"solved: {plan.solved}, {len(plan.moves)} moves, {planner.model.statistics.states} states checked")
for move in plan.moves[:4]:
    print(f"  {planner.model.chart.names[move.leg]} to {plan.graph.footholds.points[move.after[move.leg]].round(3)}")

audit = audit_plan(plan)
print(f"audit passed: {audit.passed}; contacts held to {audit.contact_error:.0e} m")

motion = plan_trajectory(plan)
print(f"{motion.duration:.1f} s, {len(motion.schedule.phases)} phases")
