"""A humanoid like HRP-2: 1.58 m, 30 driven joints, with rigid or elastic ankles.

Height and joints (six per leg, torso yaw and pitch, two of the head, seven per arm with the gripper), cantilevered hips
and a heavy pelvis: Koch's dissertation on HRP-2. Masses, lengths and limits are not printed there. Ours are chosen near
the proportions of published robots of this class: 58 kg, thigh and shank of 0.3 m, hips 0.12 m and legs 0.19 m apart.
"""

from __future__ import annotations

from dataclasses import replace

from surefoot.robot.build import Parts
from surefoot.robot.model import Finding, Joint, Link, NamedFrame, Spring, placement
from surefoot.robot.zoo.limbs import Plan, Segment, both_sides, drives_of, flat_sole, hinge, limb, mirrored
from surefoot.robot.zoo.solids import ball, bar, block, link_of

ANKLE_STIFFNESS = 2000.0  # N m/rad about roll and about pitch: our choice, 4 times what one foot needs to hold m g h
ANKLE_DAMPING = 20.0  # N m s/rad: our choice; the rubber is well damped
VERTICAL_STIFFNESS, VERTICAL_DAMPING = 5e5, 2e3  # N/m, N s/m: our choice; the weight presses the rubber by 1 mm
BUSHING_STIFFNESS, BUSHING_DAMPING = 8.2e5, 8e3  # N/m, N s/m: our choice, about as stiff about roll and pitch
BUSHINGS = ((0.04, 0.0), (-0.02, 0.035), (-0.02, -0.035))  # m: places of the bushings: our choice
_SPEED = 6.0  # rad/s: our choice
_LEG_ARMATURE, _ARM_ARMATURE = 0.10, 0.03  # kg m²: our choice, rotors behind harmonic drives
_SOLE_X, _SOLE_Y, _ANKLE = (-0.105, 0.135), (-0.070, 0.070), 0.105  # m: our choice
_THIGH, _SHANK = 0.300, 0.300  # m

