"""The net wrench of the contacts from the change of momentum: exact, whatever turns or swings meanwhile."""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.feasibility.efforts_means import integral, second_rates

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["has_momentum", "mean_net_wrench"]


def has_momentum(case: Case) -> bool:
    """Whether the base carries all mass, so that momentum changes by what acts on the base and gravity alone."""
    base = case.robot.base_joint
    return base is not None and case.robot.mass > 0.0 and len(case.subtree(base)) == case.robot.tree.n


def mean_net_wrench(case: Case, com: Array) -> Array:
    """(n, 6): mean of all that acts but gravity, in world axes, about the centre of mass c_k of each sample.

        force = mean of dp/dt − m g,  moment = mean of d/dt (L + (c − c_k) × p) − (c − c_k) × m g    [audit.mean-wrench]

    Newton and Euler, with p and L of the whole robot, L about c. Means are those of accelerations (`second_rates`). The
    point that moments are about stands still in each window: so the mean of what contacts exert that stand still is
    something that they can exert.

    Args:
        case: The case.
        com: (n, 3) centre of mass in world [m].
    """
    mass, weight = case.robot.mass, case.robot.mass * case.world.gravity
    path, spin = _ways(case, com)
    orbit = mass * np.cross(path[:-1], path[1:])  # path × its step, in the middle of the step
    turned = spin + np.vstack([np.zeros(3), np.cumsum(orbit, axis=0)])
    middle = integral(integral(path, case.time), case.time)
    rates = second_rates(np.hstack([path, turned, middle]), case.time, case.tolerances.window)
    force = mass * rates[:, :3] - weight
    moment = rates[:, 3:6] - np.cross(rates[:, 6:], weight) - np.cross(path, force)
    return np.hstack([force, moment])


def _ways(case: Case, com: Array) -> tuple[Array, Array]:
    """Way of the centre of mass (n, 3) [m] and integral of L (n, 3), by the velocity where it was given."""
    momentum = case.kernels.bundle(["com", "hg"])
    if case.trajectory.v is not None:
        ways = integral(momentum(case.q, case.v)["hg"], case.time)
        return ways[:, :3] / case.robot.mass, ways[:, 3:]
    halves = zip([case.robot.model] * len(case.steps), np.array(case.q[:-1]), 0.5 * case.steps, strict=True)
    between = np.array(list(starmap(pin.integrate, halves))).reshape(-1, case.robot.nq)
    L = momentum(between, case.rates)["hg"][:, 3:] if len(between) else np.zeros((0, 3))
    return com - com[0], np.vstack([np.zeros(3), np.cumsum(L * np.diff(case.time)[:, None], axis=0)])
