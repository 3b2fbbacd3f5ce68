"""Bodies to slide with: a block, and two feet in a V-shaped support. Their soles grip so well that the ground decides.

Sizes and masses are our choice.
"""

from __future__ import annotations

import numpy as np

from surefoot.geometry import Box
from surefoot.robot.assemble import Parts
from surefoot.robot.contacts import ContactSurface
from surefoot.robot.drives import Drive
from surefoot.robot.links import Joint, Link, placement
from surefoot.robot.zoo.limbs import Plan, flat_sole
from surefoot.robot.zoo.solids import Solid, block, link_of
from surefoot.spatial import so3

__all__ = ["BLOCK_MASS", "V_ANGLE", "sliding_block", "v_support"]

BLOCK_MASS = 2.0  # kg
V_ANGLE = 30.0  # degree
_GRIP = 2.0  # Coulomb coefficient of the soles, above that of any ground
_BLOCK = (0.2, 0.2, 0.1)  # m
_PLATE, _PLATE_MASS = (0.12, 0.06, 0.02), 2.5  # m, kg
_STANCE = 0.2  # m, from the middle to the centre of each plate
_FORCE, _TRAVEL = 500.0, (-0.15, 0.3)  # N, m


def sliding_block(mass: float = BLOCK_MASS) -> Plan:
    """A box of 0.2 × 0.2 × 0.1 m without drives; the contact `bottom` is its lower face.

    Args:
        mass: [kg].
    """
    x, y, z = (0.5 * edge for edge in _BLOCK)
    body = link_of("bottom", None, None, [block(mass, _BLOCK, friction=_GRIP)])
    sole = flat_sole("bottom", (-x, x), (-y, y), -z, _GRIP)
    return Plan("block", (body,), "floating", Parts(contacts=(sole,), drives=()))


def v_support(angle: float = V_ANGLE) -> Plan:
    """Two equal foot plates that lie flat on the planes z = |y| tan α, and a drive along y that pushes them apart.

    The base is the left plate (y > 0); the joint `spread` carries the right one, and its force F > 0 pushes both
    outwards. At rest h = F is the inward reaction of the ground on each foot, and by symmetry each carries half the
    weight, so nothing slips as long as

        F ∈ (M g / 2) [tan(α − φ), tan(α + φ)],  φ = atan μ        (`surefoot.contact.friction_band`)

    At home, with plates 0.2 m from the middle, it stands in the support. Nenchev & Konno 2019, Fig. 3.8.

    Args:
        angle: α [degree].
    """
    slope = float(np.deg2rad(angle))
    spread = Joint(
        "spread", "prismatic", placement((0.0, -2.0 * _STANCE, 0.0)), (0.0, -1.0, 0.0), lower=_TRAVEL[0],
        upper=_TRAVEL[1], effort=_FORCE,
    )  # fmt: skip
    links = (_plate("left_foot", None, None, slope), _plate("right_foot", "left_foot", spread, -slope))
    contacts = (_sole("left_foot", slope), _sole("right_foot", -slope))
    parts = Parts(
        contacts=contacts,
        drives=(Drive("spread", torque_limit=_FORCE),),
        home={},
        home_base=(0.0, _STANCE, _STANCE * float(np.tan(slope)), 0.0, 0.0, 0.0, 1.0),
    )
    return Plan(f"v-support-{angle:g}", links, "floating", parts)


def _plate(name: str, parent: str | None, joint: Joint | None, tilt: float) -> Link:
    """A plate, the middle of its sole in the origin of the link, turned by `tilt` about x."""
    T = _tilted(tilt)
    T[:3, 3] = 0.5 * _PLATE[2] * T[:3, 2]
    return link_of(name, parent, joint, [Solid(Box(_PLATE), _PLATE_MASS, T, friction=_GRIP)])


def _sole(name: str, tilt: float) -> ContactSurface:
    x, y = 0.5 * _PLATE[0], 0.5 * _PLATE[1]
    corners = np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]])
    return ContactSurface(name, name, "rectangle", _tilted(tilt), corners, _GRIP)


def _tilted(tilt: float) -> np.ndarray:
    """T (4, 4): turned about x [rad]."""
    return placement(rotation=so3.exp([tilt, 0.0, 0.0]))
