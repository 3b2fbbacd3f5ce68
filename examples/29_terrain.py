"""Stand on stairs and on rough ground.

The ground of a world is made of planes, boxes, stairs and height fields. The hexapod drops onto rough ground with its
joints held by springs; both engines know the same ground. With its own stiff servos it rests on three feet, like any
stool on an uneven floor; soft springs give way until all feet carry.
"""

import numpy as np

import surefoot as sf
from surefoot.control import JointPd
from surefoot.motion import HeightField, State, stairs

rng = np.random.default_rng(3)
x = np.linspace(0.0, 3.0, 31)
rough = HeightField(0.015 * np.sin(4.0 * x)[:, None] * np.cos(5.0 * x) + rng.uniform(0.0, 0.01, (31, 31)), 0.1)
steps = stairs(steps=3, rise=0.06, run=0.25, start=(1.0, 0.0, 0.0))
heights = [sf.World(ground=steps).height(at, 0.0) for at in (1.1, 1.35, 1.6)]
print("heights along the stairs:", ", ".join(f"{height:.2f}" for height in heights), "m")

robot = sf.load("hexapod")
world = sf.World(ground=(rough,), friction=0.8)
q = np.array(robot.home)
q[:3] = [1.5, 1.5, q[2] + 0.05]
start = State(0.0, q, np.zeros(robot.nv))
servos, soft = JointPd(robot), JointPd(robot, stiffness=2.0, damping=0.05)  # N m/rad; its own servos have 20
for engine, controller, springs in (
    ("mujoco", servos, "servos"),
    ("native", servos, "servos"),
    ("native", soft, "soft"),
):
    log = sf.simulate(robot, controller, world, 2.0, engine=engine, dt=0.001, initial=start)
    feet = sum(log[f"contact.{name}.wrench"][-1, 2] > 0.1 for name in robot.contacts)
    tilt = np.rad2deg(log["base.tilt"][-1])
    print(f"{engine}, {springs}: rests at {log['base.height'][-1]:.2f} m on {feet} feet, tilted by {tilt:.0f}°")
