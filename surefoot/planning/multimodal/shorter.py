"""Shorter sequences of stances: two moves of one leg become one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from surefoot.planning.multimodal.motions import Motions
from surefoot.planning.stances import Key, Move, StanceGraph


def shorten_moves(motions: Motions) -> int:
    """Drop moves from a solved plan, from the first to the last, within its budget; how many were dropped.

    Two moves of a leg, one after the other, become one: it goes to its last place at once, or as late as then. What
    other legs do meanwhile gets base poses for the changed stances, and all motions are planned again.

    Args:
        motions: Of the plan.
    """
    plan, dropped = motions.plan, 0
    begin: int | None = 0
    best = plan.moves, plan.segments
    while begin is not None:
        tried = _shorter(plan.graph, best[0], motions.rng, begin)
        begin = None
        for place, shorter in tried:
            if motions.model.statistics.states > motions.end:
                break
            if motions.connect(shorter) is None:
                best, dropped, begin = (plan.moves, plan.segments), dropped + 1, place
                break
    plan.moves, plan.segments = best
    return dropped


def _shorter(
    graph: StanceGraph, moves: Sequence[Move], rng: np.random.Generator, first: int
) -> Iterator[tuple[int, list[Move]]]:
    """Sequences with one move less, with the place of the pair that was joined, from the first place on."""
    for k in range(first, len(moves)):
        leg = moves[k].leg
        again = next((j for j in range(k + 1, len(moves)) if moves[j].leg == leg), None)
        if again is None:
            continue
        early, late = moves[again].after[leg], moves[k].before[leg]
        for place, kept in ((early, moves[k:again]), (late, moves[k + 1 : again + 1])):
            fresh = _all_moved(graph, kept, leg, place, rng)
            if fresh is not None:
                yield k, [*moves[:k], *fresh, *moves[again + 1 :]]


def _all_moved(
    graph: StanceGraph, moves: Sequence[Move], leg: int, place: int, rng: np.random.Generator
) -> list[Move] | None:
    """Moves with a leg elsewhere meanwhile; None if one of them cannot be made."""
    out = []
    for move in moves:
        found = _moved(graph, move, leg, place, rng)
        if found is None:
            return None
        out.append(found)
    return out


def _moved(graph: StanceGraph, move: Move, leg: int, place: int, rng: np.random.Generator) -> Move | None:
    """A move with a leg elsewhere meanwhile, with base poses for it; None if there are none."""

    def put(stance: Key) -> Key:
        return (*stance[:leg], place, *stance[leg + 1 :])

    before, after = put(move.before), put(move.after)
    if move.leg == leg:
        before, after = (move.before, after) if move.before[leg] != place else (before, move.after)
    if before == after or len({k for k in after if k >= 0}) < sum(k >= 0 for k in after):
        return None
    fresh = replace(move, before=before, after=after)
    fresh.bases = graph.bases_of(fresh, rng)
    return fresh if len(fresh.bases) else None
