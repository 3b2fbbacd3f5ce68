"""The items of an audit, in the order of the chain.

A finding covers later ones of the same interval and part of the robot: a wrong quaternion order makes everything else
look wrong, and a sliding foot needs no finding about its friction.
"""

from __future__ import annotations

from dataclasses import dataclass

STAGES = ("layout", "consistency", "kinematics", "limits", "collision", "wrenches", "energy", "replay")


@dataclass(frozen=True)
class ItemKind:
    """Description of an audit item.

    Args:
        stage: Its place in the chain.
        title: Name in reports.
        about: What is judged, in one line.
        severity: "defect", or "remark" if it does not make a motion impossible.
        explains: Items that may follow from it; None for all later ones.
    """

    stage: str
    title: str
    about: str
    severity: str = "defect"
    explains: frozenset[str] | None = None


_OF_GROUND = frozenset(
    (
        "foot_slip", "penetration", "contact_gap", "joint_torque", "motor_torque_speed", "motor_power",
        "obstacle_clearance", "unilateral_force", "friction", "torsional_friction", "cop", "zmp", "admissible",
        "momentum_residual", "energy_residual", "impact", "replay",
    )
)  # fmt: skip

_OF_BASE = _OF_GROUND | {"velocity_consistency", "acceleration_consistency", "ground_height", "jerk"}
_OF_PATH = frozenset(("replay",))

ITEMS: dict[str, ItemKind] = {
    "quaternion_norm": ItemKind("layout", "quaternion length", "quaternions have length 1"),
    "quaternion_order": ItemKind("layout", "quaternion order", "quaternions are in the order in which they were read"),
    "joint_order": ItemKind("layout", "joint order", "joints are in the order in which they were read"),
    "units": ItemKind("layout", "units", "angles are radians, lengths metres"),
    "column_shift": ItemKind("layout", "column shift", "no column of v runs ahead of or behind q"),
    "joint_jump": ItemKind("consistency", "no jumps of q", "no sample leaves the path and comes back"),
    "velocity_jump": ItemKind(
        "consistency", "no jumps of the base", "the velocity of the base does not jump", explains=_OF_BASE
    ),
    "velocity_consistency": ItemKind("consistency", "v is the rate of q", "v against differences of q"),
    "acceleration_consistency": ItemKind("consistency", "a is the rate of v", "a against differences of v"),
    "loop_closure": ItemKind("kinematics", "closed loops", "gaps of closed chains"),
    "coupling": ItemKind("kinematics", "couplings", "follower joints match their leaders"),
    "ground_height": ItemKind(
        "kinematics",
        "feet on the ground",
        "soles neither hang over the ground nor are sunk in it",
        explains=_OF_GROUND,
    ),
    "foot_slip": ItemKind("kinematics", "contact slip", "sliding distance of touching surfaces"),
    "penetration": ItemKind("kinematics", "penetration", "depth of contact surfaces in the ground"),
    "contact_gap": ItemKind(
        "kinematics", "gap under contacts", "height of surfaces whose contacts are given as closed"
    ),
    "joint_position": ItemKind("limits", "joint position", "q between its limits", explains=_OF_PATH),
    "joint_velocity": ItemKind("limits", "joint velocity", "|v| below its limit"),
    "joint_acceleration": ItemKind("limits", "joint acceleration", "|a| below the limit, if one is set"),
    "joint_torque": ItemKind("limits", "joint torque", "given torque, or the least that is needed"),
    "motor_torque_speed": ItemKind("limits", "motor torque at speed", "torque below the torque–speed line"),
    "motor_power": ItemKind("limits", "motor power", "mechanical power below the limit of the drive"),
    "self_collision": ItemKind(
        "collision", "self-collision", "distance between links, also between samples", explains=_OF_PATH
    ),
    "obstacle_clearance": ItemKind("collision", "obstacle clearance", "distance to obstacles, also between samples"),
    "unilateral_force": ItemKind("wrenches", "contacts push", "contacts never pull"),
    "friction": ItemKind("wrenches", "friction cone", "tangential force below μ × normal force"),
    "torsional_friction": ItemKind("wrenches", "torsional friction", "moment about the normal"),
    "cop": ItemKind("wrenches", "centre of pressure", "inside the outline of each contact"),
    "zmp": ItemKind("wrenches", "zero moment point", "inside the support polygon"),
    "admissible": ItemKind("wrenches", "admissible contact forces", "some set of contact wrenches carries the motion"),
    "momentum_residual": ItemKind("energy", "momentum balance", "unexplained forces"),
    "energy_residual": ItemKind("energy", "energy balance", "unexplained power"),
    "impact": ItemKind("energy", "impact impulse", "impulse when a contact closes"),
    "jerk": ItemKind("energy", "jerk", "rate of the acceleration", "remark"),
    "rest": ItemKind("energy", "rest at start and end", "speed of the first and last sample", "remark"),
    "replay": ItemKind(
        "replay", "replay in physics", "how long the robot stays upright with joint feedback alone", "remark"
    ),
}
_ORDER = {name: place for place, name in enumerate(ITEMS)}


def order_of(item: str) -> int:
    """The place of an item in the chain."""
    return _ORDER[item]
