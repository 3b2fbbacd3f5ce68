"""The same by Drake, in an interpreter of its own: its packages need not fit ours."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.check import States
from bench.peers.coordinates import PeerCoordinates
from bench.peers.outside import run_outside, write_bare_urdf
from bench.timing import Effort, Times, summarise
from surefoot.errors import NotSupportedError
from surefoot.motion.exchange import layout_blocks
from surefoot.robot import Robot

__all__ = ["DrakePeer", "drake_plan"]

_ANSWERS, _SECONDS = 8, 600.0


class DrakePeer:
    """Times and answers of Drake, all made at once with the given effort.

    Raises:
        NotSupportedError: There is no URDF, no Drake, or Drake does not take the robot.
    """

    name, all_cores = "drake", False
    calls = {
        "rnea": "SetPositions, SetVelocities, CalcForceElementsContribution (gravity), CalcInverseDynamics",
        "crba": "SetPositions, CalcMassMatrix",
        "frames": "SetPositions; of each frame: CalcJacobianSpatialVelocity",
    }

    def __init__(self, python: Path, robot: Robot, frames: Sequence[str], states: States, effort: Effort) -> None:
        if not robot.source.endswith(".urdf"):
            raise NotSupportedError("Drake reads this robot from no URDF file")
        self.frames = list(frames)
        self.at = PeerCoordinates(robot, "drake", states)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            root = write_bare_urdf(Path(robot.source), folder / "robot.urdf")
            np.savez(folder / "states.npz", q=self.at.positions, v=self.at.velocities, a=self.at.accelerations)
            (folder / "plan.json").write_text(json.dumps(drake_plan(robot, root, frames, effort)), encoding="utf-8")
            run_outside(python, "Drake", folder, ("drake_script.py",), _SECONDS)
            found = json.loads((folder / "results.json").read_text(encoding="utf-8"))
            self._answers = dict(np.load(folder / "answers.npz"))
        self.version = str(found["version"])
        self._times = {case: summarise(groups, len(states)) for case, groups in found["groups"].items()}

    def answers(self, case: str, count: int) -> NDArray[Any]:
        """As `MujocoPeer.answers`."""
        found = self._answers[case][:count]
        if case == "frames":  # angular rows first there
            found = np.concatenate([found[..., 3:, :], found[..., :3, :]], axis=-2)
        return self.at.back(case, found)

    def times(self, case: str, effort: Effort) -> Times:
        """Times for one state, as they were measured before."""
        return self._times[case]


def drake_plan(robot: Robot, root: str, frames: Sequence[str], effort: Effort) -> dict[str, Any]:
    """What `drake_script` is told."""
    joints = [
        {"name": None if block.joint == robot.base_joint else block.name}
        | {key: (x.start, x.stop) for key, x in zip("qv", block.in_layout, strict=True)}
        for block in layout_blocks(robot, "drake")
    ]
    plan = {"root": root, "fixed": robot.base == "fixed", "frames": list(frames)}
    return asdict(effort) | plan | {"answers": _ANSWERS, "joints": joints}