_LEG = (
    Segment("hip_yaw", "z", (0.0, 0.060, 0.0), (-45, 45), 120.0, "hip_bracket",
            (block(0.9, (0.09, 0.07, 0.06), (-0.02, 0.0, 0.04), touches=False),)),
    Segment("hip_roll", "x", (0.0, 0.0, 0.0), (-20, 35), 160.0, "hip_block",
            (block(1.0, (0.11, 0.06, 0.08), (-0.01, 0.0, 0.0), touches=False),)),
    Segment("hip_pitch", "y", (0.0, 0.035, 0.0), (-125, 42), 220.0, "thigh",
            (bar(3.6, 0.055, (0.0, 0.0, 0.0), (0.0, 0.0, -_THIGH + 0.01)),)),
    Segment("knee", "y", (0.0, 0.0, -_THIGH), (0, 150), 250.0, "shank",
            (bar(2.2, 0.048, (0.0, 0.0, -0.01), (0.0, 0.0, -_SHANK + 0.01)),)),
    Segment("ankle_pitch", "y", (0.0, 0.0, -_SHANK), (-75, 42), 160.0, "ankle_block",
            (block(0.4, (0.06, 0.06, 0.05), touches=False),)),
    Segment("ankle_roll", "x", (0.0, 0.0, 0.0), (-35, 35), 120.0, "ankle",
            (block(0.5, (0.07, 0.07, 0.03), (0.0, 0.0, -0.030), touches=False),)),
)  # fmt: skip
_FOOT = (block(0.8, (0.24, 0.14, 0.03), (0.015, 0.0, -0.040), friction=0.7),)  # in a frame 0.05 m below the ankle
_MOUNT = 0.050  # m from the ankle down to the foot's frame, where the rubber sits: our choice
_BUSH = (block(0.1, (0.06, 0.06, 0.01), touches=False),)  # plate of the rubber, between the two passive hinges
_HALF = (block(0.05, (0.06, 0.06, 0.005), touches=False),)  # half of it, where a slider comes first
_ARM = (
    Segment("shoulder_pitch", "y", (0.0, 0.190, 0.290), (-180, 60), 60.0, "shoulder",
            (block(0.7, (0.08, 0.08, 0.08), (0.0, 0.010, 0.0), touches=False),)),
    Segment("shoulder_roll", "x", (0.0, 0.040, 0.0), (-10, 95), 60.0, "shoulder_block",
            (block(0.6, (0.07, 0.07, 0.09), (0.0, 0.0, -0.020), touches=False),)),
    Segment("shoulder_yaw", "z", (0.0, 0.0, 0.0), (-92, 92), 40.0, "upper_arm",
            (bar(1.0, 0.042, (0.0, 0.0, -0.060), (0.0, 0.0, -0.240)),)),
    Segment("elbow", "y", (0.0, 0.0, -0.250), (-137, 1), 40.0, "forearm",
            (bar(0.8, 0.036, (0.0, 0.0, -0.010), (0.0, 0.0, -0.210)),)),
    Segment("wrist_yaw", "z", (0.0, 0.0, -0.230), (-92, 92), 15.0, "wrist",
            (block(0.3, (0.05, 0.05, 0.05), touches=False),)),
    Segment("wrist_pitch", "y", (0.0, 0.0, 0.0), (-90, 90), 15.0, "hand",
            (block(0.4, (0.03, 0.08, 0.09), (0.0, 0.0, -0.070)),)),
    Segment("gripper", "y", (0.018, 0.0, -0.060), (-60, 5), 8.0, "thumb",
            (block(0.1, (0.012, 0.030, 0.075), (0.006, 0.0, -0.040), touches=False),)),
)  # fmt: skip
_TRUNK = (
    Segment("torso_yaw", "z", (0.0, 0.0, 0.200), (-45, 45), 120.0, "waist",
            (block(1.5, (0.14, 0.16, 0.06), touches=False),)),
    Segment("torso_pitch", "y", (0.0, 0.0, 0.0), (-5, 60), 200.0, "torso",
            (block(14.2, (0.20, 0.26, 0.330), (0.010, 0.0, 0.210)),)),
)  # fmt: skip
_HEAD = (
    Segment("head_yaw", "z", (0.0, 0.0, 0.420), (-45, 45), 10.0, "neck",
            (bar(0.6, 0.035, (0.0, 0.0, -0.04), (0.0, 0.0, 0.06), touches=False),)),
    Segment("head_pitch", "y", (0.0, 0.0, 0.060), (-30, 45), 10.0, "head",
            (ball(1.9, 0.0975, (0.010, 0.0, 0.0975)),)),
)  # fmt: skip
_PELVIS = (block(13.0, (0.20, 0.22, 0.110), (-0.010, 0.0, 0.115)),)  # heavy: it holds the batteries
_BEND = 0.35  # rad, half the bend of the knees: our choice, away from stretched legs


def humanoid(elastic_ankle: bool = False, vertical: bool = False, bushings: bool = False) -> Plan:
    """30 driven joints, 36 degrees of freedom; contacts `left_foot` and `right_foot`, frames `left_palm`, `right_palm`.

    With an elastic ankle, each foot hangs on two passive hinges, 40 degrees of freedom in all, with
    τ = −K q − D dq/dt (Koch, (9.2), diagonal, no offset): K = `ANKLE_STIFFNESS` of its springs, D = `ANKLE_DAMPING` of
    these joints. With `vertical` it also yields along its axis, 42 degrees of freedom (Koch, (9.1), three coordinates
    that do not depend on each other); with `bushings`, three upright bushings carry these coordinates together, for
    small angles (Koch, (9.3)): each is a spring along z − x pitch + y roll at its place (x, y).

    Args:
        elastic_ankle: Whether there is rubber between ankle and foot.
        vertical: Rubber with three coordinates.
        bushings: Rubber as three bushings.
    """
    slides = vertical or bushings
    elastic_ankle = elastic_ankle or slides
    pelvis = link_of("pelvis", None, None, _PELVIS)
    leg = [
        *limb("left_", "pelvis", _LEG, _SPEED, _LEG_ARMATURE),
        *_foot(elastic_ankle, slides, 0.0 if bushings else 1.0),
    ]
    trunk = limb("", "pelvis", _TRUNK, _SPEED, _LEG_ARMATURE)
    head = limb("", "torso", _HEAD, _SPEED, _ARM_ARMATURE)
    arm = limb("left_", "torso", _ARM, _SPEED, _ARM_ARMATURE)
    links = (pelvis, *leg, *mirrored(leg), *trunk, *head, *arm, *mirrored(arm))
    passive = frozenset(f"{side}_flex_{axis}" for side in ("left", "right") for axis in _flexible(slides))
    frames = tuple(
        NamedFrame(f"{side}_palm", f"{side}_hand", placement((0.0, 0.0, -0.07))) for side in ("left", "right")
    )
    contacts = tuple(flat_sole(f"{s}_foot", _SOLE_X, _SOLE_Y, _MOUNT - _ANKLE) for s in ("left", "right"))
    home = both_sides({"hip_pitch": -_BEND, "knee": 2.0 * _BEND, "ankle_pitch": -_BEND, "elbow": -0.5})
    parts = Parts(
        frames=frames, contacts=contacts, drives=drives_of(links, passive), home=home,
        notes=_notes(elastic_ankle, slides, bushings),
        springs=_springs(sorted(passive), bushings) if elastic_ankle else (),
    )  # fmt: skip
    kind = "-bushings" if bushings else "-vertical" if vertical else ""
    return Plan(f"humanoid-elastic-ankle{kind}" if elastic_ankle else "humanoid", links, "floating", parts)


