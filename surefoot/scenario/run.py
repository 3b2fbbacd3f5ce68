"""`run_scenario`: run a scenario and write its folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from surefoot.errors import ScenarioError, SurefootError
from surefoot.scenario.blame import put_in_place
from surefoot.scenario.build import build_simulation
from surefoot.scenario.catalogue import changes_of, own_file, resolved_scenario
from surefoot.scenario.outcome import INTERRUPTED, RunResult, keep_plan, keep_run, run_folder
from surefoot.scenario.stages import COMPILING, SIMULATING, Tell, told_nobody
from surefoot.scenario.table import helping
from surefoot.sim import Simulation, StoppedError


class RunInterrupted(KeyboardInterrupt):
    """The user stopped the run; the results so far are written.

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
    runs: str | Path = "runs",
    world: str | Path | None = None,
) -> RunResult:
    """Run a scenario and write its folder: metrics, log, timing, trajectory, resolved scenario and a page.

    Args:
        name_or_file: Name of a scenario that comes with the package, or a TOML file.
        robot: Another robot than the scenario's: a name or a file.
        out: Folder for the results; None for `<runs>/<name>-<time>/`.
        seed: Another seed than the scenario's.
        overrides: Changes, `dotted.key=value`.
        progress: Called now and then with the share that is simulated, 0…1.
        watch: Called after every command with the simulation.
        stage: Called with the name of what is done now, one of `STAGES`, and the share of it that is done, 0…1.
        runs: Where folders for results are made.
        world: Another world than the scenario's: a scenario, or a TOML file with a `[world]` table.

    Raises:
        SurefootError: The scenario, the robot or the folder is not as it should be.
        RunInterrupted: The user stopped it; what was computed is written, with `completed` false.
    """
    scenario = resolved_scenario(name_or_file, robot, seed, overrides, world)
    with run_folder(scenario.name, out, runs) as folder:
        stage(COMPILING, 0.0)
        try:
            simulation = build_simulation(scenario)
        except KeyboardInterrupt:
            raise RunInterrupted(keep_plan(folder, scenario)) from None
        except MemoryError as error:
            raise ScenarioError(
                "the scenario needs more memory than there is",
                evidence={"reason": str(error)} if str(error) else {},
                next_step="shorten its times (`duration`, `hold`), or lengthen its steps (`dt`, `cycle`)",
            ) from error
        except SurefootError as error:
            tables, changes = scenario.model_dump(exclude_none=True), changes_of(robot, seed, overrides, world)
            with helping():
                raise put_in_place(error, tables, own_file(name_or_file), changes) from error
        trouble = _simulated(simulation, _both(progress, stage), watch)
        result, is_interrupted = keep_run(folder, scenario, simulation, trouble, stage)
    if is_interrupted:
        raise RunInterrupted(result)
    return result


def _both(progress: Callable[[float], None] | None, stage: Tell) -> Callable[[float], None]:
    """Report the simulated share to two listeners."""

    def tell(share: float) -> None:
        stage(SIMULATING, share)
        if progress is not None:
            progress(share)

    return tell


def _simulated(
    simulation: Simulation, progress: Callable[[float], None], watch: Callable[[Simulation], None] | None
) -> str | None:
    """Run to the end; returns what stopped it early, if anything."""
    try:
        simulation.run(progress, watch)
    except StoppedError as error:
        return error.message
    except KeyboardInterrupt:
        return INTERRUPTED
    return None
