"""Constraint sets that the tests of constrained dynamics share."""

from __future__ import annotations

import numpy as np

from surefoot.dynamics.constraints.equations import ConstrainedEquations
from surefoot.dynamics.constraints.projection import project_velocity
from surefoot.robot import Loop, Robot, placement
from surefoot.robot.model.loops import Coupling
from surefoot.spatial import so3
from tests.dynamics.examples import armed, robot_named, state

ALL = (True,) * 6
POINT = (True, True, True, False, False, False)


def somewhere(rng: np.random.Generator) -> np.ndarray:
    """A random placement (4, 4)."""
    return placement(tuple(0.3 * rng.standard_normal(3)), so3.random(rng))


def tied(robot: Robot, q: np.ndarray, name: str, ends: tuple[str, str], rng: np.random.Generator, held=ALL) -> Loop:
    """A loop at a random place on two links that is closed in q."""
    first, places = somewhere(rng), robot.placements(q) | {"universe": np.eye(4)}
    second = np.linalg.inv(places[ends[1]]) @ places[ends[0]] @ first
    return Loop(name, *ends, first, second, tuple(held))


def soles(robot: Robot, q: np.ndarray) -> list[Loop]:
    """All corners of all contact surfaces held as points: more rows than directions."""
    out = []
    for name, surface in robot.contacts.items():
        corners = surface.corners if len(surface.corners) else np.zeros((1, 3))
        for k, corner in enumerate(corners):
            T = surface.placement @ placement(tuple(corner))
            world = robot.placements(q)[surface.frame] @ T
            out.append(Loop(f"{name}_{k}", "universe", surface.frame, world, T, POINT))
    return out


def random_directions(rng: np.random.Generator) -> tuple[bool, ...]:
    """One to six held directions."""
    held = rng.random(6) < 0.5
    held[rng.integers(6)] = True
    return tuple(bool(x) for x in held)


def trees() -> list[Robot]:
    """Random trees with joints of all kinds."""
    return [armed("floating"), armed("planar"), armed("fixed")]


def held_trees(seed: int):
    """(label, robot, q, v, tau, constraints): random trees, loops and contacts, redundant ones too, kept by q and v."""
    for robot in trees():
        rng = np.random.default_rng(seed)
        q, v, tau = state(robot, seed)
        links, last = robot.link_names, robot.link_names[-1]
        twin = tied(robot, q, "loop", (last, links[2]), rng)
        sets = {
            "partial": [tied(robot, q, "some", (links[3], links[6]), rng, random_directions(rng))],
            "doubled": [twin, Loop("twin", twin.frame_a, twin.frame_b, twin.placement_a, twin.placement_b)],
            "points": [tied(robot, q, f"p{k}", ("universe", last), rng, POINT) for k in range(4)],
            "gears": [Coupling("j2", "j5", -1.7, 0.3), tied(robot, q, "loop", (links[5], links[8]), rng, POINT)],
        }
        for label, constraints in sets.items():
            yield f"{robot.base} {label}", robot, q, project_velocity(robot, constraints, q, v), tau, constraints


def held_zoo(seed: int):
    """The same for robots of the zoo."""
    for name in ("talos", "anymal", "panda"):
        robot = robot_named(name)
        rng = np.random.default_rng(seed)
        q, v, tau = state(robot, seed)
        if name == "panda":
            constraints = [tied(robot, q, "loop", ("panda_link2", "panda_hand"), rng, POINT)]
        else:
            constraints = soles(robot, q)
        yield name, robot, q, project_velocity(robot, constraints, q, v), tau, constraints


def random_equations(rng: np.random.Generator, n: int, rank: int, rows: int) -> ConstrainedEquations:
    """M with inertias of very different size, J of a given rank, and a drift that can be met."""
    root = rng.standard_normal((n, n)) * 10.0 ** rng.uniform(-2.0, 1.0, n)[:, None]
    M = root @ root.T + np.diag(1e-3 * np.sum(root**2, axis=1))
    J = rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, n))
    return ConstrainedEquations(M, rng.standard_normal(n), J, J @ rng.standard_normal(n))


def exact(equations: ConstrainedEquations, rows: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """a and Jᵀ λ by elimination in extended precision, with independent rows."""
    J, n = equations.J[list(rows)], len(equations.M)
    A = np.block([[equations.M, -J.T], [J, np.zeros((len(J), len(J)))]]).astype(np.longdouble)
    b = np.concatenate([equations.force, -equations.drift[list(rows)]]).astype(np.longdouble)
    for k in range(len(b)):
        p = k + int(np.argmax(np.abs(A[k:, k])))
        A[[k, p]], b[[k, p]] = A[[p, k]], b[[p, k]]
        ratio = A[k + 1 :, k] / A[k, k]
        A[k + 1 :] -= np.outer(ratio, A[k])
        b[k + 1 :] -= ratio * b[k]
    x = np.zeros_like(b)
    for k in reversed(range(len(b))):
        x[k] = (b[k] - A[k, k + 1 :] @ x[k + 1 :]) / A[k, k]
    return x[:n].astype(float), (J.T @ x[n:]).astype(float)


def off(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference, as a share of the largest entry."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())
