"""Placo, pink and mink for `ik_script`; imports nothing of surefoot.

As in their documentation and examples. Placo: `KinematicsSolver` with soft tasks (hard ones for feet), joint limits
on, a regularisation task, `solve(True)`. Pink and mink: `FrameTask` with unit costs, a posture task of small cost for
redundant robots, feet as hard constraints or tasks of larger cost, `solve_ik` with configuration limits. Full steps:
dt = 1, no velocity limits; or steps that velocity limits bound.
"""

from __future__ import annotations

import logging
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

__all__ = ["Mink", "Pink", "Placo"]

_COMPILER = '<mujoco><compiler fusestatic="false" balanceinertia="true"/></mujoco>'


class Placo:
    """Settings: regularization, step_seconds (0 for full steps); with feet: feet ("hard" or "soft"), posture."""

    failures: tuple[type[Exception], ...] = (RuntimeError,)

    @staticmethod
    def versions() -> dict[str, str]:
        """Of the peer and its packages."""
        return {name: version(name) for name in ("placo", "pin")}

    @staticmethod
    def load(urdf: Path, plan: dict[str, Any]) -> Any:
        """The robot."""
        placo = import_module("placo")
        return placo.RobotWrapper(str(urdf), placo.Flags.ignore_collisions)

    def __init__(self, loaded: Any, plan: dict[str, Any], settings: dict[str, Any], tolerances: Any) -> None:
        self.robot, self.tolerances = loaded, tolerances
        joints = [loaded.get_joint_offset(name) for name in plan["joints"]]
        self.order, self.home = [*range(7 * plan["floating"]), *joints], np.array(loaded.state.q)
        self.home[self.order] = plan["home"]
        self.solver = import_module("placo").KinematicsSolver(loaded)
        self.solver.mask_fbase(not plan["floating"])
        self.solver.enable_joint_limits(True)
        self.solver.enable_velocity_limits(settings["step_seconds"] > 0.0)
        self.solver.dt = settings["step_seconds"] or 1.0
        self.put(self.home)
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
        """Set the targets, (4, 4) and (3,)."""
        self.task.T_world_frame = hand
        if self.centre is not None:
            self.centre.target_world = com

    def put(self, q: Any) -> None:
        """Set the configuration, in the peer's layout."""
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


class _Qp:
    """The common part of pink and mink, whose `begin` makes limits, tasks and the configuration.

    Settings: solver, lm_damping, damping, limit_gain, step_seconds (0 for full steps); with feet: feet ("hard" or
    "soft"), posture.
    """

    packages: tuple[str, ...] = ()
    further: dict[str, Any] = {}
    solve_ik: Any

    @classmethod
    def versions(cls) -> dict[str, str]:
        """Of the peer and its packages."""
        return {name: version(name) for name in cls.packages}

    def __init__(self, loaded: Any, plan: dict[str, Any], settings: dict[str, Any], tolerances: Any) -> None:
        logging.disable(logging.WARNING)  # of a configuration that a rounding error puts beyond a limit
        self.model, self.settings, self.tolerances = loaded, settings, tolerances
        self.home, self.seconds = np.zeros(loaded.nq), settings["step_seconds"] or 1.0
        self.damping = {"lm_damping": settings["lm_damping"]}
        api: Any = self.begin(plan)
        self.configuration, self.limits = api.configuration(self.home), api.limits
        self.frame_task, self.pose = api.frame_task, api.pose
        self.goals = {api.frame_id(foot): np.array(T) for foot, T in plan["feet"].items()}
        self.at, self.hand = api.frame_id(plan["hand"]), api.frame_task(plan["hand"], 1.0)
        self.tasks = [self.hand]
        self.constraints: Any = None
        self.centre: Any = None
        if plan["feet"]:
            self._stand(plan, api)

    def begin(self, plan: dict[str, Any]) -> SimpleNamespace:
        """Fill `order`, `home` and `failures`; the functions of the peer."""
        raise TypeError("pink and mink have their own")

    def _stand(self, plan: dict[str, Any], api: Any) -> None:
        hard = self.settings["feet"] == "hard"
        feet = [api.frame_task(foot, 1.0 if hard else 10.0) for foot in plan["feet"]]
        for task, T in zip(feet, plan["feet"].values(), strict=True):
            task.set_target(api.pose(np.array(T)))
        self.constraints = feet if hard else None
        self.centre = api.com_task(1.0, **self.damping)
        self.tasks += [self.centre] + ([] if hard else feet)
        if self.settings["posture"]:
            self.tasks.append(api.posture_task(cost=self.settings["posture"]))
            self.tasks[-1].set_target(self.home)

    def aim(self, hand: Any, com: Any) -> None:
        """Set the targets, (4, 4) and (3,)."""
        self.hand.set_target(self.pose(hand))
        self.goals[self.at], self.com = hand, com
        if self.centre is not None:
            self.centre.set_target(com)

    def put(self, q: Any) -> None:
        """Set the configuration, in the peer's layout."""
        self.configuration.update(q)

    def step(self) -> None:
        """One step of the solver."""
        options = self.settings
        v = self.solve_ik(
            self.configuration, self.tasks, self.seconds, options["solver"], damping=options["damping"],
            limits=self.limits, constraints=self.constraints, **self.further,
        )  # fmt: skip
        self.configuration.integrate_inplace(v, self.seconds)

    def q(self) -> Any:
        """The configuration, in the peer's layout."""
        return np.array(self.configuration.q)


