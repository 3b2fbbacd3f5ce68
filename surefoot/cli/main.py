"""Commands and the border where errors become messages and exit codes."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot.errors import SurefootError, one_of

__all__ = [
    "app",
    "bench_distance",
    "bench_dynamics",
    "bench_hierarchy",
    "bench_ik",
    "bench_predictive",
    "bench_scaling",
    "bench_show",
    "bench_sim",
    "cache_bound",
    "cache_clear",
    "cache_show",
    "check",
    "convert",
    "doctor",
    "list_",
    "main",
    "options",
    "robots",
    "run",
]

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
cache = typer.Typer(invoke_without_command=True)
app.add_typer(cache, name="cache")
bench = typer.Typer(invoke_without_command=True)
app.add_typer(bench, name="bench")

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
    from surefoot.cli.run_command import run_command

    return run_command(scenario, robot, out, seed, set_ or [])


@app.command(name="list")
def list_(json: Json = False) -> int:
    """List the built-in scenarios."""
    from surefoot.cli.listings import list_scenarios

    return list_scenarios(json)


@app.command()
def robots(json: Json = False) -> int:
    """List the robots of the zoo."""
    from surefoot.cli.listings import list_robots

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
    from surefoot.cli.check_command import check_command

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
    from surefoot.cli.convert_command import convert_command

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


@bench.callback()
def bench_show(context: typer.Context) -> int:
    """Measure: our kernels and solvers against other libraries, and how methods grow with the robot."""
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit(2)
    return 0


@bench.command(name="dynamics")
def bench_dynamics(
    robots: Annotated[str, typer.Option(metavar="NAMES", help="Robots, separated by commas.")] = "g1,talos",
    states: Annotated[int, typer.Option(help="States of a batch.", min=1)] = 1024,
    seed: Annotated[int, typer.Option(help="Seed of the states.", min=0)] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Measure for a short time.")] = False,
    drake_python: Annotated[Path | None, typer.Option(help="A Python that has Drake, to be measured too.")] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the result as JSON.")] = None,
) -> int:
    """Dynamics side by side with Pinocchio, MuJoCo and Drake, answers checked first; status 1 if one is wrong."""
    from surefoot.cli.bench import bench_dynamics

    return bench_dynamics(robots, states, seed, quick, drake_python, json)


@bench.command(name="scaling")
def bench_scaling(
    largest: Annotated[int, typer.Option("--max", help="Most bodies.", min=4, max=512)] = 256,
    seed: Annotated[int, typer.Option(help="Seed of the states.", min=0)] = 0,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the result as JSON.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a plot: .svg or .html.")] = None,
) -> int:
    """Forward dynamics of growing trees by O(n), CRBA and Newton-Euler; after Buschmann 2014, Table 3.1."""
    from surefoot.cli.bench import bench_scaling

    return bench_scaling(largest, seed, json, plot)


@bench.command(name="sim")
def bench_sim(
    free: Annotated[str, typer.Option(metavar="NAMES", help="Robots in free flight, separated by commas.")] = "g1",
    ground: Annotated[str, typer.Option(metavar="NAMES", help="Robots on the ground.")] = "hexapod,g1",
    copies: Annotated[int, typer.Option(help="Copies of a batch.", min=1)] = 256,
    steps: Annotated[int, typer.Option(help="Steps of a pass.", min=1)] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the copies.", min=0)] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Measure for a short time.")] = False,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the result as JSON.")] = None,
) -> int:
    """Steps of the native engine side by side with MuJoCo and Pinocchio; status 1 if their answers differ."""
    from surefoot.cli.bench import bench_sim

    return bench_sim(free, ground, copies, steps, seed, quick, json)


@bench.command(name="distance")
def bench_distance(
    pairs: Annotated[int, typer.Option(help="Pairs of a batch.", min=1)] = 65_536,
    seed: Annotated[int, typer.Option(help="Seed of the volumes.", min=0)] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Measure for a short time.")] = False,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the result as JSON.")] = None,
) -> int:
    """Distances of swept volumes against Buschmann 2014, Table 5.1, and coal; status 1 if one is wrong."""
    from surefoot.cli.bench_kinematics import bench_distance

    return bench_distance(pairs, seed, quick, json)


@bench.command(name="predictive")
def bench_predictive(
    studies: Annotated[
        str, typer.Option(metavar="NAMES", help="arm4, harvester, stems; separated by commas.")
    ] = "arm4,harvester,stems",
    quick: Annotated[bool, typer.Option("--quick", help="One pass over each motion.")] = False,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the result as JSON.")] = None,
) -> int:
    """Predictive inverse kinematics: peaks of the pseudo-energy and times of a cycle; after Buschmann 2014, 5.6."""
    from surefoot.cli.bench_kinematics import bench_predictive

    return bench_predictive(studies, quick, json)


@bench.command(name="ik")
def bench_ik(
    robots: Annotated[str, typer.Option(metavar="NAMES", help="panda, talos, g1; by commas.")] = "panda,talos,g1",
    targets: Annotated[int, typer.Option(help="Targets of each robot.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the targets.", min=0)] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="20 targets at most, no peers.")] = False,
    peers: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Environments of placo, pink and mink (make_ik_peers.sh).")
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the result as JSON.")] = None,
) -> int:
    """Inverse kinematics side by side with placo, pink and mink: the same targets, one judge."""
    from surefoot.cli.bench_kinematics import bench_ik

    return bench_ik(robots, targets, seed, quick, peers, json)


@bench.command(name="hierarchy")
def bench_hierarchy(
    seconds: Annotated[float, typer.Option(help="Length of each motion [s].", min=0.01, max=3600.0)] = 4.0,
    quick: Annotated[bool, typer.Option("--quick", help="Half a second at most.")] = False,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the result as JSON.")] = None,
) -> int:
    """A control loop with ten tasks on three strict levels; status 1 if a priority or a limit is broken."""
    from surefoot.cli.bench_kinematics import bench_hierarchy

    return bench_hierarchy(seconds, quick, json)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit status.

    Args:
        arguments: The words after `surefoot`; None for those of the process.
    """
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a killed run keeps what it has, like an interrupted one
    sys.exit(_status(arguments))


def _status(arguments: list[str] | None) -> int:
    """The exit status of a command; errors of the user become messages without a traceback."""
    command = typer.main.get_command(app)
    try:
        words = sys.argv[1:] if arguments is None else arguments
        with command.make_context("surefoot", list(words)) as context:
            status = command.invoke(context)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except typer.Exit as leave:
        return leave.exit_code
    except typer.TyperException as error:
        return _usage(error)
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
        return _internal(error)


def _interrupted() -> int:
    print("surefoot: interrupted", file=sys.stderr)
    return 130


def _usage(error: typer.TyperException) -> int:
    """A wrong option, argument or command: one line, the nearest right name, and where help stands."""
    message = error.format_message()
    context = getattr(error, "ctx", None)
    if message.startswith("No such command"):
        message = one_of(
            "command",
            message.split("'")[1],
            [str(item.name) for item in _commands(context.command if context else None)],
        ).message
    elif option := getattr(error, "option_name", None):
        known = [name for item in context.command.params for name in item.opts] if context else []
        message = one_of("option", option, known).message
    path = context.command_path if context else "surefoot"
    print(f"surefoot: {message}\n  next: `{path} --help`", file=sys.stderr)
    return 2


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
