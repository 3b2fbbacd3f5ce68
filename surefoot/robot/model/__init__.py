"""The data of a robot: tree, links, loops, contacts, drives. Passive and frozen."""

from surefoot.robot.model.contacts import BodyVolume, ContactKind, ContactSurface
from surefoot.robot.model.dh import DHRow, dh_links
from surefoot.robot.model.drives import Drive
from surefoot.robot.model.findings import Finding, Level
from surefoot.robot.model.inertia_changes import carrying, under_gravity, with_inertia_error
from surefoot.robot.model.links import Geometry, Joint, JointKind, Link, NamedFrame, placement
from surefoot.robot.model.loops import Coupling, Loop, resolve_couplings
from surefoot.robot.model.robot import AnatomyHints, Limits, Robot, makes_robots
from surefoot.robot.model.springs import Spring, SpringForces
from surefoot.robot.model.tree import NQ, NV, Tree, tree_of_model

__all__ = [
    "NQ",
    "NV",
    "AnatomyHints",
    "BodyVolume",
    "ContactKind",
    "ContactSurface",
    "Coupling",
    "DHRow",
    "Drive",
    "Finding",
    "Geometry",
    "Joint",
    "JointKind",
    "Level",
    "Limits",
    "Link",
    "Loop",
    "NamedFrame",
    "Robot",
    "Spring",
    "SpringForces",
    "Tree",
    "carrying",
    "dh_links",
    "makes_robots",
    "placement",
    "resolve_couplings",
    "tree_of_model",
    "under_gravity",
    "with_inertia_error",
]
