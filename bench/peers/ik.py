"""Placo, pink and mink, each in an interpreter of its own: their packages clash with each other and with ours."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.peers.outside import run_outside

__all__ = ["IK_PEERS", "IkPeer", "PeerAnswers", "peer_pythons", "run_peer"]

Array = NDArray[np.float64]
Json = dict[str, Any]
_SECONDS = 1800.0


@dataclass(frozen=True)
class IkPeer:
    """A library and the settings that are tried for it: all combinations of the values of a stage, stage by stage.

    A robot that stands on feet has further settings, and further values that are tried first.
    """

    settings: Mapping[str, Any]
    stages: Sequence[Mapping[str, Sequence[Any]]]
    feet: Mapping[str, Any]
    feet_stage: Mapping[str, Sequence[Any]]

    def plan(self, stands: bool) -> Json:
        """Settings and stages as plain data."""
        if not stands:
            return {"settings": dict(self.settings), "stages": [dict(stage) for stage in self.stages]}
        restarts = dict(self.stages[-1]) | {"spread": (0.15, 0.3, 1.0)}
        first = {name: values for name, values in self.stages[0].items() if name not in self.feet_stage}
        stages = [dict(self.feet_stage) | first, *map(dict, self.stages[1:-1]), restarts]
        return {"settings": dict(self.settings) | dict(self.feet), "stages": stages}


_LOOP: Json = {"iterations": 50, "patience": 8, "tries": 100, "spread": 1.0, "step_seconds": 0.0}
_RESTARTS: Json = {"iterations": (20, 50, 200), "patience": (3, 5, 8), "tries": (30, 100)}
_QP: Json = {"solver": "daqp", "lm_damping": 1e-2, "limit_gain": 0.5, "damping": 1e-8}
_QP_FEET = ({"feet": "hard", "posture": 1e-3, "spread": 0.3}, {"feet": ("hard", "soft"), "posture": (0.0, 1e-3)})
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
        _LOOP | _QP, (_DAMPING, {"solver": ("daqp", "quadprog", "proxqp")} | _STEPS, _RESTARTS), *_QP_FEET
    ),
    "mink": IkPeer(_LOOP | _QP, (_DAMPING, {"solver": ("daqp", "quadprog")} | _STEPS, _RESTARTS), *_QP_FEET),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class PeerAnswers:
    """Answers (n, nq) of a peer with restarts, and from home alone; facts as `ik_script` writes them."""

    restarts: Array
    once: Array
    facts: Json


def peer_pythons(folder: Path) -> dict[str, Path]:
    """The interpreters of the environments that `scripts/make_ik_peers.sh` made in a folder."""
    found = {name: folder / name / "bin" / "python" for name in IK_PEERS}
    return {name: python for name, python in found.items() if python.exists()}


def run_peer(
    name: str, python: Path, urdf: str, problems: Mapping[str, Mapping[str, Array]], plan: Json
) -> PeerAnswers:
    """Choose settings of a peer on problems "tuning" and solve "problems" with them, on one core.

    Raises:
        NotSupportedError: The interpreter does not run it.
    """
    whole = IK_PEERS[name].plan(bool(plan["feet"])) | {"peer": name, "module": "ik_solvers"} | plan
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "robot.urdf").write_text(urdf, encoding="utf-8")
        for file, arrays in problems.items():
            np.savez(folder / f"{file}.npz", allow_pickle=False, **arrays)
        (folder / "plan.json").write_text(json.dumps(whole), encoding="utf-8")
        run_outside(python, name, folder, ("ik_script.py", "ik_solvers.py"), _SECONDS)
        facts = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        answers = dict(np.load(folder / "answers.npz"))
    return PeerAnswers(answers["restarts"], answers["once"], facts)
