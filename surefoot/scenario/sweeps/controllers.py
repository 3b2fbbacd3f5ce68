"""Controllers side by side: the same robot, physics and pushes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.control.classic import CLASSIC
from surefoot.errors import NotSupportedError, one_of
from surefoot.markup import Html, html, joined
from surefoot.motion import Log
from surefoot.report.figures import Line, figure_svg
from surefoot.report.page import html_page, html_table
from surefoot.robot import Robot
from surefoot.scenario.build import build_simulation
from surefoot.scenario.catalogue import resolved_scenario
from surefoot.scenario.schema import EventTable, Scenario
from surefoot.sim import StoppedError

CONTROLLERS: tuple[str, ...] = (*CLASSIC, "joint_pd", "balance")
"""Those that are compared: the classic ones, joint springs, and the whole-body controller of the package."""
SHARES = tuple(0.25 + 0.125 * k for k in range(14))
"""Of M ω s or of the scenario's push, in order; after the first, bisection finds the largest that is survived."""
_STRENGTHS = ("margin", "force", "moment", "impulse", "speed")
_UPRIGHT, _AFTER = np.deg2rad(20.0), 2.4  # [rad], [s]
_QUICK = 0.1  # quantile of the computing times


@dataclass(frozen=True, eq=False)
class ControllerRow:
    """One controller.

    Args:
        name: One of `CONTROLLERS`.
        survived: Largest share of the push that was survived, see `push_unit`; 0 for none.
        com_error_mm: Root mean square of the CoM's horizontal way from its start, first push [mm]; None if it fell.
        tilt_deg: Largest tilt of the base, first push [deg].
        torque_share: Largest torque over its limit, first push.
        tick_ms: Time of a tick, without the physics [ms]: the fastest decile.
        trouble: Why a run ended early; None if none did, or by a fall.
        time: (n,) of the first push [s].
        way: (n,) of the CoM from its start, in the direction in which it came farthest [mm].
    """

    name: str
    survived: float = 0.0
    com_error_mm: float | None = None
    tilt_deg: float | None = None
    torque_share: float | None = None
    tick_ms: float | None = None
    trouble: str | None = None
    time: Array = field(default_factory=lambda: np.zeros(0))
    way: Array = field(default_factory=lambda: np.zeros(0))


def compare_controllers(
    name_or_file: str | Path = "push",
    robot: str | None = None,
    controllers: Sequence[str] = CONTROLLERS,
    shares: Sequence[float] = SHARES,
    pace: float | None = None,
    told: Callable[[int, int, str], None] = lambda done, total, text: None,
) -> list[ControllerRow]:
    """Push a standing robot under every controller, on true states.

    Args:
        name_or_file: A scenario with a push; one without a `margin` is scaled.
        robot: In place of the scenario's.
        controllers: Which ones.
        shares: Of the push, in order.
        pace: Of the gains of the classic controllers, see `ClassicGains`; theirs if omitted.
        told: Called with how many of how many controllers are done, and the next one's name.

    Raises:
        NotSupportedError: The scenario has no push, or one without a strength.
        UnknownNameError: There is no such controller.
    """
    for name in controllers:
        if name not in CONTROLLERS:
            raise one_of("controller", name, CONTROLLERS)
    scenario = resolved_scenario(name_or_file, robot)
    push_unit(scenario)
    rows = []
    for k, name in enumerate(controllers):
        told(k, len(controllers), name)
        rows.append(_compared(scenario, name, shares, pace))
    told(len(controllers), len(controllers), "")
    return rows


def push_unit(scenario: Scenario) -> str:
    """What shares of the push are shares of.

    Args:
        scenario: The scenario.

    Raises:
        NotSupportedError: It has no push, or one without a strength.
    """
    pushes = [event for event in scenario.events if event.kind == "push"]
    if not pushes or any(all(getattr(event, name) is None for name in _STRENGTHS) for event in pushes):
        raise NotSupportedError(
            f"the scenario `{scenario.name}` has no push with a strength",
            next_step="use `push`, or give it an event of the kind `push` with a `margin` or a `force`",
        )
    return "M ω s" if all(event.margin for event in pushes) else "the scenario's push"


def _scaled(event: EventTable, share: float) -> EventTable:
    """A push at a share of M ω s if it is given by its margin, else of its own strength."""
    if event.kind != "push":
        return event
    if event.margin:
        return event.model_copy(update={"margin": share})
    own = {name: value for name in _STRENGTHS if (value := getattr(event, name)) is not None}
    return event.model_copy(update={name: (share * np.array(value)).tolist() for name, value in own.items()})


