"""The largest pushes that a robot survives while it stands, by direction and controller."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from math import cos, pi, sin
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.codegen import cache, identity_of
from surefoot.errors import FileFormatError, NotSupportedError, one_of
from surefoot.files import read_json, write_text
from surefoot.markup import Html, html, joined
from surefoot.motion import Controller
from surefoot.processes import isolated_spawn
from surefoot.report.page import html_page, html_table
from surefoot.robot import Robot, anatomy, load
from surefoot.scenario.build import build_simulation, capture_impulse
from surefoot.scenario.schema import EventTable, Scenario
from surefoot.sim import StoppedError

DIRECTIONS = tuple(range(0, 360, 45))
"""Of the pushes, from forward to the left [deg]."""
METHODS = {"joint_pd": "joint springs", "balance": "whole-body control", "steps": "whole-body control with steps"}
"""Controllers that are pushed."""
UPRIGHT, LATER = np.deg2rad(20.0), 3.0
"""A push is survived if the base is tilted by less some time after it [rad], [s]."""
_FILE = "push-map.json"
_START, _DURATION = 1.0, 0.1  # of the push [s]
_FINEST = 0.02  # of the search, share of M ω s
_MOST = {"joint_pd": 3.0, "balance": 3.0, "steps": 6.0}  # where the search begins
_COLOURS = {"joint_pd": "#c77700", "balance": "#1f6fb2", "steps": "#2a8f3c"}


@dataclass(frozen=True)
class PushRow:
    """The largest push that was survived in a direction.

    Args:
        direction_deg: From forward to the left.
        impulse_ns: [N s].
        share_of_m_omega_s: Over M ω s of this direction.
        stepping: Whether the controller steps.
        controller: One of `METHODS`.
    """

    direction_deg: float
    impulse_ns: float
    share_of_m_omega_s: float
    stepping: bool
    controller: str


@dataclass(frozen=True)
class PushMap:
    """All rows of a robot.

    Args:
        robot: Name or file.
        ideal: Whether controllers saw the true state.
        rows: In the order of methods and directions.
        made_with: Digest of the robot and the versions of surefoot and MuJoCo; rows of another one are not used.
    """

    robot: str
    ideal: bool
    rows: tuple[PushRow, ...]
    made_with: str = ""


def run_push_map(
    robot: str,
    folder: Path,
    methods: Sequence[str] = ("joint_pd", "balance"),
    ideal: bool = False,
    told: Callable[[int, int], None] = lambda done, total: None,
    workers: int | None = None,
) -> PushMap:
    """Find the largest survived push in 8 directions; goes on with what a file of the folder has already.

    Rows that were found with another robot or another version are searched anew; see `is_stale`.

    Args:
        robot: Name or file.
        folder: For `push-map.json` and `push-map.html`; made if it does not exist.
        methods: Which controllers.
        ideal: Whether controllers see the true state.
        told: Called with how many of how many searches are done.
        workers: How many searches at a time; default: one for each core.
    """
    for method in methods:
        if method not in METHODS:
            raise one_of("controller", method, METHODS)
        _scenario(robot, method, ideal, 0.0, 0.0)
    wanted = [(method, float(angle)) for method in methods for angle in DIRECTIONS]
    before, now = _known(folder / _FILE, robot, ideal), _made_with(robot)
    known = {(row.controller, row.direction_deg): row for row in before.rows if before.made_with == now}
    left = [key for key in wanted if key not in known]
    folder.mkdir(parents=True, exist_ok=True)
    told(len(wanted) - len(left), len(wanted))
    for k, row in enumerate(_searched(robot, left, ideal, workers), 1):
        known[row.controller, row.direction_deg] = row
        _write(folder, PushMap(robot, ideal, _in_order(known), now))
        told(len(wanted) - len(left) + k, len(wanted))
    _write(folder, PushMap(robot, ideal, _in_order(known), now))
    return PushMap(robot, ideal, tuple(known[key] for key in wanted), now)


def is_stale(robot: str, folder: Path, ideal: bool = False) -> bool:
    """Whether a folder has rows that were found with another robot of this name, or another version of the code.

    Args:
        robot: Name or file.
        folder: Of the map.
        ideal: Whether controllers see the true state.
    """
    before = _known(folder / _FILE, robot, ideal)
    return bool(before.rows) and before.made_with != _made_with(robot)


def _made_with(robot: str) -> str:
    """Digest of all that a row depends on."""
    model = identity_of(load(robot, base="floating"))
    if model is None:
        raise NotSupportedError(f"`{robot}` has parts that cannot be told apart", next_step="load it from a file")
    return cache.key(model, cache.package_version(), version("mujoco"))


def _known(file: Path, robot: str, ideal: bool) -> PushMap:
    """An earlier map."""
    if not file.exists():
        return PushMap(robot, ideal, ())
    try:
        data = read_json(file)
        found = PushMap(**{**data, "rows": tuple(PushRow(**row) for row in data["rows"])})
        if not {row.controller for row in found.rows} <= METHODS.keys():
            raise ValueError
    except (ValueError, KeyError, TypeError) as error:
        raise FileFormatError("is not a push map", file=file, next_step="remove it, or give another --out") from error
    if (found.robot, found.ideal) != (robot, ideal):
        raise FileFormatError(
            f"is a push map of `{found.robot}`, {'true' if found.ideal else 'estimated'} states",
            file=file,
            next_step="give another --out",
        )
    return found


def _in_order(rows: dict[tuple[str, float], PushRow]) -> tuple[PushRow, ...]:
    return tuple(sorted(rows.values(), key=lambda row: (list(METHODS).index(row.controller), row.direction_deg)))


def _write(folder: Path, found: PushMap) -> None:
    write_text(folder / _FILE, json.dumps(asdict(found), indent=1))
    write_text(folder / "push-map.html", push_map_page(found))


def _searched(robot: str, keys: Sequence[tuple[str, float]], ideal: bool, workers: int | None) -> Iterator[PushRow]:
    count = min(workers or len(os.sched_getaffinity(0)), max(len(keys), 1))
    if count == 1:
        yield from (largest_survived(robot, method, angle, ideal) for method, angle in keys)
        return
    with isolated_spawn() as context, ProcessPoolExecutor(count, context) as pool:
        waiting = [pool.submit(largest_survived, robot, method, angle, ideal) for method, angle in keys]
        try:
            for future in as_completed(waiting):
                yield future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def largest_survived(
    robot: str,
    method: str,
    angle: float,
    ideal: bool,
    finest: float = _FINEST,
    other: Callable[[Robot], Controller] | None = None,
) -> PushRow:
    """Search by bisection.

    Args:
        robot: Name or file.
        method: One of `METHODS`.
        angle: Direction, from forward to the left [deg].
        ideal: Whether the controller sees the true state.
        finest: Where the search ends, share of M ω s.
        other: Makes the controller that is pushed instead of that of the method.
    """
    model = load(robot, base="floating")
    unit = capture_impulse(model, np.array(model.home), _direction(model, angle))
    low, high = 0.0, _MOST[method]
    share = 1.0
    while high - low > finest:
        if _survives(_scenario(robot, method, ideal, angle, share * unit), other):
            low = share
        else:
            high = share
        share = 0.5 * (low + high) if high < _MOST[method] else min(1.4 * low, _MOST[method])
        if low >= _MOST[method]:
            break
    return PushRow(angle, low * unit, low, method == "steps", method)


def _direction(robot: Robot, angle: float) -> Array:
    x, y, _ = anatomy(robot).forward
    c, s = cos(np.deg2rad(angle)), sin(np.deg2rad(angle))
    return np.round([c * x - s * y, s * x + c * y, 0.0], 12)


def _scenario(robot: str, method: str, ideal: bool, angle: float, impulse: float) -> Scenario:
    """A robot that stands and is pushed."""
    model = load(robot, base="floating")
    if not anatomy(model).feet or (method == "steps" and len(anatomy(model).feet) != 2):
        raise NotSupportedError(f"`{robot}` cannot stand by `{method}`", next_step="see `surefoot robots` for others")
    push = EventTable(
        kind="push", time=_START, duration=_DURATION, at="com_height", impulse=impulse,
        direction=tuple(_direction(model, angle)),
    )  # fmt: skip
    tables: dict[str, Any] = {
        "name": "push-map",
        "robot": {"name": robot, "base": "floating"},
        "controller": {"kind": "joint_pd" if method == "joint_pd" else "balance"},
        "balance": {"steps": method == "steps"},
        "simulation": {"duration": _START + _DURATION + LATER, "self_collision": True},
    }
    if not ideal:
        tables |= {"sensors": {"kind": "default"}, "estimator": {"kind": "base"}}
    scenario = Scenario.model_validate(tables)
    return scenario.model_copy(update={"events": [push]})


def _survives(scenario: Scenario, other: Callable[[Robot], Controller] | None) -> bool:
    simulation = build_simulation(scenario)
    if other is not None:
        simulation.participants[0].controller = other(simulation.robot)
    simulation.settings = replace(simulation.settings, after_fall=0.0)
    try:
        simulation.run()
    except StoppedError:
        return False
    log = simulation.log()
    return log.metadata["fall_time_s"] is None and float(log["base.tilt"][-1]) < UPRIGHT


def push_map_page(found: PushMap) -> Html:
    """The page: a polar picture and the numbers.

    Args:
        found: What to show.
    """
    shown = [method for method in METHODS if any(row.controller == method for row in found.rows)]
    rows = [
        (METHODS[row.controller], row.direction_deg, round(row.impulse_ns, 2), f"{row.share_of_m_omega_s:.0%}")
        for row in found.rows
    ]
    how = "true" if found.ideal else "estimated"
    about = (
        f"Pushes of {_DURATION:g} s on the base at the height of the centre of mass, controllers on {how} states. "
        f"Survived: tilted by less than 20° {LATER:g} s later. Dashed: M ω s, the push after which the capture point "
        "of the linear inverted pendulum is at the edge of the support."
    )
    body = [
        html("<h1>Push map of {}</h1><p>{}</p>", found.robot, about),
        _polar(found, shown),
        html_table(("controller", "direction [deg]", "impulse [N s]", "share of M ω s"), rows),
    ]
    return html_page(f"Push map of {found.robot}", joined(body))


def _polar(found: PushMap, shown: Sequence[str]) -> Html:
    """Shares of M ω s around the robot, forward up, its left on the left."""
    most = max((row.share_of_m_omega_s for row in found.rows), default=1.0)
    scale, size = 160.0 / max(1.25, most), 400

    def point(angle: float, share: float) -> str:
        a = angle * pi / 180.0
        return f"{size / 2 - scale * share * sin(a):.1f},{size / 2 - scale * share * cos(a):.1f}"

    parts = [
        html(
            '<circle cx="{}" cy="{}" r="{}" fill="none" stroke="#888"{}/><text x="{}" y="{}" font-size="10">{}</text>',
            size / 2, size / 2, round(scale * ring, 1), Html(' stroke-dasharray="5 4"') if ring == 1.0 else "",
            size / 2 + 3, round(size / 2 - scale * ring - 3, 1), f"{ring:.0%}",
        )
        for ring in np.arange(0.5, max(1.25, most) + 1e-9, 0.5)
    ]  # fmt: skip
    for k, method in enumerate(shown):
        rows = [row for row in found.rows if row.controller == method]
        line = " ".join(point(row.direction_deg, row.share_of_m_omega_s) for row in rows)
        colour = _COLOURS[method]
        shape = Html("polygon" if len(rows) == len(DIRECTIONS) else "polyline")
        parts.append(html('<{} points="{}" fill="none" stroke="{}" stroke-width="2"/>', shape, line, colour))
        parts.append(
            html('<text x="8" y="{}" font-size="10" fill="{}">{}</text>', 14 + 13 * k, colour, METHODS[method])
        )
    for x, y, text in ((size / 2, 12, "forward"), (22, size / 2 - 4, "left"), (size - 24, size / 2 - 4, "right")):
        parts.append(html('<text x="{}" y="{}" font-size="10" text-anchor="middle">{}</text>', x, y, text))
    return html('<svg viewBox="0 0 {} {}" style="max-width: 560px" role="img">{}</svg>', size, size, joined(parts))
