"""`surefoot export`: a motion as a video, a table, ROS messages, or column files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from surefoot.cli.console import names_in, progress
from surefoot.errors import NotSupportedError
from surefoot.motion import Log, Trajectory, World
from surefoot.motion.files import is_trajectory_file
from surefoot.motion.reading import read_motion
from surefoot.report import Evidence, is_run_folder, robot_of_run
from surefoot.report.export import (
    COLUMNS,
    FILMS,
    column_files,
    format_of,
    write_column_files,
    write_joint_trajectory,
    write_mcap,
    write_table,
)
from surefoot.report.video import FilmSettings, parse_camera, parse_size, write_film
from surefoot.robot import Robot, load
from surefoot.words import counted


@dataclass(frozen=True)
class ExportOptions:
    """How to read the motion and what to write."""

    robot: str | None = None
    base: str = "auto"
    world: str | None = None
    layout: str | None = None
    joints: str | None = None
    rate: float | None = None
    format: str | None = None
    dt: float | None = None
    log: bool = False
    fps: float = 30.0
    size: str = "1280x720"
    speed: float = 1.0
    camera: str = "three-quarter"
    plain: bool = False
    renderer: str = "auto"


def export_command(source: Path, target: Path, options: ExportOptions) -> int:
    """Export a motion; the last line printed is the path that was written."""
    kind = format_of(target, options.format)
    if options.log:
        if kind not in ("csv", "parquet"):
            raise NotSupportedError(
                "a log can only be written as a table", next_step="use .csv or .parquet, or omit --log"
            )
        log: Log = Log.load(source / "log.parquet" if source.is_dir() else source)
        print(f"{counted(len(log), 'tick')}: {counted(write_table(target, log, None, kind), 'column')}")
    else:
        robot, trajectory = _motion(source, options)
        if options.dt is not None and kind not in (*FILMS, COLUMNS):
            trajectory = trajectory.resample(dt=options.dt)
        for line in _export(kind, source, target, robot, trajectory, options):
            print(line)
    print(target)
    return 0


def _export(
    kind: str, source: Path, target: Path, robot: Robot, trajectory: Trajectory, options: ExportOptions
) -> list[str]:
    """Write one format; returns remarks for the user."""
    head = f"{robot.name} · {trajectory.duration:.3f} s · {counted(len(trajectory), 'sample')}"
    if kind in FILMS:
        return [f"{head}: {counted(_film(source, target, robot, trajectory, options), 'frame')}"]
    if kind == COLUMNS:
        files = column_files(trajectory, robot)
        write_column_files(target, files)
        return [
            f"{head}: {counted(len(files.time), 'row')} of {counted(len(files.names), 'joint')}",
            *_notes(files.notes),
        ]
    if kind == "yaml":
        return [f"{head}: JointTrajectory", *_notes(write_joint_trajectory(target, trajectory, robot))]
    if kind == "mcap":
        with progress("writing") as tell:
            topics = write_mcap(target, trajectory, robot, tell)
        return [f"{head}: {', '.join(topics)}"]
    return [f"{head}: {write_table(target, trajectory, robot, kind)} columns"]


def _notes(notes: tuple[str, ...]) -> list[str]:
    return [f"note: {note}" for note in notes]


def _motion(source: Path, options: ExportOptions) -> tuple[Robot, Trajectory]:
    """The robot and its motion."""
    own = _own_trajectory(source)
    if options.robot is not None:
        robot = load(options.robot, options.base)
    elif is_run_folder(source):
        robot = robot_of_run(source)
    elif own is not None:
        robot = load(own.robot, options.base)
    else:
        raise NotSupportedError(f"`{source}` does not name its robot", next_step="use --robot")
    if own is not None:
        own.require(robot)
        return robot, own
    return robot, read_motion(
        source,
        robot,
        layout=options.layout,
        joints=names_in(options.joints),
        rate=options.rate,
    ).trajectory


def _own_trajectory(source: Path) -> Trajectory | None:
    """The trajectory of a run or of a surefoot file; None for anything else."""
    if is_run_folder(source) and (source / "trajectory.npz").is_file():
        return Trajectory.load(source / "trajectory.npz")
    if source.is_file() and source.suffix in (".npz", ".parquet") and is_trajectory_file(source):
        return Trajectory.load(source)
    return None


def _film(source: Path, target: Path, robot: Robot, trajectory: Trajectory, options: ExportOptions) -> int:
    settings = FilmSettings(
        options.fps, parse_size(options.size), options.speed, parse_camera(options.camera), layers=not options.plain
    )
    evidence = Evidence(
        source.resolve().name,
        robot,
        trajectory.time,
        trajectory.q,
        world=_world(source, robot, options.world),
        v=trajectory.v,
        wrenches=trajectory.wrenches,
        schedule=trajectory.schedule,
    )
    with progress("rendering") as tell:
        return write_film(target, evidence, settings, options.renderer, tell)


def _world(source: Path, robot: Robot, given: str | None) -> World:
    from surefoot.scenario import read_world

    if given is not None:
        return read_world(given, robot)
    return read_world(source / "scenario.toml", robot) if is_run_folder(source) else World()
