"""Cart-pole, pendulum and a planar arm: mechanisms in the x–z plane whose angles turn from x towards z (about −y).

Bodies to slide with: a block, and two feet in a V-shaped support. Their soles grip so well that the ground decides.

Sizes and masses are our choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.geometry import Box
from surefoot.robot.build import Parts
from surefoot.robot.model import ContactSurface, Drive, Joint, Link, Loop, NamedFrame, placement
from surefoot.robot.zoo.limbs import Plan, flat_sole
from surefoot.robot.zoo.solids import Solid, ball, bar, block, drum, link_of, shapes_of
from surefoot.spatial import so3

_CART_FORCE = 20.0  # Busenhart 1994, the actuator of the cart-pole is clipped to ±20 N
_BEARING_FORCE = 50.0  # Koch, table G.1
_CART, _CART_MASS = (0.3, 0.2, 0.1), 5.0  # m, kg: our choice, Koch prints no numbers
_BEARING_POLE, _BEARING_POLE_MASS = 1.0, 1.0  # m, kg: our choice
_WAY = 100.0  # m and rad: Koch, table G.1
POINT_INERTIA = 1e-6  # kg m²: our choice for point masses, since physics engines refuse bodies without inertia
_TURN = (0.0, -1.0, 0.0)


def cartpole(force: float | None = None, bearing: bool = False) -> Plan:
    """A cart on a rail along x, and a pole with a point mass on its tip, upright at φ = 0.

    m₁ = 1 kg, m₂ = 0.1 kg, l = 1 m, rail ±5 m, only the cart is driven; the tip is at x = s − l sin φ, z = l cos φ.
    Busenhart 1994, chapter 6 (cart-pole), with a rotational inertia of `POINT_INERTIA` added to the point mass.

    Args:
        force: Limit of the cart's drive [N]: 20 if omitted, with a bearing 50.
        bearing: The cart flies in the x–z plane and turns, and a closed chain, the bearing, ties the middle of its
            bottom to the rail in height and rotation (Koch, section 5.3 and appendix G): four coordinates.
    """
    if bearing:
        return _cart_on_bearing(_BEARING_FORCE if force is None else force)
    force = _CART_FORCE if force is None else force
    slide = Joint("slide", "prismatic", axis=(1.0, 0.0, 0.0), lower=-5.0, upper=5.0, effort=force)
    cart = link_of("cart", None, slide, [block(1.0, (0.3, 0.2, 0.1))])
    swing = Joint("swing", "revolute", axis=_TURN)
    pole = _point_on_rod("pole", "cart", swing, 0.1, (0.0, 0.0, 1.0))
    drives = (Drive("slide", torque_limit=force),)
    frames = (NamedFrame("tip", "pole", placement((0.0, 0.0, 1.0))),)
    return Plan("cartpole", (cart, pole), "fixed", Parts(drives=drives, frames=frames))


def _cart_on_bearing(force: float) -> Plan:
    """x, z and rotation of the cart, then the pole; the cart's centre of mass lies h/4 below its middle."""
    x, y, h = _CART
    way: dict[str, Any] = {"lower": -_WAY, "upper": _WAY, "velocity": _WAY}
    along = Link(
        "along", None, Joint("slide", "prismatic", placement((0.0, 0.0, 0.5 * h)), (1.0, 0.0, 0.0), effort=force, **way)
    )
    up = Link("up", "along", Joint("lift", "prismatic", placement(), (0.0, 0.0, 1.0), **way))
    collisions, visuals = shapes_of("cart", [block(_CART_MASS, _CART)])
    inertia = _CART_MASS / 12.0 * np.diag([y * y + h * h, x * x + h * h, x * x + y * y])
    tilt = Joint("tilt", "revolute", placement(), _TURN, **way)
    cart = Link("cart", "up", tilt, _CART_MASS, np.array([0.0, 0.0, -0.25 * h]), inertia, collisions, visuals)
    swing = Joint("swing", "revolute", placement(), _TURN, **way)
    pole = _point_on_rod("pole", "cart", swing, _BEARING_POLE_MASS, (0.0, 0.0, _BEARING_POLE))
    held = (False, False, True, False, True, False)
    rail = Loop("bearing", "universe", "cart", placement(), placement((0.0, 0.0, -0.5 * h)), held)
    frames = (NamedFrame("tip", "pole", placement((0.0, 0.0, _BEARING_POLE))),)
    drives = (Drive("slide", torque_limit=force),)
    return Plan(
        "cartpole-bearing", (along, up, cart, pole), "fixed", Parts(drives=drives, frames=frames, loops=(rail,))
    )


