"""Robots and engines that the tests of the native engine share."""

from __future__ import annotations

from functools import cache

import numpy as np

from surefoot.motion import GroundPlane, State, World
from surefoot.robot import ContactSurface, Joint, Link, Robot, placement
from surefoot.robot.loading import load
from surefoot.sim.drives.actuation import Actuation
from surefoot.sim.native.engine import NativeEngine
from surefoot.sim.native.touch import LinkTouch, Scale

SCALE = Scale(mass=2.0, gravity=9.81, points=4, lightest=0.4, dt=1e-3)
_MORE = {"spherical": "spherical", "continuous": "continuous"}


@cache
def robot_named(name: str) -> Robot:
    return load(name)


def springs(robot: Robot, kp: float = 0.0, kd: float = 0.0, torque=None, limit: float = np.inf) -> Actuation:
    """An actuation that holds the home posture (for robots with a floating base and revolute joints)."""
    n = robot.nu
    home = np.array(robot.home)[-n:] if n and kp else np.zeros(n)
    push = np.zeros(n) if torque is None else np.asarray(torque, dtype=float)
    bound = np.full(n, float(limit))
    return Actuation(push, home, np.full(n, kp), np.zeros(n), np.full(n, kd), -bound, bound)


def incline(angle: float, friction: float) -> World:
    """A plane that falls along +x by an angle [rad]."""
    return World(ground=(GroundPlane(normal=np.array([np.sin(angle), 0.0, np.cos(angle)]), friction=friction),))


def on_incline(robot: Robot, angle: float, height: float) -> State:
    """The block flat on the incline, its centre a height above it."""
    half = 0.5 * angle
    q = np.array([height * np.sin(angle), 0.0, height * np.cos(angle), 0.0, np.sin(half), 0.0, np.cos(half)])
    return State.of(robot, q)


def feet(count: int, mass: float = 2.2) -> Robot:
    """A heavy plate on some balls, each on its own link that is fixed to it by a stiff slider."""
    turn = 2.0 * np.pi * np.arange(count) / count
    links = [Link("plate", mass=0.9 * mass, inertia=0.02 * mass * np.eye(3))]
    contacts = []
    for k, angle in enumerate(turn):
        joint = Joint(f"slider{k}", "prismatic", placement((0.2 * np.cos(angle), 0.2 * np.sin(angle), -0.1)))
        links.append(Link(f"foot{k}", "plate", joint, mass=0.1 * mass / count, inertia=1e-5 * np.eye(3)))
        contacts.append(ContactSurface(f"foot{k}", f"foot{k}", "point", placement((0, 0, -0.01)), radius=0.01))
    return Robot.from_tree(f"feet{count}", links, "floating", contacts=tuple(contacts))


def stretched_arm() -> Robot:
    """A fixed arm with joints of many kinds, some driven."""
    rng = np.random.default_rng(3)
    links, kinds = [Link("frame")], ("revolute", "continuous", "prismatic", "spherical")
    for k, kind in enumerate(kinds):
        joint = Joint(f"j{k}", kind, placement((0.2, 0.1, 0.1)), axis=rng.standard_normal(3), damping=0.1)
        inertia = np.diag([0.02, 0.03, 0.04])
        links.append(Link(f"l{k}", links[-1].name, joint, mass=1.0, com=np.array([0.1, 0.0, 0.05]), inertia=inertia))
    return Robot.from_tree("arm", links, "fixed")


def some_touch(rng: np.random.Generator, points: int = 3, integral: float = 0.004) -> LinkTouch:
    """Points above and under the ground, at rest and in motion."""
    flat = np.array([1.0, 1.0, 0.0])
    return LinkTouch(
        depth=1e-3 * rng.uniform(-1.0, 3.0, points),
        rate=0.05 * rng.standard_normal(points),
        stretch=2e-3 * rng.standard_normal((points, 3)) * flat,
        slide=0.05 * rng.standard_normal((points, 3)) * flat,
        friction=rng.uniform(0.2, 1.0, points),
        integral=integral,
    )


def run(engine: NativeEngine, seconds: float, actuation: Actuation) -> NativeEngine:
    engine.native_steps(round(seconds / engine.dt), actuation)
    return engine
