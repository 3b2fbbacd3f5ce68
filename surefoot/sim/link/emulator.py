"""An emulator: a simulated robot that speaks the wire protocol."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

import numpy as np

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.motion import Command, Log, Observation, State, World
from surefoot.robot import Robot
from surefoot.sim.closed_loop import simulate
from surefoot.sim.link.board import ServoBoard
from surefoot.sim.link.calibration import Calibration
from surefoot.sim.link.protocol import LARGEST_PACKET, encode, loopback_address

_STEP = 0.02  # [s]: 50 Hz, as the pulses
_MOST_AT_ONCE = 2000  # packets a step
_FULL, _PER_SECOND = 6.0, 2e-4  # [V], [V/s]: our choice, a pack that is empty after about an hour and a half
_TIP = "tibia_link"  # links with an IMU: Wimmer 2016, chapter 6


class _LinkedServos:
    """A controller that obeys datagrams, in real time."""

    def __init__(self, robot: Robot, board: ServoBoard, receiver: socket.socket) -> None:
        self._robot, self._board, self._socket = robot, board, receiver
        self._links = [link for link in robot.link_names if link.endswith(_TIP)]
        self._velocities = [compile_robot(robot).frame_kernel("V", link, "local") for link in self._links]
        self._before: tuple[float, Array] | None = None
        self._touching = np.zeros(len(robot.contacts))
        self._desktop: tuple[str, int] | None = None
        self._began: float | None = None
        self._gains = np.array([drive.servo_stiffness for drive in robot.drives])

    def observe(self, observation: Observation) -> None:
        """Take the contact bits."""
        self._touching = observation.touching

    def command(self, t: float, state: State) -> Command:
        """Wait for the clock, take what arrived, report, and hold the servos at their targets."""
        self._began = time.monotonic() - t if self._began is None else self._began
        wait = self._began + t - time.monotonic()
        if wait > 0.0:
            time.sleep(wait)
        self._listen(t)
        if self._desktop is not None:
            battery = _FULL - _PER_SECOND * t
            report = self._board.report(t, self._touching > 0.5, self._imus(t, state), battery)
            try:
                self._socket.sendto(encode(report), self._desktop)
            except (ConnectionError, BlockingIOError):  # the desktop is gone, or slow: it misses a report
                self._before = None
        return Command(position=self._board.angles, kp=self._gains)

    def _listen(self, t: float) -> None:
        for _ in range(_MOST_AT_ONCE):
            try:
                data, sender = self._socket.recvfrom(LARGEST_PACKET + 1)
            except BlockingIOError:
                return
            except ConnectionError:  # a desktop that has closed its socket
                continue
            if self._board.receive(data, t):
                self._desktop = sender

    def _imus(self, t: float, state: State) -> Array:
        """(k, 6): turning rates and specific forces of the links; accelerations by differences."""
        now = np.array([kernel(state.q, state.v) for kernel in self._velocities]).reshape(-1, 6)
        frames = self._robot.placements(state.q)
        up = np.array([frames[link][:3, :3].T @ [0.0, 0.0, 9.81] for link in self._links]).reshape(-1, 3)
        rates = np.zeros_like(now)
        if self._before is not None and t > self._before[0]:
            rates = (now - self._before[1]) / (t - self._before[0])
        self._before = (t, now)
        return np.hstack([now[:, 3:], rates[:, :3] + np.cross(now[:, 3:], now[:, :3]) + up])


def emulate(
    robot: Robot,
    calibration: Calibration,
    url: str,
    duration: float,
    world: World | None = None,
    ready: Callable[[int], None] | None = None,
) -> Log:
    """Emulate the robot at an address, in real time; returns the log of the simulation.

    Args:
        robot: A robot with hobby servos.
        calibration: The servos.
        url: "udp://127.0.0.1:PORT"; port 0 for any that is free.
        duration: [s].
        world: Level ground if omitted.
        ready: Called with the port when the emulator listens.
    """
    address = loopback_address(url)
    compile_robot(robot).frames(robot.home[None], [robot.link_names[-1]])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        receiver.bind(address)
        receiver.setblocking(False)
        starts = [robot.home[robot.tree.q_index[robot.joint_index(drive.joint)]] for drive in robot.drives]
        servos = _LinkedServos(robot, ServoBoard(calibration, starts), receiver)
        if ready is not None:
            ready(int(receiver.getsockname()[1]))
        return simulate(robot, servos, world or World(), duration, dt=0.002, control_dt=_STEP, drives="servo")
