"""Look at a mass matrix and its inverse.

The mass matrix of a tree has zeros where two joints are on different branches: the arms of Talos do not feel the legs
but through the base. The inverse is full. Compiled kernels give both.
"""

import numpy as np

import surefoot as sf

robot = sf.load("talos")
kernels = sf.compile(robot)
M = kernels.crba(robot.home)
inverse = kernels.minverse(robot.home)

print(f"{robot.name}: {robot.nv} x {robot.nv}, {np.mean(M != 0.0):.0%} of the entries differ from zero")
print(f"the inverse: {np.mean(np.abs(inverse) > 1e-12):.0%}")
print(f"M M⁻¹ = I: {np.allclose(M @ inverse, np.eye(robot.nv), atol=1e-8)}")
print(f"the first entry is the mass: {M[0, 0]:.2f} kg")
