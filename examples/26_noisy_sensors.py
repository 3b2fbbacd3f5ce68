"""Control on estimated states.

The controller of a real robot never sees the truth. Here encoders, an inertial unit and contact forces have noise,
offsets and delays, and the inertial unit falls silent for a tenth of a second. A filter makes a state of what arrives,
and solo12 stands on that.
"""

import numpy as np

import surefoot as sf
from surefoot.control import JointPd
from surefoot.estimation import BaseEstimator
from surefoot.sim import Push, SensorLoss, SensorSettings

robot = sf.load("solo12")
events = [
    Push(0.5, 0.1, "base_link", [0.0, 10.0, 0.0, 0.0, 0.0, 0.0], at="com_height"),
    SensorLoss(0.8, 0.1, "imu.*"),
]
log = sf.simulate(
    robot,
    JointPd(robot),
    sf.World(),
    1.5,
    seed=1,
    events=events,
    sensors=SensorSettings(),
    estimators=BaseEstimator(robot),
)

attitude = np.rad2deg(np.nanmax(log["estimate.attitude_error"]))
print(f"the estimate is off by at most {attitude:.1f}° and {np.nanmax(log['estimate.velocity_error']):.2f} m/s")
print(f"the robot tilts by at most {np.rad2deg(log['base.tilt'].max()):.1f}°")
silent = np.isnan(log["sensor.imu.gyro"]).any(axis=1) & (log.time > 0.1)
print(f"the inertial unit is silent for {silent.sum() * (log.time[1] - log.time[0]):.2f} s")
