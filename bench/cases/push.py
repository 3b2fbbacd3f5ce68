"""The largest push that a standing robot survives without a step, beside placo and TSID in the same MuJoCo world.

The search, the pushes (0.1 s on the base at the height of the centre of mass) and the judge are those of `surefoot
push-map`. The peers keep two feet, the centre of mass, a hand, the torso and the posture, with weights as in `bench
whole_body`; of some gains, the best counts in each direction. Their drives are damped towards the rates of the
solution as ours are; where a peer has no solution, the last torques hold. All see the true state.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from select import select
from typing import Annotated

import numpy as np
import typer

from bench.cases.whole_body import peer_job, peer_python
from bench.machine import header
from bench.page import Json, print_table
from bench.peers import copy_scripts
from bench.timing import tell
from surefoot.errors import SimulationError
from surefoot.motion import Command, State
from surefoot.robot import Robot, load
from surefoot.scenario.sweeps import largest_survived

__all__ = ["run", "show"]

_PEERS = {"placo": (30.0, 100.0), "tsid": (30.0, 100.0)}  # gains that are tried [1/s²]
_PATIENCE = 20.0  # for an answer [s]; the solver of TSID may not end once the robot falls, which counts as a fall
_DAMPING = 0.02  # of the drives per torque limit [s/rad], as in our control


class OutsideController:
    """A controller in another process.

    Args:
        robot: The robot.
        name: `placo` or `tsid`.
        python: Its interpreter.
        folder: For its files.
        gain: Stiffness of its tasks [1/s²].
    """

    def __init__(self, robot: Robot, name: str, python: Path, folder: Path, gain: float) -> None:
        job = peer_job(name, robot, folder, gain=gain, sway=[[0.0] * 3])
        (folder / "wbc.json").write_text(json.dumps(job))
        copy_scripts(folder, "wbc_script.py")
        command = [str(python), str(folder / "wbc_script.py"), str(folder), "serve"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        joints = [robot.joint_index(name) for name in job["joints"]]
        self._entries, self._rows = robot.tree.q_index[joints], robot.tree.v_index[joints]
        places = {name: k for k, name in enumerate(job["joints"])}
        self._drives = [places[drive.joint] for drive in robot.drives]
        self._damping = _DAMPING * np.array([drive.torque_limit for drive in robot.drives])
        self._torques = np.zeros(robot.nu)
        self.without_solution = 0

    def command(self, t: float, state: State) -> Command:
        """Ask the other process."""
        q, v, (into, out) = np.asarray(state.q), np.asarray(state.v), (self._process.stdin, self._process.stdout)
        if into is None or out is None or self._process.poll() is not None:
            raise SimulationError("the other controller has ended")
        into.write(np.concatenate([q[:7], q[self._entries], v[:6], v[self._rows]]).tobytes())
        answer = b""
        while len(answer) < 16 * len(self._rows):
            part = out.read(16 * len(self._rows)) if select([out], [], [], _PATIENCE)[0] else b""
            if not part:  # its solver does not end, or it has ended
                raise SimulationError("the other controller does not answer")
            answer += part
        torques, rates = np.frombuffer(answer).reshape(2, -1)[:, self._drives]
        if not np.isfinite(torques).all():
            self.without_solution += 1
            return Command(torque=self._torques, velocity=np.zeros(len(torques)), kd=self._damping)
        self._torques = torques
        return Command(torque=torques, velocity=rates, kd=self._damping)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def run(
    robot: Annotated[str, typer.Option(help="A biped from a URDF file.")] = "g1",
    directions: Annotated[str, typer.Option(metavar="A,B", help="From forward to the left [deg].")] = "0,45,90,180",
    finest: Annotated[float, typer.Option(help="Where the search ends, share of M ω s.", min=0.01)] = 0.05,
    peers: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Environments of placo and TSID (scripts/make_wbc_peers.sh).")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One direction, a coarse search.")] = False,
) -> Json:
    """Search, one controller after the other."""
    angles = [float(word) for word in directions.split(",")][: 1 if quick else None]
    finest = max(finest, 0.3) if quick else finest
    model, rows = load(robot, base="floating"), {}
    for method in ("joint_pd", "balance"):
        tell(0.1, method)
        rows[method] = [largest_survived(robot, method, angle, True, finest).share_of_m_omega_s for angle in angles]
    for name, gains in _PEERS.items() if peers is not None else ():
        found = [_pushed(robot, model, name, peer_python(name, peers), gain, angles, finest) for gain in gains]  # type: ignore[arg-type]
        rows[name] = np.max(found, axis=0).tolist()
    return header("push", 0) | {"robot": robot, "directions": angles, "rows": rows}


def _pushed(
    robot: str, model: Robot, name: str, python: Path, gain: float, angles: Sequence[float], finest: float
) -> list[float]:
    """Largest survived pushes of a peer by direction, shares of M ω s."""
    tell(0.5, f"{name}, gain {gain:g}")
    with tempfile.TemporaryDirectory() as place, ExitStack() as started:

        def controller(pushed: Robot) -> OutsideController:
            started.close()  # the one before
            return started.enter_context(closing(OutsideController(pushed, name, python, Path(place), gain)))

        found = [largest_survived(robot, "joint_pd", angle, True, finest, controller) for angle in angles]
    return [row.share_of_m_omega_s for row in found]


def show(result: Json) -> None:
    """Print the shares."""
    print(f"\n{result['robot']}: largest survived push of 0.1 s without a step, share of M ω s, by direction")
    rows = [(name, *(f"{share:.0%}" for share in shares)) for name, shares in result["rows"].items()]
    print_table(("", *(f"{angle:g}°" for angle in result["directions"])), rows, left=1)
