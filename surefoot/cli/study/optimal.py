"""`surefoot study-walk` and `study-swingup`: the studies of Koch, beside what he reports; `study-nodes`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.console import names_in, progress
from surefoot.cli.frame import Json
from surefoot.errors import one_of

if TYPE_CHECKING:
    from surefoot.markup import Html
    from surefoot.ocp.studies import Statement, WalkRun


_WALK_HEAD = ("objective", "constraints", "converged", "iterations", "KKT", "length [m]", "width [m]", "speed [m/s]",
              "duty", "Koch: length, width, speed, duty")  # fmt: skip


def study_walk(
    robot: Annotated[str, typer.Argument(metavar="ROBOT", help="Robot name or file; it needs two flat feet.")] = (
        "humanoid"
    ),
    step: Annotated[float, typer.Option(metavar="M", help="Length of fixed steps.", min=0.01)] = 0.15,
    objectives: Annotated[
        str | None, typer.Option(metavar="A,B", help="Comma-separated objectives; default: all five.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="HTML file; default: walks-ROBOT.html.")] = None,
    as_json: Json = False,
) -> int:
    """Find optimal walks with five objectives and three sets of constraints, beside what Koch reports."""
    from surefoot.files import write_text
    from surefoot.ocp.motions import OBJECTIVES
    from surefoot.ocp.studies import statements, walking_study
    from surefoot.robot import load

    chosen = names_in(objectives) or list(OBJECTIVES)
    for name in chosen:
        if name not in OBJECTIVES:
            raise one_of("objective", name, OBJECTIVES)
    model = load(robot)
    with progress("walking") as tell:
        runs = walking_study(model, step, chosen, tell)
    said = statements(runs) if set(chosen) == set(OBJECTIVES) else []
    if as_json:
        found = {"runs": [run.to_dict() for run in runs], "statements": [s._asdict() for s in said]}
        print(json.dumps(found, indent=1, default=float, ensure_ascii=False))
    else:
        _print(_WALK_HEAD, [_walk_row(run) for run in runs])
        for s in said:
            print(f"{'holds' if s.holds else 'does not hold':<14} {s.text}: {s.numbers}")
    page = out or Path(f"walks-{Path(robot).stem}.html")
    if out is not None or not as_json:
        write_text(page, _walk_page(model.name, runs, said))
    if not as_json:
        print(page)
    return 0 if all(run.solution.success for run in runs) else 1


def _walk_row(run: WalkRun) -> tuple[str, ...]:
    f, s = run.figures, run.solution
    koch = "–" if run.koch is None else "{:.3f}  {:.3f}  {:.3f}  {:.1%}".format(*run.koch)
    return (run.objective, run.constraints, "yes" if s.success else "no", str(s.iterations),
            f"{s.staged.kkt_residual:.0e}", f"{f.step_length:.3f}", f"{f.step_width:.3f}", f"{f.speed:.3f}",
            f"{f.duty:.1%}", koch)  # fmt: skip


def _walk_page(robot: str, runs: Sequence[WalkRun], said: Sequence[Statement]) -> Html:
    from surefoot.markup import html, joined
    from surefoot.report.figures import Line, figure_svg
    from surefoot.report.page import html_page, html_table

    figures = []
    for objective in dict.fromkeys(run.objective for run in runs):
        own = [run for run in runs if run.objective == objective]
        lines = [Line(run.solution.times, run.solution.nodes["q"][:, 2], run.constraints, width=1.5) for run in own]
        svg = figure_svg(lines, ("time [s]", "height of the pelvis [m]"))
        figures.append(html("<figure><h2>{}</h2>{}</figure>", objective, svg))
    verdicts = [("holds" if s.holds else "does not hold", s.text, s.numbers) for s in said]
    body = [
        html("<h1>Optimal walks of {}</h1><p>One step with single support, impact and double support, free times and "
             "hard limits; its end mirrors its start. Koch, chapter 7, tables 7.2 and 7.3: another robot, so figures "
             "differ; his width is not defined in the text.</p>", robot),
        html_table(_WALK_HEAD, [_walk_row(run) for run in runs]),
        html("<h2>What Koch found, looked at for these runs</h2>") if said else html(""),
        html_table(("", "statement", "here"), verdicts) if said else html(""),
        html('<div style="display:grid;grid-template-columns:repeat(auto-fit,minmax(360px,1fr));gap:1rem">{}</div>',
             joined(figures)),
    ]  # fmt: skip
    return html_page("Optimal walks", joined(body))


def study_swingup(
    nodes: Annotated[str, typer.Option(metavar="A,B", help="Numbers of nodes.")] = "21,41,81,161",
    guesses: Annotated[int, typer.Option(help="Random guesses for swing-up and squat.", min=0)] = 5,
    as_json: Json = False,
) -> int:
    """Repeat the swing-up of Koch: table 5.2, force between nodes over their number, optima from random guesses."""
    from surefoot.ocp.motions import squat, swingup
    from surefoot.ocp.studies import node_study, random_guesses, swing_table
    from surefoot.robot import load

    robot = load("cartpole:bearing")
    with progress("table 5.2") as tell:
        rows = swing_table(robot, tell)
    with progress("nodes") as tell:
        study = node_study(robot, [int(name) for name in names_in(nodes) or ()], tell)
    tried: dict[str, list[Any]] = {}
    if guesses:
        with progress("random guesses") as tell:
            tell(0.0, "swing-up")
            tried["swing-up"] = list(random_guesses(lambda: swingup(robot), guesses))
            tell(0.5, "squat")
            humanoid = load("humanoid")
            tried["squat"] = list(random_guesses(lambda: squat(humanoid), guesses, 0.2))
    if as_json:
        found = {"table": [row._asdict() for row in rows], "nodes": [run._asdict() for run in study]}
        plain = {name: [run._asdict() for run in runs] for name, runs in tried.items()}
        print(json.dumps({**found, "guesses": plain}, indent=1, default=float))
    else:
        _show_swingup(rows, study, tried)
    return 0 if all(row.converged for row in rows) else 1


def _show_swingup(rows: Sequence[Any], study: Sequence[Any], tried: dict[str, list[Any]]) -> None:
    head = ("objective", "dynamics", "control", "Hessian", "variables", "constraints", "iterations", "KKT", "cost")
    _print(
        head,
        [
            (r.objective, r.dynamics, r.control, r.hessian, f"{r.variables} ({r.koch_variables})",
             f"{r.constraints} ({r.koch_constraints})", f"{r.iterations} ({r.koch_iterations})",
             f"{r.kkt_residual:.0e}", f"{r.cost:.4f}")
            for r in rows
        ],
    )  # fmt: skip
    print("In brackets: Koch, table 5.2. BFGS by `sqp`, exact Hessians by `riccati`.\n")
    _print(
        ("nodes", "dynamics", "control", "iterations", "cost", "force over its limit between nodes", "defect"),
        [(str(r.nodes), r.dynamics, r.control, str(r.iterations), f"{r.cost:.3f}", f"{r.force_excess:.2%}",
          f"{r.defect:.1e}") for r in study],
    )  # fmt: skip
    for name, runs in tried.items():
        print(f"\n{name}: {len({r.optimum for r in runs if r.converged})} optima from {len(runs)} random guesses: "
              + ", ".join(f"{r.cost:.4f}" if r.converged else "not converged" for r in runs))  # fmt: skip


def study_nodes(
    scenario: Annotated[str, typer.Argument(metavar="NAME|FILE", help="Scenario with an optimal-control motion.")],
    robot: Annotated[str | None, typer.Option(help="Replace the robot: a name or a file.")] = None,
    densities: Annotated[
        list[float] | None,
        typer.Option(
            "--density", metavar="DENSITY", help="Multiple of the usual number of nodes; repeatable.", min=0.2, max=20.0
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a scenario key; repeatable.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Solve a motion with more and more nodes, and audit what it does between them."""
    from surefoot.scenario import compare_nodes

    with progress("nodes") as tell:
        runs = compare_nodes(scenario, robot, overrides or (), densities or (0.5, 1.0, 2.0), tell)
    if as_json:
        print(json.dumps([asdict(run) for run in runs], indent=1))
    else:
        kinds = [name for name in runs[0].beyond if any(run.beyond.get(name, 0.0) > 0.0 for run in runs)]
        rows = [
            (str(run.nodes), "yes" if run.converged else "no", str(run.iterations), f"{run.objective:.5g}",
             *(f"{run.beyond[name]:.2g}" if name in run.beyond else "–" for name in kinds))
            for run in runs
        ]  # fmt: skip
        _print(("nodes", "converged", "iterations", "cost", *kinds), rows)
        print("By how much limits and balances are exceeded between nodes at most; others hold everywhere.")
    return 0 if all(run.converged for run in runs) else 1


def _print(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table in columns."""
    widths = [max(len(line[k]) for line in (head, *rows)) for k in range(len(head))]
    for line in (head, *rows):
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip())
