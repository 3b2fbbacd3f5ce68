"""Run the examples and make their gallery: docs/examples.md and the pictures in docs/images/examples.

    python scripts/make_gallery.py [NAME …]    # pictures of these examples only, such as 05_reach; all if left out

Pictures need chromium. `gallery_page` makes the page from the examples and what they print; the tests check it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import runpy
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

import surefoot as sf
from surefoot.report import Evidence, Ghost, audit_page, report_page

ROOT = Path(__file__).parents[1]
PAGE, IMAGES = ROOT / "docs" / "examples.md", ROOT / "docs" / "images" / "examples"
CHAPTERS = {
    "First steps": range(1, 6),
    "Robots and states": range(6, 9),
    "Kinematics and dynamics": range(9, 17),
    "Contacts": range(17, 19),
    "Inverse kinematics and distances": range(19, 26),
    "Simulation": range(26, 30),
    "Motions, audits, pages": range(30, 34),
    "Paths and planning": range(34, 100),
}
COLUMNS, SIZE = 3, (480, 320)
COLOURS = ("#1f6fd6", "#dd6b20", "#12957c", "#8e4ec6")
GRAPHICS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
INTRO = """# Examples

Short programs, one idea each: `python examples/01_load_a_robot.py`. All of them run in the tests, and what they print
here is what they print there. Made by `scripts/make_gallery.py`.
"""
Names = Mapping[str, Any]


@dataclass(frozen=True)
class Example:
    """An example: its docstring, its code and what it prints.

    Args:
        path: The file.
        output: Printed text.
        names: What the program leaves behind.
    """

    path: Path
    output: str = ""
    names: Names = field(default_factory=dict)

    @property
    def number(self) -> int:
        """Its number."""
        return int(self.path.stem[:2])

    @property
    def docstring(self) -> tuple[str, str]:
        """Title without full stop, and the text below it."""
        title, _, text = (ast.get_docstring(ast.parse(self.path.read_text(encoding="utf-8"))) or "").partition("\n")
        return title.rstrip("."), text.strip()

    @property
    def code(self) -> str:
        """The program below its docstring."""
        text = self.path.read_text(encoding="utf-8")
        return text[text.index('"""', 3) + 3 :].strip()

    @property
    def heading(self) -> str:
        """Of its part of the page."""
        return f"{self.number}. {self.docstring[0]}"

    @property
    def anchor(self) -> str:
        """Of its heading, as GitHub makes it."""
        return "".join(c for c in self.heading.lower() if c.isalnum() or c in " -_").replace(" ", "-")

    @property
    def picture(self) -> str:
        """Its picture, as Markdown."""
        suffix = "jpg" if (IMAGES / f"{self.path.stem}.jpg").exists() else "svg"
        return f"![{self.docstring[0]}](images/examples/{self.path.stem}.{suffix})"


def run_example(path: Path) -> Example:
    """Run an example as a program without arguments."""
    printed, argv = io.StringIO(), sys.argv
    sys.argv = [str(path)]
    try:
        with contextlib.redirect_stdout(printed):
            names = runpy.run_path(str(path), run_name="__main__")
    finally:
        sys.argv = argv
    return Example(path, printed.getvalue().rstrip(), names)


def gallery_page(examples: Sequence[Example]) -> str:
    """The page: cards by chapter, then one part for each example."""
    parts = [INTRO]
    for chapter, numbers in CHAPTERS.items():
        shown = [example for example in examples if example.number in numbers]
        parts.append(f"## {chapter}\n\n{_cards(shown)}")
    return "\n".join([*parts, *map(_part, examples)])


def _cards(examples: Sequence[Example]) -> str:
    cells = [f"[{e.picture}](#{e.anchor})<br>[**{e.number}** {e.docstring[0]}](#{e.anchor})" for e in examples]
    cells += [""] * (-len(cells) % COLUMNS)
    rows = [cells[k : k + COLUMNS] for k in range(0, len(cells), COLUMNS)]
    table = [[""] * COLUMNS, [":---:"] * COLUMNS, *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in table)


