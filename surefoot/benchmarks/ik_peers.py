"""Placo, pink and mink, each in an interpreter of its own: their packages clash with each other and with ours."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.benchmarks import ik_peer_script
from surefoot.benchmarks.ik_judge import ANGLE, POSITION
from surefoot.benchmarks.ik_problems import IkProblems
from surefoot.errors import NotSupportedError, one_of

__all__ = ["IK_PEERS", "IkPeer", "PeerAnswers", "peer_pythons", "run_peer"]

Array = NDArray[np.float64]
Json = dict[str, Any]
_SECONDS = 1800.0
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class IkPeer:
    """A library and the settings that are tried for it.

    Args:
        settings: Where the search begins, on an arm.
        stages: One after the other: values of some settings, all combinations of which are tried.
        feet: Further settings of a robot that stands on feet.
        feet_stage: Values of settings that are tried first on such a robot.
    """

    settings: Mapping[str, Any]
    stages: Sequence[Mapping[str, Sequence[Any]]]
    feet: Mapping[str, Any]
    feet_stage: Mapping[str, Sequence[Any]]

    def plan(self, stands: bool) -> Json:
        """Settings and stages as plain data.

        Args:
            stands: Whether the robot stands on feet.
        """
        if not stands:
            return {"settings": dict(self.settings), "stages": [dict(stage) for stage in self.stages]}
        restarts = dict(self.stages[-1]) | {"spread": (0.15, 0.3, 1.0)}
        first = {name: values for name, values in self.stages[0].items() if name not in self.feet_stage}
        stages = [dict(self.feet_stage) | first, *map(dict, self.stages[1:-1]), restarts]
        return {"settings": dict(self.settings) | dict(self.feet), "stages": stages}


_LOOP: Json = {"iterations": 50, "patience": 8, "tries": 100, "spread": 1.0, "step_seconds": 0.0}
_RESTARTS: Json = {"iterations": (20, 50, 200), "patience": (3, 5, 8), "tries": (30, 100)}
_QP: Json = {"solver": "daqp", "lm_damping": 1e-2, "limit_gain": 0.5, "damping": 1e-8}
_QP_FEET = {"feet": "hard", "posture": 1e-3, "spread": 0.3}
_QP_FEET_STAGE = {"feet": ("hard", "soft"), "posture": (0.0, 1e-3)}
_STEPS: Json = {"step_seconds": (0.0, 0.2, 0.4)}  # by velocity limits; 0 for full steps
_DAMPING: Json = {"lm_damping": (1e-4, 1e-3, 1e-2, 1e-1), "limit_gain": (0.5, 0.95)}
IK_PEERS = {
    "placo": IkPeer(
        _LOOP | {"regularization": 1e-3},
        ({"regularization": (1e-6, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)} | _STEPS, _RESTARTS),
        {"feet": "hard", "posture": 1e-6, "spread": 0.3},
        {"feet": ("hard", "soft"), "posture": (0.0, 1e-6)},
    ),
    "pink": IkPeer(
        _LOOP | _QP,
        (_DAMPING, {"solver": ("daqp", "quadprog", "proxqp")} | _STEPS, _RESTARTS),
        _QP_FEET,
        _QP_FEET_STAGE,
    ),
    "mink": IkPeer(
        _LOOP | _QP, (_DAMPING, {"solver": ("daqp", "quadprog")} | _STEPS, _RESTARTS), _QP_FEET, _QP_FEET_STAGE
    ),
}


@dataclass(frozen=True, eq=False)
class PeerAnswers:
    """What a peer found.

    Args:
        restarts: (n, nq) with restarts.
        once: (n, nq) from home alone, with the same settings.
        facts: As `ik_peer_script` writes them: versions, settings, times.
    """

    restarts: Array
    once: Array
    facts: Json


def peer_pythons(folder: Path) -> dict[str, Path]:
    """The interpreters of the virtual environments `folder/placo`, `folder/pink` and `folder/mink` that exist.

    Args:
        folder: As `scripts/make_ik_peers.sh` makes it.
    """
    found = {name: folder / name / "bin" / "python" for name in IK_PEERS}
    return {name: python for name, python in found.items() if python.exists()}


def run_peer(name: str, python: Path, tuning: IkProblems, problems: IkProblems, passes: int) -> PeerAnswers:
    """Choose settings of a peer on some problems and solve others with them, on one core.

    Args:
        name: A key of `IK_PEERS`.
        python: The interpreter that has it.
        tuning: Problems on which the settings are chosen.
        problems: Problems that are solved and timed.
        passes: How often; the fastest counts.

    Raises:
        NotSupportedError: The interpreter does not run it.
    """
    if name not in IK_PEERS:
        raise one_of("peer", name, IK_PEERS)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "robot.urdf").write_text(problems.urdf, encoding="utf-8")
        for file, some in (("tuning", tuning), ("problems", problems)):
            np.savez(folder / f"{file}.npz", allow_pickle=False, **_arrays(some))
        (folder / "plan.json").write_text(json.dumps(_plan(name, problems, passes)), encoding="utf-8")
        _run(name, python, folder)
        facts = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        answers = dict(np.load(folder / "answers.npz"))
    return PeerAnswers(answers["restarts"], answers["once"], facts)


def _arrays(problems: IkProblems) -> dict[str, Array]:
    n = len(problems)
    com = np.zeros((n, 3)) if problems.com is None else problems.com
    feet = np.array(list(problems.feet.values())).reshape(-1, 4, 4)
    return {"hand": problems.hand, "com": com, "feet": feet, "starts": problems.starts}


def _plan(name: str, problems: IkProblems, passes: int) -> Json:
    robot = problems.robot
    floating = robot.base_joint is not None
    joints = robot.joint_names[1:] if floating else robot.joint_names
    speeds = robot.limits.velocity[-len(joints) :]
    return IK_PEERS[name].plan(bool(problems.feet)) | {
        "peer": name,
        "hand": problems.case.hand,
        "feet": {foot: T.tolist() for foot, T in problems.feet.items()},
        "floating": floating,
        "joints": list(joints),
        "speeds": {joint: speed for joint, speed in zip(joints, speeds.tolist(), strict=True) if np.isfinite(speed)},
        "home": problems.home.tolist(),
        "position": POSITION,
        "angle": ANGLE,
        "passes": passes,
    }


def _run(name: str, python: Path, folder: Path) -> None:
    """The script, on the core that this process is held on."""
    here = Path(ik_peer_script.__file__)
    script = shutil.copy(here, folder)  # alone there: our modules must not hide those of others
    shutil.copy(here.with_name(f"ik_{name}.py"), folder)
    environment = os.environ | dict.fromkeys(_THREADS, "1")
    command = [str(python), str(script), str(folder)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotSupportedError(f"`{python}` does not run {name}: {error}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise NotSupportedError(f"`{python}` does not run {name}: {last}")
