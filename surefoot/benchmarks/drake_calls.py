"""The same by Drake, in an interpreter of its own: its packages need not fit ours."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.benchmarks import drake_script
from surefoot.benchmarks.bare_urdf import write_bare_urdf
from surefoot.benchmarks.peer_coordinates import PeerCoordinates
from surefoot.benchmarks.states import States
from surefoot.benchmarks.timing import Effort, Times, summarise
from surefoot.errors import NotSupportedError
from surefoot.motion.exchange_blocks import layout_blocks
from surefoot.robot import Robot

__all__ = ["DrakePeer"]

Array = NDArray[Any]
_CALLS = {
    "rnea": "SetPositions, SetVelocities, CalcForceElementsContribution (gravity), CalcInverseDynamics",
    "crba": "SetPositions, CalcMassMatrix",
    "frames": "SetPositions; of each frame: CalcJacobianSpatialVelocity",
}
_ANSWERS = 8
_SECONDS = 600.0


class DrakePeer:
    """Times and answers of Drake, all made at once.

    Args:
        python: The interpreter that has Drake.
        robot: The robot.
        frames: End frames.
        states: n states.
        effort: How long to measure.

    Raises:
        NotSupportedError: There is no URDF, no Drake, or Drake does not take the robot.
    """

    name = "drake"
    calls = _CALLS
    all_cores = False

    def __init__(self, python: Path, robot: Robot, frames: Sequence[str], states: States, effort: Effort) -> None:
        if not robot.source.endswith(".urdf"):
            raise NotSupportedError("Drake reads this robot from no URDF file")
        self.frames = list(frames)
        self.at = PeerCoordinates(robot, "drake", states)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            root = write_bare_urdf(Path(robot.source), folder / "robot.urdf")
            np.savez(folder / "states.npz", q=self.at.positions, v=self.at.velocities, a=self.at.accelerations)
            plan = _plan(robot, root, frames, effort)
            (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
            _run(python, folder)
            found = json.loads((folder / "results.json").read_text(encoding="utf-8"))
            self._answers = dict(np.load(folder / "answers.npz"))
        self.version = str(found["version"])
        self._times = {case: summarise(groups, len(states)) for case, groups in found["groups"].items()}

    def answers(self, case: str, count: int) -> Array:
        """As `Peer.answers`."""
        found = self._answers[case][:count]
        if case == "frames":  # angular rows first there
            found = np.concatenate([found[..., 3:, :], found[..., :3, :]], axis=-2)
        return self.at.back(case, found)

    def times(self, case: str, effort: Effort) -> Times:
        """As `Peer.times`; they were measured before, with the effort that was given then."""
        return self._times[case]


def _plan(robot: Robot, root: str, frames: Sequence[str], effort: Effort) -> dict[str, Any]:
    base = robot.base_joint
    joints = [
        {
            "name": None if block.joint == base else block.name,
            "q": (block.in_layout[0].start, block.in_layout[0].stop),
            "v": (block.in_layout[1].start, block.in_layout[1].stop),
        }
        for block in layout_blocks(robot, "drake")
    ]
    return asdict(effort) | {
        "root": root, "fixed": robot.base == "fixed", "frames": list(frames), "answers": _ANSWERS, "joints": joints,
    }  # fmt: skip


def _run(python: Path, folder: Path) -> None:
    """The script, on the core that this process is held on."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    script = shutil.copy(drake_script.__file__, folder)  # alone there: our modules must not hide those of others
    command = [str(python), str(script), str(folder)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotSupportedError(f"`{python}` does not run Drake: {error}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise NotSupportedError(f"`{python}` does not run Drake: {last}")
