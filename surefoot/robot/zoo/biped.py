"""A walker in the sagittal plane: eleven bodies, ten drives.

Masses, inertias about the plane's normal, joint places and ranges: Busenhart 1994, chapter 6. There the plane is e1,
e2; here it is x, z. Hinge angles are those of the source, φ' = φ of the body nearer to the torso − φ of the other one,
with φ counted from x to z; so each hinge turns about +y: a bent knee, a toe that points down and a leg that swings back
are positive. The angle of the planar base turns from x to z, as φ of the torso.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefoot.geometry import Box, Capsule, Sphere
from surefoot.robot.build import Parts
from surefoot.robot.model import ContactSurface, Geometry, Joint, Link, placement
from surefoot.robot.zoo.limbs import Plan, Point, drives_of

_SLIM = 0.1  # smallest principal moment per given moment: our choice (the plane's motion does not feel it)
_SPEED = 15.0  # rad/s: our choice, a little above human walking
_FRICTION = 0.7  # our choice; the source names μ₀ without a number
_SOLE_BALL = 0.02  # m, radius of the ball and the heel: our choice, they touch in a point as in the source
_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # +90° about x: y of the plane is world's z


class _Body(NamedTuple):
    """One limb segment; points are in the frames at the centres of mass [m], angles in rad.

    `joint_on_parent` and `joint_on_self` are s'_1 and −s'_2 of the source; `aside` is our choice of the depth (left) at
    which it is drawn, and `torque` [N m] our choice, near human strength.
    """

    joint: str
    link: str
    parent: str
    mass: float
    inertia: float
    joint_on_parent: tuple[float, float]
    joint_on_self: tuple[float, float]
    limits: tuple[float, float]
    torque: float
    half: float
    aside: float


_PI = float(np.pi)
_LEG = (
    _Body("hip", "thigh", "torso", 9.0, 0.167, (0, -0.32), (0, 0.225), (-_PI, _PI), 250.0, 0.225, 0.10),
    _Body("knee", "shank", "thigh", 5.0, 0.09, (0, -0.225), (0, 0.225), (-_PI / 72, _PI), 250.0, 0.225, 0.0),
    _Body("ankle", "foot", "shank", 1.6, 0.006, (0, -0.225), (-0.1, 0), (-_PI / 4, _PI), 180.0, 0.1, 0.0),
)
_ARM = (
    _Body("shoulder", "upper_arm", "torso", 2.35, 0.019, (0, 0.18), (0, 0.15), (-_PI, _PI), 60.0, 0.15, 0.25),
    _Body("elbow", "forearm", "upper_arm", 2.35, 0.019, (0, -0.15), (0, 0.15), (-_PI, 0.0), 40.0, 0.15, 0.0),
)
_BEND, _LEAN = (
    0.2,
    0.10,
)  # rad: our choice; half the knee's bend, and a lean that brings the centre of mass before the heel
_ARM_HOME = {"shoulder": 0.0, "elbow": -_PI / 18}  # the source's elbow target, with the sign of its range


def biped() -> Plan:
    """The walker, with a planar base, and ball and heel of each foot as contact points."""
    sides = (("right", -1.0), ("left", 1.0))
    legs = [_segment(side, sign, body) for side, sign in sides for body in _LEG]
    arms = [_segment(side, sign, body) for side, sign in sides for body in _ARM]
    contacts = tuple(_touch(side, name, x) for side, _ in sides for name, x in (("ball", 0.1), ("heel", -0.1)))
    leg = {"hip": -(_BEND - _LEAN), "knee": 2.0 * _BEND, "ankle": -(_BEND + _LEAN)}
    home = {f"{side}_{name}": value for side, _ in sides for name, value in {**leg, **_ARM_HOME}.items()}
    height = 0.32 + 0.45 * np.cos(_BEND - _LEAN) + 0.45 * np.cos(_BEND + _LEAN)
    parts = Parts(
        contacts=contacts, drives=drives_of([*legs, *arms]), home=home, home_base=(0.0, float(height), 1.0, 0.0)
    )
    return Plan("biped", (*_torso(), *legs, *arms), "planar", parts)


def _torso() -> list[Link]:
    """The body that moves in the plane; `torso` has its axes parallel to the world's, with z up."""
    base = Link("base", None, Joint("root_joint", "planar", placement(rotation=_UP)))
    shape = Geometry("torso_0", "torso", Capsule(0.13, 0.38))
    head = Geometry("torso_1", "torso", Sphere(0.11), placement((0.0, 0.0, 0.45)))
    inertia = 2.25 * np.diag([1.0, 1.0, 2.0 * _SLIM])
    level = Joint("level", "fixed", placement(rotation=_UP.T))
    return [base, Link("torso", "base", level, 47.0, np.zeros(3), inertia, (shape, head), (shape, head))]


