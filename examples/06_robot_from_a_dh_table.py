"""Build an arm from a Denavit–Hartenberg table.

The table is the one that the maker of the Panda publishes, in Craig's convention. The arm that it gives is compared
with the one of the URDF file, in a thousand random postures.
"""

import numpy as np

import surefoot as sf
from surefoot.robot import DHRow

half = np.pi / 2
table = [  # a and α of the joint before, d and θ of this one
    DHRow(0.0, 0.0, 0.333, 0.0),
    DHRow(0.0, -half, 0.0, 0.0),
    DHRow(0.0, half, 0.316, 0.0),
    DHRow(0.0825, half, 0.0, 0.0),
    DHRow(-0.0825, -half, 0.384, 0.0),
    DHRow(0.0, half, 0.0, 0.0),
    DHRow(0.088, half, 0.0, 0.0),
]
arm = sf.Robot.from_dh("panda-by-table", table)
robot = sf.load("panda")
print(f"{arm.name}: {arm.nq} joints, last link `{arm.link_names[-1]}`")

q = np.random.default_rng(0).uniform(robot.limits.lower, robot.limits.upper, (1000, robot.nq))
by_table = sf.compile(arm).frames(q[:, :7], [arm.link_names[-1]])[:, 0]
by_file = sf.compile(robot).frames(q, ["panda_link7"])[:, 0]
print(f"both give the same placement of the last link: {np.allclose(by_table, by_file, atol=1e-9)}")
