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
        graph, feet = self.graph, self.graph.feet(move.after).ravel()
        stands = graph.mode(move.before)
        swings = graph.mode(move.before, move.leg, carries=False, to=move.after[move.leg])
        for base in self._by_torque(move):
            leaves = np.concatenate([base, state[6:]])
            lands = np.concatenate([base, feet])
            shift = self._single(stands, state, leaves)
            swing = None if shift is None else self._single(swings, leaves, lands)
            if shift is not None and swing is not None:
                first, second = self._smooth(stands, shift), self._smooth(swings, swing)
                return [Segment(stands, first[0], move.before, None, first[1]),
                        Segment(swings, second[0], move.before, move.leg, second[1])], lands  # fmt: skip
        return None

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
            states = np.concatenate([bases, np.tile(graph.feet(stance).ravel(), (len(bases), 1))], axis=1)
            torques = np.abs(static_torques(model, model.chart.lift(states).q, places, shares))
            out = np.maximum(out, (torques / model.torque_limits).max(axis=1))
        return out

    def _settle(self, state: Array) -> list[Segment]:
        """At the goal, the base goes to where it fits best, if it can."""
        goal = self.plan.goal
        mode, end = self.graph.mode(goal), np.concatenate([self.graph.fitted_base(goal), state[6:]])
        if not mode.check(end[None]).valid[0]:
            return []
        path = self._single(mode, state, end)
        if path is None:
            return []
        path, is_smooth = self._smooth(mode, path)
        return [Segment(mode, path, goal, None, is_smooth)]

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
