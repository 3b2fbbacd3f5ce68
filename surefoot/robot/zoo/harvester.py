"""A harvesting arm with nine joints: a lift and eight hinges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefoot.robot.build import Parts
from surefoot.robot.model import DHRow, NamedFrame, dh_links, placement
from surefoot.robot.zoo.limbs import Plan
from surefoot.robot.zoo.solids import Solid, bar, block, drum, mass_properties, shapes_of

_QUARTER = 0.5 * np.pi


class _Module(NamedTuple):
    """Denavit–Hartenberg parameters (m, rad), limits (m, rad), speed (m/s, rad/s), force or torque, and solids."""

    a: float
    alpha: float
    d: float
    theta: float
    limits: tuple[float, float]
    speed: float
    effort: float
    solids: tuple[Solid, ...]


# Lift, shoulder (yaw, pitch), elbow, then pairs of roll and pitch, and the wrist's roll. Buschmann 2014, section 5.6.4,
# has nine joints with at least one sliding axis and gives no sizes (the arm is that of Baur et al. 2012). Sizes, masses
# and limits are our choice: a reach of 1.3 m beyond a lift of 0.9 m, between two rows of plants; 34 kg.
_MODULES = (
    _Module(0.0, 0.0, 0.5, 0.0, (0.0, 0.9), 0.5, 1500.0, (block(9.0, (0.22, 0.22, 0.16)),)),
    _Module(0.0, 0.0, 0.12, 0.0, (-2.9, 2.9), 1.5, 150.0, (drum(5.0, 0.07, (0, 0, -0.03), (0, 0, 0.06)),)),
    _Module(0.10, _QUARTER, 0.0, 0.0, (-1.0, 2.2), 1.5, 300.0, (bar(7.0, 0.06, (-0.02, 0, 0), (0.38, 0, 0)),)),
    _Module(0.40, 0.0, 0.0, -_QUARTER, (-2.4, 2.4), 1.8, 160.0, (drum(3.5, 0.055, (0, 0.01, 0), (0, 0.12, 0)),)),
    _Module(0.0, -_QUARTER, 0.30, 0.0, (-2.9, 2.9), 2.0, 60.0, (bar(3.5, 0.045, (0, 0, -0.16), (0, 0, 0.02)),)),
    _Module(0.0, _QUARTER, 0.0, 0.0, (-2.1, 2.1), 2.5, 60.0, (drum(2.0, 0.04, (0, 0.02, 0), (0, 0.09, 0)),)),
    _Module(0.0, -_QUARTER, 0.25, 0.0, (-2.9, 2.9), 3.0, 25.0, (bar(2.0, 0.035, (0, 0, -0.14), (0, 0, 0.02)),)),
    _Module(0.0, _QUARTER, 0.0, 0.0, (-2.1, 2.1), 3.0, 25.0, (drum(1.2, 0.03, (0, 0.01, 0), (0, 0.06, 0)),)),
    _Module(0.0, -_QUARTER, 0.10, 0.0, (-2.9, 2.9), 4.0, 12.0, (drum(0.8, 0.03, (0, 0, -0.02), (0, 0, 0.05)),)),
)
_NAMES = ("lift", "shoulder_yaw", "shoulder_pitch", "elbow", "arm_roll", "forearm_pitch", "forearm_roll",
          "wrist_pitch", "wrist_roll")  # fmt: skip
_GRIPPER = 0.15  # m from the wrist's last frame to the point between the fingers: our choice


def harvester() -> Plan:
    """Nine joints: `lift` (sliding) and eight hinges; the frame `gripper` is where the fruit is held."""
    rows = [_row(i, name, module) for i, (name, module) in enumerate(zip(_NAMES, _MODULES, strict=True))]
    frames = (NamedFrame("gripper", "wrist_roll_link", placement((0.0, 0.0, _GRIPPER))),)
    home = {"lift": 0.3, "shoulder_pitch": 0.6, "elbow": -0.9, "forearm_pitch": 0.6, "wrist_pitch": -0.4}
    return Plan("harvester", tuple(dh_links(rows)), "fixed", Parts(frames=frames, home=home))


def _row(i: int, name: str, module: _Module) -> DHRow:
    link = f"{name}_link"
    mass, com, inertia = mass_properties(module.solids)
    collisions, visuals = shapes_of(link, module.solids)
    return DHRow(
        module.a, module.alpha, module.d, module.theta, "prismatic" if i == 0 else "revolute", None, link, name,
        mass, com, inertia, *module.limits, module.speed, module.effort, 0.0, collisions, visuals,
    )  # fmt: skip