def _segment(side: str, sign: float, body: _Body) -> Link:
    on_parent, on_self = np.array(body.joint_on_parent), np.array(body.joint_on_self)
    before = _centre_of(body.parent)
    at: Point = (before[0] + on_parent[0], sign * body.aside, before[1] + on_parent[1])
    lower, upper = body.limits
    joint = Joint(
        f"{side}_{body.joint}", "revolute", placement(at), (0.0, 1.0, 0.0), lower=lower, upper=upper,
        velocity=_SPEED, effort=body.torque,
    )  # fmt: skip
    name = f"{side}_{body.link}"
    parent = "torso" if body.parent == "torso" else f"{side}_{body.parent}"
    com = np.array([-on_self[0], 0.0, -on_self[1]])
    along = np.array([0.0, 0.0, 1.0]) if on_self[0] == 0.0 else np.array([1.0, 0.0, 0.0])
    inertia = body.inertia * (np.eye(3) - (1.0 - _SLIM) * np.outer(along, along))
    shapes = _foot_shapes(name, com) if body.link == "foot" else _rod_shapes(name, com, body.half)
    return Link(name, parent, joint, body.mass, com, inertia, *shapes)


def _centre_of(link: str) -> tuple[float, float]:
    """Centre of mass of a segment in its link frame, which lies in its joint (the torso's in its centre of mass)."""
    for body in (*_LEG, *_ARM):
        if body.link == link:
            return -body.joint_on_self[0], -body.joint_on_self[1]
    return 0.0, 0.0


def _rod_shapes(name: str, com: np.ndarray, half: float) -> tuple[tuple[Geometry, ...], tuple[Geometry, ...]]:
    # the ankle lies at the height of the sole: the shank's rod ends above it, so that only the foot touches
    lift = 0.03 if name.endswith("shank") else 0.0
    shape = Capsule(0.04, 2.0 * (half - 0.04 - lift))
    rod = Geometry(f"{name}_0", name, shape, placement(com + np.array([0.0, 0.0, lift])))
    return (rod,), (rod,)


def _foot_shapes(name: str, com: np.ndarray) -> tuple[tuple[Geometry, ...], tuple[Geometry, ...]]:
    """Balls below which ball and heel touch, at the height of the ankle as in the source."""
    balls = tuple(
        Geometry(
            f"{name}_{label}", name, Sphere(_SOLE_BALL), placement(com + np.array([x, 0.0, _SOLE_BALL])), _FRICTION
        )
        for label, x in (("ball", 0.1), ("heel", -0.1))
    )
    plate = Geometry(f"{name}_plate", name, Box((0.2, 0.08, 0.03)), placement(com + np.array([0.0, 0.0, _SOLE_BALL])))
    return balls, (*balls, plate)


def _touch(side: str, name: str, x: float) -> ContactSurface:
    """A contact point of a foot; x [m] counts from the foot's centre of mass, which lies 0.1 m before the ankle."""
    return ContactSurface(
        f"{side}_{name}", f"{side}_foot", "point", placement((0.1 + x, 0.0, 0.0)), friction=_FRICTION, radius=_SOLE_BALL
    )
