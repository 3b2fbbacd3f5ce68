"""Stand on a slope.

The wrench at a sole must stay inside a cone: the ground pushes, friction is limited, and the centre of pressure lies
inside the sole. `contact_margins` says how far each of these is from its limit. On a slope a stiff humanoid tips over
its toes long before it slips.
"""

import numpy as np

import surefoot as sf
from surefoot.contact import contact_margins

robot = sf.load("humanoid")
sole = robot.contacts["left_foot"]
T_world_sole = robot.placements(robot.home)[sole.frame] @ sole.placement
com = sf.compile(robot).com(robot.home)
arm = np.array([com[0] - T_world_sole[0, 3], 0.0, com[2]])  # from the sole to the centre of mass, seen from the side

slopes = np.linspace(0.0, np.deg2rad(45.0), 901)  # downhill
half = 0.5 * 9.81 * robot.mass
force = half * np.column_stack([-np.sin(slopes), np.zeros_like(slopes), np.cos(slopes)])  # one of two soles
wrenches = np.column_stack([force, np.cross(arm, force)])
margins = contact_margins(sole, wrenches)
for name, item in margins.items():
    broken = np.flatnonzero(item.margin < 0.0)
    where = f"breaks at {np.rad2deg(slopes[broken[0]]):.1f}°" if len(broken) else "holds"
    print(f"{name}: {item.margin[0]:.3g} {item.unit} on the level, {where}")
