"""Robots with closed chains and gears, closed states, and the projected equations as an oracle."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import scipy.linalg

from surefoot.dynamics.constraints.constraints import Constraints, own_constraints
from surefoot.dynamics.constraints.equations import Baumgarte, constrained_equations
from surefoot.dynamics.constraints.projection import close
from surefoot.kinematics import integrate
from surefoot.robot import Coupling, Drive, Joint, Link, Loop, Robot, placement
from tests.sim.examples import solid, turned

_Y = (0.0, 1.0, 0.0)
PLANAR = (True, False, True, False, False, False)
HINGE = (True, True, True, True, False, True)
POINT = (True, True, True, False, False, False)
ALL = (True,) * 6
NO_GAINS = Baumgarte()


def _bar(name: str, parent: str | None, joint: Joint, length: float) -> Link:
    """A slender bar along x from its joint."""
    mass = 3.0 * length
    across = mass * length**2 / 12.0
    return Link(
        name, parent, joint, mass=mass, com=np.array([0.5 * length, 0.0, 0.0]),
        inertia=np.diag([0.001, across, across]),
    )  # fmt: skip


def _hinge(name: str, x: float = 0.0, z: float = 0.0) -> Joint:
    return Joint(name, "revolute", placement((x, 0.0, z)), axis=_Y)


def bar_links(parent: str, prefix: str = "", at: float = 0.0) -> list[Link]:
    """A four-bar linkage on a link, open where coupler (0.8 m) and rocker (0.6 m) meet; crank 0.3 m, base 0.7 m."""
    return [
        _bar(f"{prefix}crank", parent, _hinge(f"{prefix}crank_joint", at), 0.3),
        _bar(f"{prefix}coupler", f"{prefix}crank", _hinge(f"{prefix}coupler_joint", 0.3), 0.8),
        _bar(f"{prefix}rocker", parent, _hinge(f"{prefix}rocker_joint", at + 0.7), 0.6),
    ]


def bar_loop(prefix: str = "", directions: tuple[bool, ...] = PLANAR) -> Loop:
    """Coupler and rocker meet."""
    ends = placement((0.8, 0.0, 0.0)), placement((0.6, 0.0, 0.0))
    return Loop(f"{prefix}bars", f"{prefix}coupler", f"{prefix}rocker", *ends, directions)  # type: ignore[arg-type]


BAR_HOME = {"crank_joint": -1.2, "coupler_joint": 0.9, "rocker_joint": -1.7}


@lru_cache
def four_bar(directions: tuple[bool, ...] = PLANAR) -> Robot:
    """On the world; held in two directions, or in more than it takes."""
    links = [Link("ground"), *bar_links("ground")]
    drives = (Drive("crank_joint"),)
    return Robot.from_tree("four-bar", links, "fixed", loops=(bar_loop("", directions),), drives=drives, home=BAR_HOME)


@lru_cache
def geared_four_bar() -> Robot:
    """A rotor on the ground turns the crank, 50 times as fast."""
    rng = np.random.default_rng(5)
    rotor = Link("rotor", "ground", _hinge("rotor_joint"), mass=0.2, com=np.zeros(3), inertia=np.diag([1, 2, 1]) * 1e-4)
    links = [Link("ground"), *bar_links("ground"), rotor]
    links.append(Link("hand", "coupler", Joint("hand_joint", "spherical", turned(rng)), **solid(rng)))
    gear = Coupling("rotor_joint", "crank_joint", 50.0)
    return Robot.from_tree(
        "geared four-bar", links, "fixed", loops=(bar_loop(),), couplings=(gear,), drives=(Drive("crank_joint"),),
        home={**BAR_HOME, "rotor_joint": -60.0},
    )  # fmt: skip


@lru_cache
def six_bar() -> Robot:
    """Two four-bar linkages that share the rocker of the first."""
    links = [Link("ground"), *bar_links("ground")]
    links.append(_bar("coupler2", "rocker", _hinge("coupler2_joint", 0.4), 0.8))
    links.append(_bar("rocker2", "ground", _hinge("rocker2_joint", 1.5), 0.5))
    ends = placement((0.8, 0.0, 0.0)), placement((0.5, 0.0, 0.0))
    loops = (bar_loop(), Loop("bars2", "coupler2", "rocker2", *ends, PLANAR))
    home = {**BAR_HOME, "coupler2_joint": 1.9, "rocker2_joint": -1.4}
    return Robot.from_tree("six-bar", links, "fixed", loops=loops, drives=(Drive("crank_joint"),), home=home)


@lru_cache
def three_cranks() -> Robot:
    """A platform on three equal cranks: one of the two loops has a row too much, as long as the cranks are parallel."""
    links = [Link("ground"), *(_bar(f"crank{k}", "ground", _hinge(f"c{k}", 0.5 * k), 0.4) for k in range(3))]
    links.append(_bar("platform", "crank0", _hinge("p", 0.4), 1.0))
    tip = placement((0.4, 0.0, 0.0))
    loops = tuple(Loop(f"tie{k}", "platform", f"crank{k}", placement((0.5 * k, 0.0, 0.0)), tip, PLANAR) for k in (1, 2))
    home = {"c0": -1.2, "c1": -1.2, "c2": -1.2, "p": 1.2}
    return Robot.from_tree("three cranks", links, "fixed", loops=loops, drives=(Drive("c0"),), home=home)


@lru_cache
def floating_bars() -> Robot:
    """A floating trunk with two linkages, a hand on a coupler, and a head on the trunk."""
    rng = np.random.default_rng(6)
    links = [Link("trunk", **solid(rng, 4.0)), *bar_links("trunk", "l_"), *bar_links("trunk", "r_", -0.9)]
    links.append(Link("hand", "l_coupler", Joint("wrist", "spherical", turned(rng)), **solid(rng)))
    links.append(Link("finger", "hand", Joint("knuckle", "prismatic", turned(rng), axis=(1, 2, 3)), **solid(rng)))
    links.append(Link("head", "trunk", Joint("neck", "revolute", turned(rng), axis=(3, 2, 1)), **solid(rng)))
    home = {f"{side}_{name}": value for side in "lr" for name, value in BAR_HOME.items()}
    loops = (bar_loop("l_"), bar_loop("r_", HINGE))
    return Robot.from_tree("floating bars", links, "floating", loops=loops, home=home)


@lru_cache
def spatial_loop(joints: int = 8, seed: int = 0) -> Robot:
    """Two arms with skew hinges that hold the same thing, in all six directions."""
    rng = np.random.default_rng([seed, joints])
    links = [Link("ground")]
    for k in range(joints):
        parent = "ground" if k in (0, joints // 2) else f"l{k - 1}"
        joint = Joint(f"j{k}", "revolute", turned(rng), axis=rng.standard_normal(3))
        links.append(Link(f"l{k}", parent, joint, **solid(rng)))
    links.append(Link("tail", "l1", Joint("tail_joint", "spherical", turned(rng)), **solid(rng)))
    first, second = f"l{joints // 2 - 1}", f"l{joints - 1}"
    return closed_at_home(Robot.from_tree("spatial", links, "fixed"), [(first, second, ALL)], rng)


@lru_cache
def delta() -> Robot:
    """A platform that slides in three directions, on three rods; each on a driven crank. Three loops, three dofs."""
    links = [Link("ground"), Link("platform", "ground", Joint("slide", "translation"), **solid(_rng(1), 1.0))]
    loops = []
    for k in range(3):
        T = np.eye(4)
        c, s = np.cos(2.0 * np.pi * k / 3.0), np.sin(2.0 * np.pi * k / 3.0)
        T[:3, :3] = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
        hip, rim = T.copy(), T.copy()
        hip[:3, 3], rim[:3, 3] = T[:3, :3] @ [0.2, 0.0, 0.0], T[:3, :3] @ [0.05, 0.0, 0.0]
        links.append(_bar(f"crank{k}", "ground", Joint(f"hip{k}", "revolute", hip, axis=_Y), 0.3))
        cardan = Joint(f"cardan{k}", "universal", placement((0.3, 0.0, 0.0)), axis=_Y, second_axis=(0.0, 0.0, 1.0))
        links.append(_bar(f"rod{k}", f"crank{k}", cardan, 0.8))
        loops.append(Loop(f"leg{k}", f"rod{k}", "platform", placement((0.8, 0.0, 0.0)), rim, POINT))
    home = {f"hip{k}": 0.3 for k in range(3)} | {f"cardan{k}_1": 1.6 for k in range(3)}
    drives = tuple(Drive(f"hip{k}") for k in range(3))
    robot = Robot.from_tree("delta", links, "fixed", loops=tuple(loops), drives=drives, home=home)
    q = close(robot, None, robot.home)
    return robot.replace(home=q)


@lru_cache
def branched_with_rotors() -> Robot:
    """Six hinges, branched, each with a rotor of ratio 50 on the same parent."""
    rng, links, gears = np.random.default_rng(7), [Link("ground")], []
    for k, parent in enumerate(("ground", "l0", "l1", "l1", "l3", "l0")):
        axis, T = rng.standard_normal(3), turned(rng)
        links.append(Link(f"l{k}", parent, Joint(f"j{k}", "revolute", T, axis=axis), **solid(rng)))
        rotor = Joint(f"r{k}", "revolute", T, axis=axis)
        links.append(Link(f"m{k}", parent, rotor, mass=0.1, com=np.zeros(3), inertia=1e-4 * np.diag([1.0, 1.0, 1.5])))
        gears.append(Coupling(f"r{k}", f"j{k}", 50.0))
    return Robot.from_tree("rotors", links, "fixed", couplings=tuple(gears))


@lru_cache
def random_loops(seed: int) -> Robot:
    """A tree of any joints, tied somewhere, in some directions, and geared."""
    rng = _rng(seed)
    kinds = (
        "revolute",
        "prismatic",
        "spherical",
        "revolute",
        "continuous",
        "helical",
        "planar",
        "revolute",
        "translation",
    )
    links, n = [Link("base", **solid(rng, 4.0))], int(rng.integers(6, 12))
    for k in range(n):
        parent = "base" if k == 0 else f"l{rng.integers(max(0, k - 3), k)}"
        joint = Joint(
            f"j{k}", str(rng.choice(kinds)), turned(rng), axis=rng.standard_normal(3), pitch=0.1,  # type: ignore[arg-type]
            armature=float(rng.choice([0.0, 0.2])),
        )  # fmt: skip
        links.append(Link(f"l{k}", parent, joint, **solid(rng)))
    axes = [k for k in range(n) if links[k + 1].joint.kind in ("revolute", "prismatic", "helical")]  # type: ignore[union-attr]
    gears: tuple[Coupling, ...] = ()
    if len(axes) > 1:
        i, j = rng.choice(axes, 2, replace=False)
        gears = (Coupling(f"j{i}", f"j{j}", float(rng.uniform(-3.0, 3.0)), 0.1),)
    robot = Robot.from_tree("random", links, str(rng.choice(["fixed", "floating"])), couplings=gears, drives=())
    pairs = []
    for _ in range(int(rng.integers(1, 3))):
        i, j = rng.choice(n, 2, replace=False)
        held = rng.choice([PLANAR, POINT, (False, False, True, False, False, False)])
        pairs.append((f"l{i}", f"l{j}", tuple(bool(x) for x in held)))
    return closed_at_home(robot, pairs, rng)


def closed_at_home(robot: Robot, pairs: list[tuple[str, str, tuple[bool, ...]]], rng: np.random.Generator) -> Robot:
    """The robot with pairs of links tied as they are in a random posture, which is its home."""
    q = integrate(robot.tree, np.array(robot.neutral), rng.uniform(-1.0, 1.0, robot.nv))
    q = close(robot, None, q) if robot.couplings else q
    T = robot.placements(q)
    loops = []
    for k, (a, b, held) in enumerate(pairs):
        on_b = turned(rng)
        loops.append(Loop(f"loop{k}", a, b, np.linalg.inv(T[a]) @ T[b] @ on_b, on_b, held))  # type: ignore[arg-type]
    return robot.replace(loops=tuple(loops), home=q)


def closed_state(robot: Robot, seed: int, constraints: Constraints | None = None) -> tuple[np.ndarray, ...]:
    """A closed q near home; v with which it stays closed; tau; wrenches (n, 6)."""
    rng, tree = np.random.default_rng([seed, 99]), robot.tree
    known = own_constraints(robot) if constraints is None else constraints
    q = close(robot, known, integrate(tree, np.array(robot.home), rng.uniform(-0.2, 0.2, robot.nv)))
    v = rng.standard_normal(robot.nv)
    if known.parts:
        J = known.jacobian(tree, q)
        v = v - np.linalg.lstsq(J, J @ v, rcond=1e-9)[0]
    return q, v, rng.standard_normal(robot.nv), rng.standard_normal((tree.n, 6))


def projected(
    robot: Robot, constraints: Constraints, state: tuple[np.ndarray, ...], gains: Baumgarte = NO_GAINS
) -> tuple[np.ndarray, float]:
    """Accelerations by the equations of the whole tree, projected on a null-space basis; and their condition."""
    M, force, J, drift = constrained_equations(robot.tree, constraints, *state, gains)
    N = scipy.linalg.null_space(J, rcond=1e-9)
    bound = -np.linalg.lstsq(J, drift, rcond=1e-9)[0]
    reduced = N.T @ M @ N
    values = np.linalg.svd(J, compute_uv=False)
    held = values[values > 1e-9 * values[0]]
    condition = max(np.linalg.cond(reduced), held[0] / held[-1]) if N.size else held[0] / held[-1]
    return bound + N @ np.linalg.solve(reduced, N.T @ (force - M @ bound)), float(condition)


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, 17])


EXAMPLES: dict[str, Callable[[], Robot]] = {
    "four-bar": four_bar,
    "four-bar, hinge": lambda: four_bar(HINGE),
    "four-bar, welded": lambda: four_bar(POINT),
    "geared four-bar": geared_four_bar,
    "six-bar": six_bar,
    "three cranks": three_cranks,
    "floating bars": floating_bars,
    "spatial, 1 dof": lambda: spatial_loop(7),
    "spatial, 2 dofs": lambda: spatial_loop(8),
    "delta": delta,
    "rotors": branched_with_rotors,
}
