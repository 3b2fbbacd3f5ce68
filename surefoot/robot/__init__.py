"""Robots: links, joints, contact surfaces, drives, loops; readers and the zoo."""

from surefoot.robot.assemble import Parts
from surefoot.robot.contacts import ContactSurface
from surefoot.robot.dh import DHRow
from surefoot.robot.drives import Drive
from surefoot.robot.findings import Finding
from surefoot.robot.links import Geometry, Joint, Link, NamedFrame, placement
from surefoot.robot.loops import Coupling, Loop
from surefoot.robot.robot import Limits, Robot
from surefoot.robot.rotors import GearSprings, elastic_gears, gear_springs, geared
from surefoot.robot.tree import Tree
from surefoot.robot.volumes import BodyVolume

__all__ = [
    "BodyVolume",
    "ContactSurface",
    "Coupling",
    "DHRow",
    "Drive",
    "Finding",
    "GearSprings",
    "Geometry",
    "Joint",
    "Limits",
    "Link",
    "Loop",
    "NamedFrame",
    "Parts",
    "Robot",
    "Tree",
    "elastic_gears",
    "gear_springs",
    "geared",
    "placement",
]
