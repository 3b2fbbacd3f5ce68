"""Placo for `ik_peer_script`; imports nothing of surefoot.

As its documentation has it: `KinematicsSolver` with soft tasks (hard ones for feet), joint limits on, a regularisation
task, `solve(True)`. Full steps: dt = 1 and velocity limits off; or steps that these limits bound.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Solver", "load", "versions"]


def versions() -> dict[str, str]:
    """Of the peer and what it stands on."""
    return {name: version(name) for name in ("placo", "pin")}


def load(urdf: Path, plan: dict[str, Any]) -> Any:
    """The robot.

    Args:
        urdf: Its file.
        plan: What to do.
    """
    placo = import_module("placo")
    return placo.RobotWrapper(str(urdf), placo.Flags.ignore_collisions)


class Solver:
    """Placo with a robot, tasks and settings.

    Args:
        loaded: The robot.
        plan: What to do.
        settings: regularization, step_seconds (0 for full steps); with feet: feet ("hard" or "soft"), posture.
        tolerances: Of `ik_peer_script`.
    """

    failures = (RuntimeError,)

    def __init__(self, loaded: Any, plan: dict[str, Any], settings: dict[str, Any], tolerances: Any) -> None:
        self.robot = loaded
        base = 7 if plan["floating"] else 0
        joints = [loaded.get_joint_offset(name) for name in plan["joints"]]
        self.order, self.home = [*range(base), *joints], np.array(loaded.state.q)
        self.home[self.order] = plan["home"]
        self.solver = import_module("placo").KinematicsSolver(loaded)
        self.solver.mask_fbase(not plan["floating"])
        self.solver.enable_joint_limits(True)
        self.solver.enable_velocity_limits(settings["step_seconds"] > 0.0)
        self.solver.dt = settings["step_seconds"] or 1.0
        self.put(self.home)
        self.tolerances = tolerances
        self.parts: list[Any] = []
        self.errors: list[Any] = []
        self.task = self._frame_task(plan["hand"], np.eye(4), "soft", 1.0)
        self.centre: Any = None
        if plan["feet"]:
            self._stand(plan, settings)
        self.solver.add_regularization_task(settings["regularization"])

    def _frame_task(self, frame: str, T: Any, priority: str, weight: float) -> Any:
        task = self.solver.add_frame_task(frame, T)
        task.configure(frame, priority, weight, weight)
        self._watch(task.position(), self.tolerances.position)
        self._watch(task.orientation(), self.tolerances.angle)
        return task

    def _watch(self, part: Any, tolerance: float) -> None:
        self.parts.append(part)
        self.errors.append((part.error_norm, tolerance))

    def _stand(self, plan: dict[str, Any], settings: dict[str, Any]) -> None:
        weight = 1.0 if settings["feet"] == "hard" else 100.0
        for foot, T in plan["feet"].items():
            self._frame_task(foot, np.array(T), settings["feet"], weight)
        self.centre = self.solver.add_com_task(np.zeros(3))
        self.centre.configure("com", "soft", 1.0)
        self._watch(self.centre, self.tolerances.position)
        if settings["posture"]:
            posture = self.solver.add_joints_task()
            posture.set_joints(dict(zip(plan["joints"], plan["home"][7:], strict=True)))
            posture.configure("posture", "soft", settings["posture"])

    def aim(self, hand: Any, com: Any) -> None:
        """Set the targets.

        Args:
            hand: (4, 4).
            com: (3,).
        """
        self.task.T_world_frame = hand
        if self.centre is not None:
            self.centre.target_world = com

    def put(self, q: Any) -> None:
        """Set the configuration.

        Args:
            q: In the peer's layout.
        """
        self.stepped = False
        self.robot.state.q = q
        self.robot.update_kinematics()

    def step(self) -> None:
        """One step of the solver."""
        self.solver.solve(True)
        self.stepped = True
        self.robot.update_kinematics()

    def error(self) -> float:
        """The largest error over its tolerance: where the last step began, and if that is small, where it ended.

        The solver knows the former; to ask for the latter every time takes longer than one step more at the end.
        """
        if not self.stepped:
            return float("inf")
        begun = max(error() / tolerance for error, tolerance in self.errors)
        if begun > 1.0:
            return begun
        for part in self.parts:
            part.update()
        return max(error() / tolerance for error, tolerance in self.errors)

    def q(self) -> Any:
        """The configuration, in the peer's layout."""
        return np.array(self.robot.state.q)
