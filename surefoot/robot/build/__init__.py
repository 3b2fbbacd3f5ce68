"""From links and joints to a robot: the Pinocchio model, couplings, contact surfaces, rotors, home posture."""

from surefoot.robot.build.assemble import MIMIC_MODES, Mimic, Parts, assemble, assemble_links
from surefoot.robot.build.contact_search import lowest_points, shapeless_end_links
from surefoot.robot.build.drives import UNBOUNDED
from surefoot.robot.build.home import well_inside
from surefoot.robot.build.model import MAX_BODIES, build_model, root_joint
from surefoot.robot.build.reduction import locked
from surefoot.robot.build.rotors import GearSprings, elastic_gears, gear_springs, geared

__all__ = [
    "MAX_BODIES",
    "MIMIC_MODES",
    "UNBOUNDED",
    "GearSprings",
    "Mimic",
    "Parts",
    "assemble",
    "assemble_links",
    "build_model",
    "elastic_gears",
    "gear_springs",
    "geared",
    "locked",
    "lowest_points",
    "root_joint",
    "shapeless_end_links",
    "well_inside",
]
