"""Let Talos sag on two feet.

Two soles tie twelve directions. Without torques the knees give way, and the ground forces are what keeps the soles in
place. `constrained_acceleration` solves for both; all of its methods give the same motion.
"""

import numpy as np

import surefoot as sf
from surefoot.dynamics import constrained_acceleration, contact
from surefoot.kinematics import com_jacobian

robot = sf.load("talos")
q, rest = np.array(robot.home), np.zeros(robot.nv)
soles = [contact(robot, q, name) for name in robot.contacts]

found = constrained_acceleration(robot, q, rest, np.zeros(robot.nv), soles)
print(f"{len(found.rows)} rows of rank {found.rank}")
falling = com_jacobian(robot.tree, q) @ found.a
print(f"the centre of mass falls with {-falling[2]:.2f} m/s²")
print(f"the soles carry {found.constraint_force[2]:.0f} N of {9.81 * robot.mass:.0f} N")

for method in ("gauss", "maggi_qr", "range_space", "aghili"):
    other = constrained_acceleration(robot, q, rest, np.zeros(robot.nv), soles, method=method)
    print(f"  {method} gives the same motion: {np.allclose(other.a, found.a, atol=1e-6)}")
