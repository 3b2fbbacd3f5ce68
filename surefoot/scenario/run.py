"""`run_scenario`: from a scenario to a folder with everything that was measured."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from surefoot.errors import FileFormatError, SurefootError
from surefoot.robot.load import is_file_name
from surefoot.scenario.blame import blaming, put_in_place
from surefoot.scenario.build import build_simulation
from surefoot.scenario.catalogue import own_file, read_scenario
from surefoot.scenario.folder import run_folder
from surefoot.scenario.keep import INTERRUPTED, RunResult, kept_plan, kept_run
from surefoot.scenario.overrides import overridden
from surefoot.scenario.schema import Scenario
from surefoot.scenario.stages import COMPILING, SIMULATING, Tell, told_nobody
from surefoot.scenario.table import checked, helping
from surefoot.sim import Simulation, StoppedError

__all__ = ["RunInterrupted", "RunResult", "resolved_scenario", "run_scenario"]


class RunInterrupted(KeyboardInterrupt):
    """The user stopped the run; what was computed is written.

    Args:
        result: What the run left.
    """

    def __init__(self, result: RunResult) -> None:
        super().__init__("interrupted")
        self.result = result


def run_scenario(
    name_or_file: str | Path,
    robot: str | Path | None = None,
    out: str | Path | None = None,
    seed: int | None = None,
    overrides: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
    watch: Callable[[Simulation], None] | None = None,
    stage: Tell = told_nobody,
) -> RunResult:
    """Run a scenario and write its folder: metrics, log, timing, trajectory, resolved scenario and a page.

    Args:
        name_or_file: Name of a scenario that comes with the package, or a TOML file.
        robot: Another robot than the scenario's: a name or a file.
        out: Folder for the results; None for `runs/<name>-<time>/`.
        seed: Another seed than the scenario's.
        overrides: Changes, `dotted.key=value`.
        progress: Called now and then with the share that is simulated, 0…1.
        watch: Called after every command with the simulation.
        stage: Called with the name of what is done now, one of `STAGES`, and the share of it that is done, 0…1.

    Raises:
        SurefootError: The scenario, the robot or the folder is not as it should be.
        RunInterrupted: The user stopped it; what was computed is written, with `completed` false.
    """
    scenario = resolved_scenario(name_or_file, robot, seed, overrides)
    with run_folder(scenario.name, out) as folder:
        stage(COMPILING, 0.0)
        try:
            simulation = build_simulation(scenario)
        except KeyboardInterrupt:
            raise RunInterrupted(kept_plan(folder, scenario)) from None
        except SurefootError as error:
            tables, changes = scenario.model_dump(exclude_none=True), _changes(robot, seed, overrides)
            with helping():
                raise put_in_place(error, tables, own_file(name_or_file), changes) from error
        trouble = _simulated(simulation, _both(progress, stage), watch)
        result, is_interrupted = kept_run(folder, scenario, simulation, trouble, stage)
    if is_interrupted:
        raise RunInterrupted(result)
    return result


def _both(progress: Callable[[float], None] | None, stage: Tell) -> Callable[[float], None]:
    """Tell the share that is simulated to both who want to know."""

    def tell(share: float) -> None:
        stage(SIMULATING, share)
        if progress is not None:
            progress(share)

    return tell


def _simulated(
    simulation: Simulation, progress: Callable[[float], None], watch: Callable[[Simulation], None] | None
) -> str | None:
    """Run to the end; what kept it from getting there."""
    try:
        simulation.run(progress, watch)
    except StoppedError as error:
        return error.message
    except KeyboardInterrupt:
        return INTERRUPTED
    return None


def _changes(robot: str | Path | None, seed: int | None, overrides: Sequence[str]) -> dict[str, str]:
    """Keys that were changed from outside, and by which option."""
    changes = {text.partition("=")[0].strip(): f"--set {text}" for text in overrides}
    if seed is not None:
        changes["simulation.seed"] = f"--seed {seed}"
    if robot is not None:
        changes["robot.name"] = f"--robot {robot}"
    return changes


def resolved_scenario(
    name_or_file: str | Path,
    robot: str | Path | None = None,
    seed: int | None = None,
    overrides: Sequence[str] = (),
) -> Scenario:
    """The scenario with robot, seed and overrides put in; files of robots by their full path.

    Args:
        name_or_file: Name or file of the scenario.
        robot: Another robot.
        seed: Another seed.
        overrides: Changes, `dotted.key=value`.
    """
    scenario = overridden(read_scenario(name_or_file), overrides)
    tables = scenario.model_dump(mode="python", exclude_none=True)
    if seed is not None:
        tables["simulation"]["seed"] = seed
        checked(tables, Scenario, f"--seed {seed}")
    named = str(robot) if robot is not None else scenario.robot.name
    try:
        tables["robot"]["name"] = _full_path(named, None if robot is not None else own_file(name_or_file))
    except SurefootError as error:
        raise put_in_place(error, tables, own_file(name_or_file), _changes(robot, seed, overrides)) from error
    return checked(tables, Scenario, os.fspath(name_or_file))


def _full_path(robot: str, scenario: Path | None) -> str:
    """The full path of a robot file, from the folder of the scenario or from here; names of the zoo as they are."""
    if not is_file_name(robot):
        return robot
    places = [Path(robot)] if scenario is None else [scenario.parent / robot, Path(robot)]
    for path in places:
        if path.exists():
            return str(path.resolve())
    with blaming("robot", "name"):
        raise FileFormatError(
            f"there is no robot file `{robot}`",
            evidence={"looked in": ", ".join(dict.fromkeys(str(path.parent.resolve()) for path in places))},
            next_step="check the path; it counts from the folder of the scenario file",
        )
