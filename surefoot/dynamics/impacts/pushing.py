"""Impacts of contacts that push and never pull: one that would have to pull lets go.

For the normal row n of every contact with the world (its z), with Λ what it does to the robot,

    Newton:   0 ≤ Λ_n  ⟂  J_n (v⁺ + e v⁻) ≥ 0        [dyn.impact-pushing]   Moreau 1988, section 6
    Poisson:  compression  0 ≤ Λ_n  ⟂  J_n v ≥ 0,  then  0 ≤ Λ_n - e Λ_n(compression)  ⟂  J_n v⁺ ≥ 0
              Pfeiffer & Glocker 1996, chapter 8

The other rows of a contact stick as long as it holds and give nothing when it lets go; loops and couplings always hold.
For contacts without sticking rows ("normal") the problem is convex: v⁺ exists and is unique. Where contacts stick there
may be no such impact: it is refused. A pair that separates already may close under Newton's law, which only bounds its
speed by -e times that before; under Poisson's nothing goes on closing.

Every contact is one point for this purpose: a sole that can tilt is given by its corners.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.dynamics.checked_arguments import checked_choice
from surefoot.dynamics.constraints import Constraint, Constraints, Tie, impulses_of, measured_rows, shortest_step
from surefoot.dynamics.impacts.impact import Impact, ImpactState, Restitution, impact_of, impact_state
from surefoot.errors import SimulationError
from surefoot.robot import Robot

ImpactLaw = Literal["newton", "poisson"]
_NORMAL = 2  # z among (x, y, z, rx, ry, rz)
_ROUNDING = 1e-9  # of the speeds that a row adds up, and of the momentum that belongs to them
_MOST = 12  # contacts of which every set is tried where the search goes round in circles


class _Push(NamedTuple):
    """Rows (all of them, and the normal one) of a contact that can only push."""

    name: str
    rows: slice
    normal: int


class _Step(NamedTuple):
    """A step y (nv,) in the coordinates of the energy, and its impulses (m,)."""

    y: Array
    impulses: Array


def pushing_impact(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    constraints: Sequence[Constraint] | Constraints,
    restitution: Restitution = 0.0,
    law: ImpactLaw = "newton",
) -> Impact:
    """The impact of contacts that can only push; `released` names those that let go.   [dyn.impact-pushing].

    Args:
        robot: The robot.
        q: (nq,) configuration.
        v: (nv,) velocity before.
        constraints: All contacts that touch, and loops and couplings.
        restitution: As in `impact`.
        law: "newton" or "poisson".

    Raises:
        SimulationError: No set of contacts fulfils the conditions.
        ModelError: Different restitutions would add energy.
    """
    checked_choice("law of impact", law, get_args(ImpactLaw))
    state = impact_state(robot, q, v, constraints, restitution)
    step = _complementary(state) if law == "newton" else _poisson(state)
    _, little = _negligible(state)
    released = tuple(push.name for push in _pushes(state.constraints) if step.impulses[push.normal] <= little)
    return impact_of(state, measured_rows(state.C, state.J), *step, released)


def _poisson(state: ImpactState) -> _Step:
    """Compress without rebound, give back the share e of each impulse, and stop what then still closes."""
    plastic = state._replace(restitution=np.zeros_like(state.restitution))
    first = _complementary(plastic)
    given = state.restitution * first.impulses
    back = np.linalg.solve(state.C, state.J.T @ given)
    between = state.v + np.linalg.solve(state.C.T, first.y + back)
    last = _complementary(plastic._replace(v=between))
    return _Step(first.y + back + last.y, first.impulses + given + last.impulses)


def _complementary(state: ImpactState) -> _Step:
    """The step of a set of contacts that all push, while the others part.

    It begins with all that do not part before. The contact that pulls most is dropped, or else the one that closes most
    is taken in, until there is neither. Where that goes round in circles, every set is tried.
    """
    pushes = _pushes(state.constraints)
    slow, _ = _negligible(state)
    held = frozenset(k for k, push in enumerate(pushes) if state.J[push.normal] @ state.v <= slow)
    seen = set[frozenset[int]]()
    while held not in seen:
        seen.add(held)
        step = _step(state, pushes, held)
        pull, close = _faults(state, pushes, held, step)
        if not pull and not close:
            return step
        held = held - {max(pull, key=pull.__getitem__)} if pull else held | {max(close, key=close.__getitem__)}
    # All sets of contacts, large ones first; none where they are too many to try
    count = len(pushes)
    sizes = range(count, -1, -1) if count <= _MOST else ()
    for held in (frozenset(chosen) for size in sizes for chosen in combinations(range(count), size)):
        step = _step(state, pushes, held)
        if not any(_faults(state, pushes, held, step)):
            return step
    raise SimulationError(
        "no set of contacts can take this impact by pushing alone",
        evidence={"contacts": [push.name for push in pushes]},
        next_step='let contacts slide (kind "normal"), or use `impact`, in which they may pull',
    )


def _step(state: ImpactState, pushes: Sequence[_Push], held: frozenset[int]) -> _Step:
    """The impact of some of the contacts."""
    mask = np.ones(len(state.J), dtype=bool)
    for k, push in enumerate(pushes):
        mask[push.rows] = k in held
    rows = measured_rows(state.C, state.J[mask])
    y = shortest_step(rows, -((1.0 + state.restitution) * (state.J @ state.v))[mask])
    impulses = np.zeros(len(state.J))
    impulses[mask] = impulses_of(rows, y)
    return _Step(y, impulses)


def _faults(
    state: ImpactState, pushes: Sequence[_Push], held: frozenset[int], step: _Step
) -> tuple[dict[int, float], dict[int, float]]:
    """How much contacts that hold pull [N s], and how fast others would go on closing [m/s]."""
    wanted = (1.0 + state.restitution) * (state.J @ state.v) + state.J @ np.linalg.solve(state.C.T, step.y)
    slow, little = _negligible(state)
    pull = {k: -float(step.impulses[pushes[k].normal]) for k in held if step.impulses[pushes[k].normal] < -little}
    open_ones = [k for k in range(len(pushes)) if k not in held]
    close = {k: -float(wanted[pushes[k].normal]) for k in open_ones if wanted[pushes[k].normal] < -slow}
    return pull, close


def _negligible(state: ImpactState) -> tuple[float, float]:
    """Speeds [m/s] and impulses [N s] that are rounding."""
    speed = float((np.abs(state.J) @ np.abs(state.v)).max(initial=0.0))
    twice_energy = float(np.sum((state.C.T @ state.v) ** 2))
    return _ROUNDING * speed, _ROUNDING * twice_energy / speed if speed else 0.0


def _pushes(constraints: Constraints) -> list[_Push]:
    """The contacts with the world that hold their normal."""
    out, start = [], 0
    for part in constraints.parts:
        rows = slice(start, start + len(part.rows))
        if isinstance(part, Tie) and part.first.body < 0 and _NORMAL in part.held:
            out.append(_Push(part.name, rows, start + part.held.index(_NORMAL)))
        start = rows.stop
    return out
