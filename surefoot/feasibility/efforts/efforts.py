"""Joint torques and contact wrenches of a motion: given, or the least that it needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.contact import PlacedCones, admissible_with_torques, admissible_wrenches
from surefoot.errors import one_of
from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts.demand import Demand, demand_of, size_of
from surefoot.feasibility.efforts.joints import carrying_rows, coupled, drive_limits, drive_torques, resisting_forces
from surefoot.feasibility.efforts.margins import impossible_wrenches
from surefoot.feasibility.efforts.support import Support, in_frames, support_of, touch_jacobians
from surefoot.feasibility.rates import Rates
from surefoot.feasibility.touch import Touch
from surefoot.kinematics import contact_frame

_CARRIED = 1e-3  # share of the weight that other wrenches may miss more at the base


@dataclass(frozen=True, eq=False)
class Efforts:
    """Forces of drives and contacts.

    Args:
        needed: (n, nv) generalized forces M a + h that something has to exert.
        tau: (n, nu) torques at the driven joints, NaN where the contacts cannot carry the motion, or not as is said.
        tau_given: Whether they came with the motion.
        wrenches: (n, c, 6) on the robot, in the contact frames, NaN where unknown; zero where a surface is free.
        wrenches_given: Whether they came with the motion.
        violation: (n,) force that no admissible set of contact wrenches supplies [N]; 0 where there is one.
        demand: What the motion asks for.
        support: What may carry it; None for a base that needs no contacts.
        note: How torques were found, or why not.
    """

    needed: Array
    tau: Array
    tau_given: bool
    wrenches: Array
    wrenches_given: bool
    violation: Array
    demand: Demand
    support: Support | None
    note: str = ""


def efforts_of(case: Case, rates: Rates, touch: Touch) -> Efforts:
    """Efforts of a motion.

    Torques that were not given are those of inverse dynamics less what the contacts exert (`Carried`): of all
    admissible contact wrenches the least ones, and where these overload a drive, those that overload it least.
    """
    demand = demand_of(case, rates)
    support = support_of(case, touch, demand.com) if _stands(case) else None
    found = Carried(np.zeros((case.n, len(case.contact_names), 6)), np.zeros(case.n))
    if support is not None:
        found = _carried(case, touch, demand, support)
    tau_given, wrenches_given = case.trajectory.tau is not None, bool(case.trajectory.wrenches)
    wrenches = _given_wrenches(case) if wrenches_given else found.wrenches
    tau, note = _torques(case, rates, demand, wrenches)
    if support is not None and not wrenches_given and not tau_given:
        wrenches, tau = _least_overload(case, rates, touch, demand, support, Carried(wrenches, found.violation), tau)
        tau[found.violation > case.tolerances.admissible * case.weight] = np.nan
    if wrenches_given and not tau_given:
        tau[impossible_wrenches(case, touch, wrenches)] = np.nan
    return Efforts(demand.forces, tau, tau_given, wrenches, wrenches_given, found.violation, demand, support, note)


def _stands(case: Case) -> bool:
    """Whether contacts have to carry the base: not one that is fixed, or on a plane across which gravity acts."""
    robot = case.robot
    if robot.base_joint is None:
        return False
    plane = robot.tree.placements[robot.base_joint, :3, :2]
    return len(robot.base_rows) == 6 or bool(np.abs(case.world.gravity @ plane).max() > 1e-9)


def _torques(case: Case, rates: Rates, demand: Demand, wrenches: Array) -> tuple[Array, str]:
    if case.trajectory.tau is not None:
        return np.array(case.trajectory.tau), "as given"
    if case.robot.loops:
        unknown = np.full((case.n, case.robot.nu), np.nan)
        return unknown, "not judged: the motion does not determine how closed chains share torques"
    source = (
        "the given contact wrenches" if case.trajectory.wrenches else "the least contact wrenches that carry the motion"
    )
    note = f"inverse dynamics with {source}" if len(case.contact_names) else "inverse dynamics"
    if case.trajectory.a is None:
        note += f", accelerations averaged over {1e3 * case.tolerances.window:.3g} ms"
    return drive_torques(case, rates, _joint_forces(case, demand, wrenches)), note


def _joint_forces(case: Case, demand: Demand, wrenches: Array) -> Array:
    """(n, nv): M a + h − Jᵀ f."""
    if not np.any(wrenches):
        return demand.forces
    return np.asarray(case.kernels.rnea(case.q, demand.v, demand.a, external=on_bodies(case, wrenches)))


def _least_overload(
    case: Case, rates: Rates, touch: Touch, demand: Demand, support: Support, found: Carried, tau: Array
) -> tuple[Array, Array]:
    """Wrenches and torques, changed where other admissible wrenches overload the drives less."""
    limits = drive_limits(case)
    loaded = carrying_rows(case, support.carrying)[case.robot.driven]
    with np.errstate(invalid="ignore"):
        heavy = (np.abs(tau) > limits)[:, loaded].any(axis=1)
    near = found.violation <= case.tolerances.admissible * case.weight  # torques are judged there
    rows = np.flatnonzero(heavy & near & (support.carrying.sum(axis=1) > 1))
    if not len(rows):
        return found.wrenches, tau
    shared, missing = _shared_load(case, rates, touch, demand, support, rows)
    carries = missing <= found.violation[rows] + _CARRIED * case.weight
    wrenches = np.array(found.wrenches)
    wrenches[rows[carries]] = shared[carries]
    return wrenches, drive_torques(case, rates, _joint_forces(case, demand, wrenches))


class Carried(NamedTuple):
    """How contacts carry a motion.

    Args:
        wrenches: (n, c, 6) in the contact frames.
        violation: (n,) what is missing [N]; exactly 0 where nothing is.
    """

    wrenches: Array
    violation: Array


def _given_wrenches(case: Case) -> Array:
    """(n, c, 6) in the contact frames, as they came with the motion; zero for contacts that it says nothing of."""
    given = case.trajectory.wrenches
    for name in given:
        if name not in case.robot.contacts:
            raise one_of("contact", name, case.robot.contacts)
    nothing = np.zeros((case.n, 6))
    columns = [given.get(name, nothing) for name in case.contact_names]
    return np.stack(columns, axis=1) if columns else np.zeros((case.n, 0, 6))


def on_bodies(case: Case, wrenches: Array) -> Array:
    """(n, bodies, 6): contact wrenches as wrenches on the bodies, about their origins, in their axes."""
    out = np.zeros((len(wrenches), case.robot.tree.n, 6))
    for k, name in enumerate(case.contact_names):
        frame = contact_frame(case.robot, name)
        if frame.body >= 0:
            force = wrenches[:, k, :3] @ frame.R.T
            out[:, frame.body, :3] += force
            out[:, frame.body, 3:] += wrenches[:, k, 3:] @ frame.R.T + np.cross(frame.p, force)
    return out


def _carried(case: Case, touch: Touch, demand: Demand, support: Support) -> Carried:
    """The least wrenches in the cones of the contacts that carry a motion, or those that miss least.

    A missing moment counts as a force at the distance of the robot's mass from its centre (`size_of`).
    """
    rails = np.broadcast_to(_rails(case), (case.n, *_rails(case).shape))
    generators = np.concatenate([support.cones.generators, rails], axis=2)
    use = np.hstack([support.cones.use, np.ones((case.n, rails.shape[2]), dtype=bool)])
    found = admissible_wrenches(generators, demand.net, use, size_of(case))
    wrenches = support.cones.wrenches(found.shares[:, : support.cones.use.shape[1]])
    return Carried(
        in_frames(wrenches, support.frames, touch.placements), np.where(found.attained, 0.0, found.violation)
    )


def _rails(case: Case) -> Array:
    """(6, r): wrenches that keep a planar base in its plane, in both senses; none for a free one."""
    if len(case.robot.base_rows) != 3 or case.robot.base_joint is None:
        return np.zeros((6, 0))
    R = case.robot.tree.placements[case.robot.base_joint, :3, :3]
    held = np.zeros((6, 3))
    held[:3, 0], held[3:, 1], held[3:, 2] = R[:, 2], R[:, 0], R[:, 1]
    return 1e3 * np.hstack([held, -held])  # large, so that they are cheap


_CHEAP = 100.0  # a torque beyond its limit counts that much less than a force that is missing at the base


def _shared_load(
    case: Case, rates: Rates, touch: Touch, demand: Demand, support: Support, rows: NDArray[np.int64]
) -> tuple[Array, Array]:
    """Contact wrenches (m, c, 6) in the contact frames that overload the drives least; and (m,) what is missing [N].

    Several feet can push against each other at will: of all these inner forces those are taken that keep torques within
    their limits, or exceed them least (`contact.admissible_with_torques`).
    """
    cones = _at(support, rows)
    J = touch_jacobians(case, touch, support.frames, rows)
    C, base = coupled(case), case.robot.base_rows
    needed = (demand.forces + resisting_forces(case, rates))[rows] @ C.T
    bounds = np.full(case.robot.nv, np.inf)
    bounds[base], bounds[case.robot.driven] = 0.0, drive_limits(case)
    bounds[~np.any(J, axis=(0, 1, 2)) & (bounds > 0.0)] = np.inf  # joints that no contact loads
    found = admissible_with_torques(cones, J @ C.T, needed, -bounds, bounds, _lengths(case))
    missing = np.linalg.norm((found.missing / _lengths(case))[:, base], axis=1)
    wrenches = in_frames(cones.wrenches(found.shares), support.frames[rows], touch.placements[rows])
    return wrenches, missing


def _at(support: Support, rows: NDArray[np.int64]) -> PlacedCones:
    """The cones at some samples."""
    cones = support.cones
    spans = cones.spans if len(cones.spans) == 1 else cones.spans[rows]
    return replace(cones, spans=spans, generators=cones.generators[rows], use=cones.use[rows])


def _lengths(case: Case) -> Array:
    """(nv,) what rows are divided by, so that they count as forces at the base."""
    size = size_of(case)
    out = np.full(case.robot.nv, _CHEAP * size)
    base = case.robot.base_rows
    out[base] = np.r_[np.ones(3), np.full(3, size)] if len(base) == 6 else [1.0, 1.0, size]
    return out
