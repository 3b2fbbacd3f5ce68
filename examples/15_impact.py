"""Land on two feet.

When a foot lands, velocities jump. `impact` gives the velocities after, the impulses and the lost energy. How hard a
robot hits depends on its effective mass at the point of impact: a fist is light if the arm gives way, and heavy if the
joints are locked.
"""

import numpy as np

import surefoot as sf
from surefoot.dynamics import contact
from surefoot.dynamics.impacts import equivalent_mass, impact

robot = sf.load("talos")
q, falling = np.array(robot.home), np.zeros(robot.nv)
falling[2] = -1.0
soles = [contact(robot, q, name) for name in robot.contacts]

hit = impact(robot, q, falling, soles)
before = 0.5 * robot.mass
print(f"{robot.name} falls at 1 m/s with {before:.1f} J and loses {hit.energy_lost / before:.0%} of it")
print(f"the ground gives {hit.impulses.reshape(2, 6)[:, 2].sum():.1f} N s")

hand, ahead = "gripper_left_base_link", [1.0, 0.0, 0.0]
free = equivalent_mass(robot, q, hand, ahead)
standing = equivalent_mass(robot, q, hand, ahead, planted=soles)
rigid = equivalent_mass(robot, q, hand, ahead, locked_joints=True)
print(f"a punch ahead has the mass {free:.1f} kg in the air, {standing:.1f} kg on two feet, {rigid:.1f} kg if rigid")
