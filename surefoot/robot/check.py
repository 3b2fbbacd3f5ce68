"""Inspection of a robot: defects of its file and of its physics, each with its place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.errors import SurefootError
from surefoot.robot.build import Mimic, shapeless_end_links
from surefoot.robot.files import document_of
from surefoot.robot.loading import is_file_name, load
from surefoot.robot.model import Finding, Level, Robot
from surefoot.robot.standing import support_doubts
from surefoot.robot.urdf import UrdfDocument, scan_urdf, urdf_links

_ON_LIMIT = 1e-3  # share of its range within which a joint is at its limit
_MOVE_HOME = "`[home.joints]` in the side file gives another home"
_SINGULAR = 1e-12  # inertia at a joint below this cannot be divided by [kg m²] or [kg]


@dataclass(frozen=True)
class Inspection:
    """A robot, as far as it could be loaded, and all that was found.

    Args:
        name: Name or file that was asked for.
        robot: The robot; None if it has defects that keep it from loading.
        findings: Errors first, then warnings, then notes.
    """

    name: str
    robot: Robot | None
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """Whether there is no finding of level "error"."""
        return not any(item.level == "error" for item in self.findings)

    def joined(self, findings: Sequence[Finding]) -> Inspection:
        """The same with further findings."""
        return replace(self, findings=_sorted([*self.findings, *findings]))

    def at_home(self, q: Array) -> Inspection:
        """The same robot with another home posture.

        Args:
            q: (nq,).
        """
        if self.robot is None:
            return self
        robot, old = self.robot.replace(home=q), _posture_findings(self.robot)
        kept = [item for item in self.findings if item not in old]
        return replace(self, robot=robot, findings=_sorted([*kept, *_posture_findings(robot)]))


def inspect_robot(name_or_path: str, base: str = "auto", mimic: Mimic = "coupling", **reduction: Any) -> Inspection:
    """Load a robot and look for every defect.

    Args:
        name_or_path: A name of the zoo, or a file.
        base: As in `surefoot.load`.
        mimic: As in `surefoot.load`.
        **reduction: `lock` and `only`, as in `surefoot.load`.

    Raises:
        SurefootError: The file cannot be read as a robot description at all, or there is no such name.
    """
    document = _scanned(name_or_path)
    if document is not None and document.errors:
        return Inspection(name_or_path, None, _sorted(document.findings))
    try:
        robot = load(name_or_path, base, mimic, **reduction)
    except SurefootError as error:
        if not is_file_name(name_or_path) or not Path(name_or_path).is_file():
            raise
        text = "; ".join([error.message, *(f"{key}: {value}" for key, value in error.evidence.items())])
        return Inspection(name_or_path, None, (Finding("error", error.place, text, error.line or 0),))
    # Contradictions to physics, and what will not work; with the lines of the links where there is a URDF
    findings = [
        *robot.notes,
        *_inertia_findings(robot, document),
        *_joint_findings(robot),
        *_contact_findings(robot),
        *_posture_findings(robot),
    ]
    return Inspection(name_or_path, robot, _sorted(findings))


def _scanned(name_or_path: str) -> UrdfDocument | None:
    """The scanned document of a URDF file; None for names and MJCF files."""
    if not is_file_name(name_or_path):
        return None
    root = document_of(name_or_path)
    return scan_urdf(root, name_or_path) if root.tag == "robot" else None


def _sorted(findings: list[Finding]) -> tuple[Finding, ...]:
    order = {"error": 0, "warning": 1, "note": 2}
    return tuple(sorted(dict.fromkeys(findings), key=lambda item: (order[item.level], item.line)))


def _posture_findings(robot: Robot) -> list[Finding]:
    """Findings that depend on the home posture."""
    return [*_limit_findings(robot), *_home_findings(robot), *_support_findings(robot)]


def _inertia_findings(robot: Robot, document: UrdfDocument | None) -> list[Finding]:
    """Inertias that no rigid body has. Where the mass matrix stays regular it is only a warning."""
    level: Level = "warning" if _mass_matrix_is_regular(robot) else "error"
    out = []
    for name, place, line, mass, inertia in _inertias(robot, document):
        message = _inertia_defect(mass, inertia)
        if message:
            out.append(Finding(level, place, f"link `{name}`: {message}", line))
    if robot.nv and robot.mass <= 0.0:
        out.append(Finding("error", robot.source or robot.name, "the robot has no mass"))
    if robot.mass > 1e5:
        out.append(
            Finding("warning", robot.source or robot.name, f"total mass {robot.mass:g} kg: check the units (kg)")
        )
    return out


def _inertias(robot: Robot, document: UrdfDocument | None) -> list[tuple[str, str, int, float, Array]]:
    """Name, place, line, mass and inertia about the centre of mass of each link."""
    if document is not None:
        lines = {name: element.line for name, element in document.links.items()}
        return [
            (k.name, f"{document.file}:{lines[k.name]}", lines[k.name], k.mass, k.inertia) for k in urdf_links(document)
        ]
    tree = robot.tree
    return [(tree.body_names[i], tree.body_names[i], 0, float(tree.masses[i]), tree.inertias[i]) for i in range(tree.n)]


def _inertia_defect(mass: float, inertia: Array) -> str:
    """Describe the defect of an inertia; "" for none."""
    moments = np.sort(np.linalg.eigvalsh(inertia))
    scale = max(float(np.abs(moments).max()), 1e-30)
    text = f"principal moments {moments[0]:.4g}, {moments[1]:.4g}, {moments[2]:.4g} kg m²"
    if mass < 0.0:
        return f"negative mass {mass:g} kg"
    if mass == 0.0:
        return f"{text} without mass" if scale > 1e-12 else ""
    if moments[0] <= 0.0:
        return f"inertia is not positive definite: {text}"
    if moments[0] + moments[1] < moments[2] * (1.0 - 1e-6):
        return f"inertia violates the triangle inequality: {text}"
    reach = math.sqrt(float(moments[2]) / float(mass))
    return f"{text} at {mass:g} kg: a radius of gyration of {reach:.3g} m; check the units" if reach > 10.0 else ""


def _mass_matrix_is_regular(robot: Robot) -> bool:
    """Whether the joint-space mass matrix is positive definite in the home posture and two random ones."""
    if robot.nv == 0:
        return True
    rng = np.random.default_rng(0)
    for scale in (0.0, 0.5, 1.0):
        q = pin.integrate(robot.model, np.array(robot.home), scale * rng.uniform(-1.0, 1.0, robot.nv))
        M = np.array(pin.crba(robot.model, robot.model.createData(), q))
        M = np.triu(M) + np.triu(M, 1).T
        if np.linalg.eigvalsh(M)[0] <= _SINGULAR:
            return False
    return True


def _joint_findings(robot: Robot) -> list[Finding]:
    """Joints that move no inertia."""
    tree, out = robot.tree, []
    if robot.nv == 0:
        return [Finding("note", robot.name, "the robot has no moving joint")]
    M = np.array(pin.crba(robot.model, robot.model.createData(), np.array(robot.home)))
    for i in range(tree.n):
        rows = range(int(tree.v_index[i]), int(tree.v_index[i]) + tree.nv_of(i))
        carried = tree.masses[i] + sum(tree.masses[k] for k in range(i + 1, tree.n) if i in tree.ancestors(k))
        if carried <= 0.0:
            out.append(
                Finding("error", tree.joint_names[i], f"joint moves link `{tree.body_names[i]}`, which has no mass")
            )
        elif any(M[k, k] <= _SINGULAR for k in rows):
            out.append(
                Finding("error", tree.joint_names[i], "the inertia about the joint is zero; it cannot be accelerated")
            )
        elif tree.masses[i] <= 0.0:
            out.append(Finding("note", tree.body_names[i], "moving link without mass of its own"))
    return out


def _limit_findings(robot: Robot) -> list[Finding]:
    tree, limits, out = robot.tree, robot.limits, []
    for i in range(tree.n):
        if tree.nq_of(i) != 1:
            continue
        name, row, v_row = tree.joint_names[i], int(tree.q_index[i]), int(tree.v_index[i])
        low, high, home = limits.lower[row], limits.upper[row], robot.home[row]
        if low == high:
            out.append(Finding("warning", name, f"lower and upper limit are both {low:g}: the joint cannot move"))
        elif tree.kinds[i] == "revolute" and np.isfinite([low, high]).all() and high - low > 8.0 * np.pi:
            out.append(Finding("warning", name, f"limits [{low:g}, {high:g}] rad span more than four turns: degrees?"))
        elif not low - 1e-9 <= home <= high + 1e-9:
            text = f"home position {home:.4g} is outside its limits [{low:.4g}, {high:.4g}]; {_MOVE_HOME}"
            out.append(Finding("warning", name, text))
        for what, value in (("effort", limits.effort[v_row]), ("velocity", limits.velocity[v_row])):
            if value == 0.0:
                out.append(Finding("warning", name, f"{what} limit is 0; taken as no limit"))
    return out


def _home_findings(robot: Robot) -> list[Finding]:
    """Joints at a limit at home: motions about home would pass it. Followers depend on other joints."""
    tree, limits, followers = robot.tree, robot.limits, {item.joint for item in robot.couplings}
    on_limit = []
    for i in range(tree.n):
        if tree.nq_of(i) != 1 or tree.joint_names[i] in followers:
            continue
        row = int(tree.q_index[i])
        low, high, home = limits.lower[row], limits.upper[row], robot.home[row]
        near = max(1e-9, _ON_LIMIT * (high - low)) if np.isfinite([low, high]).all() else 1e-9
        if low < high and min(abs(home - low), abs(home - high)) <= near:
            on_limit.append(f"`{tree.joint_names[i]}` at {home:.4g} of [{low:.4g}, {high:.4g}]")
    if not on_limit:
        return []
    names = "; ".join(on_limit[:4]) + (f" and {len(on_limit) - 4} more" if len(on_limit) > 4 else "")
    what = "a joint is" if len(on_limit) == 1 else f"{len(on_limit)} joints are"
    return [Finding("note", robot.name, f"at home {what} at a position limit: {names}; {_MOVE_HOME}")]


def _contact_findings(robot: Robot) -> list[Finding]:
    out = [
        Finding(
            "note",
            link,
            "end link without a collision shape: if it should touch, give `[contacts.NAME]` in the side file",
        )
        for link in shapeless_end_links(robot)
    ]
    if robot.base == "floating" and not robot.contacts:
        out.append(
            Finding("warning", robot.name, "no contact surface was found; the side file can give `[contacts.NAME]`")
        )
    return out


def _support_findings(robot: Robot) -> list[Finding]:
    advice = "`--home auto` looks for a posture that can stand"
    doubts = support_doubts(robot, robot.home)
    return [Finding("warning", robot.name, f"in the home posture, {doubt}; {advice}") for doubt in doubts]
