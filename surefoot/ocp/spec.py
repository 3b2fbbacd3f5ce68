"""What an optimal-control problem is made of: phases, transitions, ends, named costs and named constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.motion import ContactSchedule, Trajectory, World
from surefoot.motion.exchange import mirror_of
from surefoot.ocp import blocks as known
from surefoot.ocp.chart import Chart
from surefoot.ocp.formulation import Formulation
from surefoot.ocp.node import Node
from surefoot.ocp.postures import VolumePair, distance_block, volumes_of_pair
from surefoot.ocp.shape import Block, Design, Place
from surefoot.robot import Robot, Tree

Transition = Literal["continuous", "soft", "impact"]
Reference = ArrayLike | Callable[[float], ArrayLike]


@dataclass(frozen=True, eq=False)
class PhaseSpec:
    """A phase with one set of contacts.

    Args:
        name: Unique.
        contacts: Contacts that hold.
        intervals: Number of intervals.
        duration: Lower end, guess and upper end [s]; all equal if it is fixed.
        spots: Contact → pose (4, 4) where it holds.
        free: Contact → directions (0…5 for x y z rx ry rz) in which its place is free.
        transition: How it begins: "continuous", "soft" (new contacts arrive at rest) or "impact" (inelastic).
        friction: Coulomb coefficient; that of the contacts if None.
    """

    name: str
    contacts: tuple[str, ...]
    intervals: int
    duration: tuple[float, float, float]
    spots: Mapping[str, Array]
    free: Mapping[str, tuple[int, ...]]
    transition: Transition = "continuous"
    friction: float | None = None


@dataclass(eq=False)
class Ends:
    """Fixed entries of the state at one end: coordinates and rates by index."""

    y: dict[int, float] = field(default_factory=dict)
    dy: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Periodic:
    """Coupling of the two ends: x_N = sign · x_0[source], in all entries but those that are omitted."""

    source: NDArray[np.int64]
    sign: Array
    omit: tuple[int, ...]


class Timeline:
    """Phases and ends of a motion.

    Args:
        robot: The robot.
        world: Where it moves; level ground if None.
        formulation: Dynamics, integrator and controls.
    """

    def __init__(self, robot: Robot, world: World | None = None, formulation: Formulation | None = None) -> None:
        if not isinstance(robot, Robot):
            raise NotSupportedError(f"expected a Robot, got {type(robot).__name__}")
        self.robot, self.world = robot, world or World()
        self.formulation = formulation or Formulation()
        self.chart = Chart(robot)
        self.phases: list[PhaseSpec] = []
        self.first, self.last = Ends(), Ends()
        self.coupling: Periodic | None = None

    @classmethod
    def of(cls, robot: Robot, schedule: ContactSchedule, step: float = 0.04, **others: Any) -> Self:
        """A problem whose phases are those of a contact schedule.

        Args:
            robot: The robot.
            schedule: Stances with times and spots.
            step: About the length of an interval [s].
            **others: World and formulation.
        """
        problem = cls(robot, **others)
        for k, item in enumerate(schedule.phases):
            duration = item.end - item.start
            spots = {name: spot.pose for name, spot in item.stance.spots.items()}
            count = max(2, round(duration / step))
            problem.phase(
                f"phase{k}", item.stance.names, count, duration, spots=spots, transition="soft" if k else "continuous"
            )
        return problem

    def phase(
        self,
        name: str,
        contacts: Sequence[str] = (),
        intervals: int = 20,
        duration: float | Sequence[float] = 1.0,
        *,
        spots: Mapping[str, ArrayLike] | None = None,
        free: Mapping[str, Sequence[int]] | None = None,
        transition: Transition = "continuous",
        friction: float | None = None,
    ) -> None:
        """Append a phase.

        Args:
            name: Unique.
            contacts: Contacts of the robot that hold.
            intervals: Number of intervals, at least 1.
            duration: Fixed [s], or (lower, upper), or (lower, guess, upper).
            spots: Contact → pose (4, 4) in world; where it is at home if omitted.
            free: Contact → directions (0…5) in which its place is left to the solver.
            transition: "continuous", "soft" or "impact".
            friction: Coulomb coefficient of the ground; that of the contacts if None.
        """
        if name in {item.name for item in self.phases}:
            raise ShapeError(f"there are two phases `{name}`", subject=name, kind="phase")
        for contact in contacts:
            if contact not in self.robot.contacts:
                raise one_of(f"contact of `{self.robot.name}`", contact, self.robot.contacts)
        if transition not in ("continuous", "soft", "impact"):
            raise one_of("transition", transition, ("continuous", "soft", "impact"))
        if not isinstance(intervals, int) or intervals < 1:
            raise ShapeError(f"phase `{name}` must have at least one interval", evidence={"intervals": intervals})
        links, surfaces = self.robot.placements(self.robot.home), self.robot.contacts
        at_home = {c: links[surfaces[c].frame] @ surfaces[c].placement for c in contacts}
        places = {c: np.asarray((spots or {}).get(c, at_home[c]), dtype=float) for c in contacts}
        directions = {c: tuple((free or {}).get(c, ())) for c in contacts}
        times = _durations(name, duration)
        self.phases.append(PhaseSpec(name, tuple(contacts), intervals, times, places, directions, transition, friction))

    def start(self, q: ArrayLike | None = None, *, at_rest: bool = True, only: Sequence[str] | None = None) -> None:
        """Fix the beginning: configuration q (nq,) and, unless `at_rest` is False, zero velocity; see `end`."""
        self._fix(self.first, q, at_rest, only)

    def end(self, q: ArrayLike | None = None, *, at_rest: bool = True, only: Sequence[str] | None = None) -> None:
        """Fix the end.

        Args:
            q: (nq,) configuration; None leaves it free.
            at_rest: Whether the velocity is zero.
            only: Names of coordinates (`problem.chart.names`) to fix; by default all, or as many as contacts leave
                free: what contacts hold already is not fixed twice.
        """
        self._fix(self.last, q, at_rest, only)

    def _fix(self, ends: Ends, q: ArrayLike | None, at_rest: bool, only: Sequence[str] | None) -> None:
        for name in only or ():
            if name not in self.chart.names:
                raise one_of("coordinate", name, self.chart.names)
        rows = [k for k, name in enumerate(self.chart.names) if only is None or name in only]
        if q is not None:
            y = self.chart.coordinates(self.robot.checked_q(finite_array(q, (self.robot.nq,), "q")))
            ends.y = {k: float(y[k]) for k in rows}
        if at_rest:
            ends.dy = dict.fromkeys(rows, 0.0)

    def fix(
        self, end: Literal["start", "end"], name: str, position: float | None = None, rate: float | None = None
    ) -> None:
        """Fix one coordinate, or its rate, at an end.

        Args:
            end: "start" or "end".
            name: The coordinate.
            position: Its value; None leaves it.
            rate: Of its rate; None leaves it.
        """
        if name not in self.chart.names:
            raise one_of("coordinate", name, self.chart.names)
        ends, k = self.first if end == "start" else self.last, self.chart.names.index(name)
        if position is not None:
            ends.y[k] = _finite(position, name)
        if rate is not None:
            ends.dy[k] = _finite(rate, name)

    def periodic(self, mirror: bool = False, omit: Sequence[str] = ("x",)) -> None:
        """Couple the ends: the state at the end is that at the start, or its mirror image.

        Args:
            mirror: Whether left and right change places.
            omit: Coordinates that are not coupled, such as the way forward.
        """
        n = self.robot.nv
        source, sign = _mirrored(self.robot) if mirror else (np.arange(n), np.ones(n))
        skip = tuple(self.chart.names.index(name) for name in omit)
        self.coupling = Periodic(np.r_[source, source + n], np.r_[sign, sign], skip)


class ProblemSpec(Timeline):
    """Phases, ends, costs and constraints of a motion; see the module.

    Args:
        robot: The robot.
        world: Where it moves; level ground if None.
        formulation: Dynamics, integrator and controls.
    """

    def __init__(self, robot: Robot, world: World | None = None, formulation: Formulation | None = None) -> None:
        super().__init__(robot, world, formulation)
        self.blocks: list[Block] = []
        self.weights: dict[str, float] = {}
        self.references: dict[str, Reference] = {}
        self.bounds: dict[str, tuple[Array, Array]] = {}
        self.apart: set[VolumePair] = set()
        self.parameters: dict[str, tuple[float, float, float]] = {}
        self.path: Callable[[float], ArrayLike] | None = None
        self.motion: Trajectory | None = None
        self.limited = {"positions": True, "velocities": True, "torques": True}
        self.sole_margin = self.position_margin = 0.0
        self.box: dict[str, tuple[float, float]] = {}
        self.changes: Design | None = None

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
            key: What the function depends on, to find its machine code again; None: it is traced in every process.
        """
        number(weight, f"weight of cost `{name}`")
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
        self._add(Block(name, function, "residual", at, int(count), key, phases=self._phases(phases)))

    def _scalar(self, name: str, weight: float, further: Array, phases: Sequence[str] | None) -> None:
        function, size = known.weighted(known.SCALARS.get(name, known.unity)), 1 + len(further)
        self.references[self._new(name)] = [weight, *further]
        self._add(Block(name, function, "cost", data=size, key=(name,), phases=self._phases(phases)))

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
            key: What the function depends on, to find its machine code again; None: it is traced in every process.
            of_posture: Whether the function looks at coordinates, places and parameters only. It is then compiled
                apart from the dynamics, which is quick, and holds at the beginning of intervals.
        """
        low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
        if np.isnan(low).any() or np.isnan(high).any() or (low > high).any():
            raise ShapeError(f"bounds of `{name}` are not in order", evidence={"lower": lower, "upper": upper})
        size = 0 if reference is None else np.size(reference(0.0) if callable(reference) else reference)
        self.bounds[self._new(name)] = (low, high)
        if reference is not None:
            self.references[name] = reference
        if slack is not None:
            self.weights[name + " slack"] = number(slack, f"slack of `{name}`", positive=True)
        if of_posture and slack is not None:
            raise NotSupportedError(f"constraint `{name}` of postures cannot have a slack", subject=name)
        block = Block(name, function, "row", at, int(size), key, slack is not None, phases=self._phases(phases))
        self._add(replace(block, of_posture=of_posture))

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

    def add_rows(self, block: Block, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> None:
        """Add a block of rows as it is; see `constrain`."""
        self.bounds[self._new(block.name)] = (np.asarray(lower, dtype=float), np.asarray(upper, dtype=float))
        self._add(block)

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
        self._add(Block(name, function, "cost", "end", 1, ("maximise", parameter), is_integral=False))

    def _new(self, name: str) -> str:
        if name in {block.name for block in self.blocks}:
            raise ShapeError(f"there are two blocks `{name}`", next_step="give one another name", subject=name)
        return name

    def _phases(self, names: Sequence[str] | None) -> tuple[str, ...] | None:
        for name in names or ():
            if name not in {item.name for item in self.phases}:
                raise one_of("phase", name, [item.name for item in self.phases])
        return None if names is None else tuple(names)

    def _add(self, block: Block) -> None:
        self.blocks.append(block)

    def limits(
        self,
        *,
        positions: bool = True,
        velocities: bool = True,
        torques: bool = True,
        sole_margin: float = 0.0,
        position_margin: float = 0.0,
    ) -> None:
        """Which limits of the robot hold, and by what margins.

        Args:
            positions: Of the joints.
            velocities: Of the joints.
            torques: Of the drives.
            sole_margin: How far centres of pressure stay inside the soles [m].
            position_margin: How far joints stay from their limits [rad] or [m], except where home is nearer.
        """
        self.limited = {"positions": positions, "velocities": velocities, "torques": torques}
        self.sole_margin = number(sole_margin, "sole_margin")
        self.position_margin = number(position_margin, "position_margin")

    def bound(self, name: str, lower: float = -np.inf, upper: float = np.inf) -> None:
        """Bound a coordinate along the whole path.

        Args:
            name: Of `problem.chart.names`; with "d " before it, its rate.
            lower: [rad] or [m].
            upper: [rad] or [m].
        """
        if name.removeprefix("d ") not in self.chart.names:
            raise one_of("coordinate", name, self.chart.names)
        self.box[name] = (float(lower), float(upper))

    def parameter(self, name: str, lower: float, upper: float, guess: float | None = None) -> None:
        """A number that the solver chooses; blocks find it in `node.parameters`.

        Args:
            name: Unique.
            lower: Its least value.
            upper: Its largest value.
            guess: Where to start.
        """
        low, high = _finite(lower, name), _finite(upper, name)
        if low > high:
            raise ShapeError(
                f"bounds of parameter `{name}` are not in order", evidence={"lower": lower, "upper": upper}
            )
        self.parameters[name] = (low, 0.5 * (low + high) if guess is None else _finite(guess, name), high)

    def design(
        self,
        tree: Callable[[Tree, Mapping[str, Any]], Tree] | None = None,
        forces: Callable[[Node], Any] | None = None,
        key: tuple[Any, ...] | None = None,
    ) -> None:
        """Let free parameters change the robot: masses, lengths, placements, springs.

        Args:
            tree: function(tree, parameters) -> Tree, over `ops`: the robot's tree with other entries.
            forces: function(node) -> (nv,) forces besides those of the drives, such as −k (q − q0) of a spring.
            key: What the functions depend on, to find their machine code again; None: traced in every process.
        """
        self.changes = Design(tree, forces, key)

    def guess(self, path: Callable[[float], ArrayLike] | Trajectory) -> None:
        """First guess of the motion: a function of time [s] -> q (nq,), or a trajectory, also with its wrenches."""
        self.motion = path if isinstance(path, Trajectory) else None
        self.path = _path_of(path) if isinstance(path, Trajectory) else path


def _along(problem: Timeline, name: str, motion: Trajectory) -> Callable[[float], ArrayLike]:
    """What a known cost compares with, along a trajectory."""
    where = {"posture": ("y", 0), "joint_posture": ("joints", 0), "com": ("com", 0), "com_height": ("com", 2)}
    if name not in where:
        raise one_of("cost that follows a trajectory", name, where)
    (quantity, start), path = where[name], _path_of(motion)

    def at(t: float) -> ArrayLike:
        node = Node(problem.robot, problem.chart, problem.chart.coordinates(path(t)), None)
        return np.asarray(getattr(node, quantity), dtype=float)[start:]

    return at


def _path_of(motion: Trajectory) -> Callable[[float], ArrayLike]:
    """Configuration of a trajectory at a time; at its ends before and after it."""
    return lambda t: motion.sample(float(np.clip(t, motion.start, motion.end))).q


def _finite(value: float, name: str) -> float:
    return float(finite_array([value], (1,), name)[0])


def _durations(name: str, given: float | Sequence[float]) -> tuple[float, float, float]:
    values = np.atleast_1d(np.asarray(given, dtype=float))
    if values.shape not in ((1,), (2,), (3,)) or not np.isfinite(values).all() or (np.diff(values) < 0.0).any():
        raise ShapeError(
            f"the duration of phase `{name}` must be a number, or bounds in order", evidence={"duration": given}
        )
    if not values[0] > 0.0:
        raise ShapeError(f"the duration of phase `{name}` must be positive", evidence={"duration": given}, subject=name)
    low, high = float(values[0]), float(values[-1])
    return low, float(values[1]) if len(values) == 3 else 0.5 * (low + high), high


def _mirrored(robot: Robot) -> tuple[NDArray[np.int64], Array]:
    """Coordinates of the mirror image: y'[k] = sign[k] · y[source[k]]."""
    mirror, n = mirror_of(robot), robot.nv
    images = np.column_stack([mirror.velocity(column) for column in np.eye(n)])
    source = np.abs(images).argmax(axis=1)
    return source, np.sign(images[np.arange(n), source])
