"""Models, robots and states that the tests of this room share."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pinocchio as pin

from surefoot.redundant import Model, load_model
from surefoot.redundant.equations import State
from surefoot.redundant.nodes.index import _generic_state
from surefoot.robot import Joint, Link, Loop, Robot
from tests.sim.examples import solid, turned

KINDS = ("revolute", "prismatic", "spherical", "continuous", "free", "planar", "translation", "revolute")


@lru_cache(maxsize=8)
def package_model(name: str) -> Model:
    return load_model(name)


def generic_state(model: Model, seed: int) -> State:
    """A random state that does not keep the hinges."""
    return _generic_state(model.layout, np.random.default_rng(seed))


@lru_cache(maxsize=32)
def random_robot(seed: int) -> Robot:
    """A branched robot with random kinds, bases, placements and drives."""
    rng = np.random.default_rng(seed)
    links = [Link("base", **solid(rng, 4.0))]
    for k in range(6):
        kind = KINDS[rng.integers(len(KINDS))]
        armature = 0.1 * float(rng.integers(2)) if kind in ("revolute", "prismatic") else 0.0
        joint = Joint(f"j{k}", kind, turned(rng), axis=rng.standard_normal(3), armature=armature)
        links.append(Link(f"l{k}", links[rng.integers(len(links))].name, joint, **solid(rng)))
    return Robot.from_tree("random", links, ("fixed", "floating", "planar")[seed % 3], drives=())


def random_motion(robot: Robot, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v and tau."""
    rng = np.random.default_rng(seed)
    q = pin.integrate(robot.model, pin.neutral(robot.model), rng.standard_normal(robot.nv))
    return q, rng.standard_normal(robot.nv), 10.0 * rng.standard_normal(robot.nv)


@lru_cache(maxsize=1)
def four_bar() -> Robot:
    """Crank, coupler and rocker in the x-z plane, closed on the ground by a pin: one degree of freedom."""
    rng = np.random.default_rng(3)
    place = lambda x, z: np.array([[1.0, 0, 0, x], [0, 1, 0, 0], [0, 0, 1, z], [0, 0, 0, 1]])  # noqa: E731
    links = [Link("floor")]
    for k, (parent, x) in enumerate((("floor", 0.0), ("l0", 0.3), ("l1", 0.8))):
        joint = Joint(f"j{k}", "revolute", place(x, 0.0), axis=(0.0, 1.0, 0.0))
        links.append(Link(f"l{k}", parent, joint, **solid(rng)))
    loop = Loop(
        "closing", "universe", "l2", placement_a=place(1.0, 0.0), placement_b=place(0.5, 0.0),
        directions=(True, True, True, True, False, True),
    )  # fmt: skip
    return Robot.from_tree("four-bar", links, "fixed", drives=(), loops=[loop])