class Pink(_Qp):
    """Pink on a model of Pinocchio."""

    packages = ("pin-pink", "pin", "qpsolvers", "daqp", "proxsuite", "quadprog")
    further = {"safety_break": False}

    @staticmethod
    def load(urdf: Path, plan: dict[str, Any]) -> Any:
        """The robot."""
        pin = import_module("pinocchio")
        return pin.buildModelFromUrdf(str(urdf), *[pin.JointModelFreeFlyer()] * plan["floating"])

    def begin(self, plan: dict[str, Any]) -> SimpleNamespace:
        """Functions of pink."""
        pink, self.pin, model = import_module("pink"), import_module("pinocchio"), self.model
        self.failures, self.solve_ik = (pink.exceptions.PinkError, ValueError), pink.solve_ik
        joints = [model.joints[model.getJointId(name)].idx_q for name in plan["joints"]]
        self.order = [*range(7 * plan["floating"]), *joints]
        self.home[self.order] = plan["home"]
        limits = [pink.limits.ConfigurationLimit(model, self.settings["limit_gain"])]
        if self.settings["step_seconds"]:
            limits.append(pink.limits.VelocityLimit(model))
        return SimpleNamespace(
            configuration=lambda q: pink.Configuration(model, model.createData(), q),
            frame_task=lambda frame, cost: pink.tasks.FrameTask(frame, cost, cost, **self.damping),
            frame_id=model.getFrameId, limits=limits, pose=self.pin.SE3, com_task=pink.tasks.ComTask,
            posture_task=pink.tasks.PostureTask,
        )  # fmt: skip

    def error(self) -> float:
        """The largest error over its tolerance."""
        placements = self.configuration.data.oMf
        worst = max(self.tolerances.pose(placements[i].homogeneous, goal) for i, goal in self.goals.items())
        if self.centre is None:
            return float(worst)
        com = self.pin.centerOfMass(self.model, self.configuration.data, self.configuration.q)
        return float(max(worst, self.tolerances.point(com, self.com)))


class Mink(_Qp):
    """Mink on a model of MuJoCo, made from the same URDF."""

    packages = ("mink", "mujoco", "qpsolvers", "daqp", "quadprog")

    @staticmethod
    def load(urdf: Path, plan: dict[str, Any]) -> Any:
        """The robot."""
        text = urdf.read_text(encoding="utf-8")
        end = text.index(">", text.index("<robot")) + 1
        spec = import_module("mujoco").MjSpec.from_string(text[:end] + _COMPILER + text[end:])
        if plan["floating"]:
            spec.worldbody.first_body().add_freejoint()
        return spec.compile()

    def begin(self, plan: dict[str, Any]) -> SimpleNamespace:
        """Functions of mink."""
        mink, model = import_module("mink"), self.model
        self.failures, self.solve_ik = (mink.MinkError, ValueError), mink.solve_ik
        base = [0, 1, 2, 4, 5, 6, 3] if plan["floating"] else []  # quaternions are wxyz there
        self.order = base + [int(model.joint(name).qposadr[0]) for name in plan["joints"]]
        self.home[self.order] = plan["home"]
        limits = [mink.ConfigurationLimit(model, gain=self.settings["limit_gain"])]
        if self.settings["step_seconds"]:
            limits.append(mink.VelocityLimit(model, plan["speeds"]))
        return SimpleNamespace(
            configuration=lambda q: mink.Configuration(model, q),
            frame_task=lambda frame, cost: mink.FrameTask(frame, "body", cost, cost, **self.damping),
            frame_id=lambda frame: model.body(frame).id, limits=limits, pose=mink.SE3.from_matrix,
            com_task=mink.ComTask, posture_task=partial(mink.PostureTask, model),
        )  # fmt: skip

    def error(self) -> float:
        """The largest error over its tolerance."""
        data, worst, T = self.configuration.data, 0.0, np.eye(4)
        for body, goal in self.goals.items():
            T[:3, :3], T[:3, 3] = data.xmat[body].reshape(3, 3), data.xpos[body]
            worst = max(worst, self.tolerances.pose(T, goal))
        return worst if self.centre is None else max(worst, self.tolerances.point(data.subtree_com[1], self.com))
