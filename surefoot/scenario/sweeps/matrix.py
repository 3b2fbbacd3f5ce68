"""Scenarios × robots × seeds: which pass, and why the others do not."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote

from surefoot.errors import FileFormatError, ScenarioError
from surefoot.files import read_json, write_text
from surefoot.markup import Html, html, joined
from surefoot.report.page import html_page, html_table
from surefoot.scenario.catalogue import read_scenario
from surefoot.scenario.sweeps.jobs import DIED, FELL, OTHER_ROBOT, PASSED, REFUSED, Job, run_jobs
from surefoot.scenario.sweeps.perturbed import perturbed_overrides, wilson
from surefoot.words import counted

_FILE = "matrix.json"
_QUICK = "audit.kind=none"
_ENOUGH = 10  # runs from which on a rate is given


@dataclass(frozen=True)
class MatrixRow:
    """How one run ended.

    Args:
        scenario: Name or file.
        robot: Name or file.
        seed: Of all randomness.
        verdict: As in `Outcome`.
        reason: Why it did not pass; None if it did.
    """

    scenario: str
    robot: str
    seed: int
    verdict: str
    reason: str | None


def matrix_jobs(
    scenarios: Sequence[str],
    robots: Sequence[str],
    seeds: Iterable[int],
    folder: Path,
    overrides: Sequence[str] = (),
    perturbed: bool = False,
) -> list[Job]:
    """One run for each scenario, robot and seed; all of the first seed come first.

    Args:
        scenarios: Names or files.
        robots: Names or files.
        seeds: Of all randomness.
        folder: Of the matrix.
        overrides: Changes of all scenarios, `dotted.key=value`. Runs are not audited unless these ask for it.
        perturbed: Whether mass, friction and delays differ from what the controller knows; see `perturbed_overrides`.
    """
    for scenario in scenarios:
        read_scenario(scenario)  # refuse wrong names before anything runs

    def changes(scenario: str, seed: int) -> tuple[str, ...]:
        return (_QUICK, *(perturbed_overrides(scenario, seed) if perturbed else ()), *overrides)

    return [
        Job(scenario, robot, seed, folder / _place(scenario, robot, seed), changes(scenario, seed))
        for seed in seeds
        for robot in robots
        for scenario in scenarios
    ]


def run_matrix(
    jobs: Sequence[Job],
    folder: Path,
    told: Callable[[MatrixRow, int], None] = lambda row, left: None,
    workers: int | None = None,
) -> list[MatrixRow]:
    """Run what is not done yet; rows are kept in the folder after each run, so that a matrix can be resumed.

    Args:
        jobs: From `matrix_jobs`.
        folder: Of the matrix; new, empty, or of a matrix that was interrupted.
        told: Called with each new row, and how many runs are left.
        workers: Runs at a time; default: one for each core.

    Returns:
        One row for each job, in their order.

    Raises:
        ScenarioError: The folder has something else, or runs with other settings.
    """
    changes = list(jobs[0].overrides) if jobs else []
    done = _resume(folder, changes)
    left = [job for job in jobs if _key(job) not in done]
    for job in left:
        shutil.rmtree(job.folder, ignore_errors=True)  # of a run that was interrupted
    for count, outcome in enumerate(run_jobs(left, workers), 1):
        job = outcome.job
        row = MatrixRow(job.scenario, str(job.robot), job.seed, outcome.verdict, outcome.reason)
        done[_key(job)] = row
        _write(folder, changes, done.values())
        told(row, len(left) - count)
    rows = [done[_key(job)] for job in jobs]
    write_text(folder / "matrix.md", matrix_table(rows))
    write_text(folder / "matrix.html", matrix_page(rows))
    return rows


_Key = tuple[str, str, int]


def _key(item: Job | MatrixRow) -> _Key:
    return item.scenario, str(item.robot), item.seed


def _resume(folder: Path, changes: list[str]) -> dict[_Key, MatrixRow]:
    """Rows of a matrix that was begun in this folder; runs whose process died are done again."""
    file = folder / _FILE
    if not file.exists():
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ScenarioError(
                f"`{folder}` exists and is neither empty nor the folder of a matrix",
                next_step="choose another folder with --out, or remove this one",
            )
        _write(folder, changes, ())
        return {}
    found = read_json(file)
    try:
        there, rows = found["overrides"], [MatrixRow(**row) for row in found["rows"]]
    except (KeyError, TypeError) as error:
        raise FileFormatError("is not a matrix", file=file, next_step="remove it, or give another --out") from error
    if there != changes:
        raise ScenarioError(
            f"the matrix in `{folder}` has other settings",
            evidence={"there": there, "here": changes},
            next_step="choose another folder with --out, or give the same --set",
        )
    return {_key(row): row for row in rows if row.verdict != DIED}


def _write(folder: Path, changes: list[str], rows: Iterable[MatrixRow]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = {"schema": "surefoot.matrix/1", "overrides": changes, "rows": [asdict(row) for row in rows]}
    write_text(folder / _FILE, json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def matrix_table(rows: Sequence[MatrixRow]) -> str:
    """Counts of passed runs as a Markdown table, with the reasons of the others below.

    Args:
        rows: Of a matrix.
    """
    head, body = _counts(rows)
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(r) + " |" for r in body)]
    reasons = [f"- {text}" for text in (*_fall_rates(rows), *_reasons(rows))]
    return "\n".join([*lines, *(["", *reasons] if reasons else [])]) + "\n"


def matrix_page(rows: Sequence[MatrixRow]) -> str:
    """The same as a self-contained HTML page, with links to the reports of runs that did not pass.

    Args:
        rows: Of a matrix.
    """
    tried = [row for row in rows if row.verdict != OTHER_ROBOT]
    passed = sum(row.verdict == PASSED for row in tried)
    items = joined(
        html("<li>{}: {} ({})</li>", _link(row), row.verdict, row.reason) for row in tried if row.verdict != PASSED
    )
    body = html(
        "<h1>Matrix</h1><p>{} of {} passed.</p>{}{}",
        passed,
        counted(len(tried), "run"),
        html_table(*_counts(rows)),
        html("<h2>Not passed</h2><ul>{}</ul>", items) if items else "",
    )
    return html_page("Matrix", body)


def _link(row: MatrixRow) -> Html:
    """The run as a text, linked to its report if it moved."""
    text = html("{}, {}, seed {}", row.scenario, row.robot, row.seed)
    if row.verdict in (REFUSED, OTHER_ROBOT, DIED):
        return text
    return html('<a href="{}/report.html">{}</a>', quote(_place(row.scenario, row.robot, row.seed)), text)


def _place(scenario: str, robot: str, seed: int) -> str:
    """The folder of a run in that of the matrix."""
    return f"{Path(scenario).stem}/{Path(robot).stem}/seed-{seed}"


def _counts(rows: Sequence[MatrixRow]) -> tuple[list[str], list[list[str]]]:
    """Head and rows: passed of all seeds, by scenario and robot; a dash where the robot lacks what it takes."""
    scenarios, robots = (list(dict.fromkeys(getattr(row, name) for row in rows)) for name in ("scenario", "robot"))
    total = Counter((row.scenario, row.robot) for row in rows if row.verdict != OTHER_ROBOT)
    passed = Counter((row.scenario, row.robot) for row in rows if row.verdict == PASSED)
    body = [
        [scenario, *(_share(passed[scenario, robot], total[scenario, robot]) for robot in robots)]
        for scenario in scenarios
    ]
    return ["scenario", *robots], body


def _share(passed: int, total: int) -> str:
    return f"{passed}/{total}" if total else "–"


def _fall_rates(rows: Sequence[MatrixRow]) -> list[str]:
    """How often a robot fell, with Wilson's 95 % interval, where there are enough runs to tell."""
    out = []
    for scenario, robot in dict.fromkeys((row.scenario, row.robot) for row in rows):
        tried = [row for row in rows if row.verdict != OTHER_ROBOT]
        fell = [row.verdict == FELL for row in tried if (row.scenario, row.robot) == (scenario, robot)]
        if len(fell) >= _ENOUGH:
            out.append(f"{scenario}, {robot}: fell in {wilson(fell)}")
    return out


def _reasons(rows: Sequence[MatrixRow]) -> list[str]:
    return [
        f"{row.scenario}, {row.robot}, seed {row.seed}: {row.verdict} ({row.reason})"
        for row in rows
        if row.verdict not in (PASSED, OTHER_ROBOT)
    ]
