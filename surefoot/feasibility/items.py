"""The items of an audit, in the order of the chain.

A finding of an earlier item takes later ones of the same interval and part of the robot under itself: a wrong
quaternion order makes everything else look wrong, a foot that slides needs no word about its friction.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ITEMS", "STAGES", "ItemKind", "order_of"]

STAGES = ("layout", "consistency", "kinematics", "limits", "collision", "wrenches", "energy", "replay")


@dataclass(frozen=True)
class ItemKind:
    """What an item is about.

    Args:
        stage: Where in the chain it stands.
        title: For people.
        about: What is judged, in a line.
        severity: "defect", or "remark" for what does not make a motion impossible.
    """

    stage: str
    title: str
    about: str
    severity: str = "defect"


ITEMS: dict[str, ItemKind] = {
    "quaternion_norm": ItemKind("layout", "quaternion length", "quaternions have length 1"),
    "quaternion_order": ItemKind("layout", "quaternion order", "xyzw is meant, not wxyz"),
    "units": ItemKind("layout", "units", "angles are radians, lengths metres"),
    "column_shift": ItemKind("layout", "column shift", "no column of v runs ahead of or behind q"),
    "joint_jump": ItemKind("consistency", "no jumps of q", "samples that leave the path and come back"),
    "velocity_consistency": ItemKind("consistency", "v is the rate of q", "differences of q against v"),
    "acceleration_consistency": ItemKind("consistency", "a is the rate of v", "differences of v against a"),
    "loop_closure": ItemKind("kinematics", "closed loops", "gap of closed chains"),
    "coupling": ItemKind("kinematics", "couplings", "followers are where their leaders put them"),
    "foot_slip": ItemKind("kinematics", "slip of contacts", "way that a touching surface slides"),
    "penetration": ItemKind("kinematics", "penetration", "depth of contact surfaces in the ground"),
    "contact_gap": ItemKind("kinematics", "gap under contacts", "height of contacts that are said to hold"),
    "joint_position": ItemKind("limits", "joint position", "q between its limits"),
    "joint_velocity": ItemKind("limits", "joint velocity", "|v| below its limit"),
    "joint_acceleration": ItemKind("limits", "joint acceleration", "|a| below the limit, if one is set"),
    "joint_torque": ItemKind("limits", "joint torque", "torque given, or needed at least"),
    "motor_torque_speed": ItemKind("limits", "motor torque at speed", "torque below the torque–speed line"),
    "motor_power": ItemKind("limits", "motor power", "mechanical power below what the drive gives"),
    "self_collision": ItemKind("collision", "self-collision", "distance of links, also between samples"),
    "obstacle_clearance": ItemKind("collision", "obstacle clearance", "distance to obstacles, also between samples"),
    "unilateral_force": ItemKind("wrenches", "contacts push", "normal force of contacts, never pulling"),
    "friction": ItemKind("wrenches", "friction cone", "tangential force below μ × normal force"),
    "torsional_friction": ItemKind("wrenches", "torsional friction", "moment about the normal"),
    "cop": ItemKind("wrenches", "centre of pressure", "inside the outline of each contact"),
    "zmp": ItemKind("wrenches", "zero moment point", "inside the support polygon"),
    "admissible": ItemKind("wrenches", "admissible contact forces", "is there any set of contact wrenches at all"),
    "momentum_residual": ItemKind("energy", "momentum balance", "forces that nothing exerts"),
    "energy_residual": ItemKind("energy", "energy balance", "power that nothing delivers"),
    "impact": ItemKind("energy", "impact impulse", "jump of velocity when a contact closes"),
    "jerk": ItemKind("energy", "jerk", "rate of the acceleration", "remark"),
    "rest": ItemKind("energy", "rest at start and end", "speed of the first and last sample", "remark"),
    "replay": ItemKind("replay", "replay in physics", "how long the robot stands with joint feedback alone", "remark"),
}
_ORDER = {name: place for place, name in enumerate(ITEMS)}


def order_of(item: str) -> int:
    """The place of an item in the chain."""
    return _ORDER[item]
