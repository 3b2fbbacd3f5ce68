"""Linear model-predictive control of walking with automatic placement of the footsteps.

After Herdt, Diedam, Wieber, Dimitrov, Mombaur and Diehl (2010), with the ZMP as input, straight between its nodes, and
with a constraint on the DCM at the end of the horizon (Wieber 2008; Scianca, De Simone, Lanari and Oriolo 2020).
Unknown along each axis are the ZMP p_1 … p_N at the nodes and the places u of the feet that have not landed yet. The
pendulum is exact between nodes (`lip.parts`), so velocities and the last DCM are linear in them. By priority:

    1. p_j − Σ_k W_jk u_k in the sole;   u_k − u_{k−1} within reach        [mpc.limits]
    2. ξ_N − Σ_k W_Nk u_k − tail in the sole: the walk can go on, or end        [mpc.viable]
    3. weighted: ZMP at the feet, ZMP smooth, planned feet, wanted velocity, DCM at its tail        [mpc.wishes]

W_jk is the share of foot k in the support at node j: 1 in single, between 0 and 1 in double support. Limits on the
first level always have a solution, so each tick has one too; where the second cannot hold, it is missed by as little as
possible. It is sufficient, not necessary: a walk may recover although it was missed for a while. Soles are boxes in the
axes of the path, so the axes are independent; step times are fixed (`StepAdapter` changes them).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import ShapeError
from surefoot.reduced.dcm import DcmPlan
from surefoot.reduced.supports import Supports
from surefoot.solvers.hierarchy import HierarchySolver, StackedHierarchy


@dataclass(frozen=True)
class MpcSettings:
    """Horizon and weights.

    Args:
        nodes: N.
        period: Time between nodes [s]; the first one is one tick ahead.
        center: Weight of the distance of the ZMP from the place of the foot [1/m²].
        rate: Weight of the rate of the ZMP [s²/m²].
        feet: Weight of the distance of feet from their planned places [1/m²].
        velocity: Weight of the distance of the CoM velocity from the wanted one [s²/m²]; 0: it is not wanted.
        tail: Weight of the distance of the last DCM from its tail [1/m²].
    """

    nodes: int = 16
    period: float = 0.1
    center: float = 1.0
    rate: float = 1e-3
    feet: float = 100.0
    velocity: float = 0.0
    tail: float = 1.0

    def __post_init__(self) -> None:
        if self.nodes < 1:
            raise ShapeError("the horizon needs at least one node", evidence={"nodes": self.nodes})
        for name in ("period", "center", "rate", "feet", "tail"):
            number(getattr(self, name), f"`{name}` of the settings", positive=True)
        number(self.velocity, "`velocity` of the settings")


class MpcPlan(NamedTuple):
    """The optimum over the horizon.

    Args:
        zmp: (N, 2) at the nodes [m].
        feet: (m, 2) places of all supports of the horizon, those that stand included [m].
        dcm: (2,) at the last node [m].
        outside: (2,) how far that DCM lies above (positive) or below the box in which the walk can go on; 0: within it.
    """

    zmp: Array
    feet: Array
    dcm: Array
    outside: Array


class Schedule(NamedTuple):
    """Supports of the horizon.

    Args:
        shares: (N, m) W: share of each foot in the support at the nodes, rows sum to 1.
        feet: (m, 2) places: of those that stand, then planned ones [m].
        landed: How many of them stand (and cannot be moved), at least 1.
        tail: (2,) wanted DCM at the last node relative to the support there; (0, 0) if the walk may end there [m].
        sides: (m,) +1 for left, −1 for right feet; None: no limit on steps.
    """

    shares: ArrayLike
    feet: ArrayLike
    landed: int
    tail: ArrayLike = (0.0, 0.0)
    sides: ArrayLike | None = None


class FootstepMpc:
    """Plans the ZMP and the footsteps over a horizon, for every control tick.

        mpc = FootstepMpc(omega, foot=((-0.05, -0.03), (0.1, 0.03)), tick=0.005)
        plan = mpc.plan(com, velocity, zmp, Schedule(shares, feet, landed))
        plan.zmp[0]  # at the next tick

    Args:
        omega: √(g / z) [1/s].
        foot: Box (2, 2) of the sole around its place [m].
        tick: Time until the first node [s].
        reach: Box (2, 2) of a right foot relative to the left one before it, mirrored for left feet [m]; None: any.
        settings: Horizon and weights.
    """

    def __init__(
        self,
        omega: float,
        foot: ArrayLike,
        tick: float,
        reach: ArrayLike | None = None,
        settings: MpcSettings | None = None,
    ) -> None:
        self.omega, self.tick = number(omega, "omega", positive=True), number(tick, "tick", positive=True)
        self.foot = finite_array(foot, (2, 2), "foot")
        self.settings = settings or MpcSettings()
        self.times = self.tick + self.settings.period * np.arange(self.settings.nodes)
        """(N,) nodes after now [s]."""
        self._lengths = np.diff(self.times, prepend=0.0)
        self._reach = None if reach is None else finite_array(reach, (2, 2), "reach")
        self._diverging, self._converging = self._parts(self.omega), self._parts(-self.omega)
        self._solvers: dict[tuple[int, int, int], HierarchySolver] = {}

    def plan(
        self, com: ArrayLike, velocity: ArrayLike, zmp: ArrayLike, schedule: Schedule, wanted: ArrayLike = (0.0, 0.0)
    ) -> MpcPlan:
        """The optimum from a state.

        Args:
            com: (2,) [m].
            velocity: (2,) [m/s].
            zmp: (2,) now [m].
            schedule: Supports of the horizon.
            wanted: (2,) velocity of the CoM [m/s]; counts if it has a weight.

        Raises:
            ShapeError: Shapes do not fit, or the state is not finite.
        """
        feet, landed = np.array(schedule.feet, dtype=float), schedule.landed
        shares = np.asarray(schedule.shares, dtype=float)
        n = self.settings.nodes
        if shares.shape != (n, len(feet)) or not 1 <= landed <= len(feet):
            raise ShapeError(
                f"shares must be ({n}, feet), at least one foot landed",
                evidence={"shares": shares.shape, "feet": len(feet), "landed": landed},
            )
        state = ((com, "com"), (velocity, "velocity"), (zmp, "zmp"))
        c, v, p = (finite_array(value, (2,), name) for value, name in state)
        diverging, converging = c + v / self.omega, c - v / self.omega
        A, starts = self._rows(shares[:, landed:], schedule.sides is not None)
        standing = shares[:, :landed] @ feet[:landed]
        last = np.outer(self._diverging[:, 0], diverging) + np.outer(self._diverging[:, 1], p)
        moving = 0.5 * self.omega * (last - np.outer(self._converging[:, 0], converging))
        moving -= 0.5 * self.omega * np.outer(self._converging[:, 1], p)
        nodes, dcm = np.empty((n, 2)), np.empty(2)
        outside = np.empty(2)
        for axis in (0, 1):
            lower, upper = self._ends(axis, standing, last[-1], moving, p, schedule, np.asarray(wanted, dtype=float))
            solver = self._solvers.setdefault((axis, len(feet) - landed, len(A)), HierarchySolver())
            found = solver.solve_stacked(StackedHierarchy(A, lower, upper, starts, (0.0, 0.0, 0.0)))
            nodes[:, axis], feet[landed:, axis] = found.x[:n], found.x[n:]
            value = found.values[starts[1]]
            outside[axis] = value - min(max(value, lower[starts[1]]), upper[starts[1]])
            dcm[axis] = last[-1, axis] + self._diverging[-1, 2:] @ found.x[:n]
        return MpcPlan(nodes, feet, dcm, outside)

    def schedule(
        self, supports: Supports, dcm: DcmPlan, t: float, feet: ArrayLike | None = None
    ) -> tuple[int, Schedule]:
        """The supports of the horizon that begins at a time, and the number of the first one.

        Args:
            supports: Of a path of the ZMP that reaches beyond the horizon, or ends in standing.
            dcm: Plan over the same path; the walk goes on along it after the horizon.
            t: Now, since the beginning of the path [s].
            feet: (m, 2) places of all supports, where some have been moved; None: those of the path.
        """
        nodes = t + self.times
        first, place = int(supports.at(t)), supports.at(nodes)
        last = int(np.ceil(place[-1]))
        shares = np.maximum(0.0, 1.0 - np.abs(place[:, None] - np.arange(first, last + 1)))
        tail = dcm.at(nodes[-1])[1] - shares[-1] @ supports.points[first : last + 1]
        places = supports.points if feet is None else np.asarray(feet, dtype=float)
        return first, Schedule(shares, places[first : last + 1], min(supports.feet(t)[1], last) + 1 - first, tail)

    def _parts(self, omega: float) -> Array:
        """(N, N + 2) diverging part ξ at the nodes, linear in (ξ₀, p₀, p_1 … p_N); the converging part for −ω."""
        n = self.settings.nodes
        row, out = np.eye(1, n + 2)[0], np.empty((n, n + 2))
        for j, h in enumerate(self._lengths):
            grow = exp(omega * h)
            row = grow * row
            row[1 + j] -= grow + (1.0 - grow) / (omega * h)
            row[2 + j] += 1.0 + (1.0 - grow) / (omega * h)
            out[j] = row
        return out

    def _rows(self, free: Array, with_reach: bool) -> tuple[Array, tuple[int, ...]]:
        """A of all levels, the same for both axes, and where the levels begin."""
        w, (n, m) = self.settings, free.shape
        from_center = np.hstack([np.eye(n), -free])
        end = np.concatenate([self._diverging[-1, 2:], -free[-1]])[None]
        steps = np.hstack([np.zeros((m, n)), np.eye(m) - np.eye(m, k=-1)])
        rate = np.hstack([np.eye(n) - np.eye(n, k=-1), np.zeros((n, m))])
        rate *= sqrt(w.rate) / self._lengths[:, None]
        kept = [from_center, steps] if with_reach and self._reach is not None else [from_center]
        wishes = [sqrt(w.center) * from_center, rate, sqrt(w.tail) * end]
        wishes.append(np.hstack([np.zeros((m, n)), sqrt(w.feet) * np.eye(m)]))
        if w.velocity:
            speed = 0.5 * self.omega * (self._diverging[:, 2:] - self._converging[:, 2:])
            wishes.append(sqrt(w.velocity) * np.hstack([speed, np.zeros((n, m))]))
        A = np.concatenate([*kept, end, *wishes])
        first = sum(len(part) for part in kept)
        return A, (0, first, first + 1, len(A))

    def _ends(
        self,
        axis: int,
        standing: Array,
        dcm: Array,
        moving: Array,
        zmp: Array,
        schedule: Schedule,
        wanted: Array,
    ) -> tuple[Array, Array]:
        """Lower and upper ends of the rows of `_rows` along an axis, then those of the unknowns: none."""
        w, landed = self.settings, schedule.landed
        center, (low, high) = standing[:, axis], self.foot[:, axis]
        tail = center[-1] + float(np.asarray(schedule.tail)[axis]) - dcm[axis]
        speed = sqrt(w.velocity) * (wanted[axis] - moving[:, axis]) if w.velocity else np.zeros(0)
        first = np.zeros(w.nodes)
        first[0] = sqrt(w.rate) / self.tick * zmp[axis]
        planned = np.asarray(schedule.feet, dtype=float)[landed:, axis]
        wishes = [sqrt(w.center) * center, first, [sqrt(w.tail) * tail], sqrt(w.feet) * planned, speed]
        lower, upper = [center + low], [center + high]
        if schedule.sides is not None and self._reach is not None:
            least, most = self._steps(axis, np.asarray(schedule.sides)[landed - 1 : -1])
            if len(least):
                before = float(np.asarray(schedule.feet, dtype=float)[landed - 1, axis])
                least[0], most[0] = least[0] + before, most[0] + before
            lower.append(least)
            upper.append(most)
        none = np.full(w.nodes + len(planned), np.inf)
        return (
            np.concatenate([*lower, [tail + low], *wishes, -none]),
            np.concatenate([*upper, [tail + high], *wishes, none]),
        )

    def _steps(self, axis: int, stances: Array) -> tuple[Array, Array]:
        """Ends of the steps from stances (+1 left, −1 right)."""
        reach = np.zeros((2, 2)) if self._reach is None else self._reach
        low, high = reach[:, axis]
        if axis == 0:
            return np.full(len(stances), low), np.full(len(stances), high)
        return np.where(stances > 0, low, -high), np.where(stances > 0, high, -low)
