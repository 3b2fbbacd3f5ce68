"""Robots for the tests of this room: one of every joint kind, and a symmetric walker."""

from __future__ import annotations

import functools

import numpy as np
import pinocchio as pin

from surefoot.robot import ContactSurface, Coupling, Joint, Link, Robot, placement
from surefoot.spatial import so3

KINDS = ("revolute", "continuous", "prismatic", "helical", "spherical", "planar", "translation")


def link(name, parent, kind, at=(0.1, 0.05, -0.2), axis=(0.0, 0.0, 1.0), rotation=None, joint=None, **extra):
    how = Joint(joint or f"{name}_joint", kind, placement(at, rotation), axis, **extra)
    return Link(name, parent, how, mass=1.0, inertia=0.01 * np.eye(3))


@functools.cache
def every_kind(base: str = "floating", follower: bool = True) -> Robot:
    """A branched robot with each joint kind, joints turned against each other, and a follower without coordinate."""
    turn = so3.exp([0.3, -0.4, 0.5])
    links = [Link("trunk", mass=5.0, inertia=0.1 * np.eye(3))]
    links += [
        link("a", "trunk", "revolute", axis=(0.6, 0.0, 0.8), rotation=turn),
        link("b", "a", "continuous", axis=(0.0, 1.0, 0.0)),
        link("c", "b", "spherical", rotation=turn),
        link("d", "trunk", "prismatic", axis=(0.0, 0.6, 0.8)),
        link("e", "d", "planar", rotation=turn),
        link("f", "e", "helical", pitch=0.05),
        link("g", "trunk", "continuous", axis=(0.6, 0.8, 0.0)),
        link("h", "g", "translation", rotation=turn),
        link("i", "h", "revolute", axis=(1.0, 0.0, 0.0)),
    ]
    couplings = (Coupling("i_joint", "a_joint", ratio=-1.5, offset=0.2),) if follower else ()
    return Robot.from_tree("every", links, base, couplings=couplings, mimic="reduce", contacts=())


@functools.cache
def walker() -> Robot:
    """A floating trunk with a waist, two legs and two arms, mirror images of each other at y = 0."""
    links = [
        Link("pelvis", mass=5.0, inertia=0.1 * np.eye(3)),
        link("chest", "pelvis", "revolute", (0, 0, 0.2), joint="waist_yaw"),
    ]
    contacts = []
    for side, s in (("left", 1.0), ("right", -1.0)):
        tilt = so3.exp([0.2 * s, 0.1, -0.3 * s])
        links += [
            link(f"{side}_hip", "pelvis", "spherical", (0, 0.1 * s, -0.1), rotation=tilt, joint=f"{side}_hip"),
            link(f"{side}_shank", f"{side}_hip", "revolute", (0, 0.02 * s, -0.4), (0, 1, 0), joint=f"{side}_knee"),
            link(f"{side}_foot", f"{side}_shank", "revolute", (0, 0, -0.4), (s, 0, 0), joint=f"{side}_ankle_roll"),
            link(f"{side}_arm", "chest", "continuous", (0, 0.2 * s, 0.3), (0, 0, s), joint=f"{side}_shoulder"),
            link(
                f"{side}_hand",
                f"{side}_arm",
                "prismatic",
                (0.1, 0.03 * s, -0.3),
                (0, 0.6 * s, 0.8),
                joint=f"{side}_slide",
            ),
        ]
        corners = np.array([[0.1, 0.05, 0], [-0.1, 0.05, 0], [-0.1, -0.05, 0], [0.1, -0.05, 0]])
        at = placement((0.03, 0.01 * s, -0.05))
        contacts.append(ContactSurface(f"{side}_foot", f"{side}_foot", "rectangle", at, corners))
    return Robot.from_tree("walker", links, "floating", contacts=tuple(contacts))


def random_states(robot: Robot, n: int, seed: int = 0):
    """Random q (n, nq), v (n, nv)."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(n, robot.nv))
    q = np.array([pin.integrate(robot.model, np.array(robot.neutral), step) for step in steps]).reshape(n, robot.nq)
    return q, rng.normal(size=(n, robot.nv))


def distance(robot: Robot, a, b) -> float:
    """Largest distance of two configurations or series, on the manifold."""
    pairs = zip(np.atleast_2d(a), np.atleast_2d(b), strict=True)
    return max(float(np.abs(pin.difference(robot.model, x, y)).max()) for x, y in pairs)
