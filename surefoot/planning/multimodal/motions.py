"""Motions along moves: shift the base, swing the foot, and what happens where there is none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Array
from surefoot.planning.connect import SingleMode, prune, shorten, smooth
from surefoot.planning.multimodal.plan import Clock, Limits, Segment, StancePlan
from surefoot.planning.space import Mode, StanceModel
from surefoot.planning.stances import Key, Move
from surefoot.planning.statics import static_torques

_STRONG = 0.9  # of torque limits: if no base pose of a move needs less, others are looked for
_FEW = 4  # base poses of a move that was not sampled anew
_BACK_TRACKS = 60  # failures of motions along a given sequence before it is given up


class Motions:
    """Motions of one plan.

    Args:
        model: The robot in its world.
        single_mode: What plans motions inside a stance.
        plan: The plan; counts what is tried.
        state: (6 + 3 L,) where it begins.
        rng: Random numbers.
        limits: What may be spent.
    """

    def __init__(
        self,
        model: StanceModel,
        single_mode: SingleMode,
        plan: StancePlan,
        state: Array,
        rng: np.random.Generator,
        limits: Limits,
    ) -> None:
        self.model, self.single_mode, self.plan, self.graph = model, single_mode, plan, plan.graph
        self.state, self.rng, self.limits = state, rng, limits
        self.end = model.statistics.states + limits.states
        self._known: dict[tuple[Key, ...], tuple[list[Segment], Array]] = {}

    def connect(self, moves: Sequence[Move]) -> Move | None:
        """Plan motions along moves into the plan; returns the first move that has none. What is known is used again.

        Args:
            moves: From the first stance on.
        """
        plan, state = self.plan, self.state
        plan.moves, plan.segments = list(moves), []
        prefix: tuple[Key, ...] = (plan.start,)
        for move in moves:
            prefix = (*prefix, move.after)
            if prefix not in self._known:
                found = self._motion(state, move)
                if found is None:
                    return move
                self._known[prefix] = found
            parts, state = self._known[prefix]
            plan.segments = [*plan.segments, *parts]
        if prefix[-1] == plan.goal:
            plan.segments = [*plan.segments, *self._settle(state)]
            plan.solved = True
        return None

    def follow(self) -> None:
        """Plan motions of the moves that the plan has; a failure replans the move before, from other base poses."""
        plan, number, failures = self.plan, 0, 0
        found: list[tuple[list[Segment], Array]] = []
        with Clock(plan, "connecting"):
            while number < len(plan.moves):
                motion = self._motion(found[-1][1] if found else self.state, plan.moves[number])
                if motion is not None:
                    found.append(motion)
                    number += 1
                    continue
                failures += 1
                if failures > _BACK_TRACKS or self.model.statistics.states > self.end:
                    plan.segments = [segment for parts, _ in found for segment in parts]
                    plan.moves = plan.moves[:number]
                    plan.reason = f"move {number + 1} has no motion; failed most: {self.model.statistics.main_cause()}"
                    return
                self._resample(plan.moves[number])
                if found:
                    self._resample(plan.moves[number - 1])
                    found.pop()
                    number -= 1
            last = found[-1][1] if found else self.state
            plan.segments = [*(segment for parts, _ in found for segment in parts), *self._settle(last)]
            plan.solved = True

    def _resample(self, move: Move) -> None:
        """Other base poses for a move, before those that it has."""
        fresh = self.graph.bases_of(move, self.rng)
        move.bases = np.concatenate([fresh, np.roll(move.bases, -1, axis=0)])[:8]
        move.tries += 1

    def _motion(self, state: Array, move: Move) -> tuple[list[Segment], Array] | None:
        """Shift the base, then swing the foot; with each of the base poses of the move until one works."""
        stands = self.graph.mode(move.before)
        for base in self._by_torque(move):
            shift = self._single(stands, state, self.graph.states(move.before, base[None])[0])
            swing = None if shift is None else self.swing(move, base)
            if shift is not None and swing is not None:
                return [self.segment(stands, shift, move.before, None), swing], swing.path[-1]
        return None

    def swing(self, move: Move, base: Array) -> Segment | None:
        """The foot of a move goes to its new place; None if no motion was found.

        Args:
            move: The move.
            base: (6,) base pose at both ends.
        """
        mode = self.graph.mode(move.before, move.leg, carries=False, to=move.after[move.leg])
        leaves, lands = (self.graph.states(key, base[None])[0] for key in (move.before, move.after))
        path = self._single(mode, leaves, lands)
        return None if path is None else self.segment(mode, path, move.before, move.leg)

    def segment(self, mode: Mode, path: Array, stance: Key, swings: int | None) -> Segment:
        """A path, shorter and without corners where that works.

        Args:
            mode: The stance.
            path: (k, 6 + 3 L) corners.
            stance: Footholds.
            swings: The leg in the air; None if all stand.
        """
        found, is_smooth = self._smooth(mode, path)
        return Segment(mode, found, stance, swings, is_smooth)

    def _by_torque(self, move: Move) -> Array:
        """(k, 6) base poses of a move within the torques that may be asked for, the least first.

        Poses that were sampled stay with the move.
        """
        ratios, most = self._torque_ratios(move, move.bases), self.model.margins.torque
        if not (ratios <= min(most, _STRONG)).any() and len(move.bases) <= _FEW:
            fresh = self.graph.bases_of(move, self.rng)
            move.bases = np.concatenate([fresh, move.bases])
            ratios = np.concatenate([self._torque_ratios(move, fresh), ratios])
        self.model.statistics.causes["torque"] += int((ratios > most).sum())
        order = np.argsort(ratios, kind="stable")
        out: Array = move.bases[order[ratios[order] <= most]]
        return out

    def _torque_ratios(self, move: Move, bases: Array) -> Array:
        """(k,) largest static torque over its limit, where the foot leaves and where it lands."""
        model, graph = self.model, self.graph
        shares = np.ones((len(bases), len(move.before)))
        shares[:, move.leg] = 0.0
        out = np.zeros(len(bases))
        for stance in (move.before, move.after) if len(bases) else ():
            places = np.broadcast_to(graph.footholds.points[list(stance)], (len(bases), len(stance), 3))
            shares[:, np.array(stance) < 0] = 0.0
            q = model.chart.lift(graph.states(stance, bases)).q
            torques = np.abs(static_torques(model, q, places, shares)[0])
            out = np.maximum(out, (torques / model.torque_limits).max(axis=1))
        return out

    def _settle(self, state: Array) -> list[Segment]:
        """At the goal, the base goes to where it fits best, if it can."""
        goal = self.plan.goal
        mode, end = self.graph.mode(goal), self.graph.states(goal, self.graph.fitted_base(goal)[None])[0]
        if not mode.check(end[None]).valid[0]:
            return []
        path = self._single(mode, state, end)
        if path is None:
            return []
        return [self.segment(mode, path, goal, None)]

    def _single(self, mode: Mode, start: Array, goal: Array) -> Array | None:
        path = self.single_mode(mode, start, goal, self.rng, self.limits.single_mode)
        tried, solved = self.plan.tried
        self.plan.tried = tried + 1, solved + (path is not None)
        return path

    def _smooth(self, mode: Mode, path: Array) -> tuple[Array, bool]:
        """The path shorter and without corners, and whether that worked; a straight edge has none."""
        with Clock(self.plan, "shortening"):
            if len(path) > 4:
                path = prune(mode, shorten(mode, path, self.rng))
            if len(path) == 2:
                return path, True
            curve = smooth(mode, path)
        return (path, False) if curve is None else (curve, True)
