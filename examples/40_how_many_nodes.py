"""How many nodes are enough?

Limits hold at nodes. A force that is integrated once more is smooth, and exceeds its limit between them: by less, the
more nodes there are. The other formulation, by forward dynamics, says the same (`dynamics=("FD",)`).
"""

import surefoot as sf
from surefoot.ocp.studies import node_study

robot = sf.load("cartpole:bearing")
runs = node_study(robot, nodes=(21, 41), dynamics=("ID",))
for run in runs:
    print(f"{run.dynamics} {run.control:<5} {run.nodes:3d} nodes: cost {run.cost:7.1f}, "
          f"force over its limit by {run.force_excess:.1%} between nodes, defect {run.defect:.0e}")  # fmt: skip

excess = {(run.dynamics, run.control, run.nodes): run.force_excess for run in runs}
print("less with more nodes:", excess["ID", "plci", 41] < excess["ID", "plci", 21])
