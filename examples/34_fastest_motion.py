"""Move along a path as fast as the drives allow.

A spline through four postures is a path without a clock. TOPP-RA (Pham and Pham 2018) gives it the fastest one within
the limits of velocities and torques, and names the limit that binds at each place. Inverse dynamics confirms it.
"""

import numpy as np

import surefoot as sf
from surefoot.ik.timing import effort_limits
from surefoot.motion.timing import PathLimits, path_through, time_path

arm = sf.load("arm4")
postures = [[0.0, 0.0, 0.0, 0.0], [0.9, -0.6, 0.5, 0.3], [0.4, 0.8, -0.9, 0.1], [-0.3, 0.2, 0.6, -0.4]]
path = path_through(arm, postures)

timing = time_path(path, PathLimits(rows=[effort_limits(arm)]))
motion = timing.trajectory(dt=0.002)
torques = sf.compile(arm).rnea(motion.q, motion.v, motion.a)
shares = np.abs(torques) / arm.limits.effort
speeds = np.abs(motion.v) / arm.limits.velocity
print(f"{timing.duration:.2f} s; up to {shares.max():.0%} of the torques and {speeds.max():.0%} of the speeds")

for share in (0.5, 0.3, 0.05):
    slower = time_path(path, PathLimits(rows=[effort_limits(arm, share=share)]))
    print(f"with {share:.0%} of the torques: {f'{slower.duration:.2f} s' if slower.success else slower.cause}")
