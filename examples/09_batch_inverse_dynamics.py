"""Compute inverse dynamics in batches.

`sf.compile` makes machine code for one robot, on the first call; later it is read from a cache. A kernel takes one
state or thousands, one in every lane of the processor's vectors. Here are the joint torques of ANYmal in ten thousand
random states, checked against the plain functions.
"""

import numpy as np

import surefoot as sf
from surefoot.dynamics import rnea

robot = sf.load("anymal")
kernels = sf.compile(robot)
rng = np.random.default_rng(0)
n = 10_000
q = np.tile(robot.home, (n, 1))
q[:, 7:] += rng.uniform(-0.3, 0.3, (n, robot.nq - 7))
v, a = rng.normal(size=(2, n, robot.nv))

tau = kernels.rnea(q, v, a)  # (n, nv)
plain = rnea(robot.tree, q[0], v[0], a[0])
print(f"{n} states, {tau.shape[1]} generalised forces each")
print(f"the first one agrees with the plain function: {np.allclose(tau[0], plain, atol=1e-9)}")
for name, torque in zip(robot.joint_names[-3:], np.abs(tau[:, -3:]).mean(axis=0), strict=True):
    print(f"  {name}: {torque:.1f} N m on average")
