"""The commands; those of legged robots are in `legged`, comparisons of methods in `study`."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.frame import Changes, Json, RobotName, exit_status, listen_to_signals
from surefoot.cli.legged import legged
from surefoot.cli.study import study

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
cache = typer.Typer(invoke_without_command=True)
app.add_typer(cache, name="cache")
app.add_typer(legged)
app.add_typer(study)

Lock = Annotated[
    list[str] | None,
    typer.Option(metavar="JOINT=POSITION", help="Hold a joint (or waist_*) at a position; repeatable."),
]
Home = Annotated[str, typer.Option(help="own, or auto: a posture near it that stands on its soles.")]
RunHome = Annotated[
    str, typer.Option(help="usual, own, or auto (a posture near its own that stands); usual bends straight legs.")
]
Only = Annotated[str | None, typer.Option(metavar="NAMES", help="Joints that stay (comma-separated); hold all others.")]


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> int:
    """Check robots, simulate scenarios, and audit whether motions are physically possible."""
    if version:
        from surefoot import __version__

        print(__version__)
        raise typer.Exit(0)
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit(2)
    return 0


@app.command()
def run(
    scenario: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="Built-in scenario (see `surefoot list`) or TOML file.")
    ],
    robot: Annotated[str | None, typer.Option(help="Replace the robot: a name or a file.")] = None,
    out: Annotated[Path | None, typer.Option(help="Output folder; default: runs/NAME-TIME/.")] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed.")] = None,
    set_: Changes = None,
    ideal: Annotated[
        bool, typer.Option("--ideal", help="Show the controller the true state: no sensors, no estimator.")
    ] = False,
    lock: Lock = None,
    only: Only = None,
    home: RunHome = "usual",
) -> int:
    """Run a scenario and write a report folder; the last line printed is its path."""
    from surefoot.cli.run import IDEAL, reduction_keys, run_command

    changes = [*(set_ or []), *(IDEAL if ideal else ()), *reduction_keys(lock or [], only, home)]
    return run_command(scenario, robot, out, seed, changes)


@app.command(name="list")
def list_(json: Json = False) -> int:
    """List the built-in scenarios."""
    from surefoot.cli.scenarios import list_scenarios

    return list_scenarios(json)


@app.command()
def show(
    scenario: Annotated[str, typer.Argument(metavar="NAME", help="Built-in scenario (see `surefoot list`).")],
) -> int:
    """Print the TOML file of a built-in scenario."""
    from surefoot.cli.scenarios import show_scenario

    return show_scenario(scenario)


@app.command()
def new(
    scenario: Annotated[str, typer.Argument(metavar="NAME", help="Built-in scenario (see `surefoot list`).")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="TOML file to create; it must not exist yet.")],
) -> int:
    """Copy a built-in scenario to a file that you can edit and run."""
    from surefoot.cli.scenarios import new_scenario

    return new_scenario(scenario, file)


@app.command()
def audit(
    motion: Annotated[Path, typer.Argument(metavar="MOTION", help="Motion file (.csv, .npz, .pkl, …) or run folder.")],
    robot: Annotated[str | None, typer.Option(help="Robot name or file; default: the robot of the run.")] = None,
    world: Annotated[
        str | None,
        typer.Option(
            metavar="W",
            help="Scenario, or TOML file with a world table; default: the run's world, else level ground.",
        ),
    ] = None,
    layout: Annotated[
        str | None, typer.Option(metavar="LAYOUT", help="pinocchio, mujoco, ros, drake or csv; default: detect.")
    ] = None,
    joints: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Comma-separated joint order of MOTION; default: the robot's.")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Samples per second, for files without times.", min=1e-6)] = None,
    quaternion: Annotated[
        str | None, typer.Option(metavar="ORDER", help="xyzw or wxyz, if the layout leaves it open; default: detect.")
    ] = None,
    joint_order: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Order of unnamed joints: robot, breadth-first, alphabetical, sides-swapped, or a file of names;"
            " default: detect.",
        ),
    ] = None,
    missing: Annotated[
        str | None, typer.Option(metavar="home", help="Hold joints that MOTION lacks at their home positions.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--motion", metavar="NAME", help="Which motion of a file with several.")
    ] = None,
    ground: Annotated[
        str | None,
        typer.Option(metavar="HEIGHT|fit", help="Height of the ground under MOTION in metres, or fit it to the soles."),
    ] = None,
    base: Annotated[str, typer.Option(help="auto, floating, planar or fixed.")] = "auto",
    lock: Lock = None,
    only: Only = None,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Override a tolerance (see docs/audit.md); repeatable."),
    ] = None,
    replay: Annotated[bool, typer.Option("--replay/--no-replay", help="Also replay the motion in MuJoCo.")] = True,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a self-contained HTML page.")] = None,
    json: Json = False,
) -> int:
    """Audit a motion: is it physically possible, by what margin, and where does it fail? Exit status 1 on defects."""
    from surefoot.cli.audit import AuditRequest, audit_command
    from surefoot.cli.console import reduction

    return audit_command(
        AuditRequest(
            motion,
            robot,
            world,
            layout,
            joints,
            rate,
            quaternion,
            joint_order,
            missing,
            name,
            ground,
            base,
            tolerance or [],
            replay,
            html,
            json,
            reduction(lock or [], only),
        )
    )


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Two or more run folders.")],
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a self-contained HTML page.")] = None,
    json: Json = False,
) -> int:
    """Compare runs: metrics, scenarios and versions that differ; with --html, also overlaid plots."""
    from surefoot.cli.compare import compare_command

    return compare_command(runs, html, json)


@app.command(name="compare-methods")
def compare_methods(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="Built-in scenario (see `surefoot list`) or TOML file.")
    ],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Output folder; new or empty.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a self-contained HTML page.")] = None,
    overrides: Changes = None,
    json: Json = False,
) -> int:
    """Compare constraint methods on a scenario: drift, energy error, time per step, conditioning, agreement."""
    from surefoot.cli.compare import compare_methods_command

    return compare_methods_command(scenario, out, html, json, overrides or ())


@app.command(name="compare-formulations")
def compare_formulations(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="Scenario with an optimal-control motion: swingup, squat-fast.")
    ],
    solver: Annotated[str, typer.Option(help="Solver: riccati, ipopt, fatrop or sqp.")] = "riccati",
    overrides: Changes = None,
    json: Json = False,
) -> int:
    """Compare formulations of an optimal-control motion: iterations, size, time, defect, violations between nodes."""
    from surefoot.cli.compare import compare_formulations_command

    return compare_formulations_command(scenario, solver, json, overrides or ())


@app.command()
def export(
    source: Annotated[Path, typer.Argument(metavar="RUN|MOTION", help="Run folder or motion file.")],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="File to write: .mp4, .gif, .csv, .parquet, .yaml or .mcap; a folder for columns5ms."
        ),
    ],
    robot: Annotated[str | None, typer.Option(help="Robot name or file; default: the robot of the run.")] = None,
    base: Annotated[str, typer.Option(help="auto, floating, planar or fixed.")] = "auto",
    world: Annotated[
        str | None,
        typer.Option(metavar="W", help="World shown in a video: a scenario, or a TOML file with a world table."),
    ] = None,
    layout: Annotated[
        str | None, typer.Option(metavar="LAYOUT", help="Layout of MOTION: pinocchio, mujoco, ros, drake or csv.")
    ] = None,
    joints: Annotated[str | None, typer.Option(metavar="NAMES", help="Comma-separated joint order of MOTION.")] = None,
    rate: Annotated[float | None, typer.Option(help="Samples per second, for files without times.", min=1e-6)] = None,
    format: Annotated[
        str | None, typer.Option(help="mp4, gif, csv, parquet, yaml, mcap or columns5ms; default: by suffix.")
    ] = None,
    dt: Annotated[float | None, typer.Option(help="Sampling step of tables and messages in seconds.", min=1e-6)] = None,
    log: Annotated[
        bool, typer.Option("--log", help="Export the log of a run instead of its motion (csv, parquet).")
    ] = False,
    fps: Annotated[float, typer.Option(help="Video frames per second.", min=0.1, max=240.0)] = 30.0,
    size: Annotated[str, typer.Option(metavar="WxH", help="Video size in pixels.")] = "1280x720",
    speed: Annotated[float, typer.Option(help="Playback speed: 2 is twice as fast as real time.", min=1e-3)] = 1.0,
    camera: Annotated[str, typer.Option(help="three-quarter, front, left …, or azimuth,elevation[,zoom].")] = (
        "three-quarter"
    ),
    plain: Annotated[bool, typer.Option("--plain", help="Show the robot only, without forces and markers.")] = False,
    renderer: Annotated[str, typer.Option(help="auto, browser or mujoco.")] = "auto",
) -> int:
    """Export a run or a motion: video (no display needed), tables, ROS messages, 5 ms column files."""
    from surefoot.cli.export import ExportOptions, export_command

    options = ExportOptions(
        robot, base, world, layout, joints, rate, format, dt, log, fps, size, speed, camera, plain, renderer
    )
    return export_command(source, target, options)


@app.command()
def studio(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Folder with robots, scenarios and runs; nothing outside it is touched."),
    ] = Path("."),
    host: Annotated[str, typer.Option(help="Host name or address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; if it is taken, the next free one.", min=0, max=65535)] = 8080,
    robot: Annotated[str, typer.Option(help="Robot to open first: a name, or a file in DIR.")] = "g1",
    plain: Annotated[
        bool, typer.Option("--plain", help="Disable shadows, for machines without a graphics card.")
    ] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the browser.")] = False,
) -> int:
    """Open the studio: robots, scenarios, runs and audits in the browser, local unless --host is given."""
    from surefoot.cli.studio import studio_command

    return studio_command(folder, host, port, robot, plain, not no_open)


@app.command()
def robots(
    json: Json = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a page with pictures.")] = None,
) -> int:
    """List the available robots: kind, degrees of freedom, mass, licence of the data."""
    from surefoot.cli.scenarios import list_robots

    return list_robots(json, html)


@app.command()
def check(
    robot: RobotName,
    base: Annotated[str, typer.Option(help="auto, floating, planar or fixed.")] = "auto",
    mimic: Annotated[str, typer.Option(help="coupling, reduce or free.")] = "coupling",
    lock: Lock = None,
    only: Only = None,
    home: Home = "own",
    html: Annotated[Path | None, typer.Option(help="Also write a self-contained HTML page.")] = None,
    json: Json = False,
) -> int:
    """Check a robot: tree, masses, limits, contacts, drives, and each defect with its location."""
    from surefoot.cli.check import check_command
    from surefoot.cli.console import reduction

    return check_command(robot, base, mimic, html, json, home, **reduction(lock or [], only))


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="File to read: .npz, .csv or .parquet.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="File to write: .npz, .csv or .parquet.")],
    robot: Annotated[str, typer.Option(help="Robot name or file.")],
    from_: Annotated[str, typer.Option("--from", metavar="LAYOUT", help="pinocchio, mujoco, ros, drake or csv.")],
    to: Annotated[str, typer.Option(metavar="LAYOUT", help="pinocchio, mujoco, ros, drake or csv.")],
    from_joints: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Comma-separated joint order of IN; default: the robot's.")
    ] = None,
    to_joints: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Comma-separated joint order of OUT; default: the robot's.")
    ] = None,
    base: Annotated[str, typer.Option(help="auto, floating, planar or fixed.")] = "auto",
) -> int:
    """Convert states between the layouts of Pinocchio, MuJoCo, ROS, Drake and named CSV columns."""
    from surefoot.cli.convert import convert_command

    return convert_command(source, target, robot, from_, to, from_joints, to_joints, base)


@app.command()
def doctor(json: Json = False) -> int:
    """Check the installation: versions, engines and folders, with a remedy for each problem."""
    from surefoot.cli.doctor import doctor_command

    return doctor_command(json)


@cache.callback()
def cache_show(context: typer.Context, json: Json = False) -> int:
    """Show, clear or limit the compiled kernels on disk; exit status 1 if any is unusable."""
    from surefoot.cli.cache import show_cache

    context.obj = json
    return 0 if context.invoked_subcommand else show_cache(json)


@cache.command(name="clear")
def cache_clear(
    context: typer.Context,
    older_than: Annotated[
        float | None, typer.Option(metavar="DAYS", help="Only kernels not used for this many days.", min=0.0)
    ] = None,
    json: Json = False,
) -> int:
    """Remove compiled kernels."""
    from surefoot.cli.cache import clear_cache

    return clear_cache(older_than, json or context.obj)


@cache.command(name="bound")
def cache_bound(
    context: typer.Context,
    size: Annotated[str, typer.Argument(metavar="SIZE", help="Size limit in bytes, or with K, M, G or T, e.g. 500M.")],
    json: Json = False,
) -> int:
    """Remove the least recently used kernels until the rest fits into SIZE."""
    from surefoot.cli.cache import bound_cache

    return bound_cache(size, json or context.obj)


@app.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
def bench(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME] [OPTIONS]", help="Benchmark and its options.")
    ] = None,
) -> int:
    """Run a benchmark in a checkout of the repository, or list them (see `surefoot bench NAME --help`)."""
    from surefoot.cli.bench import bench_command

    return bench_command(words or [])


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status.

    Args:
        arguments: Arguments after `surefoot`; None for those of the process.
    """
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    gc.set_threshold(50_000, 20, 100)  # a command makes many objects that stay and few cycles
    listen_to_signals()
    sys.exit(_status(arguments))


def _status(arguments: list[str] | None) -> int:
    """The exit status of a command."""
    return exit_status(app, arguments)
