"""Push a robot in both engines, on noisy sensors, and see what happened.

The controller never sees the truth: encoders, an inertial unit and contact forces go through a filter. Run it:

    python examples/04_simulate_a_push.py
"""

import numpy as np

import surefoot as sf
from surefoot.control import JointPd
from surefoot.estimation import BaseEstimator
from surefoot.sim import Push, SensorLoss, SensorSettings

robot = sf.load("solo12")
events = [
    Push(0.5, 0.1, "base_link", [6.0, 0.0, 0.0, 0.0, 0.0, 0.0], at="com_height"),
    SensorLoss(0.8, 0.1, "imu.*"),
]

for engine in ("mujoco", "native"):
    log = sf.simulate(
        robot,
        JointPd(robot),
        sf.World(),
        1.5,
        engine=engine,
        dt=0.001,
        control_dt=0.002,
        seed=1,
        events=events,
        sensors=SensorSettings(),
        estimators=BaseEstimator(robot),
    )
    tilt = np.rad2deg(log["base.tilt"].max())
    attitude = np.rad2deg(np.nanmax(log["estimate.attitude_error"]))
    force = sum(log[f"contact.{name}.wrench"][-1, 2] for name in robot.contacts)
    print(f"{engine}: tilted by {tilt:.2f}° at most, stands with {force:.2f} N of {robot.mass * 9.81:.2f} N")
    print(f"  the estimate was off by {attitude:.2f}° and {np.nanmax(log['estimate.velocity_error']):.3f} m/s at most")
    print(f"  energy that nobody accounts for: {np.abs(log['energy.residual']).max():.1e} J")
    for item in log.metadata["incidents"]:
        print(f"  {item['kind']} of {item['where']} from {item['start']:.2f} to {item['end']:.2f} s")
