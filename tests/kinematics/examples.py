"""Robots and states that the tests of this room share."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pinocchio as pin

from surefoot.kinematics import Frame
from surefoot.robot import Coupling, Joint, Link, Robot
from surefoot.robot.loading import load
from surefoot.spatial import so3
from tests.sim.examples import every_joint, solid, turned

KINDS = ("spherical", "planar", "prismatic", "continuous", "translation", "revolute", "helical", "universal")
REFERENCE_OF_PINOCCHIO = {
    "local": pin.LOCAL,
    "world": pin.WORLD,
    "local_world_aligned": pin.LOCAL_WORLD_ALIGNED,
}


@lru_cache(maxsize=16)
def robot_named(name: str, mimic: str = "coupling") -> Robot:
    """A robot of the zoo, "every joint", or "followers": a chain whose joints follow one another."""
    if name == "every joint":
        return every_joint(KINDS)
    return followers(mimic) if name == "followers" else load(name, mimic=mimic)


def followers(mimic: str) -> Robot:
    """A floating chain of four one-axis joints; the third follows the first, and a side branch follows too."""
    rng = np.random.default_rng(8)
    links = [Link("base", **solid(rng, 3.0))]
    for k, (kind, parent) in enumerate(
        (("revolute", "base"), ("prismatic", "l0"), ("revolute", "l1"), ("revolute", "l2"), ("prismatic", "l0"))
    ):
        links.append(
            Link(f"l{k}", parent, Joint(f"j{k}", kind, turned(rng), axis=rng.standard_normal(3)), **solid(rng))
        )
    ties = (Coupling("j2", "j0", -1.7, 0.3), Coupling("j4", "j0", 0.4, -0.1))
    return Robot.from_tree("followers", links, "floating", drives=(), couplings=ties, mimic=mimic)


def state(robot: Robot, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q, v, a."""
    rng = np.random.default_rng(seed)
    q = pin.integrate(robot.model, np.array(robot.neutral), rng.uniform(-1.5, 1.5, robot.nv))
    return q, rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)


def moved(robot: Robot, q: np.ndarray, v: np.ndarray, time: float) -> np.ndarray:
    """The configuration after some time at velocity v."""
    return pin.integrate(robot.model, q, time * v)


def some_frame(robot: Robot, seed: int) -> Frame:
    """A frame somewhere on the last body."""
    rng = np.random.default_rng(seed)
    return Frame(robot.tree.n - 1, so3.random(rng), rng.standard_normal(3))


def assert_same(found, expected, tolerance: float = 1e-12) -> None:
    """Normwise agreement."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    assert np.isfinite(found).all()
    difference = np.abs(found - expected).max(initial=0.0)
    assert difference <= tolerance * max(1.0, np.abs(expected).max(initial=0.0)), difference


def widened(robot: Robot, full: Robot) -> np.ndarray:
    """G (full nv, nv) of a robot whose followers were taken away: the whole robot's velocity is G v."""
    tree, G = robot.tree, np.zeros((full.nv, robot.nv))
    for i in range(tree.n):
        source = int(tree.mimic_source[i])
        rows, leader = full.tree.v_index[i], tree.v_index[i if source < 0 else source]
        for k in range(max(tree.nv_of(i), 1)):
            G[rows + k, leader + k] = tree.mimic_ratio[i] if source >= 0 else 1.0
    return G


def full_configuration(robot: Robot, full: Robot, q: np.ndarray) -> np.ndarray:
    """The configuration of the whole robot that belongs to q of the one without followers."""
    tree, out = robot.tree, np.array(full.neutral)
    for i in range(tree.n):
        source, start = int(tree.mimic_source[i]), int(full.tree.q_index[i])
        if source >= 0:
            out[start] = tree.mimic_offset[i] + tree.mimic_ratio[i] * q[tree.q_index[source]]
        else:
            out[start : start + tree.nq_of(i)] = q[tree.q_index[i] : tree.q_index[i] + tree.nq_of(i)]
    return out


__all__ = [
    "KINDS",
    "REFERENCE_OF_PINOCCHIO",
    "assert_same",
    "followers",
    "full_configuration",
    "moved",
    "robot_named",
    "some_frame",
    "state",
    "widened",
]
