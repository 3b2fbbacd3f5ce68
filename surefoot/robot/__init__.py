"""Robots: links, joints, contact surfaces, drives, loops; readers and the zoo."""

from surefoot.robot.anatomy import Anatomy, Foot, anatomy
from surefoot.robot.build import elastic_gears, gear_springs, geared
from surefoot.robot.check import Inspection, inspect_robot
from surefoot.robot.files import BASES
from surefoot.robot.loading import is_file_name, load
from surefoot.robot.model import (
    BodyVolume,
    ContactSurface,
    Coupling,
    DHRow,
    Drive,
    Finding,
    Geometry,
    Joint,
    Limits,
    Link,
    Loop,
    NamedFrame,
    Robot,
    Spring,
    Tree,
    placement,
)
from surefoot.robot.standing import bend_straight_legs, support_doubts
from surefoot.robot.xml_guard import read_xml

__all__ = [
    "BASES",
    "Anatomy",
    "BodyVolume",
    "ContactSurface",
    "Coupling",
    "DHRow",
    "Drive",
    "Finding",
    "Foot",
    "Geometry",
    "Inspection",
    "Joint",
    "Limits",
    "Link",
    "Loop",
    "NamedFrame",
    "Robot",
    "Spring",
    "Tree",
    "anatomy",
    "bend_straight_legs",
    "elastic_gears",
    "gear_springs",
    "geared",
    "inspect_robot",
    "is_file_name",
    "load",
    "placement",
    "read_xml",
    "support_doubts",
]
