"""The audit of a plan: everything that was asked for, looked at again, between the samples as well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.collision import CollisionModel, motions_are_free
from surefoot.planning.multimodal import StancePlan
from surefoot.planning.space import Margins, Mode
from surefoot.planning.timing import dense_path

_CONTACT_AREA = 0.005  # [m] around a foothold: sole volumes are not exact balls, and may touch when their legs lean
_BETWEEN = (5e-4, 2e-3)  # [m], [rad]: what margins of balance and limits may lack between the samples of a planner


@dataclass(frozen=True)
class PlanAudit:
    """What was found on a path.

    Args:
        contact_error: Largest distance of a held foot from its place [m], by Pinocchio.
        balance: Smallest distance of the centre of mass from the border of its support region [m].
        limits: Smallest room to a joint limit [rad].
        collisions: Motions between samples that are not proven free of self-collision.
        clearance: Smallest distance of any part from the world, less what must be kept [m].
        gaps: Largest jump between one segment and the next [m].
        asked: What was to be kept.
    """

    contact_error: float
    balance: float
    limits: float
    collisions: int
    clearance: float
    gaps: float
    asked: Margins

    @property
    def passed(self) -> bool:
        """Whether contacts hold to 1e-4 m, nothing collides, and the margins of balance and limits are kept."""
        holds = self.contact_error <= 1e-4 and self.gaps <= 1e-9 and not self.collisions and self.clearance >= 0.0
        balanced = self.balance >= self.asked.balance - _BETWEEN[0]
        return holds and balanced and self.limits >= self.asked.limits - _BETWEEN[1]


def audit_plan(plan: StancePlan) -> PlanAudit:
    """Look at a plan anew: contacts by Pinocchio, balance and limits on dense samples, collisions between them.

    Between two samples, parts move by less than twice the clearance that is kept from the world, to which they are held
    at the samples; self-collisions are proven by `motions_are_free`.

    Args:
        plan: The plan.
    """
    model = plan.graph.model
    own = CollisionModel(model.robot, None, model.clearance.volumes)
    worst, balance, limits, clearance, collisions, gaps = 0.0, np.inf, np.inf, np.inf, 0, 0.0
    last: Array | None = None
    for segment, states in dense_path(plan):
        mode = segment.mode
        lifted = model.chart.lift(states)
        gaps = max(gaps, 0.0 if last is None else float(np.abs(states[0] - last).max()))
        last = states[-1]
        worst = max(worst, _contact_error(plan, mode.held, mode.feet, lifted.q))
        balance = min(balance, float(mode.region.room(lifted.com).min()))
        limits = min(limits, float(lifted.limits.min()))
        points = model.clearance.points(lifted.q)
        first = model.first_ground
        stands = [first + int(mode.footholds.pieces[k]) if h else None for k, h in enumerate(mode.held)]
        found = model.clearance.world(points, np.ascontiguousarray(states[:, :3]), stands)
        keep = model.clearance.keep
        soles = np.where(_near_spots(mode, states), np.inf, found.soles)
        clearance = min(clearance, float(found.body.min()) + keep, float(found.legs.min()) + keep, float(soles.min()))
        checks = motions_are_free(own, lifted.q[:-1], lifted.q[1:])
        collisions += sum(not check for check in checks)
    return PlanAudit(worst, balance, limits, collisions, clearance, gaps, model.margins)


def _near_spots(mode: Mode, states: Array) -> NDArray[np.bool_]:
    """(n, L) where swinging feet are within the area around their footholds in which they may touch."""
    feet = states[:, 6:].reshape(len(states), -1, 3)
    out = np.zeros(feet.shape[:2], dtype=bool)
    for leg, spots in enumerate(mode.spots):
        if len(spots):
            out[:, leg] = np.linalg.norm(feet[:, leg, None] - spots, axis=2).min(axis=1) < _CONTACT_AREA
    return out


def _contact_error(plan: StancePlan, held: NDArray[np.bool_], feet: Array, q: Array) -> float:
    """Largest distance of held feet from their places, on every tenth sample and the last [m]."""
    robot, names = plan.graph.model.robot, plan.graph.model.chart.names
    worst = 0.0
    for row in (*q[::10], q[-1]):
        frames = robot.placements(row)
        for leg in np.flatnonzero(held):
            surface = robot.contacts[names[leg]]
            T = frames[surface.frame] @ surface.placement
            worst = max(worst, float(np.linalg.norm(T[:3, 3] + surface.radius * T[:3, 2] - feet[leg])))
    return worst
