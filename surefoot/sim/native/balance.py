"""Account of energy and momentum of the native engine, and the loads of its contacts."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import SimulationError, one_of
from surefoot.kinematics import contact_frame
from surefoot.robot import Robot
from surefoot.sim.measured import WORLD, Balance, Touches, row_cross
from surefoot.sim.native.kernels import SUMMED
from surefoot.sim.native.mover import Mover
from surefoot.sim.native.touch import FREE

_LEAK = 0.1  # share of the energy turned over that may be missing
_LEAST_LEAK = 1e-2  # [J/kg] that may always be missing: a millimetre of height


class BalanceBook:
    """Sums works and impulses over everything that moves.

    Steps book their own work and the impulse of their contacts (`tally`). The springs of contacts count as energy;
    what contacts lose is the work of their forces and what went into springs. What a payload weighs and carries is not
    counted as gained.
    """

    def __init__(self, movers: Sequence[Mover]) -> None:
        self._movers = movers
        self._free = _free_directions(movers)

    def reset(self) -> None:
        """Begin again: nothing has worked yet."""
        self._start = self._kept = self._account()

    def _account(self) -> Array:
        """(6,): kinetic, potential and stored energy [J], momentum [N s], of all."""
        return np.sum([mover.account() for mover in self._movers], axis=0)

    def keep(self) -> None:
        """Remember the account before a change of masses or ground."""
        self._kept = self._account()

    def changed(self) -> None:
        """Go on after a change: what is more or less does not count as gained or lost."""
        self._start = self._start + self._account() - self._kept

    def require_kept(self, time: float) -> None:
        """Refuse to go on where energy came from nowhere, or went there: a tenth of what was turned over.

        Args:
            time: Now [s].

        Raises:
            SimulationError: The account of energy is wrong.
        """
        found, kinetic = self.balance(), float(self._account()[0] + self._start[0])
        works = {name: getattr(found, name) for name in ("drives", "contacts", "damping", "pushes")}
        turned_over = kinetic + sum(abs(work) for work in works.values())
        mass = sum(mover.robot.mass for mover in self._movers)
        if abs(found.energy_residual) <= _LEAK * turned_over + _LEAST_LEAK * mass:
            return
        raise SimulationError(
            f"the simulation diverges: {found.energy_residual:.3g} J came from nowhere until t = {time:.4f} s",
            evidence=works,
            next_step='use a smaller dt, lower gains, softer contacts, or integrator="semi_implicit"',
        )

    def balance(self) -> Balance:
        """The account now."""
        now, total = self._account(), np.sum([mover.sums[:SUMMED] for mover in self._movers], axis=0)
        drives, contacts, damping, pushes = (float(x) for x in total[:4])
        stored = float(now[2] - self._start[2])
        change = float(now[:3].sum() - self._start[:3].sum())
        impulse = total[4:7] + sum(mover.pushes.impulse + mover.weight_impulse for mover in self._movers)
        return Balance(
            energy=float(now[:3].sum()),
            drives=drives,
            contacts=contacts + stored,
            damping=damping,
            pushes=pushes,
            energy_residual=change - (drives + contacts + stored + damping + pushes),
            momentum_residual=self._free @ (now[3:] - self._start[3:] - impulse),
        )


def _free_directions(movers: Sequence[Mover]) -> Array:
    """Projector (3, 3) on the directions in which all can move; NaN if one is fixed to the world."""
    trees = [mover.robot.tree for mover in movers]
    roots = [(tree, i) for tree in trees for i in range(tree.n) if tree.parents[i] < 0]
    if any(tree.kinds[i] not in ("free", "planar") for tree, i in roots):
        return np.full((3, 3), np.nan)
    across = np.array([tree.placements[i, :3, 2] for tree, i in roots if tree.kinds[i] == "planar"]).reshape(-1, 3)
    return np.eye(3) - np.linalg.pinv(across) @ across


def touches_of(mover: Mover) -> Touches:
    """Where a robot touched the ground in the last step."""
    rows = np.flatnonzero(mover.record["mode"] != FREE)
    points = [mover.layout.points[k] for k in rows]
    places = [item.placement for item in mover.held.values()]
    wrenches = [item.wrench for item in mover.held.values()]
    owners = [_surface(mover.robot, name) for name in mover.held]
    return Touches(
        point=_joined(mover.record["point"][rows], [T[:3, 3] for T in places]),
        normal=_joined(mover.ground[rows, :3], [T[:3, 2] for T in places]),
        force=_joined(mover.record["force"][rows], [T[:3, :3] @ w[:3] for T, w in zip(places, wrenches, strict=True)]),
        moment=_joined(np.zeros((len(rows), 3)), [T[:3, :3] @ w[3:] for T, w in zip(places, wrenches, strict=True)]),
        surface=np.array([*(point.surface for point in points), *(number for _, number in owners)], dtype=np.int64),
        body=np.array([*(point.body for point in points), *(frame.body for frame, _ in owners)], dtype=np.int64),
        against=np.full(len(rows) + len(places), WORLD, dtype=np.int64),
    )


def _joined(points: Array, held: list[Array]) -> Array:
    """Rows of points, then rows of held surfaces."""
    return np.concatenate([points, np.reshape(held, (-1, 3))])


def contact_wrench(mover: Mover, name: str) -> Array:
    """(6,) on a contact surface in the last step, in its frame, linear first [N], [N m]."""
    if name in mover.held:
        return mover.held[name].wrench.copy()
    frame, surface = _surface(mover.robot, name)
    if frame.body < 0:
        return np.zeros(6)
    T = mover.kernels.placements(mover.q_of_record)[frame.body]
    origin, axes = T[:3, :3] @ frame.p + T[:3, 3], T[:3, :3] @ frame.R
    rows = [k for k, point in enumerate(mover.layout.points) if point.surface == surface]
    force = mover.record["force"][rows]
    moment = row_cross(mover.record["point"][rows] - origin, force).sum(axis=0)
    return np.concatenate([force.sum(axis=0) @ axes, moment @ axes])


def contact_slip(mover: Mover, name: str) -> float:
    """Slip distance [m] of a loaded contact surface since the reset.

    Args:
        mover: The robot.
        name: The contact surface.
    """
    return float(mover.sums[SUMMED + _surface(mover.robot, name)[1]])


@functools.lru_cache(maxsize=512)
def _surface(robot: Robot, name: str) -> tuple[Any, int]:
    """The frame of a contact surface on its body, and its number."""
    if name not in robot.contacts:
        raise one_of("contact surface", name, robot.contacts)
    return contact_frame(robot, name), list(robot.contacts).index(name)
