"""Plans of stances and motions: the records that planners fill."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from surefoot.arrays import Array
from surefoot.planning.connect import Budget
from surefoot.planning.multimodal.sequence import StanceSequence
from surefoot.planning.multimodal.stored import StanceRoadmap
from surefoot.planning.space import Mode
from surefoot.planning.stances import Key, Move, StanceGraph


@dataclass(frozen=True)
class Limits:
    """What a search may spend; it ends within them, whatever the speed of the machine.

    Args:
        states: Checked states.
        stances: Explored stances.
        single_mode: Of one motion inside a stance.
        improve: Whether to spend what is left on a solved plan, to make it with fewer moves.
    """

    states: int = 20_000_000
    stances: int = 1_000
    single_mode: Budget = field(default_factory=Budget)
    improve: bool = False


@dataclass(frozen=True, eq=False)
class Segment:
    """A motion inside one stance.

    Args:
        mode: The stance.
        path: (k, 6 + 3 L) corners, or points of a smooth curve.
        stance: Footholds of the legs.
        swings: The leg in the air; None if all stand.
        is_smooth: Whether the path has no corners, so that it can be run without a halt.
    """

    mode: Mode
    path: Array
    stance: Key
    swings: int | None
    is_smooth: bool


@dataclass
class StancePlan:
    """What a search found, also where it failed.

    Args:
        graph: Footholds and stances that were seen.
        start: First stance.
        goal: Last stance.
        state: (6 + 3 L,) the first state.
        solved: Whether the segments lead to the goal.
        moves: Moves of the last way that was looked at; of a plan that is not solved those that have motions.
        segments: Motions: of the whole way if it is solved, else as far as they lead.
        reason: Why it is not solved; "" if it is.
        unmet: Why no plan can be solved, as far as that was seen before the search.
        explored: Stances in the order in which they were explored, each with its parent.
        seconds: Processor time by stage: "exploring", "connecting", "shortening", "improving".
        tried: Single-mode problems that were looked at, and how many of them were solved.
        dropped: Moves that a solved plan lost again.
    """

    graph: StanceGraph
    start: Key
    goal: Key
    state: Array
    solved: bool = False
    moves: list[Move] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    reason: str = ""
    unmet: str = ""
    explored: list[tuple[Key, Key | None]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    tried: tuple[int, int] = (0, 0)
    dropped: int = 0

    def sequence(self) -> StanceSequence:
        """The stances of the way that was found, to be saved and followed again."""
        keys = [self.start, *(move.after for move in self.moves)]
        used = sorted({k for key in keys for k in key if k >= 0})
        number = {old: new for new, old in enumerate(used)} | {-1: -1}
        return StanceSequence(
            self.graph.model.robot.name, self.graph.model.chart.names, self.state, self.graph.footholds.take(used),
            np.array([[number[k] for k in key] for key in keys]), tuple(move.bases for move in self.moves),
        )  # fmt: skip

    def roadmap(self) -> StanceRoadmap:
        """Stances that the search explored and moves between them, for other queries in the same world."""
        return StanceRoadmap.of(self.graph, self.goal)

    @property
    def motions(self) -> list[Segment]:
        """The segments; standing at the start if there are none."""
        at_start = np.array([self.state, self.state])
        return self.segments or [Segment(self.graph.mode(self.start), at_start, self.start, None, True)]

    @property
    def stances(self) -> int:
        """Stances of the plan, those with a foot in the air counted as well."""
        return 2 * len(self.moves) + 1


class Clock:
    """Adds the processor time of a block to a plan."""

    def __init__(self, plan: StancePlan, stage: str) -> None:
        self.plan, self.stage = plan, stage

    def __enter__(self) -> None:
        self.start = time.process_time()

    def __exit__(self, *_: object) -> None:
        used = time.process_time() - self.start
        self.plan.seconds[self.stage] = self.plan.seconds.get(self.stage, 0.0) + used
