"""Simulate a push in two engines.

The quadruped solo12 stands on springs at its joints while somebody pushes it for a tenth of a second. `mujoco` is an
independent judge; `native` is compiled for the robot. Controller, push and log are the same in both.
"""

import numpy as np

import surefoot as sf
from surefoot.control import JointPd
from surefoot.sim import Push

robot = sf.load("solo12")
push = Push(0.5, 0.1, "base_link", [0.0, 10.0, 0.0, 0.0, 0.0, 0.0], at="com_height")

logs = {}
for engine in ("mujoco", "native"):
    log = logs[engine] = sf.simulate(robot, JointPd(robot), sf.World(), 1.5, engine=engine, dt=0.001, events=[push])
    aside = log["q"][:, 1] - log["q"][0, 1]
    print(f"{engine}: the trunk tilts by up to {np.rad2deg(log['base.tilt'].max()):.1f}°", end=" ")
    print(f"and gives way by up to {1e3 * aside.max():.0f} mm")

apart = np.abs(logs["mujoco"]["com.height"] - logs["native"]["com.height"]).max()
print(f"the heights of the centre of mass differ by less than {np.ceil(1e3 * apart):.0f} mm")
