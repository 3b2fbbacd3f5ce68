"""One robot in free flight: steps of our engine, of MuJoCo, and of a loop written with Pinocchio in Python.

Gravity, armature and constant torques act; limits, friction and contacts are off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.benchmarks.check import WrongAnswerError
from surefoot.benchmarks.timing import Effort, measure, pinned
from surefoot.compiler import Kernel, Repeated
from surefoot.motion import State
from surefoot.robot import Robot
from surefoot.sim.actuation import Actuation
from surefoot.sim.contact_laws import SpringDamper
from surefoot.sim.driven import DrivenJoints
from surefoot.sim.mujoco_model import build_mujoco
from surefoot.sim.mujoco_state import q_v, qpos_qvel
from surefoot.sim.native_engine import NativeEngine
from surefoot.sim.native_kernels import Settings
from surefoot.sim.rollout_step import Variant, compiled_step

__all__ = ["free_flight"]

Array = NDArray[Any]
Json = dict[str, Any]
Run = Callable[[], tuple[Array, Array]]
DT = 0.0005
_TORQUE = 0.02  # of the limits; of 1 where there is none
_SPREAD = 0.1  # of the first velocities
_COMPARED = 100  # steps after which states are compared
_SAME, _NEAR = 1e-8, 0.01  # native steps and MuJoCo's Euler are one method; Pinocchio's loop moves bases in body axes
_OFF = ("LIMIT", "FRICTIONLOSS", "CONTACT", "DAMPER", "SPRING")
_BASELINE = "pinocchio in python"


def free_flight(robot: Robot, copies: int, steps: int, seed: int, effort: Effort) -> Json:
    """Steps per second of a single copy, and of a batch per core.

    Args:
        robot: The robot.
        copies: Of the batch.
        steps: A tenth of those of a pass.
        seed: Of the first velocities and the torques.
        effort: How long to measure.

    Raises:
        WrongAnswerError: A way comes to another state than MuJoCo.
    """
    flight = _Flight(robot, seed)
    ways: dict[str, tuple[Run, int]] = {
        _BASELINE: (flight.pinocchio, 1),
        "mujoco, one call per step": (flight.mujoco_step_by_step, 1),
        "mujoco, one call for all steps": (flight.mujoco_at_once, 1),
        "native engine, one call per step": (flight.engine_step_by_step, 1),
        "native engine, one call for all steps": (flight.engine_at_once, 1),
        "native step, one call per step": (flight.native_step_by_step, 1),
        "native step, one call for all steps": (flight.native_at_once, 1),
        "native step, batch": (flight.batch(copies), copies),
    }
    errors = flight.errors({name: run for name, (run, _) in ways.items()})
    flight.steps = 10 * steps
    with pinned():
        times = {name: measure(run, flight.steps * count, effort) for name, (run, count) in ways.items()}
    baseline = times[_BASELINE].p50
    return {
        name: found.json() | {"error": errors[name], "steps_per_second": 1.0 / found.p50, "ratio": baseline / found.p50}
        for name, found in times.items()
    }


class _Flight:
    """A robot in empty space, under constant torques; every way begins with the same state."""

    def __init__(self, robot: Robot, seed: int) -> None:
        rng = np.random.default_rng(seed)
        limits = DrivenJoints(robot).torque_limits
        self.robot, self.steps = robot, _COMPARED
        self.q, self.v = np.array(robot.home), _SPREAD * rng.standard_normal(robot.nv)
        self.torque = _TORQUE * np.where(np.isfinite(limits), limits, 1.0) * rng.uniform(-1.0, 1.0, robot.nu)
        self.step = _bare_step(robot)
        self.loop = Repeated(self.step, {"q": 0, "v": 1})
        self.data = robot.model.createData()
        self.tau = np.zeros(robot.nv)
        self.tau[robot.driven] = self.torque
        self.engine = NativeEngine(robot, None, DT, limits=False, friction=False, springs=False)
        nothing = np.zeros(robot.nu)
        self.actuation = Actuation(self.torque, nothing, nothing, nothing, nothing, -limits, limits)
        self._prepare_mujoco()

    def _prepare_mujoco(self) -> None:
        self.model = build_mujoco(self.robot, None, timestep=DT)
        self.mj, self.mj_data = self.model.mj, mujoco.MjData(self.model.mj)
        self.mj.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
        for name in _OFF:
            self.mj.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}")
        self.mj_start = qpos_qvel(self.model, self.q, self.v)
        self.mj_data.ctrl[:] = self.torque[self.model.actuators >= 0]

    def errors(self, ways: dict[str, Run]) -> dict[str, float]:
        """How far the last state of every way is from MuJoCo's, on the manifold.

        The loop with Pinocchio moves the base along a velocity in its own axes, which is another method of first order.
        """
        q, v = self.mujoco_at_once()
        found = {}
        for name, run in ways.items():
            other_q, other_v = run()
            gap = np.abs(pin.difference(self.robot.model, q, np.array(other_q))).max()
            found[name] = float(max(gap, np.abs(other_v - v).max()))
            tolerance = _NEAR if name == _BASELINE else _SAME
            if not found[name] <= tolerance:
                raise WrongAnswerError(
                    f"{self.robot.name}, {name}: the last state differs from MuJoCo's, so it is not timed",
                    evidence={"error": found[name], "tolerance": tolerance, "steps": self.steps},
                )
        return found

    # -- ways -----------------------------------------------------------------------------------------------------

    def pinocchio(self) -> tuple[Array, Array]:
        model, data, q, v, tau = self.robot.model, self.data, self.q, self.v, self.tau
        for _ in range(self.steps):
            v = v + DT * pin.aba(model, data, q, v, tau)
            q = pin.integrate(model, q, DT * v)
        return q, v

    def engine_step_by_step(self) -> tuple[Array, Array]:
        self.engine.reset(State(0.0, self.q, self.v))
        advance, actuation = self.engine.advance, self.actuation
        for _ in range(self.steps):
            advance(actuation)
        return self.engine.state.q, self.engine.state.v

    def engine_at_once(self) -> tuple[Array, Array]:
        self.engine.reset(State(0.0, self.q, self.v))
        self.engine.native_steps(self.steps, self.actuation)
        return self.engine.state.q, self.engine.state.v

    def native_step_by_step(self) -> tuple[Array, Array]:
        q, v, step, torque = self.q, self.v, self.step, self.torque
        for _ in range(self.steps):
            q, v = step(q, v, torque)
        return q, v

    def native_at_once(self) -> tuple[Array, Array]:
        found = self.loop({"q": self.q, "v": self.v, "torque": self.torque}, self.steps)
        return found.final["q"], found.final["v"]

    def batch(self, copies: int) -> Run:
        """Many copies in one call; they all do the same."""
        q, v = np.tile(self.q, (copies, 1)), np.tile(self.v, (copies, 1))

        def run() -> tuple[Array, Array]:
            found = self.loop({"q": q, "v": v, "torque": self.torque}, self.steps)
            return found.final["q"][-1], found.final["v"][-1]

        return run

    def _begin_mujoco(self) -> None:
        self.mj_data.qpos[:], self.mj_data.qvel[:] = self.mj_start

    def mujoco_step_by_step(self) -> tuple[Array, Array]:
        self._begin_mujoco()
        step, mj, data = mujoco.mj_step, self.mj, self.mj_data
        for _ in range(self.steps):
            step(mj, data)
        return q_v(self.model, data.qpos, data.qvel)

    def mujoco_at_once(self) -> tuple[Array, Array]:
        self._begin_mujoco()
        mujoco.mj_step(self.mj, self.mj_data, nstep=self.steps)
        return q_v(self.model, self.mj_data.qpos, self.mj_data.qvel)


def _bare_step(robot: Robot) -> Kernel:
    """The step of the native engine in empty space, drives being torque sources."""
    settings = Settings(DT, SpringDamper(), "semi_implicit", touches=False, stops=False, friction=False)
    return compiled_step(robot, Variant(settings, "torque", None, "float64", False)).kernel
