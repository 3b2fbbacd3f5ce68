"""What an optimal-control problem is made of: phases, transitions, ends, named costs and named constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.motion import ContactSchedule, Trajectory, World
from surefoot.ocp import blocks as known
from surefoot.ocp.formulation import Formulation
from surefoot.ocp.node import Node
from surefoot.ocp.postures import VolumePair, distance_block, volumes_of_pair
from surefoot.ocp.shape import Block, Place
from surefoot.ocp.timeline import LimitedTimeline, in_order, names_of, path_of, share_at_end, swing_heights
from surefoot.robot import Robot

Reference = ArrayLike | Callable[[float], ArrayLike]
_OWN = (
    "torque limit",
    "torque-speed limit",
    "position limit",
    "speed limit",
    "motion",
    "loops",
    "momentum",
    "impact",
    "contact acceleration",
)
_OF_CONTACTS = ("cone", "contact", "position", "velocity", "impact")
"""Blocks and rows of the problem itself, and those of its contacts: "cone left_foot"."""


class ProblemSpec(LimitedTimeline):
    """Phases, ends, costs and constraints of a motion; see the module.

    Args:
        robot: The robot.
        world: Where it moves; level ground if None.
        formulation: Dynamics, integrator and controls.
    """

    def __init__(self, robot: Robot, world: World | None = None, formulation: Formulation | None = None) -> None:
        super().__init__(robot, world, formulation)
        self.blocks: list[Block] = []
        self.references: dict[str, Reference] = {}
        self.bounds: dict[str, tuple[Array, Array]] = {}
        self.apart: set[VolumePair] = set()

    @classmethod
    def of(
        cls, robot: Robot, schedule: ContactSchedule, step: float = 0.04, *, clearance: float = 0.05, **others: Any
    ) -> Self:
        """A problem whose phases are those of a contact schedule.

        Feet that are up clear the ground, are unloaded before they leave it, land at rest and are loaded along a ramp.

        Args:
            robot: The robot.
            schedule: Stances with times and spots.
            step: About the length of an interval [s].
            clearance: Of contacts that are up between stances, see `clearance` [m]; 0 for none.
            **others: World and formulation.
        """
        problem = super().of(robot, schedule, step, **others)
        number(clearance, "clearance")
        used = {name: [name in phase.contacts for phase in problem.phases] for name in robot.contacts}
        for name in (name for name, holds in used.items() if clearance > 0.0 and any(holds) and not all(holds)):
            problem.clearance(name, clearance)
        for before, after in pairwise(problem.phases):
            for name in robot.contacts:
                if name in before.contacts and name not in after.contacts:
                    problem.unload(name, before.name)
                elif name in after.contacts and name not in before.contacts:
                    problem.load(name, after.name)
        return problem

    def cost(
        self,
        name: str,
        weight: float = 1.0,
        function: Callable[..., Any] | None = None,
        *,
        reference: Reference | Trajectory | None = None,
        at: Place = "path",
        phases: Sequence[str] | None = None,
        key: tuple[Any, ...] | None = None,
    ) -> None:
        """Add a cost: ½ weight |f|², integrated over time along the path.

        Args:
            name: Of a known cost, or a new one with a function.
            weight: Its weight.
            function: function(node) or function(node, reference) -> vector, over `ops`.
            reference: Numbers that the function takes besides: the same for all nodes, or a function of time. For
                "posture", "joint_posture", "com" and "com_height" also a trajectory that is to be followed.
            at: Along the path, at its end, or at impacts.
            phases: Where it acts; everywhere if None.
            key: What the function depends on, to find its machine code again; None: what it computes tells.
        """
        number(weight, f"weight of cost `{name}`")
        _require_function(name, function, at)
        if isinstance(reference, Trajectory):
            reference = _along(self, name, reference)
        if function is None and name in ("time", *known.SCALARS):
            further: Any = [] if reference is None else reference(0.0) if callable(reference) else reference
            self._scalar(name, weight, np.asarray(further, dtype=float).ravel(), phases)
            return
        if function is None and name not in known.RESIDUALS:
            raise one_of("cost", name, (*known.RESIDUALS, *known.SCALARS, "time"))
        if function is None:
            function, size = known.RESIDUALS[name]
            count = {"nv": self.robot.nv, "nu": self.robot.nu}[size] if isinstance(size, str) else size
            key = (name,)
        else:
            count = 0 if reference is None else np.size(reference(0.0) if callable(reference) else reference)
        if count and reference is None:
            raise ShapeError(f"cost `{name}` needs a reference of {count} numbers", subject=name, kind="cost")
        if count:
            given = np.asarray(reference(0.0) if callable(reference) else reference, dtype=float)
            self.references[self._new(name)] = given if not callable(reference) else reference
            finite_array(given.ravel(), (count,), f"reference of cost `{name}`")
        self.weights[self._new(name)] = weight
        self.blocks.append(Block(name, function, "residual", at, int(count), key, phases=self._phases(phases)))

    def _scalar(self, name: str, weight: float, further: Array, phases: Sequence[str] | None) -> None:
        function, size = known.weighted(known.SCALARS.get(name, known.unity)), 1 + len(further)
        self.references[self._new(name)] = [weight, *further]
        self.blocks.append(Block(name, function, "cost", data=size, key=(name,), phases=self._phases(phases)))

    def constrain(
        self,
        name: str,
        function: Callable[..., Any],
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        *,
        reference: Reference | None = None,
        at: Place = "path",
        phases: Sequence[str] | None = None,
        slack: float | None = None,
        key: tuple[Any, ...] | None = None,
        of_posture: bool = False,
    ) -> None:
        """Add a constraint lower ≤ f ≤ upper at all nodes.

        Args:
            name: Its name, for reports.
            function: function(node) or function(node, reference) -> vector, over `ops`.
            lower: Numbers, or one for all.
            upper: Likewise; equal bounds make an equation.
            reference: Numbers that the function takes besides.
            at: Along the path, at its end, or at impacts.
            phases: Where it acts.
            slack: If given, the bounds may be violated at a cost of ½ slack |violation|².
            key: What the function depends on, to find its machine code again; None: what it computes tells.
            of_posture: Whether the function looks at coordinates, places and parameters only. It is then compiled
                apart from the dynamics, which is quick, and holds at the beginning of intervals.
        """
        low, high = in_order(name, lower, upper)
        _require_function(name, function, at)
        size = 0 if reference is None else np.size(reference(0.0) if callable(reference) else reference)
        self.bounds[_free(self, name)] = (low, high)
        if reference is not None:
            self.references[name] = reference
        if slack is not None:
            self.weights[name + " slack"] = number(slack, f"slack of `{name}`", positive=True)
        if of_posture and slack is not None:
            raise NotSupportedError(f"constraint `{name}` of postures cannot have a slack", subject=name)
        block = Block(name, function, "row", at, int(size), key, slack is not None, phases=self._phases(phases))
        self.blocks.append(replace(block, of_posture=of_posture))

    def keep_apart(
        self, pairs: Iterable[tuple[str, str]], margin: float = 0.01, phases: Sequence[str] | None = None
    ) -> None:
        """Keep bodies away from each other, or from obstacles of the world.

        Args:
            pairs: Names of two links, or of a link and an obstacle, as `CollisionModel.link_pairs`.
            margin: Least distance of their swept volumes [m]; less where they are nearer at home.
            phases: Where; everywhere if None.
        """
        for pair in pairs:
            if (
                isinstance(pair, str)
                or not isinstance(pair, Sequence)
                or [isinstance(x, str) for x in pair] != [True] * 2
            ):
                raise ShapeError("bodies to keep apart are given as pairs of names", evidence={"given": pair})
            self.keep_volumes_apart(
                f"{pair[0]}|{pair[1]}", volumes_of_pair(self.robot, self.world, pair), margin, phases
            )

    def keep_volumes_apart(
        self, name: str, volumes: Sequence[VolumePair], margin: float = 0.01, phases: Sequence[str] | None = None
    ) -> None:
        """Keep single volumes of bodies away from each other; see `keep_apart`.

        Args:
            name: For reports.
            volumes: Pairs of volumes.
            margin: [m].
            phases: Where; everywhere if None.
        """
        self.apart |= set(volumes)
        block, lower = distance_block(self.robot, self._new(f"apart {name}"), volumes, number(margin, "margin"))
        self.add_rows(replace(block, phases=self._phases(phases)), lower)

    def clearance(self, contact: str, height: float, phases: Sequence[str] | None = None) -> None:
        """Keep a contact that is up off the ground: along a sine² over the line between where it held and will hold.

        Args:
            contact: Its name.
            height: In the middle of each swing [m].
            phases: Of its swings; all in which it does not hold if None.
        """
        if contact not in self.robot.contacts:
            raise one_of("contact", str(contact), self.robot.contacts)
        up = [phase.name for phase in self.phases if contact not in phase.contacts]
        where = up if phases is None else names_of(phases, "phases of a swing", f"phase without `{contact}`", up)
        if not where:
            raise ShapeError(f"`{contact}` is never up", next_step="add phases in which it does not hold")
        heights = swing_heights(self.phases, contact, where, number(height, f"clearance of `{contact}`"))
        count, surface = (
            sum(block.name.startswith(f"clearance {contact}") for block in self.blocks),
            self.robot.contacts[contact],
        )
        self.constrain(
            f"clearance {contact}" + (f" {count + 1}" if count else ""), known.above_rows(surface), 0.0,
            reference=heights, phases=where, key=("clearance", contact), of_posture=True,
        )  # fmt: skip

    def unload(self, contact: str, phase: str, intervals: int = 4) -> None:
        """Let the normal force of a contact go to zero along a ramp at the end of a phase.

        Args:
            contact: Its name.
            phase: In which it holds.
            intervals: Length of the ramp, in which the force falls by no less than the weight.
        """
        self._ramp(contact, phase, True, intervals)

    def load(self, contact: str, phase: str, intervals: int = 4) -> None:
        """Let the normal force of a contact grow from zero at the beginning of a phase; see `unload`."""
        self._ramp(contact, phase, False, intervals)

    def _ramp(self, contact: str, phase: str, is_end: bool, intervals: int) -> None:
        number(intervals, "intervals of a ramp", positive=True)
        holds = [item.name for item in self.phases if contact in item.contacts]
        names_of([phase], "phase of a ramp", f"phase in which `{contact}` holds", holds)
        self.constrain(
            f"{'unload' if is_end else 'load'} {contact} in {phase}", known.load_rows(contact), upper=0.0,
            reference=share_at_end(self.phases, phase, is_end, intervals), phases=[phase], key=("load", contact),
        )  # fmt: skip

    def phase(self, name: str, contacts: Sequence[str] = (), *others: Any, **named: Any) -> None:
        """Append a phase; see `Timeline.phase`."""
        super().phase(name, contacts, *others, **named)
        for before, after in pairwise(self.phases[-2:] if self.phases[-1].transition == "lift-off" else ()):
            for contact in (item for item in before.contacts if item not in after.contacts):
                self.unload(contact, before.name)

    def add_rows(self, block: Block, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> None:
        """Add a block of rows as it is; see `constrain`."""
        self.bounds[_free(self, block.name)] = (np.asarray(lower, dtype=float), np.asarray(upper, dtype=float))
        self.blocks.append(block)

    def maximise(self, parameter: str, weight: float = 1.0) -> None:
        """Make a free parameter large: cost −weight · parameter.

        Args:
            parameter: Its name.
            weight: Cost of one unit less.
        """
        if parameter not in self.parameters:
            raise one_of("parameter", parameter, self.parameters)
        name = self._new(f"maximise {parameter}")
        self.references[name] = [number(weight, f"weight of `{name}`")]
        function = known.less_of(parameter)
        self.blocks.append(Block(name, function, "cost", "end", 1, ("maximise", parameter), is_integral=False))

    def _new(self, name: str) -> str:
        if name in {block.name for block in self.blocks}:
            raise ShapeError(f"there are two blocks `{name}`", next_step="give one another name", subject=name)
        return name

    def _phases(self, names: Sequence[str] | None) -> tuple[str, ...] | None:
        known = [item.name for item in self.phases]
        return None if names is None else names_of(names, "phases of a block", "phase", known)


def _along(problem: LimitedTimeline, name: str, motion: Trajectory) -> Callable[[float], ArrayLike]:
    """What a known cost compares with, along a trajectory."""
    where = {"posture": ("y", 0), "joint_posture": ("joints", 0), "com": ("com", 0), "com_height": ("com", 2)}
    if name not in where:
        raise one_of("cost that follows a trajectory", name, where)
    (quantity, start), path = where[name], path_of(motion)

    def at(t: float) -> ArrayLike:
        node = Node(problem.robot, problem.chart, problem.chart.coordinates(path(t)), None)
        return np.asarray(getattr(node, quantity), dtype=float)[start:]

    return at


def _require_function(name: str, function: Any, at: Any) -> None:
    """Refuse a block without a name, with something that cannot be called, or at a place that does not exist."""
    if not isinstance(name, str) or not name:
        raise ShapeError("a cost or constraint needs a name", evidence={"name": name})
    if function is not None and not callable(function):
        raise ShapeError(f"`{name}` must be a function of a node, got {type(function).__name__}", subject=name)
    if at not in get_args(Place):
        raise one_of(f"place of `{name}`", str(at), get_args(Place))


def _free(problem: ProblemSpec, name: str) -> str:
    """The name of new rows, which must not be one that the problem itself uses."""
    own = {f"{word} {contact}" for word in _OF_CONTACTS for contact in problem.robot.contacts}
    if name in own | set(_OWN):
        raise ShapeError(f"`{name}` is a constraint of the problem itself", next_step="give yours another name")
    return problem._new(name)
