"""A small humanoid of 0.5 m and 7 kg: legs of six joints, arms of four or seven, pelvis and trunk in one.

Height, mass, sole, step width, joint speed and the height of the centre of mass: Nenchev & Konno 2019 (HOAP-2; appendix
A for the joints of its models A.1 and A.2). Pitch ranges follow its table 7.8, the masses of legs and arms its table
7.7 (a planar model with both sides in one); the trunk takes the rest. Link lengths and inertias are not in its text;
ours are chosen so that height, mass and centre of mass agree with the book. Soles of eight points have the shape of
those of the ROBOTIS-OP2 (table 8.2) in the size of this foot.

A sole of eight points, as that of the ROBOTIS-OP2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.geometry import Box
from surefoot.robot.build import Parts
from surefoot.robot.model import ContactSurface, Geometry, NamedFrame, placement
from surefoot.robot.zoo.limbs import Plan, Segment, both_sides, drives_of, flat_sole, limb, mirrored
from surefoot.robot.zoo.solids import ball, bar, block, link_of

# Right sole, in order round it [mm], x forward and y to the left. Nenchev & Konno 2019, table 8.2.
_RIGHT = np.array(
    [[51.5, 9.12], [46.0, 20.5], [-46.0, 20.5], [-51.5, 9.12], [-51.5, -30.12], [-46.0, -41.5], [46.0, -41.5],
     [51.5, -30.12]]
)  # fmt: skip


def _eight_point_sole(
    link: str, x: tuple[float, float], y: tuple[float, float], z: float, friction: float = 0.7, left: bool = False
) -> ContactSurface:
    """The octagon of the OP2, stretched to the edges of another foot; its frame lies below the origin of the link."""
    points = (_RIGHT * [1.0, -1.0])[::-1] if left else _RIGHT
    low, high = points.min(axis=0), points.max(axis=0)
    edges = np.array([x, y])
    flat = edges[:, 0] + (points - low) / (high - low) * (edges[:, 1] - edges[:, 0])
    corners = np.column_stack([flat, np.zeros(len(flat))])
    return ContactSurface(link, link, "polygon", placement((0.0, 0.0, z)), corners, friction)


_SPEED = 3.141592653589793  # rad/s, joint speed limit of the book (section 7.8)
_ARMATURE = 0.004  # kg m²: our choice, a small rotor behind a gear of 100 to 200
_SOLE_X, _SOLE_Y, _ANKLE = (-0.040, 0.058), (-0.0315, 0.0315), 0.037  # m; sole from the book, ankle height our choice
_HALF_STEP = 0.039  # m: half of the step width of 78 mm of the book
_HIP_BELOW_BASE = 0.023  # m: our choice; the base lies 0.145 m below the neck, as the push points of the book say
_THIGH, _SHANK, _UPPER_ARM = 0.100, 0.100, 0.095  # m: our choice
_SHOULDER = (0.0, 0.100, 0.125)  # m in the base frame: our choice

_LEG = (
    Segment("hip_yaw", "z", (0.0, _HALF_STEP, -_HIP_BELOW_BASE), (-45, 60), 8.0, "hip_bracket",
            (block(0.06, (0.030, 0.030, 0.024), (0.0, 0.0, 0.012), touches=False),)),
    Segment("hip_roll", "x", (0.0, 0.0, 0.0), (-25, 45), 12.0, "hip_block",
            (block(0.10, (0.036, 0.030, 0.036), touches=False),)),
    Segment("hip_pitch", "y", (0.0, 0.0, 0.0), (-80, 70), 12.0, "thigh",
            (bar(0.30, 0.025, (0.0, 0.0, 0.0), (0.0, 0.0, -_THIGH)),)),
    Segment("knee", "y", (0.0, 0.0, -_THIGH), (0, 130), 12.0, "shank",
            (bar(0.44, 0.022, (0.0, 0.0, -0.004), (0.0, 0.0, -_SHANK)),)),
    Segment("ankle_pitch", "y", (0.0, 0.0, -_SHANK), (-60, 60), 12.0, "ankle",
            (block(0.085, (0.030, 0.030, 0.030), touches=False),)),
    Segment("ankle_roll", "x", (0.0, 0.0, 0.0), (-25, 25), 12.0, "foot",
            (block(0.20, (0.098, 0.063, 0.014), (0.009, 0.0, -_ANKLE + 0.007), friction=0.7),)),
)  # fmt: skip
_SHOULDER_AND_UPPER_ARM = (
    Segment("shoulder_pitch", "y", _SHOULDER, (-180, 90), 4.0, "shoulder",
            (block(0.08, (0.030, 0.030, 0.030), (0.0, -0.010, 0.0), touches=False),)),
    Segment("shoulder_roll", "x", (0.0, 0.0, 0.0), (-5, 95), 4.0, "shoulder_block",
            (block(0.08, (0.030, 0.026, 0.030), touches=False),)),
    Segment("shoulder_yaw", "z", (0.0, 0.0, 0.0), (-90, 90), 4.0, "upper_arm",
            (bar(0.15, 0.018, (0.0, 0.0, 0.0), (0.0, 0.0, -_UPPER_ARM)),)),
)  # fmt: skip
_FOREARM = (
    Segment("elbow", "y", (0.0, 0.0, -_UPPER_ARM), (-115, 0), 4.0, "forearm",
            (bar(0.085, 0.016, (0.0, 0.0, -0.004), (0.0, 0.0, -0.115)),)),
)  # fmt: skip
_FOREARM_AND_WRIST = (
    Segment("elbow", "y", (0.0, 0.0, -_UPPER_ARM), (-115, 0), 4.0, "forearm",
            (bar(0.045, 0.016, (0.0, 0.0, -0.004), (0.0, 0.0, -0.070)),)),
    Segment("wrist_yaw", "z", (0.0, 0.0, -0.075), (-90, 90), 1.5, "wrist",
            (block(0.01, (0.020, 0.020, 0.016), touches=False),)),
    Segment("wrist_pitch", "y", (0.0, 0.0, 0.0), (-60, 60), 1.5, "wrist_block",
            (block(0.01, (0.018, 0.018, 0.018), touches=False),)),
    Segment("wrist_roll", "x", (0.0, 0.0, 0.0), (-45, 45), 1.5, "hand",
            (bar(0.02, 0.012, (0.0, 0.0, -0.012), (0.0, 0.0, -0.045)),)),
)  # fmt: skip
_TRUNK = (
    block(2.94, (0.085, 0.120, 0.130), (0.004, 0.0, 0.077)),
    block(0.40, (0.070, 0.090, 0.030), (0.0, 0.0, -0.006), touches=False),
    ball(0.50, 0.045, (0.004, 0.0, 0.195)),
)  # with the head: top at 0.5 m; the lower block is the pelvis
_BEND = 0.546  # rad, half the bend of the knees: brings the centre of mass to 242 mm, the start of section 7.7.2


def small_humanoid(arms7: bool = False, soles: bool = False) -> Plan:
    """20 joints (model A.1), or 26 with `arms7` (model A.2); contacts `left_foot` and `right_foot`.

    The frames `left_grip` and `right_grip` are the ends of the arms.

    Args:
        arms7: Add three wrist joints to each arm; the masses stay the same.
        soles: Stand on eight points of each sole in place of its whole rectangle.
    """
    trunk = link_of("trunk", None, None, _TRUNK)
    arm = (*_SHOULDER_AND_UPPER_ARM, *(_FOREARM_AND_WRIST if arms7 else _FOREARM))
    leg_links = limb("left_", "trunk", _LEG, _SPEED, _ARMATURE)
    if soles:
        # The foot with a collision shape that ends above the ground, so that only the points of the sole touch it
        foot = leg_links[-1]
        upper = placement((0.009, 0.0, -_ANKLE + 0.0105))
        leg_links[-1] = replace(
            foot, collisions=(Geometry(f"{foot.name}_upper", foot.name, Box((0.098, 0.063, 0.007)), upper),)
        )
    arm_links = limb("left_", "trunk", arm, _SPEED, _ARMATURE)
    links = (trunk, *leg_links, *mirrored(leg_links), *arm_links, *mirrored(arm_links))
    home = both_sides({"hip_pitch": -_BEND, "knee": 2.0 * _BEND, "ankle_pitch": -_BEND, "elbow": -0.3})
    feet = tuple(_sole(side, soles) for side in ("left", "right"))
    hand, tip = ("hand", -0.045) if arms7 else ("forearm", -0.115)
    grips = tuple(
        NamedFrame(f"{side}_grip", f"{side}_{hand}", placement((0.0, 0.0, tip))) for side in ("left", "right")
    )
    parts = Parts(contacts=feet, drives=drives_of(links), home=home, frames=grips)
    return Plan("-".join(["small-humanoid", *["arms7"] * arms7, *["soles"] * soles]), links, "floating", parts)


def _sole(side: str, eight_points: bool) -> ContactSurface:
    edges = (_SOLE_X, _SOLE_Y, -_ANKLE)
    if eight_points:
        return _eight_point_sole(f"{side}_foot", *edges, left=side == "left")
    return flat_sole(f"{side}_foot", *edges)
