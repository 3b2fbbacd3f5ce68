"""A walking machine like Lola: 1.8 m, 60 kg, 24 geared drives, rigid or elastic.

Height, mass and joints (legs 2 × 7, arms 2 × 3, pelvis 2, head 2): Buschmann 2014, Fig. 2.13. Lengths, masses, gears
and limits are not printed there and are our choice: human proportions, the seventh joint of a leg is its toe. Knee and
ankle have constant gear ratios here; the nonlinear ones of the machine are not in the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from surefoot.robot.build import Parts
from surefoot.robot.model import Drive, Link, NamedFrame, placement
from surefoot.robot.zoo.limbs import Plan, Segment, both_sides, flat_sole, limb, mirrored
from surefoot.robot.zoo.solids import ball, bar, block, link_of

_SPEED = 12.0  # rad/s: limit of the joints where the drive has none below it
_ANKLE, _THIGH, _SHANK = 0.090, 0.430, 0.430  # m: our choice
_SOLE_X, _SOLE_Y = (-0.090, 0.110), (-0.060, 0.060)  # m, rear part of the foot: our choice
_TOE_X, _TOE_AT = (0.012, 0.082), (0.110, 0.0, -0.065)  # m: our choice, behind the toe's hinge nothing touches

_PELVIS = (
    Segment("pelvis_yaw", "z", (0.0, 0.0, -0.080), (-30, 30), 150.0, "pelvis_block",
            (block(1.5, (0.12, 0.12, 0.04), touches=False),)),
    Segment("pelvis_roll", "x", (0.0, 0.0, 0.0), (-15, 15), 200.0, "pelvis",
            (block(6.0, (0.16, 0.20, 0.07), (-0.005, 0.0, -0.010)),)),
)  # fmt: skip
_LEG = (
    Segment("hip_yaw", "z", (0.0, 0.090, -0.090), (-30, 30), 150.0, "hip_bracket",
            (block(1.2, (0.09, 0.07, 0.05), (0.0, 0.0, 0.010), touches=False),)),
    Segment("hip_roll", "x", (0.0, 0.0, 0.0), (-20, 35), 300.0, "hip_block",
            (block(1.5, (0.10, 0.07, 0.08), touches=False),)),
    Segment("hip_pitch", "y", (0.0, 0.0, 0.0), (-110, 35), 300.0, "thigh",
            (bar(5.0, 0.060, (0.0, 0.0, 0.0), (0.0, 0.0, -_THIGH + 0.01)),)),
    Segment("knee", "y", (0.0, 0.0, -_THIGH), (0, 125), 300.0, "shank",
            (bar(3.0, 0.050, (0.0, 0.0, -0.01), (0.0, 0.0, -_SHANK + 0.02)),)),
    Segment("ankle_pitch", "y", (0.0, 0.0, -_SHANK), (-50, 45), 200.0, "ankle",
            (block(0.6, (0.06, 0.06, 0.04), touches=False),)),
    Segment("ankle_roll", "x", (0.0, 0.0, 0.0), (-25, 25), 120.0, "foot",
            (block(1.2, (0.200, 0.120, 0.030), (0.010, 0.0, -_ANKLE + 0.015), friction=0.7),)),
    Segment("toe", "y", _TOE_AT, (-50, 10), 60.0, "toe_link",
            (block(0.4, (0.070, 0.120, 0.025), (0.047, 0.0, -0.0125), friction=0.7),)),
)  # fmt: skip
_ARM = (
    Segment("shoulder_pitch", "y", (0.0, 0.200, 0.360), (-150, 90), 50.0, "shoulder",
            (block(0.9, (0.07, 0.07, 0.07), touches=False),)),
    Segment("shoulder_roll", "x", (0.0, 0.040, 0.0), (-5, 100), 50.0, "upper_arm",
            (bar(1.6, 0.040, (0.0, 0.0, -0.010), (0.0, 0.0, -0.310)),)),
    Segment("elbow", "y", (0.0, 0.0, -0.320), (-130, 0), 40.0, "forearm",
            (bar(1.2, 0.035, (0.0, 0.0, -0.010), (0.0, 0.0, -0.330)),)),
)  # fmt: skip
_HEAD = (
    Segment("head_yaw", "z", (0.0, 0.0, 0.410), (-60, 60), 10.0, "neck",
            (bar(0.8, 0.040, (0.0, 0.0, -0.02), (0.0, 0.0, 0.09), touches=False),)),
    Segment("head_pitch", "y", (0.0, 0.0, 0.090), (-30, 30), 10.0, "head",
            (ball(2.0, 0.090, (0.010, 0.0, 0.090)),)),
)  # fmt: skip
_TORSO = (block(16.5, (0.18, 0.30, 0.40), (0.010, 0.0, 0.200)),)
_GRIP = (0.0, 0.0, -0.330)  # m: the end of a forearm
_BEND = 0.25  # rad, half the bend of the knees: our choice


class _Gear(NamedTuple):
    """Motor turns per joint turn, rotor inertia at the motor [kg m²], stiffness at the joint [N m/rad]."""

    ratio: float
    rotor: float
    stiffness: float


# Our choice: harmonic drives of 50 to 100 with frameless motors; large gears are stiffer.
_GEARS = {
    "pelvis_yaw": _Gear(100, 1.0e-5, 15e3), "pelvis_roll": _Gear(100, 2.0e-5, 20e3),
    "hip_yaw": _Gear(100, 2.0e-5, 15e3), "hip_roll": _Gear(100, 4.0e-5, 30e3), "hip_pitch": _Gear(50, 1.2e-4, 30e3),
    "knee": _Gear(60, 8.0e-5, 30e3), "ankle_pitch": _Gear(70, 4.0e-5, 20e3), "ankle_roll": _Gear(70, 3.0e-5, 15e3),
    "toe": _Gear(100, 4.0e-6, 8e3),
    "shoulder_pitch": _Gear(100, 4.0e-6, 8e3), "shoulder_roll": _Gear(100, 4.0e-6, 8e3),
    "elbow": _Gear(100, 4.0e-6, 8e3),
    "head_yaw": _Gear(80, 1.0e-6, 2e3), "head_pitch": _Gear(80, 1.0e-6, 2e3),
}  # fmt: skip
_GEAR_DAMPING = 1e-3  # s: damping per stiffness of an elastic gear: our choice
_CORNER = 0.6  # share of the top speed up to which the full torque is there: our choice


def lola(elastic: bool = False) -> Plan:
    """24 driven joints, 30 degrees of freedom; the base is the torso. Contacts: foot and toe of each leg.

    Args:
        elastic: Elastic gears: the rotors turn on their own, behind springs, and do not add to the joints' inertia.
    """
    torso = link_of("torso", None, None, _TORSO)
    pelvis = limb("", "torso", _PELVIS, _SPEED)
    leg = limb("left_", "pelvis", _LEG, _SPEED)
    arm = limb("left_", "torso", _ARM, _SPEED)
    head = limb("", "torso", _HEAD, _SPEED)
    links = (torso, *pelvis, *leg, *mirrored(leg), *arm, *mirrored(arm), *head)
    home = both_sides({"hip_pitch": -_BEND, "knee": 2.0 * _BEND, "ankle_pitch": -_BEND, "elbow": -0.5})
    soles = [
        sole
        for side in ("left", "right")
        for sole in (
            flat_sole(f"{side}_foot", _SOLE_X, _SOLE_Y, -_ANKLE),
            replace(flat_sole(f"{side}_toe_link", _TOE_X, _SOLE_Y, -_ANKLE - _TOE_AT[2]), name=f"{side}_toe"),
        )
    ]
    grips = tuple(NamedFrame(f"{side}_grip", f"{side}_forearm", placement(_GRIP)) for side in ("left", "right"))
    parts = Parts(contacts=tuple(soles), drives=_drives(links, elastic), home=home, frames=grips)
    return Plan("lola-elastic" if elastic else "lola", links, "floating", parts)


def _drives(links: Sequence[Link], elastic: bool) -> tuple[Drive, ...]:
    out = []
    for link in links:
        if link.joint is None:
            continue
        gear = _GEARS[link.joint.name.removeprefix("left_").removeprefix("right_")]
        out.append(
            Drive(
                link.joint.name, gear.ratio, gear.rotor, "elastic" if elastic else "rigid",
                stiffness=gear.stiffness * elastic, damping=gear.stiffness * _GEAR_DAMPING * elastic,
                torque_limit=link.joint.effort, speed_limit=link.joint.velocity,
                corner_speed=_CORNER * link.joint.velocity,
            )
        )  # fmt: skip
    return tuple(out)