def _compared(scenario: Scenario, name: str, shares: Sequence[float], pace: float | None) -> ControllerRow:
    row, lower, upper = ControllerRow(name), -1, len(shares)
    while upper - lower > 1:
        share = shares[(k := 0 if lower < 0 else (lower + upper) // 2)]
        try:
            simulation = build_simulation(_with(scenario, name, share, pace))
        except NotSupportedError as error:
            return replace(row, trouble=error.message)
        simulation.settings = replace(simulation.settings, after_fall=0.0)
        try:
            log = simulation.run()
        except StoppedError as error:
            row, upper = replace(row, trouble=f"push of {share:.1%}: {error.message}"), k
            continue
        if k == 0:
            row = _measured(row, simulation.robot, log, np.array(simulation.timing()["controller"]))
        if log.metadata["fall_time_s"] is not None or float(log["base.tilt"][-1]) >= _UPRIGHT:
            upper = k
        else:
            row, lower = replace(row, survived=share), k
    return row


def _with(scenario: Scenario, name: str, share: float, pace: float | None) -> Scenario:
    """The scenario with another controller and push, true states."""
    kind = {"kind": "classic", "method": name, "pace": pace} if name in CLASSIC else {"kind": name}
    tables = scenario.model_dump(exclude_none=True, exclude={"sensors", "estimator", "events", "audit"})
    end = max(event.time + (event.duration or 0.0) for event in scenario.events if event.kind == "push") + _AFTER
    tables |= {"controller": kind, "study": "none", "audit": {"kind": "none"}}
    tables["simulation"] |= {"duration": end}
    events = [_scaled(event, share) for event in scenario.events]
    return Scenario.model_validate(tables).model_copy(update={"events": events})


def _measured(row: ControllerRow, robot: Robot, log: Log, ticks: Array) -> ControllerRow:
    data = robot.model.createData()
    com = np.array([pin.centerOfMass(robot.model, data, np.array(q))[:2] for q in log["q"]])
    moved = 1e3 * (com - com[0])
    way = np.hypot(*moved.T)
    farthest = moved[int(np.argmax(way))]
    fell = log.metadata["fall_time_s"] is not None
    return replace(
        row,
        com_error_mm=None if fell else float(np.sqrt(np.mean(way**2))),
        tilt_deg=float(np.rad2deg(np.max(log["base.tilt"]))),
        torque_share=float(np.max(log["torque.ratio"])),
        tick_ms=1e3 * float(np.quantile(ticks, _QUICK)),
        time=np.array(log.time),
        way=moved @ farthest / max(float(np.max(way)), 1e-9),
    )


def controllers_page(
    scenario: str, robot: str, rows: Sequence[ControllerRow], shares: Sequence[float] = SHARES, unit: str = "M ω s"
) -> Html:
    """The page: a table, and the CoM after the first push.

    Args:
        scenario: Its name.
        robot: Its name.
        rows: From `compare_controllers`.
        shares: Of the pushes.
        unit: From `push_unit`.
    """

    def cell(value: float | None, text: str) -> str:
        return "–" if value is None else text.format(value)

    table = [
        (row.name, f"{row.survived:.1%}", cell(row.com_error_mm, "{:.1f}"), cell(row.tilt_deg, "{:.1f}"),
         cell(row.torque_share, "{:.0%}"), cell(row.tick_ms, "{:.2f}"), row.trouble or "")
        for row in sorted(rows, key=lambda row: -row.survived)
    ]  # fmt: skip
    head = ("controller", f"survived push, of {unit}", "CoM error [mm]", "largest tilt [°]", "largest torque / limit",
            "time per tick [ms]", "remark")  # fmt: skip
    lines = [Line(row.time, row.way, row.name) for row in rows if len(row.time) and row.com_error_mm is not None]
    about = (
        "The robot stands on its feet and is pushed. M ω s is the impulse after which the capture point of the linear "
        "inverted pendulum is at the edge of the support. Errors, tilt and torque are "
        f"those of a push of {shares[0]:.0%}; bisection then finds the largest one of {len(shares)} up to "
        f"{shares[-1]:.1%} that is survived. All controllers see true states, and none steps. Classic ones get their "
        "gains by one rule from ω = √(g / z) and a pace. Times per tick are those of this machine, in Python."
    )
    body = [
        html("<h1>Controllers on {}: {}</h1><p>{}</p>", robot, scenario, about),
        html_table(head, table),
        html("<h2>CoM after a push of {:.0%}</h2>", shares[0]),
        html('<figure style="max-width:44rem">{}</figure>', figure_svg(lines, ("time [s]", "way of the CoM [mm]")))
        if lines
        else "",
    ]
    return html_page(f"Controllers on {robot}", joined(body))
