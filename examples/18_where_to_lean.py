"""Find where a robot may lean.

Can the feet carry the weight if the centre of mass is there? `admissible_wrenches` looks for contact forces inside the
friction cones that add up to what is needed. ANYmal stands on the level, then in a gully whose sides slope by 40°, with
a friction coefficient of 0.5. All places of a grid are judged at once.
"""

import numpy as np

import surefoot as sf
from surefoot.contact import admissible_wrenches, placed_cones
from surefoot.spatial import so3

robot = sf.load("anymal")
surfaces = list(robot.contacts.values())
frames = robot.placements(robot.home)
level = np.array([frames[surface.frame] @ surface.placement for surface in surfaces])
level[:, :3, :3] = np.eye(3)
gully = level.copy()
for place in gully:
    place[:3, :3] = so3.exp(np.array([np.deg2rad(40.0) * np.sign(place[1, 3]), 0.0, 0.0]))

x, y = np.meshgrid(np.linspace(-0.6, 0.6, 61), np.linspace(-0.6, 0.6, 61))
com = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, 0.45)])
weight = np.tile([0.0, 0.0, 9.81 * robot.mass, 0.0, 0.0, 0.0], (len(com), 1))
friction = np.full((len(com), len(surfaces)), 0.5)
maps = {}
for name, places in (("level", level), ("gully", gully)):
    cones = placed_cones(surfaces, np.tile(places, (len(com), 1, 1, 1)), about=com, friction=friction)
    found = admissible_wrenches(cones.generators, weight, cones.use)
    maps[name] = found.attained.reshape(x.shape)
    print(f"{name}: the centre of mass may be anywhere in {found.attained.sum() * 0.02**2:.2f} m²")
