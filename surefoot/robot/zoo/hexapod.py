"""A six-legged robot on hobby servos.

Six legs of three hinges (coxa, femur, tibia) and the two kinds of servo: Wimmer 2016, chapter 6. Sizes and masses are not
stated there; ours follow from the servos: about 50 g each, eighteen of them, and a mass that they carry with less than half
of their torque.
"""

from __future__ import annotations

import numpy as np

from surefoot.robot.assemble import Parts
from surefoot.robot.contacts import ContactSurface
from surefoot.robot.links import Joint, Link, placement
from surefoot.robot.zoo.limbs import Plan, drives_of, mirrored
from surefoot.robot.zoo.solids import ball, bar, block, link_of

__all__ = ["hexapod"]

_BODY_TORQUE = 0.59  # N m, HS-485HB at 6 kg cm: the joints at the body. Wimmer 2016
_OUTER_TORQUE = 0.94  # N m, HS-645MG at 9.6 kg cm: femur and tibia (our reading of "joints farthest from the body")
_SPEED = 5.2  # rad/s: our choice, 60° in 0.2 s, usual for servos of this class
_ARMATURE = 2e-4  # kg m²: our choice, a small rotor behind a gear of some 300
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
    names = [f"{side}_{mount[0]}" for side in ("left", "right") for mount in _MOUNTS]
    home = {f"{name}_{joint}": value for name in names for joint, value in _HOME.items()}
    contacts = tuple(_foot(name) for name in names)
    return Plan("hexapod", links, "floating", Parts(contacts=contacts, drives=drives_of(links), home=home))


def _leg(mount: str, at: tuple[float, float, float], heading: float) -> list[Link]:
    """A left leg: at q = 0 coxa and femur point outwards, along x of the leg, and the tibia down."""
    name = f"left_{mount}"
    c, s = np.cos(np.deg2rad(heading)), np.sin(np.deg2rad(heading))
    outwards = placement(at, np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))
    coxa = _servo(f"{name}_coxa", outwards, (0.0, 0.0, 1.0), (-50.0, 50.0), _BODY_TORQUE)
    femur = _servo(f"{name}_femur", placement((_COXA, 0.0, 0.0)), (0.0, 1.0, 0.0), (-90.0, 60.0), _OUTER_TORQUE)
    tibia = _servo(f"{name}_tibia", placement((_FEMUR, 0.0, 0.0)), (0.0, 1.0, 0.0), (-80.0, 80.0), _OUTER_TORQUE)
    shin = bar(0.04, 0.009, (0.0, 0.0, 0.0), (0.0, 0.0, _FOOT - _TIBIA))
    toe = ball(0.005, _FOOT, (0.0, 0.0, _FOOT - _TIBIA), friction=_FRICTION)
    return [
        link_of(f"{name}_coxa_link", "body", coxa, [block(0.065, (0.04, 0.03, 0.03), (0.025, 0.0, 0.0), touches=False)]),
        link_of(f"{name}_femur_link", f"{name}_coxa_link", femur, [bar(0.115, 0.013, (0.0, 0.0, 0.0), (_FEMUR, 0.0, 0.0))]),
        link_of(f"{name}_tibia_link", f"{name}_femur_link", tibia, [shin, toe]),
    ]


def _servo(name: str, place: np.ndarray, axis: tuple[float, float, float], degrees: tuple[float, float],
           torque: float) -> Joint:  # fmt: skip
    lower, upper = np.deg2rad(degrees)
    return Joint(
        name, "revolute", place, axis, lower=float(lower), upper=float(upper), velocity=_SPEED, effort=torque,
        armature=_ARMATURE,
    )  # fmt: skip


def _foot(leg: str) -> ContactSurface:
    """The lowest point of the foot in the home posture, where the tibia leans by femur + tibia about y."""
    lean = _HOME["femur"] + _HOME["tibia"]
    c, s = np.cos(lean), np.sin(lean)
    upright = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])  # R_tibia_leg
    centre = np.array([0.0, 0.0, _FOOT - _TIBIA])
    at = centre + upright @ np.array([0.0, 0.0, -_FOOT])
    return ContactSurface(leg, f"{leg}_tibia_link", "point", placement(at, upright), friction=_FRICTION, radius=_FOOT)
