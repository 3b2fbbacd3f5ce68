"""The configurations of one stance: checked in batches, states and whole edges."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.motion import World
from surefoot.planning.chart import Lifted, LimbChart
from surefoot.planning.clearance import Clearance
from surefoot.planning.footholds import Footholds
from surefoot.planning.support import SupportRegion, support_region
from surefoot.robot import ContactSurface, Robot

Mask = NDArray[np.bool_]
_NEAR = 0.2  # distance from the centre of mass at which the ground counts, too, share of its height at home
CAUSES = ("reach", "limits", "balance", "height", "self", "world", "swing")
"""Why a state is not allowed, in the order in which it is looked at."""
_CHUNK = 2048
_ON_GROUND = 0.02  # contacts that are within this of the lowest one at home are feet [m]
_HAND_EFFORT, _MOST_ON_HAND = 0.5, 0.4  # of what an arm can carry at home, and of the weight: what hands may carry


@dataclass(frozen=True)
class Margins:
    """What states must keep.

    Args:
        clearance: From the world and between parts of the robot [m]; soles may touch.
        balance: Of the centre of mass from the border of the support region [m].
        limits: From joint limits [rad].
        height: Of the centre of mass over the ground below and near it, as a share of its height at home.
        reach: Of the knee's cosine from its ends, which keeps legs from being stretched.
        swing_height: Of swinging soles above the world, away from their footholds [m].
        swing_slope: By how much a sole must rise at least for each metre from the nearest of its footholds.
        torque: Largest static torque of a drive while a foot is in the air, as a share of its limit.
        exact: Whether support regions of feet at several heights, or on slopes, hold all that friction allows; each
            takes 0.1 s.
        resolution: Of samples on edges: no more than this between two of them [m].
    """

    clearance: float = 0.003
    balance: float = 0.012
    limits: float = 0.02
    height: float = 0.6
    reach: float = 0.02
    swing_height: float = 0.012
    swing_slope: float = 0.7
    torque: float = np.inf
    exact: bool = False
    resolution: float = 0.01


@dataclass
class Statistics:
    """What was looked at, and why it failed.

    Args:
        states: Checked states.
        edges: Checked edges.
        causes: Failures by cause; of single legs as "cause leg".
    """

    states: int = 0
    edges: int = 0
    causes: Counter[str] = field(default_factory=Counter)

    def main_cause(self) -> str:
        """What states failed of most, by leg where there is one."""
        return main_cause(self.causes)


def main_cause(causes: Counter[str]) -> str:
    """The three most frequent causes.

    Args:
        causes: How often states failed of each.
    """
    return ", ".join(f"{name} ({count})" for name, count in causes.most_common(3) if count) or "nothing"


class StanceModel:
    """A robot in a world, with all that checks of stances share: kernels are compiled once.

    Args:
        robot: A robot with legs of three joints.
        world: The world.
        margins: What states must keep.
    """

    def __init__(self, robot: Robot, world: World, margins: Margins | None = None) -> None:
        self.robot, self.world, self.margins = robot, world, margins or Margins()
        self.chart = LimbChart(robot)
        self.clearance = Clearance(self.chart, world, self.margins.clearance)
        surfaces = [robot.contacts[name] for name in self.chart.names]
        self.radii = np.array([surface.radius for surface in surfaces])
        self.friction = np.array([surface.friction for surface in surfaces])
        corners = robot.contact_corners(np.array(robot.home))
        lowest = np.array([corners[name][:, 2].min() for name in self.chart.names])
        self.feet = np.flatnonzero(lowest < lowest.min() + _ON_GROUND)
        """Limbs that stand at home; the others are hands, which may be in the air."""
        self.soles = [
            np.zeros((1, 3)) if limb.sole is None else surface.corners @ limb.sole.T
            for limb, surface in zip(self.chart.limbs, surfaces, strict=True)
        ]
        """For each limb (k, 3) where it touches, from its foothold, in world [m]."""
        self.torque_limits = np.array([drive.torque_limit for drive in robot.drives])
        self.first_ground = len(world.obstacles) + len(world.objects)
        self.statistics = Statistics()
        home = self.chart.home
        com = self.chart.lift(home[None]).com[0]
        high = float(com[2] - (home[8::3] - self.radii).min())
        self.least_height = self.margins.height * high
        self.near = _NEAR * high * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]])
        """(5, 2) places round the centre of mass: a robot behind its plan crosses edges of the ground lower."""
        self.shares = np.ones(len(surfaces))
        for k in np.setdiff1d(np.arange(len(surfaces)), self.feet):
            self.shares[k] = min(_MOST_ON_HAND, _HAND_EFFORT * self._strength(surfaces[k], home[6 + 3 * k : 9 + 3 * k]))

    def _strength(self, surface: ContactSurface, place: Array) -> float:
        """The share of the weight that the drives of a limb can carry at home at its held place, beside their own."""
        kernels, q = compile_robot(self.robot), np.array(self.robot.home)[None]
        none = np.zeros((1, self.robot.nv))
        own = np.abs(np.asarray(kernels.rnea(q, none, none))[0, self.robot.driven])
        J = np.asarray(kernels.jacobian(q, surface.frame))[0]
        weight = -self.robot.mass * self.world.gravity
        arm = place - np.asarray(kernels.frames(q, [surface.frame]))[0, 0, :3, 3]
        load = np.abs(np.concatenate([weight, np.cross(arm, weight)]) @ J)[self.robot.driven]
        return float(np.min((self.torque_limits - own)[load > 1e-9] / load[load > 1e-9]))

    def build(self) -> None:
        """Compile all kernels, or load them from the cache."""
        Mode.standing(self, self.chart.home).check(self.chart.home[None])
        self.clearance.own(np.array(self.robot.home)[None], self.clearance.points(np.array(self.robot.home)[None]))
        points = self.clearance.points(np.array(self.robot.home)[None])
        for solid in self.clearance.solids:
            self.clearance._distances(solid, points)

    def centres(self, leg: int, footholds: Footholds) -> Array:
        """(n, 3) where the centre of a foot is when it stands on footholds [m].

        Args:
            leg: Index of the limb.
            footholds: Where.
        """
        out: Array = footholds.points + self.radii[leg] * footholds.normals
        return out


@dataclass(frozen=True, eq=False)
class Verdict:
    """The answer for n states.

    Args:
        cause: (n,) 0 where a state is allowed, else 1 + the place of the cause in `CAUSES`.
        room: (n,) distance of the centre of mass from the border of the support region [m].
    """

    cause: NDArray[np.int64]
    room: Array

    @property
    def valid(self) -> Mask:
        """(n,) which states are allowed."""
        return np.asarray(self.cause == 0)


@dataclass(frozen=True, eq=False)
class Mode:
    """A stance: which feet are held where, and what holds for the states of it.

    Args:
        model: The robot in its world.
        feet: (L, 3) centres of the feet that are held; of others their last places [m].
        held: (L,) which feet are held.
        carries: (L,) which of them must carry the robot: a foot that is about to leave or has just come does not.
        footholds: L places; of legs that swing any.
        spots: For each leg the centres (k, 3) over which its sole may be near the ground while it swings.
        region: Where the centre of mass may be.
        statistics: Counts what is checked.
    """

    model: StanceModel
    feet: Array
    held: Mask
    carries: Mask
    footholds: Footholds
    spots: tuple[Array, ...]
    region: SupportRegion
    statistics: Statistics

    @classmethod
    def of(
        cls, model: StanceModel, feet: Array, held: Mask, footholds: Footholds, carries: Mask, spots: tuple[Any, ...]
    ) -> Mode:
        """A mode; its support region is computed here.

        Args:
            model: The robot in its world.
            feet: (L, 3) centres of the feet [m].
            held: (L,) which feet are held.
            footholds: Of all legs.
            carries: (L,) which of them must carry the robot.
            spots: For each leg (k, 3).
        """
        owner = np.repeat(np.arange(len(model.soles)), [len(sole) for sole in model.soles])
        loaded = carries[owner]
        rows, corners = owner[loaded], np.concatenate(model.soles)[loaded]
        points = footholds.points[rows] + corners
        mu = np.minimum(footholds.friction, model.friction)[rows]
        region = support_region(points, footholds.normals[rows], mu, model.margins.exact, model.shares[rows])
        return cls(model, feet, held, carries, footholds, spots, region, model.statistics)

    @classmethod
    def standing(cls, model: StanceModel, state: Array) -> Mode:
        """All feet on what is under them; hands, and feet with nothing under them, in the air.

        Args:
            model: The robot in its world.
            state: (6 + 3 L,).
        """
        from surefoot.planning.footholds import footholds_at

        feet = state[6:].reshape(-1, 3)
        legs = len(feet)
        footholds = footholds_at(model.world, feet[:, :2])
        stands = np.isin(np.arange(legs), model.feet) & np.isfinite(footholds.points[:, 2])
        return cls.of(model, feet, stands, footholds, stands, (np.zeros((0, 3)),) * legs)

    @property
    def swings(self) -> NDArray[np.int64]:
        """Limbs on their way to a foothold, or from one."""
        return np.array([k for k, spots in enumerate(self.spots) if not self.held[k] and len(spots)], dtype=np.int64)

    @property
    def free(self) -> NDArray[np.int64]:
        """Columns of a state that this stance leaves free."""
        swings = np.repeat(~self.held, 3)
        return np.concatenate([np.arange(6), 6 + np.flatnonzero(swings)])

    def put_feet(self, states: Array) -> Array:
        """States with the held feet exactly in their places.

        Args:
            states: (n, 6 + 3 L).
        """
        out = np.array(states)
        feet = out[:, 6:].reshape(len(out), len(self.held), 3)
        feet[:, self.held] = self.feet[self.held]
        return out

    # -- checks ---------------------------------------------------------------------------------------------------

    def check(self, states: Array) -> Verdict:
        """Which states are allowed, and why not.

        Args:
            states: (n, 6 + 3 L), held feet in their places.
        """
        parts = [self._check(states[k : k + _CHUNK]) for k in range(0, len(states), _CHUNK)]
        if not parts:
            return Verdict(np.zeros(0, dtype=np.int64), np.zeros(0))
        return Verdict(np.concatenate([x.cause for x in parts]), np.concatenate([x.room for x in parts]))

    def _check(self, states: Array) -> Verdict:
        margins, lifted = self.model.margins, self.model.chart.lift(states)
        cause = np.zeros(len(states), dtype=np.int64)
        room = self.region.room(lifted.com)
        self._refuse(cause, lifted.reach < margins.reach, "reach")
        self._refuse(cause, lifted.limits < margins.limits, "limits")
        self._refuse(cause, room < margins.balance, "balance")
        near = lifted.com[:, None, :2] + self.model.near
        ground = self.model.world.height(near[..., 0], near[..., 1]).max(axis=1)
        self._refuse(cause, lifted.com[:, 2] - ground < self.model.least_height, "height")
        rows = np.flatnonzero(cause == 0)
        if len(rows):
            whole = len(rows) == len(cause)
            part = lifted if whole else Lifted(*(x[rows] for x in lifted))
            self._check_clearance(cause, rows, part, states if whole else states[rows])
        self.statistics.states += len(states)
        return Verdict(cause, room)

    def _check_clearance(
        self, cause: NDArray[np.int64], rows: NDArray[np.int64], lifted: Lifted, states: Array
    ) -> None:
        clearance = self.model.clearance
        points = clearance.points(lifted.q)
        found = cause[rows]
        self._refuse(found, clearance.own(lifted.q, points) < 0.0, "self")
        ground = self.model.first_ground
        pieces = self.footholds.pieces
        stands = [ground + int(pieces[k]) if h else None for k, h in enumerate(self.held)]
        gaps = clearance.world(points, np.ascontiguousarray(states[:, :3]), stands)
        self._refuse(found, np.concatenate([gaps.legs, gaps.body[:, None]], axis=1) < 0.0, "world")
        self._refuse(found, gaps.soles < self._sole_heights(states), "swing")
        cause[rows] = found

    def _sole_heights(self, states: Array) -> Array:
        """(n, L) or (L,) how high soles must be: nothing for those that are held [m]."""
        swinging = np.flatnonzero(~self.held)
        out = np.zeros((len(states) if len(swinging) else 1, len(self.held)))
        margins = self.model.margins
        for k in swinging:
            foot = states[:, 6 + 3 * k : 9 + 3 * k]
            out[:, k] = margins.swing_height
            if len(self.spots[k]):
                away = np.linalg.norm(foot[:, None] - self.spots[k], axis=2).min(axis=1)
                out[:, k] = np.minimum(out[:, k], margins.swing_slope * away)
        return out

    def _refuse(self, cause: NDArray[np.int64], wrong: Mask, name: str) -> None:
        """Note a cause for states that have none yet, and count it, by leg where it is one's."""
        by_leg = wrong.ndim == 2
        bad = (wrong.any(axis=1) if by_leg else wrong) & (cause == 0)
        count = int(np.count_nonzero(bad))
        if not count:
            return
        cause[bad] = 1 + CAUSES.index(name)
        self.statistics.causes[name] += count
        if by_leg:
            names = (*self.model.chart.names, "body")
            for k, hits in enumerate(np.count_nonzero(wrong[bad], axis=0)):
                if hits:
                    self.statistics.causes[f"{name} {names[k]}"] += int(hits)

    def check_edges(self, starts: Array, ends: Array) -> Mask:
        """(m,) whether straight edges between allowed states are allowed all along, at the resolution of the margins.

        Args:
            starts: (m, 6 + 3 L).
            ends: (m, 6 + 3 L).
        """
        steps = np.ceil(self.model.chart.distance(starts, ends) / self.model.margins.resolution).astype(np.int64)
        self.statistics.edges += len(starts)
        free = np.ones(len(starts), dtype=bool)
        for rows, shares in _rounds(steps):
            keep = free[rows]
            rows, shares = rows[keep], shares[keep]
            if len(rows):
                samples = starts[rows] + shares[:, None] * (ends[rows] - starts[rows])
                free[rows[~self.check(self.put_feet(samples)).valid]] = False
        return free


def _rounds(steps: NDArray[np.int64]) -> list[tuple[NDArray[np.int64], Array]]:
    """Inner samples of edges in two rounds, a few in the middle first: (edge, share of the way)."""
    inner = np.maximum(steps - 1, 0)
    edge = np.repeat(np.arange(len(steps)), inner)
    number = np.arange(len(edge)) - np.repeat(np.cumsum(inner) - inner, inner) + 1
    share = number / steps[edge] if len(edge) else np.zeros(0)
    first = number % 4 == 2
    return [(edge[first], share[first]), (edge[~first], share[~first])]
