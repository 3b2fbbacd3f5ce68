"""Mink for `ik_peer_script`; imports nothing of surefoot. MuJoCo makes its model from the same URDF.

As its examples have it: `FrameTask` with unit costs, a posture task of small cost for redundant robots, feet as hard
constraints or tasks of larger cost, `solve_ik` with configuration limits. Full steps: dt = 1, no velocity limits; or
steps that velocity limits bound.
"""

from __future__ import annotations

import logging
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Solver", "load", "versions"]

_COMPILER = '<mujoco><compiler fusestatic="false" balanceinertia="true"/></mujoco>'


def versions() -> dict[str, str]:
    """Of the peer and what it stands on."""
    return {name: version(name) for name in ("mink", "mujoco", "qpsolvers", "daqp", "quadprog")}


def load(urdf: Path, plan: dict[str, Any]) -> Any:
    """The robot.

    Args:
        urdf: Its file.
        plan: What to do.
    """
    logging.disable(logging.WARNING)  # of a configuration that a rounding error puts beyond a limit
    text = urdf.read_text(encoding="utf-8")
    end = text.index(">", text.index("<robot")) + 1
    spec = import_module("mujoco").MjSpec.from_string(text[:end] + _COMPILER + text[end:])
    if plan["floating"]:
        spec.worldbody.first_body().add_freejoint()
    return spec.compile()


class Solver:
    """Mink with a robot, tasks and settings.

    Args:
        loaded: The robot.
        plan: What to do.
        settings: solver, lm_damping, damping, limit_gain, step_seconds (0 for full steps); with feet: feet ("hard" or
            "soft"), posture.
        tolerances: Of `ik_peer_script`.
    """

    def __init__(self, loaded: Any, plan: dict[str, Any], settings: dict[str, Any], tolerances: Any) -> None:
        self.mink = import_module("mink")
        self.failures = (self.mink.MinkError, ValueError)
        self.model, self.settings, self.tolerances = loaded, settings, tolerances
        base = [0, 1, 2, 4, 5, 6, 3] if plan["floating"] else []  # quaternions are wxyz there
        self.order = base + [int(loaded.joint(name).qposadr[0]) for name in plan["joints"]]
        self.home = np.zeros(loaded.nq)
        self.home[self.order] = plan["home"]
        self.configuration = self.mink.Configuration(loaded, self.home)
        self.at = loaded.body(plan["hand"]).id
        self.goals = {loaded.body(foot).id: np.array(T) for foot, T in plan["feet"].items()}
        self.limits = [self.mink.ConfigurationLimit(loaded, gain=settings["limit_gain"])]
        self.seconds = settings["step_seconds"] or 1.0
        if settings["step_seconds"]:
            self.limits.append(self.mink.VelocityLimit(loaded, plan["speeds"]))
        self.hand = self.frame_task(plan["hand"], 1.0)
        self.tasks = [self.hand]
        self.constraints: Any = None
        self.centre: Any = None
        if plan["feet"]:
            self._stand(plan)

    def frame_task(self, frame: str, cost: float) -> Any:
        """A task for the pose of a frame.

        Args:
            frame: Its name.
            cost: Of position and orientation.
        """
        return self.mink.FrameTask(frame, "body", cost, cost, lm_damping=self.settings["lm_damping"])

    def _stand(self, plan: dict[str, Any]) -> None:
        hard = self.settings["feet"] == "hard"
        feet = []
        for foot, T in plan["feet"].items():
            feet.append(self.frame_task(foot, 1.0 if hard else 10.0))
            feet[-1].set_target(self.mink.SE3.from_matrix(np.array(T)))
        self.constraints = feet if hard else None
        self.centre = self.mink.ComTask(1.0, lm_damping=self.settings["lm_damping"])
        self.tasks += [self.centre] + ([] if hard else feet)
        if self.settings["posture"]:
            posture = self.mink.PostureTask(self.model, cost=self.settings["posture"])
            posture.set_target(self.home)
            self.tasks.append(posture)

    def aim(self, hand: Any, com: Any) -> None:
        """Set the targets.

        Args:
            hand: (4, 4).
            com: (3,).
        """
        self.hand.set_target(self.mink.SE3.from_matrix(hand))
        self.goals[self.at], self.com = hand, com
        if self.centre is not None:
            self.centre.set_target(com)

    def put(self, q: Any) -> None:
        """Set the configuration.

        Args:
            q: In the peer's layout.
        """
        self.configuration.update(q)

    def step(self) -> None:
        """One step of the solver."""
        options = self.settings
        v = self.mink.solve_ik(
            self.configuration, self.tasks, self.seconds, options["solver"], damping=options["damping"],
            limits=self.limits, constraints=self.constraints,
        )  # fmt: skip
        self.configuration.integrate_inplace(v, self.seconds)

    def error(self) -> float:
        """The largest error over its tolerance."""
        data, worst, T = self.configuration.data, 0.0, np.eye(4)
        for body, goal in self.goals.items():
            T[:3, :3], T[:3, 3] = data.xmat[body].reshape(3, 3), data.xpos[body]
            worst = max(worst, self.tolerances.pose(T, goal))
        return worst if self.centre is None else max(worst, self.tolerances.point(data.subtree_com[1], self.com))

    def q(self) -> Any:
        """The configuration, in the peer's layout."""
        return np.array(self.configuration.q)
