"""Constrained robots with passive joints, at states that meet their constraints, and an independent solution."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pinocchio as pin

from surefoot.dynamics.constraints.constraints import Constraints, constraints_of, contact
from surefoot.dynamics.constraints.equations import Baumgarte
from surefoot.dynamics.inverse.driven_equations import DrivenEquations, driven_equations
from surefoot.robot import Drive, Joint, Link, Loop, Robot
from tests.dynamics.examples import robot_named
from tests.sim.examples import solid, turned

SIZES = [(4, 1, 2), (12, 8, 3), (36, 30, 6), (36, 30, 12)]


def random_equations(nv: int, nu: int, m: int, seed: int = 0) -> DrivenEquations:
    """Any positive definite mass matrix, any constraints, any choice of driven joints."""
    rng = np.random.default_rng([seed, nv, nu, m])
    A = rng.standard_normal((nv, nv))
    driven = rng.permutation(nv)[:nu].astype(np.int64)
    return DrivenEquations(
        A @ A.T / nv + 0.1 * np.eye(nv), rng.standard_normal(nv), rng.standard_normal((m, nv)), rng.standard_normal(m),
        driven,
    )  # fmt: skip


def kkt(equations: DrivenEquations, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a and the least λ of [[M, -Jᵀ], [J, 0]] (a; λ) = (Sᵀ tau - h; -drift), dense."""
    M, h, J, drift, driven = equations
    force = -h.copy()
    force[driven] += tau
    K = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
    found = np.linalg.lstsq(K, np.concatenate([force, -drift]), rcond=1e-13)[0]
    return found[: len(h)], found[len(h) :]


@lru_cache(maxsize=8)
def limbed(joints: int, limbs: int = 2) -> Robot:
    """A floating base with limbs of hinges, all driven; frames tip0, tip1, … are the last links."""
    rng = np.random.default_rng([31, joints, limbs])
    links, drives = [Link("base", **solid(rng, 4.0))], []
    for limb in range(limbs):
        for k in range(joints):
            name = f"j{limb}_{k}"
            link = f"tip{limb}" if k == joints - 1 else f"l{limb}_{k}"
            parent = "base" if k == 0 else f"l{limb}_{k - 1}"
            joint = Joint(name, "revolute", turned(rng), axis=rng.standard_normal(3), armature=0.01 * k)
            links.append(Link(link, parent, joint, **solid(rng)))
            drives.append(Drive(name))
    return Robot.from_tree(f"limbed-{joints}-{limbs}", links, "floating", drives=tuple(drives))


def held(robot: Robot, places: dict[str, str], seed: int, spread: float = 0.2):
    """q near home, v that meets the contacts (frame: kind), and the contacts."""
    rng = np.random.default_rng(seed)
    q = pin.integrate(robot.model, np.array(robot.home), spread * rng.uniform(-1.0, 1.0, robot.nv))
    constraints = constraints_of(robot, [contact(robot, q, frame, kind) for frame, kind in places.items()])
    J = constraints.jacobian(robot.tree, q)
    v = rng.standard_normal(robot.nv)
    return q, v - np.linalg.pinv(J, rcond=1e-10) @ (J @ v), constraints


def equations_of(robot: Robot, q: np.ndarray, v: np.ndarray, constraints: Constraints) -> DrivenEquations:
    return driven_equations(robot.tree, constraints, robot.driven, q, v, Baumgarte())


def level_tip(seed: int):
    """The cart-pole with its tip held at one height: the pole cannot turn, the cart is free."""
    robot, rng = robot_named("cartpole"), np.random.default_rng(seed)
    q, at = rng.uniform(-0.5, 0.5, 2), np.eye(4)
    at[:3, 3] = robot.placements(q)["tip"][:3, 3]
    tie = Loop("tip", "universe", "tip", at, np.eye(4), (False, False, True, False, False, False))
    return robot, q, np.array([rng.standard_normal(), 0.0]), constraints_of(robot, [tie])


CASES = {
    "talos": ("talos", "flat"),
    "g1": ("g1", "flat"),
    "anymal": ("anymal", "point"),
    "cartpole": ("cartpole", ""),
    "limbed": ("", "flat"),
}


def case(name: str, seed: int = 1):
    """A robot with q, v and what holds it: feet; the tip of the cart-pole in height."""
    robot_name, kind = CASES[name]
    if name == "cartpole":
        return level_tip(seed)
    robot = robot_named(robot_name) if robot_name else limbed(7)
    frames = list(robot.contacts)[:4] if robot_name else ["tip0", "tip1"]
    return robot, *held(robot, dict.fromkeys(frames, kind), seed)
