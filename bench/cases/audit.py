"""How long an audit takes: 10 s at 1 kHz of a humanoid that waves its arms, self-collision included, replay aside."""

from __future__ import annotations

import time
from typing import Annotated

import numpy as np
import typer

import surefoot as sf
from bench.machine import header
from bench.page import Json
from bench.timing import tell

__all__ = ["run", "show"]

_ARMS = ("shoulder", "elbow", "arm_left_2", "arm_right_2", "arm_left_4", "arm_right_4")


def run(robot: Annotated[str, typer.Argument(metavar="ROBOT", help="A name of the zoo or a file.")] = "g1") -> Json:
    """Audit twice; the second time nothing has to be compiled or fitted."""
    loaded = sf.load(robot)
    motion, result = _waving(loaded), header("audit", 0) | {"robot": robot, "runs": {}}
    for k, which in enumerate(("first", "second")):
        tell(k / 2, which)
        start = time.perf_counter()
        audit = sf.audit(motion, loaded, replay=False)
        seconds, verdict = time.perf_counter() - start, "passed" if audit.passed else audit.findings[0].message
        result["runs"][which] = {"seconds": seconds, "parts": dict(audit.seconds), "verdict": verdict}
    return result


def _waving(robot: sf.Robot) -> sf.Trajectory:
    """Arms swing by 0.05 rad while the robot stands at home; v and a are exact."""
    t = np.linspace(0.0, 10.0, 10_001)
    q, v, a = np.tile(robot.home, (len(t), 1)), np.zeros((len(t), robot.nv)), np.zeros((len(t), robot.nv))
    fade, w = np.sin(np.pi * t / 10.0) ** 2, 2.0
    for i, name in enumerate(robot.joint_names):
        if any(word in name for word in _ARMS) and robot.tree.nv_of(i) == 1:
            wave = 0.05 * fade * np.sin(w * t + i)
            q[:, robot.tree.q_index[i]] += wave
            v[:, robot.tree.v_index[i]] = np.gradient(wave, t, edge_order=2)
            a[:, robot.tree.v_index[i]] = np.gradient(v[:, robot.tree.v_index[i]], t, edge_order=2)
    return sf.Trajectory.of(robot, t, q, v, a=a)


def show(result: Json) -> None:
    """Print a line for each run."""
    for which, row in result["runs"].items():
        parts = ", ".join(f"{name} {value:.2f}" for name, value in row["parts"].items())
        print(f"{which}: {row['seconds']:.2f} s ({parts}); {row['verdict']}")