def _part(example: Example) -> str:
    source = f"[examples/{example.path.name}](../examples/{example.path.name})"
    program = f"```py\n{example.code}\n```\n\n```text\n{example.output}\n```\n"
    picture = f"{example.picture}\n\n" if example.path.stem in PICTURES else ""  # else the text below is all there is
    return f"## {example.heading}\n\n{example.docstring[1]}\n\n{picture}{source}\n\n{program}"


@dataclass(frozen=True)
class Shot:
    """What a page of a report shows.

    Args:
        html: The page.
        time: When [s].
        whole: The whole page instead of the scene alone.
    """

    html: str
    time: float = 0.0
    whole: bool = False

    def take(self, browser: Any, file: Path) -> None:
        """Save the picture as JPEG."""
        scale = 2.4 if self.whole else 1.0
        view = {"width": round(scale * SIZE[0]), "height": round(scale * SIZE[1])}
        page = browser.new_page(viewport=view, device_scale_factor=0.65 if self.whole else 1.0)
        with tempfile.TemporaryDirectory() as folder:
            html = Path(folder) / "page.html"
            html.write_text(self.html, encoding="utf-8")
            page.goto(f"file://{html}")
            page.locator("body[data-ready]").wait_for(state="attached", timeout=120_000)
            if not self.whole:
                page.evaluate("window.surefoot.film()")
            page.evaluate(f"window.surefoot.seek({self.time})")
            page.wait_for_timeout(1500)
            page.screenshot(path=file, type="jpeg", quality=80)
        page.close()


def scene(robot: Any, q: Any, world: Any = None, other: Any = None, wrenches: Any = None) -> Shot:
    """A robot in one posture; `other` is a posture that is drawn pale, `wrenches` (6,) act on its contacts."""
    time, pair = np.array([0.0, 1.0]), np.tile(q, (2, 1))
    ghosts = () if other is None else (Ghost("other", robot, time, np.tile(other, (2, 1))),)
    forces = {name: np.tile(wrench, (2, 1)) for name, wrench in (wrenches or {}).items()}
    return Shot(report_page(Evidence("", robot, time, pair, world=world, ghosts=ghosts, wrenches=forces)))


@dataclass(frozen=True)
class Lines:
    """Curves over one axis, as SVG.

    Args:
        x: (n,) values.
        curves: (n,) values by name.
        labels: Of the axes.
    """

    x: Any
    curves: Mapping[str, Any]
    labels: tuple[str, str]

    def svg(self) -> str:
        """The drawing."""
        x, ys = np.asarray(self.x, float), {name: np.asarray(y, float) for name, y in self.curves.items()}
        low, high = min(np.nanmin(y) for y in ys.values()), max(np.nanmax(y) for y in ys.values())
        frame = Frame((float(x[0]), float(x[-1])), (low, high), self.labels, legend=len(ys) > 1)
        keep = slice(None, None, max(1, len(x) // 300))
        drawn, at = [], frame.left
        for k, (name, y) in enumerate(ys.items()):
            path = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(*frame.at(x[keep], y[keep]), strict=True))
            drawn.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[k]}" stroke-width="2"/>')
            if len(ys) > 1:
                drawn.append(_text(at, 18, name, "start", COLOURS[k]))
                at += 7.0 * len(name) + 16.0
        return frame.svg(drawn)


@dataclass(frozen=True)
class Cells:
    """A matrix of shades, as SVG.

    Args:
        values: (rows, columns) between 0 and 1; the first row is at the bottom.
        ends: Of the axes: left, right, bottom, top.
        labels: Of the axes.
        square: Whether both axes have the same scale.
    """

    values: Any
    ends: tuple[float, float, float, float]
    labels: tuple[str, str]
    square: bool = False

    def svg(self) -> str:
        """The drawing: cells of one shade in a row are one rectangle."""
        shades = np.round(6.0 * np.asarray(self.values, float)).astype(int)
        frame = Frame(self.ends[:2], self.ends[2:], self.labels, room=0.0, square=self.square)
        xs, ys = np.linspace(*self.ends[:2], shades.shape[1] + 1), np.linspace(*self.ends[2:], shades.shape[0] + 1)
        drawn = []
        for k, row in enumerate(shades):
            edges = [0, *(np.flatnonzero(np.diff(row)) + 1).tolist(), len(row)]
            for first, last in pairwise(edges):
                if row[first]:
                    (left, right), (bottom, top) = frame.at(xs[[first, last]], ys[[k, k + 1]])
                    size = f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top + 0.3:.1f}"'
                    drawn.append(f'<rect {size} fill-opacity="{row[first] / 6:.2f}"/>')
        group = f'<g fill="{COLOURS[0]}" shape-rendering="crispEdges">'
        return frame.svg([group, *drawn, "</g>"])


