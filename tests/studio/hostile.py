"""A folder from a stranger: names that are HTML in every field, and Python files beside the robot."""

from __future__ import annotations

import json
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

import surefoot as sf

MODULES = (
    "numpy", "sitecustomize", "usercustomize", "surefoot", "json", "mujoco", "coacd", "viser", "multiprocessing",
    "ctypes", "struct", "bench",
)  # fmt: skip


def evil(field: str) -> str:
    """Text that says its field and, taken as HTML or Markdown, runs a script in three ways."""
    return (
        f"evil-{field}<img src=x onerror=\"top.pwned='{field}'\">"
        f"<iframe srcdoc=\"<script>top.pwned='{field}'</script>\"></iframe>[a](javascript:alert)**b**"
    )


def evil_file(field: str) -> str:
    """The same for the name of a file, which has no slash."""
    return f"evil-{field}<img src=x onerror=top.pwned=1>"


def make_folder(folder: Path) -> Path:
    """Write the folder; returns the file that its Python files would write if they ran."""
    sign = folder.parent / f"{folder.name}-code-ran"
    for name in MODULES:
        (folder / f"{name}.py").write_text(f"open({str(sign)!r}, 'a').write({name + ' '!r})\n")
    (folder / "evil.pth").write_text(f"import builtins; builtins.open({str(sign)!r}, 'a').write('pth ')\n")
    (folder / "robot.urdf").write_text(_urdf())
    (folder / "robot.surefoot.toml").write_text(_side_file())
    (folder / "walk.toml").write_text(_scenario())
    (folder / f"{evil_file('error')}.urdf").write_text(f"<robot name='broken'><link name={quoteattr(evil('error'))}>")
    _write_run(folder / "runs" / evil_file("folder"), folder / "robot.urdf")
    return sign


def _urdf() -> str:
    inertia = (
        '<inertial><origin xyz="0 0 -0.1"/><mass value="1"/>'
        '<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<collision><geometry><box size="0.1 0.1 0.2"/></geometry></collision>'
    )
    base, tip, joint = quoteattr(evil("link")), quoteattr("tip " + evil("link")), quoteattr(evil("joint"))
    return (
        f"<robot name={quoteattr(evil('robot'))}><link name={base}>{inertia}</link><link name={tip}>{inertia}</link>"
        f'<joint name={joint} type="revolute"><parent link={base}/><child link={tip}/><origin xyz="0 0 1"/>'
        '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="20" velocity="5"/></joint></robot>'
    )


def _side_file() -> str:
    name, link = json.dumps(evil("contact")), json.dumps("tip " + evil("link"))
    return f'[contacts.{name}]\nframe = {link}\nkind = "point"\nposition = [0.0, 0.0, -0.2]\n'


def _scenario() -> str:
    return (
        f'name = "walk"\ndescription = {json.dumps(evil("scenario"))}\n'
        '[robot]\nname = "robot.urdf"\nbase = "fixed"\n[world]\nempty = true\n'
        '[controller]\nkind = "limp"\n[simulation]\nduration = 0.05\n'
    )


def _write_run(folder: Path, robot_file: Path) -> None:
    """A run whose joint leaves its limits, so that the audit has something to say about it."""
    folder.mkdir(parents=True)
    robot = sf.load(robot_file, base="fixed")
    time = np.linspace(0.0, 0.5, 26)
    q = np.tile(robot.home, (len(time), 1)) + 2.5 * time[:, None]
    sf.Trajectory.of(robot, time, q).save(folder / "trajectory.npz")
    text = _scenario().replace('"robot.urdf"', json.dumps(str(robot_file))).replace("[world]\nempty = true\n", "")
    (folder / "scenario.toml").write_text(text)
    (folder / "metrics.json").write_text(json.dumps({evil("metric"): 1.0, "value": evil("value")[:60]}))
    (folder / "report.html").write_text("<script>document.title = 'a report'</script>")
