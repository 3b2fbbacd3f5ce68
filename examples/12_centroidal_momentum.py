"""Turn a body without touching anything.

In free fall nothing changes the angular momentum. If a robot swings its arms, its trunk must turn the other way. The
centroidal momentum matrix gives the turn: it maps all velocities to momentum about the centre of mass.
"""

import numpy as np

import surefoot as sf
from surefoot.dynamics import centroidal_momentum_matrix

robot = sf.load("g1")
swing = np.zeros(robot.nv)
for side in ("left", "right"):
    swing[robot.tree.v_index[robot.joint_index(f"{side}_shoulder_pitch_joint")]] = -3.0  # both arms up, rad/s

A = centroidal_momentum_matrix(robot.tree, robot.home)  # (6, nv): linear momentum, then angular momentum
print(f"the arms alone have {(A @ swing)[4]:.2f} kg m²/s about the lateral axis")

base = np.linalg.solve(A[:, :6], -A[:, 6:] @ swing[6:])  # the twist of the base that leaves no momentum
v = np.concatenate([base, swing[6:]])
print(f"without momentum: {np.allclose(A @ v, 0.0, atol=1e-9)}")
print(f"while the arms rise at {np.rad2deg(3.0):.0f} °/s, the trunk pitches at {np.rad2deg(base[4]):.0f} °/s")
