"""Ticks that no controller should see: absurd states, silent sensors, impossible stances, failing solvers, bugs.

Every tick must give a finite command within the torque limits, and what went wrong must have a name and be in the
controller's columns of the log. Now and then the robot is put back where it stands: the controller must then find a
solution again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Annotated, Any
from unittest import mock

import numpy as np
import typer
from numpy.typing import NDArray

from bench.check import WrongAnswerError
from bench.machine import header
from bench.page import Json, print_table
from bench.timing import tell
from surefoot.control.balance import BalanceController, StepRecovery
from surefoot.control.legged import TickGuard
from surefoot.control.walking import WalkingController
from surefoot.control.whole_body import TROUBLES
from surefoot.errors import ShapeError, one_of
from surefoot.gait.steps import GoalSteps, StepLimits
from surefoot.motion import Command, Observation, State
from surefoot.robot import Robot, load
from surefoot.solvers.hierarchy import ActiveSetError

__all__ = ["abuse", "run", "show"]

Array = NDArray[np.float64]
Abused = BalanceController | WalkingController
_RECOVERY = {"balance": (30, 500), "steps": (400, 2000), "walk": (400, 2000)}  # ticks of calm, and from calm to calm:
# a step that was begun in an absurd state must end before all is well
_DT = 0.002
_QUICK = 2000
CONTROLLERS: dict[str, Callable[[Robot], Abused]] = {
    "balance": BalanceController,
    "steps": StepRecovery,
    "walk": lambda robot: WalkingController(robot, GoalSteps(StepLimits.of(robot), (1e3, 0.0, 0.0))),
}
"""Those that can be tried."""


def run(
    robot: Annotated[str, typer.Option(help="A robot with feet.")] = "g1",
    controller: Annotated[str, typer.Option(help="balance, steps or walk.")] = "balance",
    ticks: Annotated[int, typer.Option(help="Number of ticks.", min=1)] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0)] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="A few thousand ticks.")] = False,
) -> Json:
    """Count what happened; a command that is not safe, or a failure without a name, is refused."""
    found = abuse(load(robot), min(ticks, _QUICK) if quick else ticks, seed, controller)
    return header("abuse", seed) | {"robot": robot, "controller": controller, "quick": quick} | found


def show(result: Json) -> None:
    """Print how often which reason was given."""
    what = f"{result['robot']}, {result['controller']}"
    print(f"\n{what}: {result['ticks']} ticks, {result['fallbacks']} with a fallback, all safe")
    for head, counts in (("kind of tick", result["kinds"]), ("trouble", result["reasons"])):
        print_table((head, "ticks"), [(name, str(count)) for name, count in sorted(counts.items())], left=1)


def abuse(robot: Robot, ticks: int, seed: int, controller: str = "balance") -> Json:
    """Run ticks of all kinds in a random order.

    Args:
        robot: A robot with feet.
        ticks: How many.
        seed: Of the random numbers.
        controller: One of `CONTROLLERS`.

    Raises:
        WrongAnswerError: A command was not safe, a trouble had no name or was not logged, or the controller did not
            recover.
    """
    if controller not in CONTROLLERS:
        raise one_of("controller", controller, CONTROLLERS)
    rng, control = np.random.default_rng(seed), CONTROLLERS[controller](robot)
    limits = np.array([drive.torque_limit for drive in robot.drives])
    calm, kinds, logged = State.of(robot), Counter[str](), {item.name: item.read for item in control.channels}
    touches = Observation(0.0, np.ones(len(robot.contacts)), {})
    recovery, between = _RECOVERY[controller]
    control.command(0.0, calm)
    for k in range(1, ticks + 1):
        if k % 1000 == 0:
            tell(k / ticks, f"{k} ticks")
        is_calm = k % between >= between - recovery
        kind = "calm" if is_calm else str(rng.choice(list(KINDS)))
        before = control.body.fallbacks
        state, seen, inside = (calm, touches, nullcontext()) if is_calm else KINDS[kind](robot, control, rng)
        with inside:
            control.observe(touches if seen is None else seen)
            command = control.command(k * _DT, State(k * _DT, state.q, state.v))
        kinds[kind] += 1
        failed = bool(control.body.fallbacks > before)
        _check(command, limits, failed, control.body.trouble, kind, k)
        if logged["trouble"]() != TickGuard.number_of(control.body.trouble):
            raise WrongAnswerError("a trouble is not logged", evidence={"tick": k, "trouble": control.body.trouble})
        if k % between == between - 1 and failed:
            raise WrongAnswerError("the controller did not recover", evidence={"tick": k, "why": control.body.trouble})
    reasons = Counter[str]()
    for reason, count in control.body.troubles.items():
        reasons[reason.partition(":")[0]] += count
    return {
        "ticks": ticks, "fallbacks": control.body.fallbacks, "kinds": dict(kinds), "reasons": dict(reasons),
    }  # fmt: skip


def _check(command: Command, limits: Array, failed: bool, trouble: str, kind: str, tick: int) -> None:
    torque = np.asarray(command.torque)
    if not (np.isfinite(torque).all() and (np.abs(torque) <= limits * (1.0 + 1e-9)).all()):
        raise WrongAnswerError("a command is not safe", evidence={"tick": tick, "kind": kind, "torque": torque})
    if failed and not trouble:
        raise WrongAnswerError("a failure has no name", evidence={"tick": tick, "kind": kind})
    if kind in ("solver fails", "crossed bounds", "number lost", "bug in the command") and not failed:
        raise WrongAnswerError("a failure was not noticed", evidence={"tick": tick, "kind": kind})
    name = trouble.partition(":")[0]
    if kind in _NAMES and name != _NAMES[kind] and (not failed or name not in TROUBLES or kind.endswith("command")):
        raise WrongAnswerError("a trouble has another name", evidence={"tick": tick, "kind": kind, "name": trouble})


_NAMES = {"calm": "", "silent sensors": "silent sensors", "bug in the command": "error", "bug in observing": "error"}
"""Names of troubles by kind of tick. Where there is also no solution, the reason of that is named."""
Kind = tuple[State, Observation | None, AbstractContextManager[Any]]


def _absurd(robot: Robot, control: Abused, rng: np.random.Generator) -> Kind:
    """Numbers of any size in some places; quaternions that are none."""
    while True:
        q, v = np.array(robot.home), np.zeros(robot.nv)
        for x in (q, v):
            places = rng.random(len(x)) < rng.choice([0.02, 0.2, 1.0])
            x[places] += rng.normal(size=int(places.sum())) * 10.0 ** rng.uniform(-2.0, rng.choice([2.0, 8.0, 300.0]))
        if rng.random() < 0.7:
            size = np.linalg.norm(q[3:7] / np.abs(q[3:7]).max())
            q[3:7] = q[3:7] / np.abs(q[3:7]).max() / size
        try:
            return State(0.0, q, v), None, nullcontext()
        except ShapeError:
            continue


def _silent(robot: Robot, control: Abused, rng: np.random.Generator) -> Kind:
    """Nothing arrives from sensors."""
    silence = np.full(len(robot.contacts), np.nan)
    if rng.random() < 0.5:
        seen = Observation(0.0, silence, {})
    else:
        readings = {f"contact.{name}.wrench": np.full(6, np.nan) for name in robot.contacts}
        seen = Observation(0.0, np.ones(len(robot.contacts)), {"joint.position": np.zeros(robot.nu), **readings})
    return State.of(robot), seen, nullcontext()


def _untouched(robot: Robot, control: Abused, rng: np.random.Generator) -> Kind:
    """Nothing touches."""
    return State.of(robot), Observation(0.0, np.zeros(len(robot.contacts)), {}), nullcontext()


def _no_stance(robot: Robot, control: Abused, rng: np.random.Generator) -> Kind:
    """Feet that must press with more than all drives can."""
    contacts = [control.body.problem.contact(name) for foot in control.body.feet for name in foot.contacts]
    force = 10.0 ** rng.uniform(3.0, 5.5)
    return State.of(robot), None, _changed(contacts, {"least": force})


def _crossed(robot: Robot, control: Abused, rng: np.random.Generator) -> Kind:
    """Least forces above all largest ones."""
    contacts = [control.body.problem.contact(name) for foot in control.body.feet for name in foot.contacts]
    return State.of(robot), None, _changed(contacts, {"least": 1e7})


def _lost(robot: Robot, control: Abused, rng: np.random.Generator) -> Kind:
    """A task whose numbers are lost."""
    task = control.body["posture"]

    class Lost:
        def __enter__(self) -> None:
            task.acceleration[:] = np.nan

        def __exit__(self, *_: object) -> None:
            task.acceleration[:] = 0.0

    return State.of(robot), None, Lost()


def _failing(robot: Robot, control: Abused, rng: np.random.Generator) -> Kind:
    """A solver that does not end."""
    search = control.body.problem._work
    return State.of(robot), None, mock.patch.object(search, "run", side_effect=ActiveSetError("does not end"))


def _bug(robot: Robot, control: Abused, rng: np.random.Generator) -> Kind:
    """Something raises that nobody thought of."""
    return State.of(robot), None, mock.patch.object(control.body, "look", side_effect=TypeError("a bug"))


def _blind(robot: Robot, control: Abused, rng: np.random.Generator) -> Kind:
    """The same while it observes."""
    return State.of(robot), None, mock.patch.object(control.body, "touching", side_effect=KeyError("a bug"))


def _changed(items: list[Any], values: dict[str, float]) -> AbstractContextManager[Any]:
    stack = ExitStack()
    for item in items:
        for name, value in values.items():
            stack.enter_context(mock.patch.object(item, name, value))
    return stack


KINDS: dict[str, Callable[[Robot, Abused, np.random.Generator], Kind]] = {
    "absurd state": _absurd,
    "silent sensors": _silent,
    "nothing touches": _untouched,
    "infeasible stance": _no_stance,
    "crossed bounds": _crossed,
    "number lost": _lost,
    "solver fails": _failing,
    "bug in the command": _bug,
    "bug in observing": _blind,
}
"""Ticks that are tried; each gives a state, what is observed (None: all touches), and what holds during the tick."""
