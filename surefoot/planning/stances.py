"""The graph of stances: which foot may move where, with states in which it does so.

A stance is a foothold for every leg; hands may be in the air, too. Two stances are neighbours if one foot or hand is
relocated, or a hand is put on or taken off. Such a move needs a state in which the foot leaves, and one in which it
lands: all feet in place, and the robot balanced on the others. Both are sampled together, with the base in the same
pose. Wimmer 2016 and Hauser & Latombe 2010 sample transitions as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.planning.detours import Detours
from surefoot.planning.footholds import Footholds
from surefoot.planning.space import Mode, StanceModel

Key = tuple[int, ...]
"""A stance: for every limb the index of its foothold, −1 for a hand in the air."""
_FEW = 12  # base poses that balance without a leg; if there are fewer, more are made
_MOST_TURN = 1.0  # [rad]: goals that are turned farther are gone to by turns; the straight way would cross the legs
_DROPS = (0.0, 0.06, 0.12, 0.18)  # of the base, as shares of its height, that are tried with legs that are stretched
_NARROWEST = 0.2  # share of the usual spread of base poses that is tried at least
_STRETCHED = 0.9  # legs that are longer than this at home, as a share of their span, reach nothing if the base rises


@dataclass(frozen=True)
class Sampling:
    """How stances are explored.

    Args:
        pitch: Distance of the footholds of the grid [m], as a share of the reach of a leg.
        edge: Distance of footholds from edges of the ground [m].
        bases: Random poses of the base that are tried for each stance.
        candidates: Footholds that are tried for each leg of a stance.
        stride: How far a foothold may be from the foot's place at home, as a share of the reach of a leg.
        spread: Standard deviation of base poses: position as a share of the base's height, and angles [rad].
    """

    pitch: float = 0.15
    edge: float = 0.02
    bases: int = 96
    candidates: int = 20
    stride: float = 1.3
    spread: tuple[float, float] = (0.25, 0.06)


@dataclass
class Move:
    """A foot is relocated.

    Args:
        leg: Index of the limb.
        before: The stance before.
        after: The stance after.
        bases: (k, 6) base poses in which the foot can leave and land, the best first.
        tries: States that were tried for it.
        cost: Of the edge; raised on failure.
    """

    leg: int
    before: Key
    after: Key
    bases: Array
    tries: int
    cost: float = 1.0


@dataclass
class StanceGraph:
    """Stances and moves between them.

    Args:
        model: The robot in its world.
        footholds: All places.
        sampling: How stances are explored.
        reach: How far a foot can be from its place at home, with the base where it fits best [m].
        moves: What was found so far: stance → stance after → move.
        detours: Ways round obstacles to the goal; None where the straight way is free.
    """

    model: StanceModel
    footholds: Footholds
    sampling: Sampling
    reach: float
    moves: dict[Key, dict[Key, Move]] = field(default_factory=dict)
    detours: Detours | None = None

    def __post_init__(self) -> None:
        home = self.model.chart.home
        self._home_feet = home[6:].reshape(-1, 3) - np.array([home[0], home[1], 0.0])
        self._feet, legs = self.model.feet, range(len(self._home_feet))
        self.centres = np.array([self.model.centres(k, self.footholds) for k in legs])
        self._for_hands = self.footholds.pieces < 0
        limbs = [self.model.chart.limbs[k] for k in self._feet]
        self._is_stretched = any(limb.stretch > _STRETCHED for limb in limbs)

    # -- stances --------------------------------------------------------------------------------------------------

    def feet(self, stance: Key) -> Array:
        """(L, 3) centres of the feet [m]; of hands in the air where they are over the best fit of the base."""
        out: Array = self.centres[np.arange(len(stance)), list(stance)]
        if min(stance) < 0:
            lifted = np.array(stance) < 0
            out[lifted] = self.model.chart.parked(self._fitted(out)[None])[0, lifted]
        return out

    def states(self, stance: Key, bases: Array) -> Array:
        """(n, 6 + 3 L) states of a stance with base poses (n, 6); hands in the air go with the base."""
        feet = np.tile(self.feet(stance), (len(bases), 1, 1))
        lifted = np.array(stance) < 0
        if lifted.any():
            feet[:, lifted] = self.model.chart.parked(bases)[:, lifted]
        return np.concatenate([bases, feet.reshape(len(bases), 3 * len(stance))], axis=1)

    def mode(self, stance: Key, swings: int | None = None, carries: bool = True, to: int | None = None) -> Mode:
        """The mode of a stance.

        Args:
            stance: The stance.
            swings: The leg that is in the air, or that does not carry; None if all stand.
            carries: Whether that leg still touches, without carrying.
            to: The foothold where it lands.
        """
        legs = len(stance)
        held = np.array(stance) >= 0
        load = held.copy()
        spots = [np.zeros((0, 3))] * legs
        if swings is not None:
            load[swings] = False
            held[swings] &= carries
            ends = [k for k in (stance[swings], -1 if to is None else to) if k >= 0]
            spots[swings] = self.centres[swings, ends]
        places = self.footholds.take(list(stance))
        return Mode.of(self.model, self.feet(stance), held, places, load, tuple(spots))

    def fitted_base(self, stance: Key) -> Array:
        """(6,) the base pose over a stance that fits home best: heading and place by least squares, tilt by a plane."""
        return self._fitted(self.centres[np.arange(len(stance)), list(stance)])

    def _fitted(self, feet: Array) -> Array:
        return fit_base(self._home_feet[self._feet], feet[self._feet], self.model.chart.home)

    def way_left(self, stance: Key, goal: Key) -> Array:
        """(feet,) how far feet are from their places in another stance [m]; hands do not count."""
        places, arcs = self._places_next(stance, goal)
        out: Array = np.linalg.norm(self.centres[self._feet, np.array(stance)[self._feet]] - places, axis=1) + arcs
        return out

    def _places_next(self, stance: Key, goal: Key) -> tuple[Array, Array]:
        """(feet, 3) where feet go next: to the goal, to it turned back, or to a corner; and (feet,) the rest [m]."""
        rows = self._feet
        here, places = (self.centres[rows, np.array(key)[rows]] for key in (stance, goal))
        rest = np.zeros(len(rows))
        if self.detours is not None and np.allclose(places[:, :2].mean(axis=0), self.detours.goal):
            corner, left = self.detours.next(here[:, :2].mean(axis=0))
            places, rest = places + np.append(corner - self.detours.goal, 0.0), rest + left
        home = self._home_feet[rows]
        # near half a turn all stances go the same way round
        turn = float(np.mod(_heading(home, places) - _heading(home, here) + 2.5, 2.0 * np.pi)) - 2.5
        back = turn - np.clip(turn, -_MOST_TURN, _MOST_TURN)
        if back == 0.0:
            return places, rest
        c, s = np.cos(back), np.sin(back)
        arms = places - (middle := places.mean(axis=0))
        turned = middle + arms @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        return turned, rest + abs(back) * np.hypot(arms[:, 0], arms[:, 1])

    def unlikeness(self, stance: Key) -> float:
        """How far feet are from their places at home, with the base where it fits best: half average, half worst [m].

        The average alone lets one foot of a quadruped fall behind until nothing can lift it.
        """
        base, feet = self.fitted_base(stance), self.centres[self._feet, np.array(stance)[self._feet]]
        c, s = np.cos(base[5]), np.sin(base[5])
        nominal = self._home_feet[self._feet, :2] @ np.array([[c, s], [-s, c]]) + base[:2]
        off = np.linalg.norm(feet[:, :2] - nominal, axis=1)
        return float(0.5 * (off.mean() + off.max()))

    # -- moves ----------------------------------------------------------------------------------------------------

    def explore(self, stance: Key, goal: Key, entry: Array | None, rng: np.random.Generator) -> dict[Key, Move]:
        """All moves out of a stance that were found; they are kept.

        Args:
            stance: The stance.
            goal: Where to go: footholds nearer to it are tried first.
            entry: (6,) a base pose that is known to work; None if none is.
            rng: Random numbers.
        """
        bases = self._sample_bases(stance, goal, entry, rng)
        found: dict[Key, Move] = {}
        for leg in range(len(stance)):
            ready = self._ready(stance, leg, bases)
            if len(ready):
                for move in self._moves_of_leg(stance, goal, leg, ready):
                    found[move.after] = move
        for after, move in found.items():
            old = self.moves.setdefault(stance, {}).get(after)
            if old is not None:
                move.cost = old.cost
            self.moves[stance][after] = move
        return found

    def _ready(self, stance: Key, leg: int, bases: Array) -> Array:
        """(k, 6) base poses in which a leg need not carry; if few do, others are moved to balance on the rest."""
        mode = self.mode(stance, leg)
        states = self.states(stance, bases)
        ready = bases[mode.check(states).valid]
        if len(ready) >= _FEW or not len(bases):
            return ready
        com = self.model.chart.lift(states).com
        moved = bases.copy()
        moved[:, :2] += mode.region.pulled(com, 1.3 * self.model.margins.balance) - com[:, :2]
        if self._is_stretched:  # feet farther from the base are out of reach, unless it goes down
            down = np.array([0.0, 0.0, self.model.chart.home[2], 0.0, 0.0, 0.0])
            moved = np.concatenate([moved - drop * down for drop in _DROPS])
        works = mode.check(self.states(stance, moved)).valid
        works[works] = self.mode(stance).check(self.states(stance, moved[works])).valid
        return np.concatenate([ready, moved[works]])

    def bases_of(self, move: Move, rng: np.random.Generator) -> Array:
        """(k, 6) further base poses in which the foot of a move can leave and land; k may be 0.

        Args:
            move: The move.
            rng: Random numbers.
        """
        bases = self._sample_bases(move.before, move.after, None, rng)
        for stance in (move.before, move.after):
            if len(bases):
                bases = bases[self.mode(stance, move.leg).check(self.states(stance, bases)).valid]
        return bases[np.argsort(self._strain(move.before, bases), kind="stable")][:4]

    def posed(self, stance: Key, rng: np.random.Generator) -> bool:
        """Whether some base pose was found in which all feet of a stance stand.

        Args:
            stance: The stance.
            rng: Random numbers.
        """
        return len(self._sample_bases(stance, stance, None, rng)) > 0

    def _sample_bases(self, stance: Key, goal: Key, entry: Array | None, rng: np.random.Generator) -> Array:
        """Base poses in which all feet of a stance stand; where few do, more are looked for nearer to the best fit."""
        out, spread = self._spread_bases(stance, goal, 1.0, rng), 1.0
        if entry is not None:
            out[0] = entry
        mode = self.mode(stance)
        out = out[mode.check(self.states(stance, out)).valid]
        while len(out) < _FEW and spread > _NARROWEST:
            spread *= 0.5
            more = self._spread_bases(stance, goal, spread, rng)
            out = np.concatenate([out, more[mode.check(self.states(stance, more)).valid]])
        return out

    def _spread_bases(self, stance: Key, goal: Key, spread: float, rng: np.random.Generator) -> Array:
        """(n, 6) random base poses around the best fit and a little ahead; `spread` 1 for the usual one."""
        count, fit = self.sampling.bases, self.fitted_base(stance)
        height = float(self.model.chart.home[2])
        ahead = (self._places_next(stance, goal)[0] - self.feet(stance)[self._feet]).mean(axis=0)[:2]
        ahead *= min(1.0, self.reach / max(float(np.linalg.norm(ahead)), 1e-9))
        out = np.tile(fit, (count, 1))
        out[:, 3:5] *= rng.uniform(0.0, 1.0, size=(count, 1))
        out[:, :2] += spread * ahead * rng.uniform(0.0, 0.5, size=(count, 1))
        off = spread * self.sampling.spread[0] * height * rng.normal(size=(count, 3)) * [1.0, 1.0, 0.5]
        if self._is_stretched:
            off[:, 2] = -np.abs(off[:, 2])
        out[:, :3] += off
        out[:, 3:] += spread * self.sampling.spread[1] * rng.normal(size=(count, 3))
        floor = self.model.world.height(out[:, 0], out[:, 1]) + height * rng.uniform(0.65, 1.0, size=count)
        out[:, 2] = np.maximum(out[:, 2], np.where(np.isfinite(floor), floor, -np.inf))
        return out

    def _moves_of_leg(self, stance: Key, goal: Key, leg: int, bases: Array) -> list[Move]:
        options = self._candidates(stance, goal, leg)
        out, strain = [], self._strain(stance, bases)
        places = [(None if k < 0 else int(self.footholds.pieces[k]), k) for k in options]
        for piece in dict.fromkeys(piece for piece, _ in places):
            chosen = [k for other, k in places if other == piece]
            landed = [(*stance[:leg], k, *stance[leg + 1 :]) for k in chosen]
            states = np.concatenate([self.states(after, bases) for after in landed])
            verdict = self.mode(landed[0], leg).check(states)
            valid, room = (x.reshape(len(chosen), len(bases)) for x in (verdict.valid, verdict.room))
            for row, after in enumerate(landed):
                works = np.flatnonzero(valid[row])
                if len(works):
                    quality = strain[works] - np.minimum(room[row, works], 0.03)
                    best = works[np.argsort(quality, kind="stable")][:4]
                    out.append(Move(leg, stance, after, bases[best], round(len(bases) / len(works))))
        return out

    def _strain(self, stance: Key, bases: Array) -> Array:
        """(n,) how far base poses are from the best fit [m]; height and tilt count more than the place."""
        off = np.abs(bases - self.fitted_base(stance))
        return np.asarray(off @ [0.3, 0.3, 1.0, 0.15, 0.15, 0.1])

    def _candidates(self, stance: Key, goal: Key, leg: int) -> list[int]:
        """Footholds in reach of a leg: those that come nearest to the goal, and some that do not."""
        if leg not in self._feet:
            return self._holds(stance, goal, leg)
        base = self.fitted_base(stance)
        c, s = np.cos(base[5]), np.sin(base[5])
        nominal = base[:2] + np.array([[c, -s], [s, c]]) @ self._home_feet[leg, :2]
        centres = self.centres[leg]
        away = np.linalg.norm(centres[:, :2] - nominal, axis=1)
        others = self.feet(stance)[np.setdiff1d(self._feet, [leg])]
        crowded = np.linalg.norm(centres[:, None, :2] - others[None, :, :2], axis=2).min(axis=1) < 0.15 * self.reach
        fits = np.flatnonzero(
            (away < self.sampling.stride * self.reach) & ~crowded & ~self._for_hands
            & (np.arange(len(away)) != stance[leg])
        )  # fmt: skip
        place = self._places_next(stance, goal)[0][int(np.searchsorted(self._feet, leg))]
        left = np.linalg.norm(centres[fits] - place, axis=1)
        count, near = self.sampling.candidates, fits[np.argsort(left, kind="stable")]
        rest = near[count // 2 :]
        chosen = np.linspace(0, max(len(rest) - 1, 0), min(len(rest), count - count // 2)).astype(int)
        spread = rest[chosen]
        return [int(k) for k in dict.fromkeys([*near[: count // 2], *spread])]

    def _holds(self, stance: Key, goal: Key, hand: int) -> list[int]:
        """Where a hand can hold on, the nearest to its place at home first, and the air."""
        ahead = 0.5 * (self.feet(goal) - self.feet(stance))[self._feet].mean(axis=0)
        span = self.model.chart.limbs[hand].span
        ahead *= min(1.0, 0.5 * span / max(float(np.linalg.norm(ahead)), 1e-9))
        away = np.linalg.norm(self.centres[hand] - self.feet(stance)[hand] - ahead, axis=1)
        fits = np.flatnonzero(self._for_hands & (away < span) & (np.arange(len(away)) != stance[hand]))
        near = fits[np.argsort(away[fits], kind="stable")][: self.sampling.candidates // 2]
        return [*near.tolist(), *([-1] if stance[hand] >= 0 else [])]


def fit_base(home_feet: Array, feet: Array, home: Array) -> Array:
    """(6,) the base pose over feet that fits home best.

    Args:
        home_feet: (L, 3) feet at home, relative to the base in the plane [m].
        feet: (L, 3) [m].
        home: (6 + 3 L,) the state at home.
    """
    yaw = _heading(home_feet, feet)
    c, s = np.cos(yaw), np.sin(yaw)
    place = feet[:, :2].mean(axis=0) - np.array([[c, -s], [s, c]]) @ home_feet[:, :2].mean(axis=0)
    heights = feet[:, 2] - home_feet[:, 2]
    across = (feet[:, :2] - place) @ np.array([[c, -s], [s, c]])
    slopes, *_ = np.linalg.lstsq(np.c_[across, np.ones(len(feet))], heights, rcond=None)
    return np.array(
        [*place, home[2] + slopes[2], np.arctan(slopes[1]) + home[3], -np.arctan(slopes[0]) + home[4], yaw + home[5]]
    )


def _heading(home_feet: Array, feet: Array) -> float:
    """By how much feet are turned about the vertical from home, by least squares [rad]."""
    a, b = home_feet[:, :2] - home_feet[:, :2].mean(axis=0), feet[:, :2] - feet[:, :2].mean(axis=0)
    return float(np.arctan2((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum(), (a * b).sum()))


def nearest_foothold(centres: Array, allowed: NDArray[np.bool_], place: Array) -> int:
    """Index of the foothold that is nearest to a place, of those allowed.

    Args:
        centres: (n, 3) [m].
        allowed: (n,) which count.
        place: (2,) or (3,) [m].
    """
    away = np.linalg.norm(centres[:, : len(place)] - place, axis=1)
    return int(np.argmin(np.where(allowed, away, np.inf)))
