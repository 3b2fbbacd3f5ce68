"""The commands that compare methods."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.frame import Json, RobotName

study = typer.Typer()


@study.command()
def regions(
    robot: RobotName,
    moment: Annotated[
        float | None, typer.Option(metavar="N_M", help="Largest moment of angular momentum; default: 10 % of M g z.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="HTML file; default: regions-ROBOT.html.")] = None,
    json: Json = False,
) -> int:
    """Draw phase portraits and balance regions of a robot that stands: margins, regulators, admissible sets."""
    from surefoot.cli.study.regions import regions_command

    return regions_command(robot, moment, out, json)


@study.command(name="compare-distribution")
def compare_distribution(
    robot: RobotName,
    contacts: Annotated[
        str | None, typer.Option(metavar="A,B", help="Loaded contact surfaces; default: those on the ground.")
    ] = None,
    acceleration: Annotated[str, typer.Option(metavar="X,Y,Z", help="Of the CoM, in m/s².")] = "0,0,0",
    dcm: Annotated[
        str | None, typer.Option(metavar="X,Y", help="DCM from the CoM in metres, for the method `dcm`.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="HTML file; default: distribution-ROBOT.html.")] = None,
    json: Json = False,
) -> int:
    """Share the load of a standing robot among its contacts by every method, side by side."""
    from surefoot.cli.study.distribution import distribution_command

    return distribution_command(robot, contacts, acceleration, dcm, out, json)


@study.command(name="compare-controllers")
def compare_controllers(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="Scenario with a push; `push` is one.")] = "push",
    robot: Annotated[str | None, typer.Option(help="Robot name or file; default: the scenario's.")] = None,
    controllers: Annotated[
        str | None, typer.Option(metavar="A,B", help="Comma-separated controllers; default: all.")
    ] = None,
    pace: Annotated[
        float | None, typer.Option(help="Speed of the classic controllers' loops over that of a fall; default: 3.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="HTML file; default: controllers-ROBOT.html.")] = None,
    json: Json = False,
) -> int:
    """Push a standing robot under many controllers: survived push, tracking, torque and time per tick on one page."""
    from surefoot.cli.study.controllers import controllers_command

    return controllers_command(scenario, robot, controllers, pace, out, json)


@study.command(name="swing-up")
def swing_up(
    cases: Annotated[str | None, typer.Option(metavar="A,B", help="Comma-separated cases; default: all.")] = None,
    seed: Annotated[int, typer.Option(help="Of the sensor noise.", min=0)] = 0,
    out: Annotated[Path, typer.Option(help="HTML file.")] = Path("swing-up.html"),
    json: Json = False,
) -> int:
    """Run the cart-pole cases of Busenhart 1994 with its layered controller, beside what the thesis reports."""
    from surefoot.cli.study.swing_up import swing_up_command

    return swing_up_command(cases, seed, out, json)


@study.command(name="compare-walkers")
def compare_walkers(
    walkers: Annotated[str | None, typer.Option(metavar="A,B", help="Comma-separated walkers; default: all.")] = None,
    out: Annotated[Path, typer.Option(help="HTML file.")] = Path("walkers.html"),
    json: Json = False,
) -> int:
    """Find the periodic gaits of small study walkers: speed, eigenvalues of the stride, kicks survived, on one page."""
    from surefoot.cli.study.walkers import walkers_command

    return walkers_command(walkers, out, json)


@study.command(name="study-walk")
def study_walk(
    robot: Annotated[str, typer.Argument(metavar="ROBOT", help="Robot name or file; it needs two flat feet.")] = (
        "humanoid"
    ),
    step: Annotated[float, typer.Option(metavar="M", help="Length of fixed steps.", min=0.01)] = 0.15,
    objectives: Annotated[
        str | None, typer.Option(metavar="A,B", help="Comma-separated objectives; default: all five.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="HTML file; default: walks-ROBOT.html.")] = None,
    json: Json = False,
) -> int:
    """Find optimal walks with five objectives and three sets of constraints, beside what Koch reports."""
    from surefoot.cli.study.optimal import study_walk_command

    return study_walk_command(robot, step, objectives, out, json)


@study.command(name="study-swingup")
def study_swingup(
    nodes: Annotated[str, typer.Option(metavar="A,B", help="Numbers of nodes.")] = "21,41,81,161",
    guesses: Annotated[int, typer.Option(help="Random guesses for swing-up and squat.", min=0)] = 5,
    json: Json = False,
) -> int:
    """Repeat the swing-up of Koch: table 5.2, force between nodes over their number, optima from random guesses."""
    from surefoot.cli.study.optimal import study_swingup_command

    return study_swingup_command(nodes, guesses, json)


@study.command(name="study-nodes")
def study_nodes(
    scenario: Annotated[str, typer.Argument(metavar="NAME|FILE", help="Scenario with an optimal-control motion.")],
    robot: Annotated[str | None, typer.Option(help="Replace the robot: a name or a file.")] = None,
    density: Annotated[
        list[float] | None, typer.Option(help="Multiple of the usual number of nodes; repeatable.", min=0.2, max=20.0)
    ] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a scenario key; repeatable.")
    ] = None,
    json: Json = False,
) -> int:
    """Solve a motion with more and more nodes, and audit what it does between them."""
    from surefoot.cli.study.optimal import study_nodes_command

    return study_nodes_command(scenario, robot, density or (0.5, 1.0, 2.0), overrides or (), json)
