"""Joint torques and contact wrenches of a motion: given, or the least that it needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility.efforts_demand import Demand, demand_of
from surefoot.feasibility.efforts_joints import carrying_rows, drive_limits, drive_torques
from surefoot.feasibility.efforts_sharing import shared_load
from surefoot.feasibility.efforts_support import Support, support_of
from surefoot.feasibility.efforts_wrenches import Carried, carried, given_wrenches, on_bodies
from surefoot.feasibility.wrenches_contacts import impossible_wrenches

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["Efforts", "efforts_of"]

_CARRIED = 1e-3  # share of the weight that other wrenches may miss more at the base


@dataclass(frozen=True, eq=False)
class Efforts:
    """What drives and contacts do.

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


def efforts_of(case: Case) -> Efforts:
    """Efforts of a motion.

    Torques that were not given are those of inverse dynamics less what the contacts exert (`Carried`): of all
    admissible contact wrenches the least ones, and where these overload a drive, those that overload it least.
    """
    demand = demand_of(case)
    support = support_of(case, demand.com) if _stands(case) else None
    found = Carried(np.zeros((case.n, len(case.contact_names), 6)), np.zeros(case.n))
    if support is not None:
        found = carried(case, demand, support)
    tau_given, wrenches_given = case.trajectory.tau is not None, bool(case.trajectory.wrenches)
    wrenches = given_wrenches(case) if wrenches_given else found.wrenches
    tau, note = _torques(case, demand, wrenches)
    if support is not None and not wrenches_given and not tau_given:
        wrenches, tau = _least_overload(case, demand, support, Carried(wrenches, found.violation), tau)
        tau[found.violation > case.tolerances.admissible * case.weight] = np.nan
    if wrenches_given and not tau_given:
        tau[impossible_wrenches(case, wrenches)] = np.nan
    return Efforts(demand.forces, tau, tau_given, wrenches, wrenches_given, found.violation, demand, support, note)


def _stands(case: Case) -> bool:
    """Whether contacts have to carry the base: not one that is fixed, or on a plane across which gravity acts."""
    robot = case.robot
    if robot.base_joint is None:
        return False
    plane = robot.tree.placements[robot.base_joint, :3, :2]
    return len(robot.base_rows) == 6 or bool(np.abs(case.world.gravity @ plane).max() > 1e-9)


def _torques(case: Case, demand: Demand, wrenches: Array) -> tuple[Array, str]:
    if case.trajectory.tau is not None:
        return np.array(case.trajectory.tau), "as given"
    if case.robot.loops:
        unknown = np.full((case.n, case.robot.nu), np.nan)
        return unknown, "not judged: closed chains share torques in ways that the motion does not tell"
    source = "the contact wrenches given" if case.trajectory.wrenches else "the least contact wrenches that carry it"
    note = f"inverse dynamics with {source}" if len(case.contact_names) else "inverse dynamics"
    if case.trajectory.a is None:
        note += f", accelerations as means over {1e3 * case.tolerances.window:.3g} ms"
    return drive_torques(case, _joint_forces(case, demand, wrenches)), note


def _joint_forces(case: Case, demand: Demand, wrenches: Array) -> Array:
    """(n, nv): M a + h − Jᵀ f."""
    if not np.any(wrenches):
        return demand.forces
    return np.asarray(case.kernels.rnea(case.q, demand.v, demand.a, external=on_bodies(case, wrenches)))


def _least_overload(case: Case, demand: Demand, support: Support, found: Carried, tau: Array) -> tuple[Array, Array]:
    """Wrenches and torques, changed where other admissible wrenches overload the drives less."""
    limits = drive_limits(case)
    loaded = carrying_rows(case, support.carrying)[case.robot.driven]
    with np.errstate(invalid="ignore"):
        heavy = (np.abs(tau) > limits)[:, loaded].any(axis=1)
    near = found.violation <= case.tolerances.admissible * case.weight  # torques are judged there
    rows = np.flatnonzero(heavy & near & (support.carrying.sum(axis=1) > 1))
    if not len(rows):
        return found.wrenches, tau
    shared, missing = shared_load(case, demand, support, rows)
    carries = missing <= found.violation[rows] + _CARRIED * case.weight
    wrenches = np.array(found.wrenches)
    wrenches[rows[carries]] = shared[carries]
    return wrenches, drive_torques(case, _joint_forces(case, demand, wrenches))
