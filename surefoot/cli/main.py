"""Commands and the border where errors become messages and exit codes."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from surefoot.errors import SurefootError, one_of

__all__ = [
    "app",
    "audit",
    "bench",
    "cache_bound",
    "cache_clear",
    "cache_show",
    "check",
    "compare",
    "compare_methods",
    "convert",
    "doctor",
    "export",
    "list_",
    "main",
    "new",
    "options",
    "robots",
    "run",
    "show",
    "studio",
]

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
cache = typer.Typer(invoke_without_command=True)
app.add_typer(cache, name="cache")

Json = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]
RobotName = Annotated[
    str, typer.Argument(metavar="ROBOT", help="A name of the zoo (`surefoot robots`) or a URDF or MJCF file.")
]


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> int:
    """Describe a robot, load it, check it, and prove it in physics."""
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
        str, typer.Argument(metavar="NAME|FILE", help="A built-in scenario (`surefoot list`) or a TOML file.")
    ],
    robot: Annotated[str | None, typer.Option(help="Another robot: a name of the zoo or a file.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write; default runs/<name>-<time>/.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all randomness.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario, e.g. simulation.duration=2."),
    ] = None,
) -> int:
    """Run a scenario and write its folder; the last line printed is its path."""
    from surefoot.cli.run import run_command

    return run_command(scenario, robot, out, seed, set_ or [])


@app.command(name="list")
def list_(json: Json = False) -> int:
    """List the built-in scenarios."""
    from surefoot.cli.scenarios import list_scenarios

    return list_scenarios(json)


@app.command()
def show(
    scenario: Annotated[str, typer.Argument(metavar="NAME", help="A built-in scenario (`surefoot list`).")],
) -> int:
    """Print the file of a built-in scenario."""
    from surefoot.cli.scenarios import show_scenario

    return show_scenario(scenario)


@app.command()
def new(
    scenario: Annotated[str, typer.Argument(metavar="NAME", help="A built-in scenario (`surefoot list`).")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The TOML file to write; it must not exist.")],
) -> int:
    """Copy a built-in scenario to a file of your own, to change it and run it."""
    from surefoot.cli.scenarios import new_scenario

    return new_scenario(scenario, file)


@app.command()
def audit(
    motion: Annotated[
        Path, typer.Argument(metavar="MOTION", help="A motion (.npz, .csv, .parquet) or the folder of a run.")
    ],
    robot: Annotated[
        str | None, typer.Option(help="The robot: a name of the zoo or a file; that of the run if left out.")
    ] = None,
    world: Annotated[
        str | None, typer.Option(metavar="W", help="A scenario, or a TOML file with a world table; else level ground.")
    ] = None,
    layout: Annotated[
        str | None, typer.Option(metavar="LAYOUT", help="pinocchio, mujoco, ros, drake or csv; found out if left out.")
    ] = None,
    joints: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Joint order of MOTION, by commas, if not the robot's.")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Samples per second, for files without times.", min=1e-6)] = None,
    quaternion: Annotated[
        str | None, typer.Option(metavar="ORDER", help="xyzw or wxyz, where the layout does not say it.")
    ] = None,
    base: Annotated[str, typer.Option(help="auto, floating, planar or fixed.")] = "auto",
    tolerance: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Another tolerance (docs/audit.md), repeatable.")
    ] = None,
    replay: Annotated[bool, typer.Option("--replay/--no-replay", help="Replay the motion in MuJoCo too.")] = True,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the page as one HTML file.")] = None,
    json: Json = False,
) -> int:
    """Is a motion physically possible, by what margin, and where does it break? Status 1 if it has defects."""
    from surefoot.cli.audit import AuditRequest, audit_command

    names = None if joints is None else [name.strip() for name in joints.split(",") if name.strip()]
    return audit_command(
        AuditRequest(motion, robot, world, layout, names, rate, quaternion, base, tolerance or [], replay, html, json)
    )


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of two runs or more.")],
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the page as one HTML file.")] = None,
    json: Json = False,
) -> int:
    """Runs side by side: metrics, scenarios and versions that differ; with --html the same plots over each other."""
    from surefoot.cli.compare import compare_command

    return compare_command(runs, html, json)


@app.command(name="compare-methods")
def compare_methods(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="A name (`surefoot list`) or a file.")],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for the result, new or empty.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the page as one HTML file.")] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario, repeatable.")
    ] = None,
    json: Json = False,
) -> int:
    """Every method that holds constraints on one scenario: drift, energy, time per step, conditioning, agreement."""
    from surefoot.cli.compare import compare_methods_command

    return compare_methods_command(scenario, out, html, json, overrides or ())


@app.command()
def export(
    source: Annotated[Path, typer.Argument(metavar="RUN|MOTION", help="The folder of a run, or a motion.")],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="mp4, gif, csv, parquet, yaml or mcap; a folder for columns5ms.")
    ],
    robot: Annotated[str | None, typer.Option(help="The robot; that of the run if left out.")] = None,
    base: Annotated[str, typer.Option(help="auto, floating, planar or fixed.")] = "auto",
    world: Annotated[
        str | None, typer.Option(metavar="W", help="World of a film: a scenario, or a TOML file with a world table.")
    ] = None,
    layout: Annotated[
        str | None, typer.Option(metavar="LAYOUT", help="Of MOTION: pinocchio, mujoco, ros, drake or csv.")
    ] = None,
    joints: Annotated[str | None, typer.Option(metavar="NAMES", help="Joint order of MOTION, by commas.")] = None,
    rate: Annotated[float | None, typer.Option(help="Samples per second, for files without times.", min=1e-6)] = None,
    format: Annotated[
        str | None, typer.Option(help="mp4, gif, csv, parquet, yaml, mcap or columns5ms; by the suffix if left out.")
    ] = None,
    dt: Annotated[float | None, typer.Option(help="Step of tables and messages [s].", min=1e-6)] = None,
    log: Annotated[bool, typer.Option("--log", help="The log of a run instead of its motion (csv, parquet).")] = False,
    fps: Annotated[float, typer.Option(help="Pictures a second.", min=0.1, max=240.0)] = 30.0,
    size: Annotated[str, typer.Option(metavar="WxH", help="Of the pictures.")] = "1280x720",
    speed: Annotated[float, typer.Option(help="Seconds of the motion in a second of the film.", min=1e-3)] = 1.0,
    camera: Annotated[str, typer.Option(help="three-quarter, front, left …, or azimuth,elevation,distance.")] = (
        "three-quarter"
    ),
    plain: Annotated[bool, typer.Option("--plain", help="The robot alone, without forces and points.")] = False,
    renderer: Annotated[str, typer.Option(help="auto, browser or mujoco.")] = "auto",
) -> int:
    """Write a motion for others: a film without a display, tables, ROS messages, 5 ms column files."""
    from surefoot.cli.export import ExportOptions, export_command

    options = ExportOptions(
        robot, base, world, layout, joints, rate, format, dt, log, fps, size, speed, camera, plain, renderer
    )
    return export_command(source, target, options)


@app.command()
def studio(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where robots, scenarios and runs are; nothing outside is touched.")
    ] = Path("."),
    host: Annotated[str, typer.Option(help="Name or address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; the next free one if it is taken.", min=0, max=65535)] = 8080,
    robot: Annotated[str, typer.Option(help="The robot to begin with: a name, or a file in DIR.")] = "g1",
    plain: Annotated[bool, typer.Option("--plain", help="No shadows, for machines without a graphics card.")] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the browser.")] = False,
) -> int:
    """Robots, scenarios, runs and audits in the browser, on this machine only unless --host says otherwise."""
    from surefoot.cli.studio import studio_command

    return studio_command(folder, host, port, robot, plain, not no_open)


@app.command()
def robots(json: Json = False) -> int:
    """List the robots of the zoo."""
    from surefoot.cli.scenarios import list_robots

    return list_robots(json)


@app.command()
def check(
    robot: RobotName,
    base: Annotated[str, typer.Option(help="auto, floating, planar or fixed.")] = "auto",
    mimic: Annotated[str, typer.Option(help="coupling, reduce or free.")] = "coupling",
    html: Annotated[Path | None, typer.Option(help="Also write the page as one HTML file.")] = None,
    json: Json = False,
) -> int:
    """A page about a robot: its tree, masses, limits, contacts, drives, and every defect with its place."""
    from surefoot.cli.check import check_command

    return check_command(robot, base, mimic, html, json)


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="States to read: .npz, .csv or .parquet.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="States to write: .npz, .csv or .parquet.")],
    robot: Annotated[str, typer.Option(help="The robot: a name of the zoo or a file.")],
    from_: Annotated[str, typer.Option("--from", metavar="LAYOUT", help="pinocchio, mujoco, ros, drake or csv.")],
    to: Annotated[str, typer.Option(metavar="LAYOUT", help="pinocchio, mujoco, ros, drake or csv.")],
    from_joints: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Joint order of IN, separated by commas, if not the robot's.")
    ] = None,
    to_joints: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Joint order of OUT, separated by commas.")
    ] = None,
    base: Annotated[str, typer.Option(help="auto, floating, planar or fixed.")] = "auto",
) -> int:
    """Convert states between the layouts of Pinocchio, MuJoCo, ROS, Drake and named CSV columns."""
    from surefoot.cli.convert import convert_command

    return convert_command(source, target, robot, from_, to, from_joints, to_joints, base)


@app.command()
def doctor(json: Json = False) -> int:
    """Versions, engines and folders, and for each thing that is broken what to do."""
    from surefoot.cli.doctor import doctor_command

    return doctor_command(json)


@cache.callback()
def cache_show(context: typer.Context, json: Json = False) -> int:
    """The compiled kernels on disk: show, clear and bound them; status 1 if one of them cannot be used."""
    from surefoot.cli.cache import show_cache

    context.obj = json
    return 0 if context.invoked_subcommand else show_cache(json)


@cache.command(name="clear")
def cache_clear(
    context: typer.Context,
    older_than: Annotated[
        float | None, typer.Option(metavar="DAYS", help="Only what was not used for so many days.", min=0.0)
    ] = None,
    json: Json = False,
) -> int:
    """Remove compiled kernels."""
    from surefoot.cli.cache import clear_cache

    return clear_cache(older_than, json or context.obj)


@cache.command(name="bound")
def cache_bound(
    context: typer.Context,
    size: Annotated[str, typer.Argument(metavar="SIZE", help="Bytes, or a number with K, M, G or T, such as 500M.")],
    json: Json = False,
) -> int:
    """Remove the kernels not used for longest until the rest is within SIZE."""
    from surefoot.cli.cache import bound_cache

    return bound_cache(size, json or context.obj)


@app.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
def bench(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME] [OPTIONS]", help="A benchmark and its options, or nothing.")
    ] = None,
) -> int:
    """Measure, in a checkout of the repository; without a name, list the benchmarks (`surefoot bench NAME --help`)."""
    from surefoot.cli.bench import bench_command

    return bench_command(words or [])


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit status.

    Args:
        arguments: The words after `surefoot`; None for those of the process.
    """
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    signal.signal(signal.SIGTERM, _interrupt)  # a killed run keeps what it has, like an interrupted one
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    sys.exit(_status(arguments))


