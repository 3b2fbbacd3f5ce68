"""Which limits of a robot hold in a motion, its free parameters, and where a solver starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import NotSupportedError, ShapeError, SurefootError, one_of
from surefoot.motion import Trajectory, World
from surefoot.ocp.blocks import falling
from surefoot.ocp.formulation import Formulation
from surefoot.ocp.node import Node
from surefoot.ocp.shape import Design
from surefoot.ocp.timeline.phases import Timeline, finite
from surefoot.robot import Robot, Tree

Friction = Literal["pyramid", "inscribed", "cone"]
_SOFT = {
    "positions": ["position limit"],
    "velocities": ["speed limit"],
    "torques": ["torque limit"],
    "torque_speed": ["torque-speed limit"],
}
"""Rows of each limit that may have a slack; those of contacts besides."""


class LimitedTimeline(Timeline):
    """Phases with limits, bounds, parameters and a guess.

    Args:
        robot: The robot.
        world: Where it moves; level ground if None.
        formulation: Dynamics, integrator and controls.
    """

    def __init__(self, robot: Robot, world: World | None = None, formulation: Formulation | None = None) -> None:
        super().__init__(robot, world, formulation)
        self.parameters: dict[str, tuple[float, float, float]] = {}
        self.path: Callable[[float], ArrayLike] | None = None
        self.motion: Trajectory | None = None
        self.limited = {"positions": True, "velocities": True, "torques": True, "torque_speed": False}
        self.softened: frozenset[str] = frozenset()
        self.weights: dict[str, float] = {}
        self.sole_margin = self.position_margin = 0.0
        self.drive_share = 1.0
        self.friction: Friction = "pyramid"
        self.box: dict[str, tuple[float, float]] = {}
        self.changes: Design | None = None

    def limits(
        self,
        *,
        positions: bool = True,
        velocities: bool = True,
        torques: bool = True,
        sole_margin: float = 0.0,
        position_margin: float = 0.0,
        drive_share: float = 1.0,
        friction: Friction = "pyramid",
        torque_speed: bool = False,
        slack: Mapping[str, float] | None = None,
    ) -> None:
        """Which limits of the robot hold, and by what margins.

        Args:
            positions: Of the joints.
            velocities: Of the joints.
            torques: Of the drives.
            sole_margin: How far centres of pressure stay inside the soles [m].
            position_margin: How far joints stay from their limits [rad] or [m], except where home is nearer.
            drive_share: Share of the speeds and forces of the drives that is used; a follower needs the rest.
            friction: "pyramid": of four sides around the friction cone, "inscribed": of four sides inside it, or
                "cone": round, for the force of each contact.
            torque_speed: Torque–speed lines of the drives, where these have a corner speed.
            slack: Limits that may be violated at a cost of ½ weight |violation|², integrated, named
                "torque limit slack" and so on: "positions" [rad] or [m], "velocities", "torques" and "torque_speed"
                (shares of the limit), "cones" (tenths of the weight) → weight. All others are hard.
        """
        if friction not in get_args(Friction):
            raise one_of("friction law", str(friction), get_args(Friction))
        self.friction = friction
        given = {"positions": positions, "velocities": velocities, "torques": torques, "torque_speed": torque_speed}
        self.limited = given
        if torque_speed and not falling(self.robot):
            raise NotSupportedError(
                f"no drive of `{self.robot.name}` has a torque that falls with speed",
                next_step="give its drives a `corner_speed` below their `speed_limit`",
            )
        self.weights |= _slack_weights({} if slack is None else slack, given, list(self.robot.contacts))
        self.softened = frozenset(slack or {})
        self.sole_margin = number(sole_margin, "sole_margin")
        self.position_margin = number(position_margin, "position_margin")
        self.drive_share = number(drive_share, "drive_share", positive=True)

    def bound(self, name: str, lower: float = -np.inf, upper: float = np.inf) -> None:
        """Bound a coordinate along the whole path.

        Args:
            name: Of `problem.chart.names`; with "d " before it, its rate.
            lower: [rad] or [m].
            upper: [rad] or [m].
        """
        if str(name).removeprefix("d ") not in self.chart.names:
            raise one_of("coordinate", str(name), self.chart.names)
        low, high = in_order(name, lower, upper)
        self.box[name] = (float(low), float(high))

    def parameter(self, name: str, lower: float, upper: float, guess: float | None = None) -> None:
        """A number that the solver chooses; blocks find it in `node.parameters`.

        Args:
            name: Unique.
            lower: Its least value.
            upper: Its largest value.
            guess: Where to start.
        """
        if not isinstance(name, str) or not name or name in self.parameters:
            raise ShapeError("parameters need different names", evidence={"name": name}, subject=str(name))
        self.parameters[name] = _with_guess(name, lower, guess, upper)

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
        for function in (tree, forces):
            if function is not None and not callable(function):
                raise ShapeError("what parameters change must be functions", evidence={"given": function})
        self.changes = Design(tree, forces, key)

    def guess(self, path: Callable[[float], ArrayLike] | Trajectory) -> None:
        """First guess of the motion: a function of time [s] -> q (nq,), or a trajectory, also with its wrenches."""
        if not isinstance(path, Trajectory) and not callable(path):
            raise ShapeError(f"a guess must be a function of time or a trajectory, got {type(path).__name__}")
        self.motion = path if isinstance(path, Trajectory) else None
        self.path = path_of(path) if isinstance(path, Trajectory) else path


def guessed(robot: Robot, path: Callable[[float], ArrayLike], t: float) -> Array:
    """Configuration (nq,) of a guess at a time.

    Args:
        robot: The robot.
        path: The guess.
        t: Time [s].
    """
    try:
        return robot.checked_q(finite_array(path(t), (robot.nq,), "q"))
    except Exception as error:
        text = error.message if isinstance(error, SurefootError) else f"{type(error).__name__}: {error}"
        raise ShapeError(f"the guess cannot be used at {t:.3g} s: {text}") from error


def path_of(motion: Trajectory) -> Callable[[float], ArrayLike]:
    """Configuration of a trajectory at a time; at its ends before and after it.

    Args:
        motion: The trajectory.
    """
    return lambda t: motion.sample(float(np.clip(t, motion.start, motion.end))).q


def _slack_weights(slack: Any, limited: Mapping[str, bool], contacts: list[str]) -> dict[str, float]:
    """Weights of the violations of limits, by the names of their costs."""
    blocks = {**_SOFT, "cones": [f"cone {name}" for name in contacts]}
    if not isinstance(slack, Mapping):
        raise ShapeError("slacks go by limit", evidence={"given": slack, "limits": list(blocks)})
    found: dict[str, float] = {}
    for kind, weight in slack.items():
        if kind not in blocks:
            raise one_of("limit with a slack", str(kind), blocks)
        if not limited.get(kind, True):
            raise ShapeError(f"a slack is given for `{kind}`, which do not hold", next_step=f"limits({kind}=True, …)")
        found |= {f"{name} slack": number(weight, f"slack of `{kind}`", positive=True) for name in blocks[kind]}
    return found


def _with_guess(name: str, lower: float, guess: float | None, upper: float) -> tuple[float, float, float]:
    """Lower end, guess and upper end of a parameter, in order."""
    low, high = finite(lower, name), finite(upper, name)
    middle = 0.5 * (low + high) if guess is None else finite(guess, name)
    if not low <= middle <= high:
        raise ShapeError(
            f"bounds and guess of parameter `{name}` are not in order",
            evidence={"lower": lower, "guess": guess, "upper": upper},
        )
    return low, middle, high


def in_order(name: str, lower: ArrayLike, upper: ArrayLike) -> tuple[Array, Array]:
    """Bounds as numbers: below each other, and neither above nor below everything.

    Args:
        name: Of what is bounded.
        lower: Numbers.
        upper: Numbers.
    """
    try:
        low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
        right = bool(np.all((low <= high) & (low < np.inf) & (high > -np.inf)))
    except (TypeError, ValueError, OverflowError):
        right = False
    if not right:
        raise ShapeError(f"bounds of `{name}` are not in order", evidence={"lower": lower, "upper": upper})
    return low, high
