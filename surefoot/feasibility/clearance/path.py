"""Distances of pairs of links along a motion, also between its samples.

The motion is looked at every few samples; where the ways of the joints in between are too long for the distances at
both ends to prove that a pair stays apart, the interval is halved, down to between two samples (Schwarzer, Saha &
Latombe 2005). Volumes come first; pairs that they cannot prove apart are measured by the hulls of the robot's shapes.
Where a pair is found too near, the motion is looked at more closely round the place where it is nearest.

Between samples a motion with velocities is a cubic Bézier curve (`motion.interpolation`), which is no longer than its
control polygon and no faster than three times its longest side; without velocities it is straight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.collision import CollisionModel, ExactCollision
from surefoot.collision.volumes import joint_travel
from surefoot.feasibility.case import Case
from surefoot.feasibility.rates import Rates
from surefoot.feasibility.touch import runs_of

_KNOTS = 1000  # intervals to begin with, if there are more samples than that
_NEAR = 0.025  # [m]: pairs whose volumes are nearer than that are measured by their hulls
_POSTURES = (2000, 30, 30_000)  # that are looked at: at least, for each sample, at most
_MEASURED = (20_000, 20)  # distances of hulls that are measured: at least, and for each sample
_INTERVALS_AT_ONCE = 1024
_JUMP = 1.0, np.pi  # [m], [rad] of one joint from sample to sample: no motion, and nothing is sought in between
_CLOSER = 6  # times that the motion is looked at twice as closely where a pair is too near
_MOST_PLACES = 12  # where it is looked at more closely: first the worst of every pair


@dataclass(frozen=True, eq=False)
class PathClearance:
    """Clearances along a path.

    Args:
        time: (m,) when the motion was looked at, increasing [s].
        distance: (m, link pairs) [m]; lower bounds, of hulls where they are small, else of volumes, and beyond what was
            asked for of anything.
        proven: Whether everything between those times is proven to be no nearer than the clearance, or found to be.
    """

    time: Array
    distance: Array
    proven: bool


def path_clearance(
    case: Case, rates: Rates, model: CollisionModel, exact: ExactCollision, least: float, slack: float, within: float
) -> PathClearance:
    """Look at a motion until every pair is proven apart, or found too near, and measure how near that is.

    Args:
        case: The motion.
        rates: Its rates.
        model: Volumes of robot and obstacles.
        exact: Hulls of some of the pairs of links of the model.
        least: Distances below that are too near [m].
        slack: What keeps this much more is not looked at closely; intervals in which distances can change by less than
            that are not halved [m].
        within: Distances that are not below that may be any lower bounds [m].
    """
    search = _Search(case, rates, model, exact, least, slack, within)
    while search.halve():
        pass
    for _ in range(_CLOSER):
        search.look_closer()
    return search.found()


class _Search:
    """Sample coordinates that were looked at with their distances, and intervals that are still open."""

    def __init__(
        self,
        case: Case,
        rates: Rates,
        model: CollisionModel,
        exact: ExactCollision,
        least: float,
        slack: float,
        within: float,
    ) -> None:
        self.case, self.model, self.exact = case, model, exact
        self.least, self.slack, self.within, self.proven = least, slack, within, True
        self.travel = PathTravel(case, rates)
        place = {frozenset(pair): k for k, pair in enumerate(model.link_pairs)}
        self.columns = np.array([place[frozenset(pair)] for pair in model.names], dtype=np.int64)
        self.measured = np.array([place[frozenset(pair)] for pair in exact.link_pairs], dtype=np.int64)
        base, share, most = _POSTURES
        self._postures_left = max(min(base + share * case.n, most), _KNOTS + 1)
        self._measurements_left = _MEASURED[0] + _MEASURED[1] * case.n
        knots = np.unique(np.linspace(0, case.n - 1, min(case.n, _KNOTS + 1)).round())
        self.places, self.distances = knots, self._distances(knots)
        rows = np.arange(len(knots))
        self.first, self.last = rows[:-1], rows[1:]
        self._keep_open()

    def _distances(self, places: Array) -> Array:
        """(m, link pairs) at sample coordinates."""
        Q = self._postures(places)
        found = np.array(self.model.link_distances(Q, within=self.within))
        near = found[:, self.measured] < self.least + self.slack + _NEAR
        self._measurements_left -= int(near.sum())
        for row in np.flatnonzero(near.any(axis=1)):
            some = np.flatnonzero(near[row])
            found[row, self.measured[some]] = np.maximum(found[row, self.measured[some]], self.exact.at(Q[row], some))
        return found

    def _postures(self, places: Array) -> Array:
        whole = places % 1.0 == 0.0
        out = np.empty((len(places), self.case.q.shape[1]))
        out[whole] = self.case.q[places[whole].astype(int)]
        if not whole.all():
            order = np.argsort(places[~whole])
            times = np.interp(places[~whole][order], np.arange(self.case.n), self.case.time)
            between = np.empty((len(order), out.shape[1]))
            between[order] = self.case.trajectory.resample(times).q
            out[~whole] = between
        return out

    def halve(self) -> bool:
        """Look at the middle of every open interval; False when none is left, or too much was looked at already."""
        if not len(self.first):
            return False
        if len(self.places) + len(self.first) > self._postures_left or self._measurements_left < 0:
            self.proven = False
            return False
        middle = _middle(self.places[self.first], self.places[self.last])
        rows = len(self.places) + np.arange(len(middle))
        self.places = np.concatenate([self.places, middle])
        self.distances = np.vstack([self.distances, self._distances(middle)])
        self.first, self.last = np.concatenate([self.first, rows]), np.concatenate([rows, self.last])
        self._keep_open()
        return True

    def _keep_open(self) -> None:
        keep = [self._is_open(part) for part in _parts(len(self.first))]
        chosen = np.concatenate(keep) if keep else np.zeros(0, dtype=bool)
        self.first, self.last = self.first[chosen], self.last[chosen]

    def _is_open(self, part: slice) -> NDArray[np.bool_]:
        """Intervals in which a pair that is far enough at both ends is not proven to be so in between."""
        first, last = self.first[part], self.last[part]
        ends = self.distances[first], self.distances[last]
        nearer = np.minimum(*ends)
        places = self.places[first], self.places[last]
        jumps = self.travel.jumps(*places)
        self.proven &= not jumps.any()
        travel = self._change(*places)
        kept = self.least + np.where(nearer >= self.least + self.slack, self.slack, 0.0)
        lacking = (nearer >= self.least) & (0.5 * (ends[0] + ends[1] - travel) < kept) & (travel > self.slack)
        return np.asarray(lacking.any(axis=1) & ~jumps)

    def _change(self, first: Array, last: Array) -> Array:
        """(m, link pairs): by how much distances can change."""
        linear, angular = self.travel.between(first, last)
        by_column = self.model.travel_of(self.case.q, linear, angular, padded=True)
        out = np.zeros((len(first), len(self.model.link_pairs)))
        order = np.argsort(self.columns, kind="stable")
        starts = np.searchsorted(self.columns[order], np.arange(out.shape[1]))
        return np.asarray(np.maximum.reduceat(by_column[:, order], starts, axis=1)) if out.shape[1] else out

    def look_closer(self) -> None:
        """Look halfway to both sides of where a pair is nearest while it is too near."""
        order = np.argsort(self.places, kind="stable")
        places, distances = self.places[order], self.distances[order]
        worst: list[tuple[int, float, int]] = []
        for pair in np.flatnonzero((distances < self.least).any(axis=0)):
            here = distances[:, pair]
            found = sorted((float(here[a:b].min()), a + int(here[a:b].argmin())) for a, b in runs_of(here < self.least))
            worst += [(rank, *one) for rank, one in enumerate(found[:_MOST_PLACES])]
        rows = np.unique([row for _, _, row in sorted(worst)[:_MOST_PLACES]]).astype(int)
        left = np.concatenate([rows[rows > 0] - 1, rows[rows < len(places) - 1]])
        if len(left):
            middle = np.unique(_middle(places[left], places[left + 1]))
            self.places = np.concatenate([self.places, middle])
            self.distances = np.vstack([self.distances, self._distances(middle)])

    def found(self) -> PathClearance:
        """In the order of time."""
        order = np.argsort(self.places, kind="stable")
        time = np.interp(self.places[order], np.arange(self.case.n), self.case.time)
        return PathClearance(time, self.distances[order], self.proven)


def _middle(first: Array, last: Array) -> Array:
    """A sample between two places where there is one, else halfway."""
    middle = 0.5 * (first + last)
    return np.where(last - first > 1.0, np.round(middle), middle)


def _parts(count: int) -> list[slice]:
    return [slice(k, min(k + _INTERVALS_AT_ONCE, count)) for k in range(0, count, _INTERVALS_AT_ONCE)]


class PathTravel:
    """Ways of the joints along a motion."""

    def __init__(self, case: Case, rates: Rates) -> None:
        sides = _sides(case, rates)
        ways = [joint_travel(case.robot, side) for side in sides]
        linear, angular = (np.stack([way[k] for way in ways]) for k in (0, 1))
        self._fastest = [len(sides) * part.max(axis=0) for part in (linear, angular)]
        start = np.zeros((1, linear.shape[2]))
        self._total = [np.vstack([start, np.cumsum(part.sum(axis=0), axis=0)]) for part in (linear, angular)]
        sizes = zip((linear, angular), _JUMP, strict=True)
        self._jumps = np.any([part.sum(axis=0).max(axis=1, initial=0.0) > most for part, most in sizes], axis=0)

    def jumps(self, first: Array, last: Array) -> NDArray[np.bool_]:
        """(m,) whether a piece lies in a step so long that nobody knows what is between its samples.

        Args:
            first: (m,) sample coordinates.
            last: (m,) not before `first`.
        """
        step = np.minimum(first.astype(int), len(self._jumps) - 1)
        return np.asarray((last - first <= 1.0) & self._jumps[step])

    def between(self, first: Array, last: Array) -> tuple[Array, Array]:
        """Ways (m, bodies) along [m] and about [rad] each joint, from sample coordinates first to last.

        Args:
            first: (m,) sample number, with a fraction for what is between two samples.
            last: (m,) not before `first`; a piece with a fraction lies between two neighbouring samples.
        """
        whole = (first % 1.0 == 0.0) & (last % 1.0 == 0.0)
        i, j = first.astype(int), np.ceil(last).astype(int)
        share = np.where(whole, 1.0, last - first)[:, None]
        inside = np.minimum(i, len(self._fastest[0]) - 1)
        linear, angular = (
            np.where(whole[:, None], total[j] - total[i], np.minimum(fast[inside] * share, total[j] - total[i]))
            for total, fast in zip(self._total, self._fastest, strict=True)
        )
        return linear, angular


def _sides(case: Case, rates: Rates) -> list[Array]:
    """Sides of the control polygons, each (n − 1, nv)."""
    if case.trajectory.v is None:
        return [rates.steps]
    third = np.diff(case.time)[:, None] / 3.0
    first, last = rates.v[:-1] * third, rates.v[1:] * third
    return [first, rates.steps - first - last, last]
