"""Pink for `ik_peer_script`; imports nothing of surefoot.

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


def versions() -> dict[str, str]:
    """Of the peer and what it stands on."""
    return {name: version(name) for name in ("pin-pink", "pin", "qpsolvers", "daqp", "proxsuite", "quadprog")}


def load(urdf: Path, plan: dict[str, Any]) -> Any:
    """The robot.

    Args:
        urdf: Its file.
        plan: What to do.
    """
    logging.disable(logging.WARNING)  # of a configuration that a rounding error puts beyond a limit
    pin = import_module("pinocchio")
    free = (pin.JointModelFreeFlyer(),) if plan["floating"] else ()
    return pin.buildModelFromUrdf(str(urdf), *free)


class Solver:
    """Pink with a robot, tasks and settings.

    Args:
        loaded: The robot.
        plan: What to do.
        settings: solver, lm_damping, damping, limit_gain, step_seconds (0 for full steps); with feet: feet ("hard" or
            "soft"), posture.
        tolerances: Of `ik_peer_script`.
    """

    def __init__(self, loaded: Any, plan: dict[str, Any], settings: dict[str, Any], tolerances: Any) -> None:
        self.pin, self.pink = import_module("pinocchio"), import_module("pink")
        self.failures = (self.pink.exceptions.PinkError, ValueError)
        self.model, self.settings, self.tolerances = loaded, settings, tolerances
        base = 7 if plan["floating"] else 0
        joints = [loaded.joints[loaded.getJointId(name)].idx_q for name in plan["joints"]]
        self.order = [*range(base), *joints]
        self.home = np.zeros(loaded.nq)
        self.home[self.order] = plan["home"]
        self.configuration = self.pink.Configuration(loaded, loaded.createData(), self.home)
        self.at = loaded.getFrameId(plan["hand"])
        self.goals = {loaded.getFrameId(foot): np.array(T) for foot, T in plan["feet"].items()}
        self.limits = [self.pink.limits.ConfigurationLimit(loaded, settings["limit_gain"])]
        self.seconds = settings["step_seconds"] or 1.0
        if settings["step_seconds"]:
            self.limits.append(self.pink.limits.VelocityLimit(loaded))
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
        return self.pink.tasks.FrameTask(frame, cost, cost, lm_damping=self.settings["lm_damping"])

    def _stand(self, plan: dict[str, Any]) -> None:
        hard = self.settings["feet"] == "hard"
        feet = []
        for foot, T in plan["feet"].items():
            feet.append(self.frame_task(foot, 1.0 if hard else 10.0))
            feet[-1].set_target(self.pin.SE3(np.array(T)))
        self.constraints = feet if hard else None
        self.centre = self.pink.tasks.ComTask(1.0, lm_damping=self.settings["lm_damping"])
        self.tasks += [self.centre] + ([] if hard else feet)
        if self.settings["posture"]:
            posture = self.pink.tasks.PostureTask(cost=self.settings["posture"])
            posture.set_target(self.home)
            self.tasks.append(posture)

    def aim(self, hand: Any, com: Any) -> None:
        """Set the targets.

        Args:
            hand: (4, 4).
            com: (3,).
        """
        self.hand.set_target(self.pin.SE3(hand))
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
        v = self.pink.solve_ik(
            self.configuration, self.tasks, self.seconds, solver=options["solver"], damping=options["damping"],
            limits=self.limits, constraints=self.constraints, safety_break=False,
        )  # fmt: skip
        self.configuration.integrate_inplace(v, self.seconds)

    def error(self) -> float:
        """The largest error over its tolerance."""
        placements = self.configuration.data.oMf
        worst = max(self.tolerances.pose(placements[i].homogeneous, goal) for i, goal in self.goals.items())
        if self.centre is not None:
            com = self.pin.centerOfMass(self.model, self.configuration.data, self.configuration.q)
            worst = max(worst, self.tolerances.point(com, self.com))
        return worst

    def q(self) -> Any:
        """The configuration, in the peer's layout."""
        return self.configuration.q
