"""The demand of a motion: generalized forces, and the net wrench that the contacts have to supply."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import starmap

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts.means import integral, mean_rates, second_rates
from surefoot.feasibility.rates import Rates
from surefoot.motion.reading import PUSH

_LEAST_SIZE = 0.01  # [m]
_PLANAR = [0, 1, 5]  # x, y, rz
_SINGULAR = 1e-9  # of the largest: inertia of robots whose mass is in one point, or on one line


@dataclass(frozen=True, eq=False)
class Demand:
    """Forces that a motion needs.

    Args:
        v: (n, nv) velocities that it was computed from.
        a: (n, nv) accelerations that it was computed from; of the base those that the momentum asks for.
        forces: (n, nv) M a + h.
        com: (n, 3) centre of mass in world [m].
        net: (n, 6) wrench of all contacts together, in world axes, about the centre of mass; of a planar base with
            zeros for what its rails take; less known pushes; NaN for a fixed base.
    """

    v: Array
    a: Array
    forces: Array
    com: Array
    net: Array


def demand_of(case: Case, rates: Rates) -> Demand:
    """Inverse dynamics of a motion; accelerations that were not given are means over `Tolerances.window`.

    Of means, those of the momentum count: a mean acceleration does not belong to the posture and the velocity of any
    one sample, least where the base turns, along whose axes it is written. Mean velocities go with them.
    """
    by_momentum = case.trajectory.a is None and _has_momentum(case)
    v, a = mean_velocities(case, rates) if by_momentum else rates.v, accelerations(case, rates)
    forces = np.array(case.kernels.rnea(case.q, v, a))
    com = case.kernels.com(case.q)
    net = np.full((case.n, 6), np.nan)
    if case.robot.base_joint is not None:
        # R_world_base (n, 3, 3) and the base's origin (n, 3) in world
        joint = case.robot.base_joint
        T = case.kernels.frames(case.q, [case.robot.tree.joint_names[0 if joint is None else joint]])[:, 0]
        R, p = T[:, :3, :3], T[:, :3, 3]
        if by_momentum:
            a, forces = _with_net(case, v, a, _base_motions(case, com, R, p), mean_net_wrench(case, rates, com))
        net = _about(com, R, p, _base_wrench(case, forces))
        net[:, :3] -= _mean_push(case)
    return Demand(v, a, forces, com, net)


def mean_velocities(case: Case, rates: Rates) -> Array:
    """(n, nv): as given, else means over `Tolerances.window` to both sides of each sample."""
    if case.trajectory.v is not None:
        return rates.v
    way = np.vstack([np.zeros((1, case.robot.nv)), np.cumsum(rates.steps, axis=0)])
    return mean_rates(way, case.time, case.tolerances.window)


def accelerations(case: Case, rates: Rates) -> Array:
    """(n, nv): as given, else mean second rates (`second_rates`) of the way, by the velocity where it was given."""
    given = case.trajectory
    if given.a is not None:
        return given.a
    start = np.zeros((1, case.robot.nv))
    way = np.vstack([start, np.cumsum(rates.steps, axis=0)]) if given.v is None else integral(given.v, case.time)
    return second_rates(way, case.time, case.tolerances.window)


def _with_net(case: Case, v: Array, a: Array, motions: Array, net: Array) -> tuple[Array, Array]:
    """Accelerations, of the base those that a net wrench asks for, all others as they are; and M a + h of them.

    Args:
        case: The case.
        v: (n, nv).
        a: (n, nv).
        motions: (n, 6, base rows) twists at the centre of mass, in world axes, per velocity of the base.
        net: (n, 6) about the centre of mass, in world axes.
    """
    base, momentum = case.robot.base_rows, case.kernels.bundle(["com", "hg"])
    columns = [momentum(case.q, np.tile(unit, (case.n, 1)))["hg"] for unit in np.eye(case.robot.nv)[base]]
    inertia = np.swapaxes(motions, 1, 2) @ np.stack(columns, axis=2)
    wanted = np.einsum("nij,ni->nj", motions, net)
    missing = wanted - case.kernels.rnea(case.q, v, a)[:, base]
    out = np.array(a)
    out[:, base] += np.einsum("nij,nj->ni", np.linalg.pinv(inertia, rcond=_SINGULAR, hermitian=True), missing)
    forces = np.array(case.kernels.rnea(case.q, v, out))
    forces[:, base] = wanted
    return out, forces


def _base_motions(case: Case, com: Array, R: Array, p: Array) -> Array:
    """(n, 6, base rows): twists at the centre of mass, in world axes, per velocity of the base."""
    out = np.zeros((case.n, 6, 6))
    out[:, :3, :3] = out[:, 3:, 3:] = R
    out[:, :3, 3:] = np.cross(R, (com - p)[:, :, None], axis=1)
    return out if len(case.robot.base_rows) == 6 else out[:, :, _PLANAR]


def _mean_push(case: Case) -> Array:
    """(n, 3): pushes as they show in the accelerations."""
    push = push_of(case)
    if case.trajectory.a is not None or not np.any(push):
        return push
    return second_rates(integral(integral(push, case.time), case.time), case.time, case.tolerances.window)


def push_of(case: Case) -> Array:
    """(n, 3) known pushes on the robot in world [N]; zero where nobody told of any."""
    given = case.trajectory.references.get(PUSH)
    if given is None:
        return np.zeros((case.n, 3))
    if given.shape[1] != 3:
        raise ShapeError(f"reference `{PUSH}` has {given.shape[1]} entries, expected 3: a force in world [N]")
    return given


def size_of(case: Case) -> float:
    """Root mean square distance of the robot's mass from its centre [m], in the first posture; moments count by it.

    At least 1 cm, for robots whose mass is in one point.
    """
    model, data = case.robot.model, case.robot.model.createData()
    pin.ccrba(model, data, np.array(case.q[0]), np.zeros(case.robot.nv))
    mass = case.robot.mass
    return max(float(np.sqrt(0.5 * np.trace(data.Ig.inertia) / mass)), _LEAST_SIZE) if mass > 0.0 else 1.0


def _base_wrench(case: Case, forces: Array) -> Array:
    """(n, 6) in base axes, about the base's origin."""
    rows = forces[:, case.robot.base_rows]
    if rows.shape[1] == 6:
        return rows
    out = np.zeros((case.n, 6))
    out[:, _PLANAR] = rows
    return out


