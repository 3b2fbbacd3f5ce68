"""Build a robot in code.

A torso on two legs with box feet, link by link. Every link names its parent and the joint between them. The soles are
found from the boxes, and the home posture puts them on the ground.
"""

import numpy as np

import surefoot as sf
from surefoot.geometry import Box, Capsule
from surefoot.robot import Geometry, placement
from surefoot.spatial import inertia

trunk = Geometry("trunk", "torso", Box((0.2, 0.3, 0.5)))
links = [sf.Link("torso", mass=20.0, inertia=inertia.box(20.0, (0.2, 0.3, 0.5)), collisions=(trunk,))]
for side, y in (("left", 0.1), ("right", -0.1)):
    hip = sf.Joint(
        f"{side}_hip", "revolute", placement((0.0, y, -0.25)), axis=(0, 1, 0), lower=-1.5, upper=1.0, effort=80.0
    )
    ankle = sf.Joint(
        f"{side}_ankle", "revolute", placement((0.0, 0.0, -0.8)), axis=(0, 1, 0), lower=-0.8, upper=0.8, effort=40.0
    )
    bone = Geometry(f"{side}_bone", f"{side}_leg", Capsule(0.05, 0.6), placement((0.0, 0.0, -0.4)))
    sole = Geometry(f"{side}_sole", f"{side}_foot", Box((0.22, 0.1, 0.04)), placement((0.03, 0.0, -0.06)))
    leg, foot = inertia.capsule(3.0, 0.05, 0.7), inertia.box(1.0, (0.22, 0.1, 0.04))
    links += [
        sf.Link(f"{side}_leg", "torso", hip, 3.0, np.array([0.0, 0.0, -0.4]), leg, collisions=(bone,)),
        sf.Link(f"{side}_foot", f"{side}_leg", ankle, 1.0, np.array([0.03, 0.0, -0.06]), foot, collisions=(sole,)),
    ]

robot = sf.Robot.from_tree("stilts", links, base="floating")
print(f"{robot.name}: {robot.nv} degrees of freedom, {robot.mass:.1f} kg, stands at {robot.home[2]:.2f} m")
for contact in robot.contacts.values():
    print(f"{contact.name}: {contact.kind}, ties {sum(contact.tied)} directions")