class Frame:
    """Axes with ticks.

    Args:
        x: Ends of the horizontal axis.
        y: Ends of the vertical axis.
        labels: Of both.
        room: Space above and below, by the height.
        square: Whether both axes have the same scale.
        legend: Whether there is a line above for names of curves.
    """

    def __init__(
        self,
        x: Sequence[float],
        y: Sequence[float],
        labels: tuple[str, str],
        room: float = 0.06,
        square: bool = False,
        legend: bool = False,
    ) -> None:
        more = room * ((y[1] - y[0]) or 1.0)
        self.x, self.y, self.labels = (x[0], x[1]), (y[0] - more, y[1] + more), labels
        self.left, self.right, self.top, self.bottom = 62.0, SIZE[0] - 16.0, 30.0 if legend else 12.0, SIZE[1] - 44.0
        if square:
            wanted = (self.bottom - self.top) * (x[1] - x[0]) / abs(y[1] - y[0])
            middle = 0.5 * (self.left + self.right)
            self.left, self.right = middle - 0.5 * wanted, middle + 0.5 * wanted

    def at(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Where values are in the picture."""
        across = self.left + (np.asarray(x) - self.x[0]) / (self.x[1] - self.x[0]) * (self.right - self.left)
        down = self.bottom - (np.asarray(y) - self.y[0]) / (self.y[1] - self.y[0]) * (self.bottom - self.top)
        return across, down

    def svg(self, drawn: Iterable[str]) -> str:
        """The picture with what was drawn."""
        grid = []
        for value in _ticks(*sorted(self.x)):
            at = float(self.at(value, 0.0)[0])
            grid.append(f'<path d="M{at:.1f} {self.top}V{self.bottom}" stroke="#e3e6ea"/>')
            grid.append(_text(at, self.bottom + 16, f"{value:g}"))
        for value in _ticks(*sorted(self.y)):
            at = float(self.at(0.0, value)[1])
            grid.append(f'<path d="M{self.left:.1f} {at:.1f}H{self.right:.1f}" stroke="#e3e6ea"/>')
            grid.append(_text(self.left - 6, at + 4, f"{value:g}", "end"))
        middle = 0.5 * (self.top + self.bottom)
        turned = f'transform="rotate(-90 16 {middle})"'
        names = [
            _text(0.5 * (self.left + self.right), SIZE[1] - 8, self.labels[0]),
            _text(16, middle, self.labels[1], extra=turned),
        ]
        return _svg([*grid, *drawn, *names])


@dataclass(frozen=True)
class Words:
    """Printed text, as SVG.

    Args:
        text: Lines.
    """

    text: str

    def svg(self) -> str:
        """The drawing: long lines are wrapped, and what does not fit is left out."""
        lines = [part for line in self.text.splitlines() for part in textwrap.wrap(line, 58, subsequent_indent="  ")]
        style = 'font-family="monospace" xml:space="preserve"'
        return _svg(_text(18, 34 + 20 * k, line, "start", extra=style) for k, line in enumerate(lines[:14]))


def _svg(drawn: Iterable[str]) -> str:
    width, height = SIZE
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif"'
    ground = f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', ground, *drawn, "</svg>\n"])


def _ticks(low: float, high: float) -> list[float]:
    """About five round numbers."""
    step = 10.0 ** np.floor(np.log10((high - low) / 4.0))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (factor * step) <= 6.0)
    return [round(float(k * step), 10) for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


def _text(x: float, y: float, text: str, anchor: str = "middle", colour: str = "#444", extra: str = "") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="12"'
    return f'<text {place} fill="{colour}" {extra}>{escape(text)}</text>'


def _quantiles(names: Names) -> Lines:
    """How far the rollouts went: the tenth, the half and nine tenths of them."""
    found = names["found"]
    way = 1e3 * np.linalg.norm(found.q[:, :, :2] - found.q[:, :1, :2], axis=2)
    curves = {f"{share} %": np.percentile(way, share, axis=0) for share in (90, 50, 10)}
    return Lines(found.time, curves, ("time [s]", "way of the base [mm]"))


def _spread(values: Mapping[str, Any], label: str) -> Lines:
    """How often values occur, by name."""
    ends = np.linspace(0.0, max(np.percentile(y, 99.5) for y in values.values()), 61)
    counts = {name: np.histogram(y, ends)[0] / len(y) * 100.0 for name, y in values.items()}
    return Lines(0.5 * (ends[1:] + ends[:-1]), counts, (label, "share [%]"))


def _standing(names: Names) -> Shot:
    """Talos with the forces on its soles."""
    robot, forces = names["robot"], names["found"].multipliers.reshape(2, 6)
    return scene(robot, robot.home, sf.World(), wrenches=dict(zip(robot.contacts, forces, strict=True)))


def _arms_up(names: Names) -> Shot:
    q = np.array(names["robot"].home)
    q[7:] += 0.4 * names["swing"][6:]
    return scene(names["robot"], q, sf.World(), other=names["robot"].home)


def _shades(M: Any) -> Any:
    """Size of the entries of a matrix, on a logarithmic scale; the first row on top."""
    size = np.log10(np.maximum(np.abs(M), 1e-4)) + 4.0
    return (size / size.max())[::-1]


TIME = "time [s]"
PICTURES: Mapping[str, Callable[[Names], Shot | Lines | Cells]] = {
    "01_load_a_robot": lambda n: scene(n["robot"], n["robot"].home, sf.World()),
    "02_build_a_robot": lambda n: scene(n["robot"], n["robot"].home, sf.World()),
    "03_knee_torque": lambda n: _spread({"": np.concatenate(n["torques"])}, "knee torque [N m]"),
    "04_simulate_a_push": lambda n: Lines(
        n["log"].time, {k: np.rad2deg(log["base.tilt"]) for k, log in n["logs"].items()}, (TIME, "tilt [°]")
    ),
    "05_reach": lambda n: scene(n["robot"], n["found"].q, sf.World()),
    "06_robot_from_a_dh_table": lambda n: scene(n["robot"], n["q"][2]),
    "09_batch_inverse_dynamics": lambda n: _spread(
        dict(zip(n["robot"].joint_names[-3:], np.abs(n["tau"][:, -3:]).T, strict=True)), "torque [N m]"
    ),
    "10_mass_matrix": lambda n: Cells(_shades(n["M"]), (0, 38, 38, 0), ("column", "row"), True),
    "11_jacobians": lambda n: scene(n["robot"], n["q"]),
    "12_centroidal_momentum": _arms_up,
    "13_stand_on_two_feet": _standing,
    "14_four_bar": lambda n: Lines(
        n["log"].time, {f"joint {k + 1}": np.asarray(n["log"]["q"])[:, k] for k in range(3)}, (TIME, "angle [rad]")
    ),
    "15_impact": lambda n: scene(n["robot"], n["q"], sf.World(), other=n["q"] + 0.12 * np.eye(len(n["q"]))[2]),
    "16_redundant_coordinates": lambda n: Lines(
        n["run"].time, dict(zip(("tilt [rad]", "travel [m]"), n["run"].coordinates.T, strict=True)), (TIME, "")
    ),
    "17_friction_margins": lambda n: Lines(
        np.rad2deg(n["slopes"]),
        {name: np.maximum(item.margin / item.margin[0], -1.0) for name, item in n["margins"].items()},
        ("slope [°]", "margin / margin on the level"),
    ),
    "18_where_to_lean": lambda n: Cells(
        0.3 * n["maps"]["level"] + 0.7 * n["maps"]["gully"], (-0.6, 0.6, -0.6, 0.6), ("x [m]", "y [m]"), True
    ),
    "19_map_of_reach": lambda n: Cells(n["reached"], (0.1, 0.7, 0.1, 1.5), ("x [m]", "z [m]")),
    "20_strict_priorities": lambda n: scene(n["robot"], n["q"], sf.World(), other=n["robot"].home),
    "21_singular_postures": lambda n: Lines(
        n["bends"], {"": n["smallest"]}, ("bend of the knee [rad]", "smallest singular value")
    ),
    "22_distances": lambda n: scene(n["robot"], n["robot"].home, n["world"]),
    "23_reach_around": lambda n: scene(n["robot"], n["seeing"].q, n["world"], other=n["blind"].q),
    "24_look_ahead": lambda n: Lines(0.01 * np.arange(300), n["speeds"], (TIME, "joint speed [rad/s]")),
    "26_noisy_sensors": lambda n: Lines(
        n["log"].time, {"": np.rad2deg(n["log"]["estimate.attitude_error"])}, (TIME, "error of the attitude [°]")
    ),
    "27_rollouts": _quantiles,
    "28_dc_motors": lambda n: Lines(
        n["log"].time, {k: np.asarray(log["q"])[:, 0] for k, log in n["logs"].items()}, (TIME, "angle [rad]")
    ),
    "29_terrain": lambda n: scene(n["robot"], n["log"]["q"][-1], n["world"]),
    "30_trajectories": lambda n: scene(
        n["robot"], n["raise_left"].q[-1], sf.World(), other=n["raise_right"].q[-1]
    ),
    "31_audit_a_motion": lambda n: Shot(
        audit_page("A quick squat", n["motion"], n["robot"], sf.World(), n["result"]), 0.2, True
    ),
    "33_report_page": lambda n: Shot(report_page(n["evidence"]), 1.3, True),
    "34_fastest_motion": lambda n: Lines(
        n["motion"].time, dict(zip(n["arm"].joint_names, (n["torques"] / n["arm"].limits.effort).T, strict=True)),
        (TIME, "torque / limit"),
    ),
    "35_configuration_space": lambda n: Cells(
        sum(share * cells for share, cells in zip((0.5, 0.25, 0.25), n["slices"].values(), strict=True)),
        (-1.0, 1.6, -0.8, 1.4), ("x [m]", "y [m]"), True,
    ),
    "36_double_integrator": lambda n: Cells(
        np.where(n["lost"], 1.0, 0.8 * n["times"] / n["times"].max()), (-2, 2, -2, 2), ("x [m]", "v [m/s]"), True
    ),
    "37_car": lambda n: Lines(
        n["way"], {"sideways": n["track"][:, 1], "along": n["track"][:, 0]}, ("driven [m]", "place [m]")
    ),
    "48_what_not_to_relax": lambda n: Lines(
        1e3 * np.sort(n["drifts"]), {"share": np.arange(1, len(n["drifts"]) + 1) / len(n["drifts"])},
        ("contact radius [mm]", "motions that pass"),
    ),
}  # fmt: skip


def draw(examples: Sequence[Example]) -> None:
    """Make the pictures of these examples."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=GRAPHICS)
        for example in examples:
            stem = example.path.stem
            picture = PICTURES[stem](example.names) if stem in PICTURES else Words(example.output)
            if isinstance(picture, Shot):
                picture.take(browser, IMAGES / f"{stem}.jpg")
            else:
                (IMAGES / f"{stem}.svg").write_text(picture.svg(), encoding="utf-8")
            print(f"{stem}: drawn")
        browser.close()


def main(wanted: Sequence[str]) -> None:
    """Run all, draw, write the page."""
    examples = [run_example(path) for path in sorted((ROOT / "examples").glob("*.py"))]
    draw([example for example in examples if not wanted or example.path.stem in wanted])
    PAGE.write_text(gallery_page(examples), encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main(sys.argv[1:])