_interruptions: list[int] = []


def _interrupt(number: int, _: FrameType | None) -> None:
    """Stop, and remember it: libraries that are interrupted while they load may say something else."""
    _interruptions.append(number)
    raise KeyboardInterrupt


def _status(arguments: list[str] | None) -> int:
    """The exit status of a command; errors of the user become messages without a traceback."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        command = typer.main.get_command(app)
        with command.make_context("surefoot", list(words)) as context:
            status = command.invoke(context)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except typer.Exit as leave:
        return leave.exit_code
    except typer.TyperException as error:
        return _usage(error, words)
    except SurefootError as error:
        print(f"surefoot: {error}", file=sys.stderr)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except BrokenPipeError:  # the reader went away: nobody is left to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"surefoot: {error.strerror or error}: {error.filename or ''}", file=sys.stderr)
        return 2
    except Exception as error:  # noqa: BLE001 - the outermost border: a bug must end as status 3
        return _interrupted() if _interruptions else _internal(error)


def _interrupted() -> int:
    print("surefoot: interrupted", file=sys.stderr)
    return 130


def _usage(error: typer.TyperException, words: list[str]) -> int:
    """A wrong option, argument or command: one line, the nearest right name, and where help stands."""
    message = error.format_message()
    context = getattr(error, "ctx", None)
    if message.startswith("No such command"):
        message = one_of(
            "command",
            message.split("'")[1],
            [str(item.name) for item in _commands(context.command if context else None)],
        ).message
    elif message.startswith("No such option") and (option := getattr(error, "option_name", None)):
        known = [name for item in context.command.params for name in item.opts] if context else []
        message = one_of("option", option, known).message
    elif message.endswith("requires an argument."):
        message = f"option `{getattr(error, 'option_name', '')}` needs a value"
    path = context.command_path if context else " ".join(["surefoot", *_named_command(words)])
    print(f"surefoot: {message}\n  next: `{path} --help`", file=sys.stderr)
    return 2


def _named_command(words: list[str]) -> list[str]:
    """The command that the words begin with, as far as there is one."""
    return words[:1] if words and words[0] in {item.name for item in _commands()} else []


def _commands(group: Any = None) -> list[Any]:
    """The commands of a group; without one, those of `surefoot`."""
    chosen: Any = group or typer.main.get_command(app)
    return list(chosen.commands.values())


def _internal(error: Exception) -> int:
    if os.environ.get("SUREFOOT_DEBUG"):
        raise error
    print(
        f"surefoot: internal error: {type(error).__name__}: {error}\n"
        "  this is a bug of surefoot; please report it with the command and the output of `surefoot doctor`\n"
        "  next: set SUREFOOT_DEBUG=1 to see where it happened",
        file=sys.stderr,
    )
    return 3