def _flexible(slides: bool) -> tuple[str, ...]:
    return ("vertical", "roll", "pitch") if slides else ("roll", "pitch")


def _springs(joints: list[str], bushings: bool) -> tuple[Spring, ...]:
    """One for each passive joint, or three bushings for each foot."""
    if not bushings:
        return tuple(
            Spring(name, {name: 1.0}, VERTICAL_STIFFNESS if name.endswith("vertical") else ANKLE_STIFFNESS)
            for name in joints
        )
    return tuple(
        Spring(
            f"{side}_bushing_{k + 1}",
            {f"{side}_flex_vertical": 1.0, f"{side}_flex_pitch": -x, f"{side}_flex_roll": y},
            BUSHING_STIFFNESS, BUSHING_DAMPING,
        )
        for side in ("left", "right")
        for k, (x, y) in enumerate(BUSHINGS)
    )  # fmt: skip


def _foot(elastic: bool, slides: bool, damped: float) -> list[Link]:
    """The left foot, fixed to the ankle or on two passive hinges (roll, then pitch), after a slider where it has one.

    Joints have dampers of their own, times `damped`.
    """
    below = (0.0, 0.0, -_MOUNT)
    if not elastic:
        return [
            link_of("left_foot", "left_ankle", Joint("left_foot_mount", "fixed", placement(below)), (*_FOOT, *_BUSH))
        ]
    here, loss = (0.0, 0.0, 0.0), damped * ANKLE_DAMPING
    roll = replace(hinge("left_flex_roll", "x", here if slides else below, (-10, 10), 0.0, _SPEED), damping=loss)
    pitch = replace(hinge("left_flex_pitch", "y", here, (-10, 10), 0.0, _SPEED), damping=loss)
    foot = link_of("left_foot", "left_bush", pitch, _FOOT)
    if not slides:
        return [link_of("left_bush", "left_ankle", roll, _BUSH), foot]
    slider = Joint(
        "left_flex_vertical", "prismatic", placement(below), lower=-0.01, upper=0.01, velocity=1.0, effort=0.0,
        damping=damped * VERTICAL_DAMPING,
    )  # fmt: skip
    return [link_of("left_plate", "left_ankle", slider, _HALF), link_of("left_bush", "left_plate", roll, _HALF), foot]


def _notes(elastic: bool, slides: bool, bushings: bool) -> tuple[Finding, ...]:
    if not elastic:
        return ()
    what = f"a spring of {ANKLE_STIFFNESS:g} N m/rad" + (f" or {VERTICAL_STIFFNESS:g} N/m" if slides else "")
    what = f"passive, with {f'three bushings of {BUSHING_STIFFNESS:g} N/m' if bushings else what}"
    names = [", ".join(f"{side}_flex_{axis}" for axis in _flexible(slides)) for side in ("left", "right")]
    return tuple(Finding("note", name, what) for name in names)
