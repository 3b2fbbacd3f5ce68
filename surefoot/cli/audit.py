"""`surefoot audit`: is a motion physically possible, by what margin, and where does it fail?"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from surefoot.cli.console import FirstTimeColumn, names_in, page_console, require_page_name
from surefoot.errors import ShapeError, one_of
from surefoot.feasibility import Tolerances, audit
from surefoot.files import write_text
from surefoot.motion import AuditItem, AuditResult, Finding, World
from surefoot.motion.reading import GivenMotion, on_ground, read_motion
from surefoot.robot import Robot, load
from surefoot.robot.build import locked
from surefoot.words import counted

_OF_A_RUN = ("trajectory.npz", "log.parquet")
_COLOURS = {"passed": "green", "failed": "bold red", "remark": "yellow", "skipped": "dim"}


@dataclass(frozen=True)
class AuditRequest:
    """Arguments of `surefoot audit`."""

    motion: Path
    robot: str | None
    world: str | None
    layout: str | None
    joints: str | None
    rate: float | None
    quaternion: str | None
    joint_order: str | None
    missing: str | None
    name: str | None
    ground: str | None
    base: str
    tolerances: Sequence[str]
    replay: bool
    html: Path | None
    as_json: bool
    reduction: Mapping[str, Any] = field(default_factory=dict)


def audit_command(request: AuditRequest) -> int:
    """Audit a motion and print the result; 1 if it has defects."""
    require_page_name(request.html)
    own = _scenario(request.motion)
    model = _robot(request, own)
    given = read_motion(
        request.motion, model, request.layout, names_in(request.joints), request.rate, request.quaternion,
        joint_order=request.joint_order, missing=request.missing, motion=request.name,
    )  # fmt: skip
    world = _world(request.world or (None if own is None else str(own)), model)
    if request.ground is not None:
        given = on_ground(given, model, World() if world is None else world, request.ground)
    result = _audited(given, model, world, request)
    if request.as_json:
        print(json.dumps(result.to_dict(), indent=1, ensure_ascii=False, allow_nan=False))
    else:
        _print(result, page_console())
    if request.html is not None:
        from surefoot.report import audit_page

        text = audit_page(str(request.motion), given.trajectory, model, World() if world is None else world, result)
        write_text(request.html, text)
        if not request.as_json:
            print(request.html)
    return 0 if result.passed else 1


def _scenario(motion: Path) -> Path | None:
    """The scenario of the run that a motion belongs to, if any."""
    folder = motion if motion.is_dir() else motion.parent if motion.name in _OF_A_RUN else None
    return None if folder is None or not (folder / "scenario.toml").is_file() else folder / "scenario.toml"


def _robot(request: AuditRequest, own: Path | None) -> Robot:
    """The robot that was named, or that of the run."""
    if request.robot is not None:
        return load(request.robot, request.base, **request.reduction)
    if own is None:
        raise ShapeError("no robot is given", next_step="use --robot NAME or --robot FILE")
    from surefoot.scenario import load_robot, read_scenario

    table = read_scenario(own).robot
    robot = load_robot(table if request.base == "auto" else table.model_copy(update={"base": request.base}))
    return locked(robot, **request.reduction)


def _world(name_or_file: str | None, robot: Robot) -> World | None:
    if name_or_file is None:
        return None
    from surefoot.scenario import read_world

    return read_world(name_or_file, robot)


def _tolerances(texts: Sequence[str]) -> Tolerances:
    """Tolerances with changes `name=value`."""
    known = [row.name for row in fields(Tolerances)]
    changes: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in known:
            raise one_of("tolerance", name, known)
        try:
            changes[name] = float(value)
        except ValueError as error:
            raise ShapeError(f"tolerance `{name}` is not a number", evidence={"given": value}) from error
    return Tolerances(**changes)


def _audited(given: GivenMotion, robot: Robot, world: World | None, request: AuditRequest) -> AuditResult:
    console = Console(file=sys.stderr)
    columns = (
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(), FirstTimeColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("reading", total=1.0)
        return audit(
            given, robot, world, tolerances=_tolerances(request.tolerances), replay=request.replay,
            progress=lambda name, share: bar.update(task, completed=share, description=name),
            before_replay=None if request.as_json else _print_first,
        )  # fmt: skip


def _print_first(findings: tuple[Finding, ...]) -> None:
    """The verdict so far; the replay of a long motion takes many times as long as all else."""
    defects = [finding for finding in findings if finding.severity == "defect"]
    found = f"failed: {defects[0].message}" if defects else "passed"
    print(f"before the replay: {found}", flush=True)


def _print(result: AuditResult, console: Console) -> None:
    """The verdict, the findings, the items, the replay and where the time went."""
    verdict = "[bold green]passed[/]" if result.passed else "[bold red]failed[/]"
    head = f"{result.robot} · {result.duration:.3f} s · {counted(result.samples, 'sample')}"
    console.print(f"{escape(head)}: {verdict}")
    console.print(f"contacts: {escape(result.contacts)}")
    for remark in result.remarks:
        console.print(f"note: {escape(remark)}")
    for number, group in enumerate(result.groups, 1):
        start, end = min(one.start for one in group.findings), max(one.end for one in group.findings)
        head = f"{escape(group.message)} [dim]\\[{start:.3f} … {end:.3f} s][/]"
        _print_finding(console, number, group.worst, head, group.consequences)
    if console.is_terminal:
        console.print(_items(result.items))
    else:
        # A line for each item, for files and pipes: nothing is padded; notes only where an item did not pass
        rows = [("item", "", "margin", "worst location"), *(_plain_row(item) for item in result.items)]
        first, second, third = (max(len(row[k]) for row in rows) for k in range(3))
        for title, status, margin, place in rows:
            print(f"{title:<{first}}  {status:<{second}}  {margin:>{third}}  {place}".rstrip())
    if result.replay is not None:
        console.print(escape(_replay(result)))
    total = sum(result.seconds.values())
    parts = ", ".join(f"{name} {value:.2f}" for name, value in result.seconds.items())
    console.print(f"[dim]audit took {total:.2f} s: {escape(parts)}[/]")


def _print_finding(console: Console, number: int, worst: Finding, head: str, consequences: Mapping[str, int]) -> None:
    """A cause: its worst finding, what to do about it, and what follows."""
    colour = "red" if worst.severity == "defect" else "yellow"
    console.print(f"{number}. [{colour}]{worst.severity}[/] ({worst.stage}) {head}")
    if worst.why:
        console.print(f"   why: {escape(worst.why)}")
    if worst.next_step:
        console.print(f"   next: {escape(worst.next_step)}")
    if consequences:
        follows = ", ".join(f"{item} × {count}" for item, count in consequences.items())
        console.print(f"   [dim]explains: {escape(follows)}[/]")


def _items(items: Sequence[AuditItem]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, justify in (("item", "left"), ("", "left"), ("margin", "right"), ("worst location", "left")):
        table.add_column(title, justify=justify, no_wrap=title == "item")  # type: ignore[arg-type]
    for item in items:
        status = f"[{_COLOURS[item.status]}]{item.status}[/]"
        place = f"{item.worst_part} at {item.worst_time:.3f} s" if np.isfinite(item.worst_time) else ""
        note = " · ".join(text for text in (place.strip(), item.note) if text)
        table.add_row(item.title, status, item.margin_text, escape(note))
    return table


def _plain_row(item: AuditItem) -> tuple[str, str, str, str]:
    place = f"{item.worst_part} at {item.worst_time:.3f} s".strip() if np.isfinite(item.worst_time) else ""
    note = "" if item.status == "passed" else item.note
    return item.title, item.status, item.margin_text, " · ".join(text for text in (place, note) if text)


def _replay(result: AuditResult) -> str:
    replay = result.replay
    if replay is None or not len(replay.time):
        return "replay: " + ("none" if replay is None else replay.note)
    data = replay.to_dict()
    end = "survived" if replay.survived else f"lasted until {replay.until:.2f} s"
    base = "" if data["base_error_m"] is None else f", base error {data['base_error_m']:.3f} m"
    return f"replay in {replay.engine}: {end}{base}, joint error {data['joint_error']:.3f} ({replay.note})"
