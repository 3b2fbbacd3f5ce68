"""Many copies on the ground: our rollout against MuJoCo's, with the same contact points."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from surefoot.benchmarks.check import WrongAnswerError
from surefoot.benchmarks.timing import Effort, measure, pinned
from surefoot.control import JointPd
from surefoot.errors import NotSupportedError
from surefoot.motion import State, World
from surefoot.robot import Robot
from surefoot.sim.actuation import Actuation
from surefoot.sim.contact_laws import SpringDamper
from surefoot.sim.driven import DrivenJoints
from surefoot.sim.native_engine import NativeEngine
from surefoot.sim.rollout_mujoco import MujocoRollout
from surefoot.sim.rollout_native import NativeRollout
from surefoot.sim.rollout_request import Request, make_request

__all__ = ["on_ground"]

Array = NDArray[Any]
Json = dict[str, Any]
DT = 0.001
_REST = 1500  # steps until a robot rests
_WEIGHT_TOLERANCE = 0.01  # share of the weight
_MARCH = 0.05  # amplitude of the joints [rad]
_PERIOD = 0.5  # [s]
_WAYS = {"native float64": "float64", "native float32": "float32"}


def on_ground(robot: Robot, copies: int, steps: int, seed: int, effort: Effort) -> Json:
    """Rest, energy and speed of a robot on flat ground.

    Args:
        robot: The robot.
        copies: Of a batch.
        steps: Of a pass.
        seed: Of the copies.
        effort: How long to measure.

    Raises:
        NotSupportedError: The robot does not stand.
        WrongAnswerError: One of the engines does not carry the weight, or a copy diverges.
    """
    stand = _Stand(robot)
    rest = stand.compare_rest()
    return {
        "points": rest["points"],
        "rest": rest,
        "energy": stand.energy_residual(),
        **{
            name: stand.times(copies, steps, seed, march, effort) for name, march in (("stand", 0.0), ("march", _MARCH))
        },
    }


class _Stand:
    """A robot that its joint controller holds upright."""

    def __init__(self, robot: Robot) -> None:
        if robot.base_joint is None or not robot.contacts:
            raise NotSupportedError(f"`{robot.name}` does not stand: it is fixed, or has no contact surface")
        self.robot, self.world = robot, World.flat()
        controller = JointPd(robot)
        command = controller.command(0.0, State.of(robot))
        self.kp, self.kd = controller.kp, controller.kd
        lift = np.zeros(robot.nu) if command.torque is None else command.torque / controller.kp
        self.target = np.asarray(command.position) + lift  # springs that carry the weight

    def request(self, copies: int, steps: int, seed: int, march: float, every: int = 1) -> Request:
        """Copies that differ in their first velocity and in the phase of their steps."""
        rng = np.random.default_rng(seed)
        v = 0.01 * rng.standard_normal((copies, self.robot.nv)) * (copies > 1)
        phase = 2.0 * np.pi * rng.random((copies, 1, self.robot.nu))
        time = DT * np.arange(steps)[None, :, None]
        controls = self.target + march * (np.sin(2.0 * np.pi / _PERIOD * time + phase) - np.sin(phase))
        states = np.tile(self.robot.home, (copies, 1)), v
        return make_request(
            self.robot, states, controls, world=self.world, dt=DT, mode="position", kp=self.kp, kd=self.kd, hold=1,
            every=every, threads=1,
        )  # fmt: skip

    # -- answers --------------------------------------------------------------------------------------------------

    def compare_rest(self) -> Json:
        """Forces and depths of both engines at rest."""
        request = self.request(1, _REST, 0, 0.0, every=_REST)
        weight = self.robot.mass * float(np.linalg.norm(self.world.gravity))
        native, judge = NativeRollout(request, SpringDamper(), "semi_implicit", "float64", True), _feet_only(request)
        q, _, force, good = native.run()
        if force is None or good[0] < _REST:
            raise WrongAnswerError(f"{self.robot.name} diverges on the ground", evidence={"steps": int(good[0])})
        judge_q, _, _ = judge.read(judge.run())
        ours, theirs = force[0, -1, :, 2], _normal_forces(judge)
        found = {
            "points": len(ours),
            "mujoco_contacts": len(theirs),
            "weight_n": weight,
            "native_load_n": float(ours.sum()),
            "mujoco_load_n": float(theirs.sum()),
            "native_depth_mm": -1e3 * float(native.points(q[:, -1])[0, :, 2].min()),
            "mujoco_depth_mm": -1e3 * float(native.points(judge_q[:, -1])[0, :, 2].min()),
        }
        for who in ("native", "mujoco"):
            if abs(found[f"{who}_load_n"] - weight) > _WEIGHT_TOLERANCE * weight:
                raise WrongAnswerError(f"{self.robot.name} does not rest in {who}, so it is not timed", evidence=found)
        return found

    def energy_residual(self) -> Json:
        """Change of energy less all work of a marching copy over a second, and the work that was done [J]."""
        steps, nothing = 1000, np.zeros(self.robot.nu)
        request, limits = self.request(1, steps, 0, _MARCH), DrivenJoints(self.robot).torque_limits
        engine = NativeEngine(self.robot, self.world, DT)
        engine.reset(State.of(self.robot))
        for position in request.controls[0]:
            engine.advance(Actuation(nothing, position, self.kp, nothing, self.kd, -limits, limits))
        found = engine.balance
        work = sum(abs(x) for x in (found.drives, found.contacts, found.damping))
        return {"residual_j": float(found.energy_residual), "work_j": float(work), "seconds": steps * DT}

    # -- times ----------------------------------------------------------------------------------------------------

    def times(self, copies: int, steps: int, seed: int, march: float, effort: Effort) -> Json:
        """Steps per second and core of both engines; MuJoCo, whose steps take longer, has a quarter of the copies."""
        request, fewer = (self.request(n, steps, seed, march) for n in (copies, max(1, copies // 4)))
        ours = {
            way: NativeRollout(request, SpringDamper(), "semi_implicit", dtype, False) for way, dtype in _WAYS.items()
        }
        peers = {"mujoco as judge": _feet_only(fewer), "mujoco defaults": _with_defaults(_feet_only(fewer))}
        for way, run in ours.items():
            if not (good := run.run()[3] == steps).all():
                raise WrongAnswerError(f"{self.robot.name}, {way}: {np.sum(~good)} copies diverge, so it is not timed")
        with pinned():
            found = {way: measure(run.run, fewer.copies * steps, effort) for way, run in peers.items()}
            found |= {way: measure(run.run, copies * steps, effort) for way, run in ours.items()}
        fastest = min(found[way].p50 for way in peers)
        return {
            way: times.json() | {"steps_per_second": 1.0 / times.p50, "ratio": fastest / times.p50}
            for way, times in found.items()
        }


def _feet_only(request: Request) -> MujocoRollout:
    """MuJoCo's rollout in which a robot touches the ground by its contact surfaces alone."""
    judge = MujocoRollout(request)
    mj = judge.model.mj
    feet = {geom for geoms in judge.model.contact_geoms.values() for geom in geoms}
    others = [geom for geom in judge.model.geoms if geom not in feet]
    mj.geom_contype[others], mj.geom_conaffinity[others] = 0, 0
    return judge


def _with_defaults(judge: MujocoRollout) -> MujocoRollout:
    """The same with MuJoCo's default solver settings, which are faster than those of our judge."""
    option, usual = judge.model.mj.opt, mujoco.MjSpec().compile().opt
    for name in ("cone", "impratio", "tolerance", "iterations", "ls_iterations", "solver"):
        setattr(option, name, getattr(usual, name))
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    return judge


def _normal_forces(judge: MujocoRollout) -> Array:
    """Of each contact at the end of a rollout of one copy [N]."""
    mj, data = judge.model.mj, mujoco.MjData(judge.model.mj)
    mujoco.mj_setState(mj, data, judge.run()[0, -1], mujoco.mjtState.mjSTATE_FULLPHYSICS.value)
    data.ctrl[:] = judge.controls[0, -1]
    mujoco.mj_forward(mj, data)
    wrench, out = np.zeros(6), []
    for k in range(data.ncon):
        mujoco.mj_contactForce(mj, data, k, wrench)
        out.append(wrench[0])
    return np.array(out)
