"""The page about a robot: its data, its home posture and its defects."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from surefoot.files import write_text
from surefoot.markup import Html, html, joined
from surefoot.motion import World
from surefoot.report.evidence import Evidence, Verdict
from surefoot.report.page import html_page, html_table, report_page
from surefoot.report.stick_figure import figure_svg
from surefoot.robot import Inspection, Robot, load, zoo


def write_robot_page(path: str | Path, inspection: Inspection) -> None:
    """Write the page to a file, whole or not at all.

    Args:
        path: The file.
        inspection: The robot and what was found.
    """
    write_text(path, robot_page(inspection))


def robot_page(inspection: Inspection) -> str:
    """The page as HTML: that of a report, with the robot at home, or plain text where there is nothing to show.

    Args:
        inspection: The robot and what was found.
    """
    robot, findings = inspection.robot, html("<h2>Findings</h2>\n{}", _findings(inspection))
    verdict = "sound" if inspection.sound else "defects found"
    if robot is None or robot.tree.n == 0:
        head = html('<h1>{}</h1>\n<p class="verdict">{}</p>', inspection.name, verdict)
        return html_page(inspection.name, joined([head, findings], "\n"))
    facts = {
        "degrees of freedom": robot.nv, "driven": robot.nu, "mass_kg": robot.mass, "base": robot.base,
        "moving bodies": robot.tree.n,
    }  # fmt: skip
    return report_page(
        Evidence(
            robot.name, robot, np.array([0.0, 1.0]), np.tile(robot.home, (2, 1)), subtitle="The robot at home",
            verdict=Verdict(verdict, inspection.sound), world=World(), metrics=facts,
            details=joined([findings, *_robot_parts(robot)], "\n"),
        )
    )  # fmt: skip


def _robot_parts(robot: Robot) -> list[Html]:
    out: list[Html] = []
    if robot.contacts:
        contacts = [(c.name, c.frame, c.kind, len(c.corners), c.friction) for c in robot.contacts.values()]
        out += [
            Html("<h2>Contact surfaces</h2>"),
            html_table(("name", "link", "kind", "corners", "friction"), contacts),
        ]
    out += [Html("<h2>Joints</h2>"), _joints(robot)]
    if robot.drives:
        drives = [
            (d.joint, d.torque_limit, d.speed_limit, d.gear_ratio, d.armature, _units(robot, d.joint))
            for d in robot.drives
        ]
        head = ("drive", "torque or force limit", "speed limit", "gear ratio", "armature", "units")
        out += [Html("<h2>Drives</h2>"), html_table(head, drives)]
    if robot.couplings:
        couplings = [(c.joint, c.source, c.ratio, c.offset) for c in robot.couplings]
        out += [Html("<h2>Couplings</h2>"), html_table(("joint", "follows", "ratio", "offset"), couplings)]
    return out


def _joints(robot: Robot) -> Html:
    tree = robot.tree
    rows = []
    for i in range(tree.n):
        parent = tree.body_names[tree.parents[i]] if tree.parents[i] >= 0 else "world"
        row, single = int(tree.q_index[i]), tree.nq_of(i) == 1
        limits = f"{robot.limits.lower[row]:.3g} … {robot.limits.upper[row]:.3g}" if single else "–"
        rows.append((tree.joint_names[i], tree.kinds[i], parent, tree.body_names[i], limits, float(tree.masses[i])))
    return html_table(("joint", "kind", "parent", "moves", "limits", "mass [kg]"), rows)


def _units(robot: Robot, joint: str) -> str:
    is_straight = robot.tree.kinds[robot.joint_index(joint)] in ("prismatic", "translation")
    return "N, m/s, kg" if is_straight else "N m, rad/s, kg m²"


def _findings(inspection: Inspection) -> Html:
    if not inspection.findings:
        return Html("<p>none</p>")
    rows = joined(
        html('<tr><td class="{0}">{0}</td><td>{1}</td><td>{2}</td></tr>', f.level, f.place, f.message)
        for f in inspection.findings
    )
    return html('<div class="scroll"><table><tr><th>level</th><th>place</th><th>what</th></tr>{}</table></div>', rows)


def write_zoo_page(path: str | Path) -> None:
    """Write a page with a picture and the facts of every robot of the zoo."""
    cards = joined(
        html(
            "<figure>{}<figcaption><b>{}</b><br>{} · {} dof · {:.4g} kg<br>{}</figcaption></figure>",
            figure_svg(robot, robot.home, "side"),
            name,
            facts.kind,
            facts.dof,
            facts.mass,
            facts.licence,
        )
        for name, facts in zoo.facts().items()
        for robot in [load(name, meshes="skip")]
    )
    title = "Robots of surefoot"
    write_text(path, html_page(title, html('<h1>{}</h1><div class="figures">{}</div>', title, cards)))
