"""Whole-body model-predictive control: a quadruped stands, is pushed, and comes back.

Every 20 ms one Newton step is made on the next 0.3 s, from the last plan moved on in time. Between these ticks the
solver's own gains answer to the state, 1000 times a second, within the limits of feet and drives.
"""

import numpy as np

import surefoot as sf
from surefoot.motion import World
from surefoot.ocp import motions
from surefoot.ocp.receding import Mpc
from surefoot.sim import Push, simulate

robot = sf.load("solo12")
controller = Mpc(motions.stand(robot), intervals=15, latency=0.01)
push = Push(0.2, 0.1, "base_link", np.array([0.0, 8.0, 0.0, 0.0, 0.0, 0.0]))  # a third of its weight, from the side
log = simulate(robot, controller, World(), 1.0, dt=0.001, control_dt=0.001, events=[push])

aside = log["q"][:, 1]
print(f"pushed aside by {1e3 * np.abs(aside).max():.1f} mm, {1e3 * abs(aside[-1]):.1f} mm left at the end")
print(f"largest tilt {np.rad2deg(log['base.tilt'].max()):.1f}°")
print(f"{len(controller.horizon.ticks)} solutions, {controller.horizon.failures} failed")
