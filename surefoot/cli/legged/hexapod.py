"""`surefoot hexapod`: the link to the six-legged robot, and its emulator."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import numpy as np

from surefoot.arrays import Array
from surefoot.cli.console import progress
from surefoot.errors import ShapeError, SimulationError
from surefoot.motion import Trajectory
from surefoot.processes import isolated_python
from surefoot.robot import Robot, load
from surefoot.sim.link import (
    Calibration,
    LossyChannel,
    RobotLink,
    Status,
    calibration_of,
    emulate,
    loopback_address,
    play,
)

_SWAY, _PACE = 0.12, 0.5  # [rad], [Hz]
_READY = "listens at port"


def serve_command(link: str, duration: float, calibration: Path | None) -> int:
    """Run the emulated robot."""
    robot = load("hexapod")
    log = emulate(
        robot, _servos(robot, calibration), link, duration, ready=lambda port: print(_READY, port, flush=True)
    )
    print(f"{log.time[-1]:.1f} s simulated, {len(log.metadata.get('incidents', ()))} incidents")
    return 0


def hexapod_command(
    link: str,
    motion: Path | None,
    duration: float,
    calibration: Path | None,
    disturbance: tuple[float, str | None],
    as_json: bool,
) -> int:
    """Send a motion to the robot.

    Returns:
        0 if the robot answered, 1 if not.
    """
    robot = load("hexapod")
    servos = _servos(robot, calibration)
    angles = _angles(robot, motion)
    channel = LossyChannel(loss=disturbance[0], blackouts=_blackouts(disturbance[1]))
    with _robot_at(link, duration, calibration) as url, RobotLink(url, servos, channel) as desk, progress() as tell:

        def watch(t: float, status: Status | None) -> None:
            tell(t / duration, "no answer yet" if status is None else f"{status.state}, {status.battery:.2f} V")

        report = play(desk, angles, duration, watch=watch)
    if as_json:
        data = {key: None if value != value else value for key, value in asdict(report).items()}
        print(json.dumps(data, indent=1))
    else:
        print(f"{report.sent} packets sent, {report.accepted} obeyed, {report.refused} refused, {report.heard} reports")
        print(f"held for {report.holding:.2f} s, resumed {report.resumed} ×")
        print(f"longest silence {report.longest_silence:.2f} s")
    return int(report.heard == 0)


def _servos(robot: Robot, file: Path | None) -> Calibration:
    return calibration_of(robot) if file is None else Calibration.load(file, robot)


def _angles(robot: Robot, file: Path | None) -> Callable[[float], Array]:
    """Joint targets (nu,) over time: a trajectory from its start, or hips that turn to and fro."""
    rows = [robot.tree.q_index[robot.joint_index(drive.joint)] for drive in robot.drives]
    home = robot.home[rows]
    if file is None:
        hips = np.array([drive.joint.endswith("coxa") for drive in robot.drives])
        return lambda t: home + _SWAY * hips * np.sin(2.0 * np.pi * _PACE * t)
    motion = Trajectory.load(file)
    motion.require(robot)
    return lambda t: np.asarray(motion.sample(min(motion.start + t, motion.end)).q[rows])


def _blackouts(text: str | None) -> tuple[tuple[float, float], ...]:
    if text is None:
        return ()
    try:
        start, end = (float(part) for part in text.split(","))
    except ValueError as error:
        raise ShapeError(f"`--blackout {text}` is not FROM,TO", next_step="write e.g. --blackout 3,5") from error
    return ((start, end),)


@contextmanager
def _robot_at(link: str, duration: float, calibration: Path | None) -> Iterator[str]:
    """The address of the robot; that of an emulator, which runs until the end, if the port is 0."""
    host, port = loopback_address(link)
    if port:
        yield link
        return
    program = ["-m", "surefoot.cli", "hexapod", "--serve", "--link", link, "--duration", str(duration + 60.0)]
    program += [] if calibration is None else ["--calibration", str(calibration.resolve())]
    with isolated_python(*program) as command:
        emulator = subprocess.Popen(**command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            line = emulator.stdout.readline() if emulator.stdout is not None else ""
            if not line.startswith(_READY):
                raise SimulationError("the emulator did not start", evidence={"it printed": line.strip() or "nothing"})
            yield f"udp://{host}:{int(line.rpartition(' ')[2])}"
        finally:
            emulator.terminate()
            emulator.wait()
            if emulator.stdout is not None:
                emulator.stdout.close()
            sys.stdout.flush()
