"""`surefoot bench …`: the commands that measure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "bench",
    "bench_constrained",
    "bench_distance",
    "bench_dynamics",
    "bench_hierarchy",
    "bench_ik",
    "bench_loops",
    "bench_predictive",
    "bench_scaling",
    "bench_show",
    "bench_sim",
]

bench = typer.Typer(invoke_without_command=True)


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


@bench.command(name="constrained")
def bench_constrained(
    robots: Annotated[str, typer.Option(metavar="NAMES", help="Robots, separated by commas.")] = "talos,g1,anymal",
    states: Annotated[int, typer.Option(help="States of a batch.", min=1)] = 1024,
    seed: Annotated[int, typer.Option(help="Seed of the states.", min=0)] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Measure for a short time.")] = False,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the result as JSON.")] = None,
) -> int:
    """Robots on their feet side by side with Pinocchio's constraint dynamics; status 1 if an answer is wrong."""
    from surefoot.cli.bench_constrained import bench_constrained

    return bench_constrained(robots, states, seed, quick, json)


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


@bench.command(name="loops")
def bench_loops(
    largest: Annotated[int, typer.Option("--max", help="Most bodies.", min=8, max=128)] = 32,
    states: Annotated[int, typer.Option(help="States of a batch.", min=1)] = 1024,
    seed: Annotated[int, typer.Option(help="Seed of the states.", min=0)] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Measure for a short time.")] = False,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the result as JSON.")] = None,
) -> int:
    """Closed chains and gears in O(n), against open chains of equal size and Pinocchio; Buschmann 2014, Fig. 3.12."""
    from surefoot.cli.bench_loops import bench_loops

    return bench_loops(largest, states, seed, quick, json)