def _about(point: Array, R: Array, p: Array, wrench: Array) -> Array:
    """Wrenches (n, 6) in axes R at p, in world axes about points."""
    force = np.einsum("nij,nj->ni", R, wrench[:, :3])
    moment = np.einsum("nij,nj->ni", R, wrench[:, 3:]) + np.cross(p - point, force)
    return np.hstack([force, moment])


def _has_momentum(case: Case) -> bool:
    """Whether the base carries all mass, so that momentum changes by what acts on the base and gravity alone."""
    base = case.robot.base_joint
    return base is not None and case.robot.mass > 0.0 and len(case.subtree(base)) == case.robot.tree.n


def mean_net_wrench(case: Case, rates: Rates, com: Array) -> Array:
    """(n, 6): mean of all that acts but gravity, in world axes, about the centre of mass c_k of each sample.

        force = mean of dp/dt − m g,  moment = mean of d/dt (L + (c − c_k) × p) − (c − c_k) × m g    [audit.mean-wrench]

    Newton and Euler, with p and L of the whole robot, L about c. Means are those of accelerations (`second_rates`). The
    point that moments are about stands still in each window: so the mean of what contacts exert that stand still is
    something that they can exert.
    """
    mass, weight = case.robot.mass, case.robot.mass * case.world.gravity
    path, spin = _ways(case, rates, com)
    orbit = mass * np.cross(path[:-1], path[1:])  # path × its step, in the middle of the step
    turned = spin + np.vstack([np.zeros(3), np.cumsum(orbit, axis=0)])
    middle = integral(integral(path, case.time), case.time)
    second = second_rates(np.hstack([path, turned, middle]), case.time, case.tolerances.window)
    force = mass * second[:, :3] - weight
    moment = second[:, 3:6] - np.cross(second[:, 6:], weight) - np.cross(path, force)
    return np.hstack([force, moment])


def _ways(case: Case, rates: Rates, com: Array) -> tuple[Array, Array]:
    """Way of the centre of mass (n, 3) [m] and integral of L (n, 3), by the velocity where it was given."""
    momentum = case.kernels.bundle(["com", "hg"])
    if case.trajectory.v is not None:
        ways = integral(momentum(case.q, rates.v)["hg"], case.time)
        return ways[:, :3] / case.robot.mass, ways[:, 3:]
    halves = zip([case.robot.model] * len(rates.steps), np.array(case.q[:-1]), 0.5 * rates.steps, strict=True)
    between = np.array(list(starmap(pin.integrate, halves))).reshape(-1, case.robot.nq)
    L = momentum(between, rates.mean)["hg"][:, 3:] if len(between) else np.zeros((0, 3))
    return com - com[0], np.vstack([np.zeros(3), np.cumsum(L * np.diff(case.time)[:, None], axis=0)])
