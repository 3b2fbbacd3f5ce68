"""A six-legged robot on hobby servos.

Six legs of three hinges (coxa, femur, tibia) and the two kinds of servo: Wimmer 2016, chapter 6. Sizes and masses are
not stated there; ours follow from the servos: about 50 g each, eighteen of them, and a mass that they carry with less
than half of their torque.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.robot.build import Parts
from surefoot.robot.model import ContactSurface, Link, placement
from surefoot.robot.zoo.limbs import Plan, drives_of, hinge, mirrored
from surefoot.robot.zoo.solids import ball, bar, block, link_of
from surefoot.spatial import so3

_BODY_TORQUE = 0.59  # N m, HS-485HB at 6 kg cm: the joints at the body. Wimmer 2016
_OUTER_TORQUE = 0.94  # N m, HS-645MG at 9.6 kg cm: femur and tibia (our reading of "joints farthest from the body")
_SPEED = 5.2  # rad/s: our choice, 60° in 0.2 s, usual for servos of this class
_ARMATURE = 2e-4  # kg m²: our choice, a small rotor behind a gear of some 300
_SERVO: dict[str, Any] = {  # our choice, usual for analogue servos: 8 µs of dead band, 12-bit pulses
    "servo_stiffness": 20.0,  # N m/rad
    "servo_damping": 0.3,  # N m s/rad
    "servo_dead_band": 0.012,  # rad
    "servo_step": 0.0077,  # rad
}
_COXA, _FEMUR, _TIBIA, _FOOT = 0.045, 0.075, 0.11, 0.010  # m: our choice; the last is the radius of the foot
_MOUNTS = (  # name, place on the body (m), heading from x to the left (degree): our choice
    ("front", (0.11, 0.055, 0.0), 45.0),
    ("middle", (0.0, 0.075, 0.0), 90.0),
    ("rear", (-0.11, 0.055, 0.0), 135.0),
)
_HOME = {"femur": -0.5, "tibia": 0.4}  # rad: knees up, tibiae nearly vertical
_FRICTION = 0.8  # our choice: rubber tips


def hexapod() -> Plan:
    """18 joints, 24 degrees of freedom, spherical feet; legs are named left_front … right_rear."""
    body = link_of(
        "body", None, None, [block(0.55, (0.24, 0.09, 0.04)), block(0.30, (0.12, 0.06, 0.03), (0.0, 0.0, 0.035))]
    )
    left = [link for mount in _MOUNTS for link in _leg(*mount)]
    links = (body, *left, *mirrored(left))
    headings = {
        f"{side}_{name}": sign * angle for side, sign in (("left", 1), ("right", -1)) for name, _, angle in _MOUNTS
    }
    home = {f"{leg}_{joint}": value for leg in headings for joint, value in _HOME.items()}
    contacts = tuple(_foot(leg, heading) for leg, heading in headings.items())
    drives = tuple(replace(drive, **_SERVO) for drive in drives_of(links))
    return Plan("hexapod", links, "floating", Parts(contacts=contacts, drives=drives, home=home))


def _leg(mount: str, at: tuple[float, float, float], heading: float) -> list[Link]:
    """A left leg: at q = 0 coxa and femur point outwards, along x of the leg, and the tibia down."""
    name = f"left_{mount}"
    turned = placement(at, _heading(heading))
    coxa = replace(hinge(f"{name}_coxa", "z", at, (-50, 50), _BODY_TORQUE, _SPEED, _ARMATURE), placement=turned)
    femur = hinge(f"{name}_femur", "y", (_COXA, 0.0, 0.0), (-90, 60), _OUTER_TORQUE, _SPEED, _ARMATURE)
    tibia = hinge(f"{name}_tibia", "y", (_FEMUR, 0.0, 0.0), (-80, 80), _OUTER_TORQUE, _SPEED, _ARMATURE)
    shin = bar(0.04, 0.009, (0.0, 0.0, 0.0), (0.0, 0.0, _FOOT - _TIBIA))
    toe = ball(0.005, _FOOT, (0.0, 0.0, _FOOT - _TIBIA), friction=_FRICTION)
    return [
        link_of(
            f"{name}_coxa_link", "body", coxa, [block(0.065, (0.04, 0.03, 0.03), (0.025, 0.0, 0.0), touches=False)]
        ),
        link_of(
            f"{name}_femur_link", f"{name}_coxa_link", femur, [bar(0.115, 0.013, (0.0, 0.0, 0.0), (_FEMUR, 0.0, 0.0))]
        ),
        link_of(f"{name}_tibia_link", f"{name}_femur_link", tibia, [shin, toe]),
    ]


def _heading(degrees: float) -> np.ndarray:
    """R_body_leg (3, 3): x of the leg points outwards."""
    return so3.exp([0.0, 0.0, np.deg2rad(degrees)])


def _foot(leg: str, heading: float) -> ContactSurface:
    """The lowest point of the foot in the home posture, where the tibia leans by femur + tibia; x is forward."""
    lean = _HOME["femur"] + _HOME["tibia"]
    R_tibia_leg = so3.exp([0.0, -lean, 0.0])
    at = np.array([0.0, 0.0, _FOOT - _TIBIA]) + R_tibia_leg @ [0.0, 0.0, -_FOOT]
    forward = placement(at, R_tibia_leg @ _heading(heading).T)
    return ContactSurface(leg, f"{leg}_tibia_link", "point", forward, friction=_FRICTION, radius=_FOOT)