def pendulum(tied: bool = False) -> Plan:
    """A point mass of 1 kg on a rod of 1 m, hanging at q = 0, at (sin q, 0, −cos q); no drive.

    Buschmann 2014, section 3.4.1 (planar pendulum: m = 1, l = 1), with `POINT_INERTIA` added.

    Args:
        tied: Coordinates of the mass instead of the angle: it flies in the x–z plane and a closed chain ties the other
            end of its rod to the world's origin; at home the rod is horizontal.
    """
    if tied:
        return _tied_pendulum()
    swing = Joint("swing", "revolute", axis=_TURN)
    bob = _point_on_rod("bob", None, swing, 1.0, (0.0, 0.0, -1.0))
    frames = (NamedFrame("tip", "bob", placement((0.0, 0.0, -1.0))),)
    return Plan("pendulum", (bob,), "fixed", Parts(drives=(), frames=frames))


def _tied_pendulum() -> Plan:
    along = Link("along", None, Joint("x", "prismatic", placement((1.0, 0.0, 0.0)), (1.0, 0.0, 0.0)))
    up = Link("up", "along", Joint("z", "prismatic", placement(), (0.0, 0.0, 1.0)))
    shapes = [ball(1.0, 0.04), bar(1.0, 0.012, (-1.0, 0.0, 0.0), (0.0, 0.0, 0.0), touches=False)]
    collisions, visuals = shapes_of("bob", shapes)
    turn = Joint("turn", "revolute", placement(), _TURN)
    bob = Link("bob", "up", turn, 1.0, np.zeros(3), POINT_INERTIA * np.eye(3), collisions, visuals)
    held = (True, False, True, False, False, False)
    pivot = Loop("pivot", "universe", "bob", placement(), placement((-1.0, 0.0, 0.0)), held)
    frames = (NamedFrame("tip", "bob", placement()),)
    return Plan("pendulum-tied", (along, up, bob), "fixed", Parts(drives=(), frames=frames, loops=(pivot,)))


def _point_on_rod(name: str, parent: str | None, joint: Joint, mass: float, tip: tuple[float, float, float]) -> Link:
    """A link whose mass sits in one point; rod and ball are only shapes."""
    shapes = [ball(mass, 0.04, tip), bar(mass, 0.012, (0.0, 0.0, 0.0), tip, touches=False)]
    collisions, visuals = shapes_of(name, shapes)
    return Link(name, parent, joint, mass, np.array(tip), POINT_INERTIA * np.eye(3), collisions, visuals)


_ARM_LENGTH = 0.25  # m per link: our choice, four equal links with a reach of 1 m
_ARM_LINKS = (  # mass [kg], torque [N m], largest angle [degree]: our choice, lighter and weaker outwards
    (2.0, 80.0, 170.0),
    (1.5, 50.0, 150.0),
    (1.0, 25.0, 150.0),
    (0.6, 10.0, 150.0),
)


def arm4() -> Plan:
    """Four hinges in the x–z plane, stretched along x at q = 0; the frame `tip` is its end.

    Buschmann 2014, section 5.6.2 uses such an arm without stating its sizes; they are our choice.
    """
    links: list[Link] = []
    parent, at = None, (0.0, 0.0, 0.0)
    for i, (mass, torque, degrees) in enumerate(_ARM_LINKS, start=1):
        limit = float(np.deg2rad(degrees))
        joint = Joint(f"joint{i}", "revolute", placement(at), _TURN, lower=-limit, upper=limit, velocity=4.0,
                      effort=torque)  # fmt: skip
        rod = drum(mass, 0.025, (0.03, 0.0, 0.0), (_ARM_LENGTH - 0.03, 0.0, 0.0))
        links.append(link_of(f"link{i}", parent, joint, [rod]))
        parent, at = links[-1].name, (_ARM_LENGTH, 0.0, 0.0)
    frames = (NamedFrame("tip", "link4", placement((_ARM_LENGTH, 0.0, 0.0))),)
    home = {"joint1": 1.2, "joint2": -0.8, "joint3": -0.8, "joint4": -0.6}
    return Plan("arm4", tuple(links), "fixed", Parts(frames=frames, home=home))


_BLOCK_MASS = 2.0  # kg
_V_ANGLE = 30.0  # degree
_GRIP = 2.0  # Coulomb coefficient of the soles, above that of any ground
_BLOCK = (0.2, 0.2, 0.1)  # m
_PLATE, _PLATE_MASS = (0.12, 0.06, 0.02), 2.5  # m, kg
_STANCE = 0.2  # m, from the middle to the centre of each plate
_FORCE, _TRAVEL = 500.0, (-0.15, 0.3)  # N, m


def sliding_block(mass: float = _BLOCK_MASS) -> Plan:
    """A box of 0.2 × 0.2 × 0.1 m without drives; the contact `bottom` is its lower face.

    Args:
        mass: [kg].
    """
    x, y, z = (0.5 * edge for edge in _BLOCK)
    body = link_of("bottom", None, None, [block(mass, _BLOCK, friction=_GRIP)])
    sole = flat_sole("bottom", (-x, x), (-y, y), -z, _GRIP)
    return Plan("block", (body,), "floating", Parts(contacts=(sole,), drives=()))


def v_support(angle: float = _V_ANGLE) -> Plan:
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
