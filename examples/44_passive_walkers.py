"""Let a walker fall down a slope, and see when its gait breaks.

The simplest walker has two legs and no motor. Its step is a map; the fixed point of the map is a gait, and the
eigenvalues there tell what is left of a small stumble one step later. On a steeper slope the gait loses its stability.
"""

import numpy as np

from surefoot.reduced.walkers import SimplestWalker, ZeroDynamicsWalker, limit_cycle, walk

guess = np.array([0.2, -0.2])
for slope in (0.009, 0.012, 0.0145, 0.0165):
    cycle = limit_cycle(SimplestWalker(slope), guess)
    guess, left = cycle.section, abs(cycle.eigenvalues[0])
    verdict = "stable" if left < 1.0 else "unstable"
    print(f"slope {slope:.4f}: half step {guess[0]:.4f} rad, {left:.2f} of a stumble is left: {verdict}")

steps = walk(SimplestWalker(0.009), [0.21, -0.21], 30)
print(f"after a stumble, 30 steps: on the gait again: {np.abs(steps[-1].end - [0.2003, -0.1998]).max() < 1e-3}")

walker = ZeroDynamicsWalker()
stride = walker.stride(walker.start)
print(f"with a motor on level ground: {stride.length / stride.duration:.2f} m/s, eigenvalue {walker.loss**2:.3f}")
