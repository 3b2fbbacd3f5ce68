"""Drive joints by motors, not by wishes.

An ideal drive gives any torque at any speed. A DC motor has a winding, a back-EMF and a supply: the faster it turns,
the less it can give. The arm makes the same quick turn with both; the log has current and voltage.
"""

from dataclasses import replace

import numpy as np

import surefoot as sf
from surefoot.control import JointPath

ideal = sf.load("arm4")
motor = {"gear_ratio": 80.0, "resistance": 0.6, "inductance": 4e-4, "torque_constant": 0.03, "voltage": 24.0}
geared = ideal.replace(drives=tuple(replace(drive, **motor) for drive in ideal.drives))
joint = ideal.joint_names[0]
turn = [(0.0, {joint: float(ideal.home[0])}), (0.25, {joint: float(ideal.home[0]) + 1.5})]

logs = {}
for name, robot, drives in (("ideal", ideal, "torque"), ("motor", geared, "dc_motor")):
    log = sf.simulate(robot, JointPath(robot, turn), sf.World(ground=()), 0.6, dt=0.001, drives=drives)
    logs[name] = log
    lag, speed = np.abs(log["tracking.error"][:, 0]).max(), np.abs(log["v"][:, 0]).max()
    print(f"{name}: lags by {np.rad2deg(lag):.0f}° at most, turns at up to {speed:.1f} rad/s")
log = logs["motor"]
print(f"voltage up to {np.abs(log['drive.voltage'][:, 0]).max():.0f} V", end=", ")
print(f"current up to {np.abs(log['drive.current'][:, 0]).max():.1f} A")
