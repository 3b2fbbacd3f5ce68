"""`surefoot check`: the page about a robot in the terminal, as JSON or as HTML."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree as Branch

from surefoot.cli.console import page_console
from surefoot.errors import one_of
from surefoot.robot import BASES, ContactSurface, Drive, Finding, Inspection, Robot, inspect_robot
from surefoot.robot.build import MIMIC_MODES
from surefoot.words import counted

_HOMES = ("own", "auto")
_COLOURS = {"error": "bold red", "warning": "yellow", "note": "dim"}


def check_command(
    robot: str, base: str, mimic: str, html: Path | None, as_json: bool, home: str = "own", **reduction: Any
) -> int:
    """Inspect a robot and print the page; 1 if it has defects."""
    if base not in BASES:
        raise one_of("base", base, BASES)
    if mimic not in MIMIC_MODES:
        raise one_of("mimic mode", mimic, MIMIC_MODES)
    if home not in _HOMES:
        raise one_of("home", home, _HOMES)
    inspection = _with_closed_chains(inspect_robot(robot, base, mimic, **reduction))  # type: ignore[arg-type]
    if home == "auto" and inspection.robot is not None:
        inspection = _standing(inspection, inspection.robot)
    if as_json:
        print(json.dumps(_as_data(inspection), indent=1))
    else:
        _print(inspection)
    if html is not None:
        from surefoot.report import write_robot_page

        write_robot_page(html, inspection)
        if not as_json:
            print(html)
    return 0 if inspection.sound else 1


def _with_closed_chains(inspection: Inspection) -> Inspection:
    """Also whether closed chains and couplings can close."""
    if inspection.robot is None or not (inspection.robot.loops or inspection.robot.couplings):
        return inspection
    from surefoot.dynamics.constraints import closure_findings

    return inspection.joined(closure_findings(inspection.robot))


def _standing(inspection: Inspection, robot: Robot) -> Inspection:
    """With a home posture in which the robot stands, and how to keep it."""
    from surefoot.ik.analysis import standing_posture

    q, tree, followers = standing_posture(robot), robot.tree, {item.joint for item in robot.couplings}
    joints = [i for i, name in enumerate(tree.joint_names) if tree.nq_of(i) == 1 and name not in followers]
    table = ", ".join(f"{json.dumps(tree.joint_names[i])} = {q[tree.q_index[i]]:.4f}" for i in joints)
    text = f"a posture near home that stands; to keep it, write into the side file: home.joints = {{{table}}}"
    return inspection.at_home(q).joined([Finding("note", robot.name, text)])


def _as_data(inspection: Inspection) -> dict[str, Any]:
    """The page as plain data; infinite limits are null."""
    robot = inspection.robot
    out: dict[str, Any] = {
        "robot": inspection.name,
        "sound": inspection.sound,
        "findings": [
            {"level": f.level, "place": f.place, "line": f.line, "message": f.message} for f in inspection.findings
        ],
    }
    return out | _robot_data(robot) if robot else out


def _robot_data(robot: Robot) -> dict[str, Any]:
    return {
        "name": robot.name,
        "base": robot.base,
        "nq": robot.nq,
        "nv": robot.nv,
        "nu": robot.nu,
        "mass": robot.mass,
        "joints": list(robot.joint_names),
        "links": list(robot.link_names),
        "contacts": {c.name: _contact_data(c) for c in robot.contacts.values()},
        "drives": {d.joint: _drive_data(d) for d in robot.drives},
        "couplings": [asdict(c) for c in robot.couplings],
        "loops": [loop.name for loop in robot.loops],
        "home": robot.home.tolist(),
    }


def _contact_data(contact: ContactSurface) -> dict[str, Any]:
    corners = contact.corners.tolist()
    return {"frame": contact.frame, "kind": contact.kind, "corners": corners, "friction": contact.friction}


def _drive_data(drive: Drive) -> dict[str, Any]:
    return {
        key: value if not isinstance(value, float) or np.isfinite(value) else None
        for key, value in asdict(drive).items()
    }


def _print(inspection: Inspection) -> None:
    console = page_console()
    robot = inspection.robot
    if robot is not None:
        _print_robot(console, robot)
    counts = {level: sum(f.level == level for f in inspection.findings) for level in _COLOURS}
    for item in inspection.findings:
        console.print(f"[{_COLOURS[item.level]}]{item.level:<8}[/] {escape(item.place)}: {escape(item.message)}")
    console.print(
        f"[bold]{escape(inspection.name)}: {_verdict(inspection.sound, counts['warning'])}[/] "
        f"({', '.join(counted(counts[level], level) for level in _COLOURS)})"
    )


def _verdict(is_sound: bool, warnings: int) -> str:
    if not is_sound:
        return "defects found"
    return f"sound, with {counted(warnings, 'warning')}" if warnings else "sound"


def _print_robot(console: Console, robot: Robot) -> None:
    bodies = "1 moving body" if robot.tree.n == 1 else f"{robot.tree.n} moving bodies"
    console.print(
        f"[bold]{escape(robot.name)}[/]  base {robot.base} · {bodies} · "
        f"nq {robot.nq} · nv {robot.nv} · nu {robot.nu} · {robot.mass:.3f} kg"
    )
    console.print(_branches(robot))
    if robot.contacts:
        console.print(_contact_table(robot))
    if robot.drives:
        console.print(_drive_table(robot))
    for item in robot.couplings:
        console.print(f"coupling: {escape(item.joint)} = {item.offset:g} + {item.ratio:g} · {escape(item.source)}")
    for loop in robot.loops:
        console.print(
            f"loop: {escape(loop.name)}: {escape(loop.frame_a)} to {escape(loop.frame_b)}, "
            f"{counted(loop.size, 'direction')}"
        )


def _branches(robot: Robot) -> Branch:
    """The kinematic tree with one line for each joint."""
    tree = robot.tree
    root = Branch("world")
    nodes: dict[int, Branch] = {-1: root}
    for i in range(tree.n):
        nodes[i] = nodes[int(tree.parents[i])].add(_joint_line(robot, i))
    return root


def _joint_line(robot: Robot, i: int) -> str:
    tree = robot.tree
    text = f"{escape(tree.joint_names[i])} [dim]{tree.kinds[i]}[/]"
    if tree.nq_of(i) == 1:
        row = int(tree.q_index[i])
        text += f" [dim]\\[{robot.limits.lower[row]:.3g}, {robot.limits.upper[row]:.3g}][/]"
    if tree.mimic_source[i] >= 0:
        text += f" [dim]follows {escape(tree.joint_names[tree.mimic_source[i]])}[/]"
    return f"{text} → {escape(tree.body_names[i])} [cyan]{tree.masses[i]:.3g} kg[/]"


def _table(*titles: str) -> Table:
    """An empty table; units in brackets are escaped."""
    return Table(*map(escape, titles), box=None, header_style="bold", pad_edge=False)


def _contact_table(robot: Robot) -> Table:
    table = _table("contact", "link", "kind", "corners", "size [mm]", "friction")
    for item in robot.contacts.values():
        size = 1000.0 * (item.corners.max(axis=0) - item.corners.min(axis=0))
        table.add_row(
            escape(item.name),
            escape(item.frame),
            item.kind,
            str(len(item.corners)),
            f"{size[0]:.0f} x {size[1]:.0f}",
            f"{item.friction:g}",
        )
    return table


def _drive_table(robot: Robot) -> Table:
    table = _table("drive", "torque [N m | N]", "speed [rad/s | m/s]", "gear", "armature [kg m² | kg]")
    for item in robot.drives:
        table.add_row(
            escape(item.joint),
            f"{item.torque_limit:g}",
            f"{item.speed_limit:g}",
            f"{item.gear_ratio:g} {item.gear}",
            f"{item.armature:.3g}",
        )
    return table
