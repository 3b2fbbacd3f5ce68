"""Steps of our engine against MuJoCo and Pinocchio, in free flight and on the ground.

In free flight gravity, armature and constant torques act; limits, friction and contacts are off. On the ground both
engines have the same contact points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import mujoco
import numpy as np
import pinocchio as pin
import typer
from numpy.typing import NDArray

from bench import page
from bench.check import WrongAnswerError
from bench.machine import header
from bench.page import Json, named, number_text, print_lines, print_table
from bench.timing import Effort, Times, measure, pinned, tell
from surefoot.codegen import Kernel
from surefoot.codegen.repeated import Repeated
from surefoot.control import JointPd
from surefoot.errors import NotSupportedError
from surefoot.motion import State, World
from surefoot.robot import Robot, load
from surefoot.sim import NativeEngine, build_mujoco, q_v, qpos_qvel
from surefoot.sim.drives import Actuation, DrivenJoints
from surefoot.sim.native import Settings, SpringDamper
from surefoot.sim.rollouts import (
    MujocoRollout,
    NativeRollout,
    Request,
    RolloutSettings,
    Variant,
    compiled_step,
    make_request,
)

__all__ = ["free_flight", "on_ground", "run", "show"]

Array = NDArray[Any]
_QUICK, _WHOLE = Effort(repeats=1, seconds=0.02, passes=2), Effort(repeats=3, seconds=0.5, passes=3)
_FREE_DT, _DT = 0.0005, 0.001  # [s]
_TORQUE = 0.02  # of the limits; of 1 where there is none
_SPREAD = 0.1  # of the first velocities
_COMPARED = 100  # steps after which states are compared
_SAME, _NEAR = 1e-8, 0.01  # native steps and MuJoCo's Euler are one method; Pinocchio's loop moves bases in body axes
_OFF = ("LIMIT", "FRICTIONLOSS", "CONTACT", "DAMPER", "SPRING")
_BASELINE = "pinocchio in python"
_REST, _WEIGHT_TOLERANCE = 1500, 0.01  # steps until a robot rests; share of the weight
_MARCH, _PERIOD = 0.05, 0.5  # amplitude of the joints [rad], [s]
_WAYS = {"native float64": "float64", "native float32": "float32"}


def run(
    free: Annotated[str, typer.Option(metavar="NAMES", help="Robots in free flight, separated by commas.")] = "g1",
    ground: Annotated[str, typer.Option(metavar="NAMES", help="Robots on the ground.")] = "hexapod,g1",
    copies: Annotated[int, typer.Option(help="Copies of a batch.", min=1)] = 256,
    steps: Annotated[int, typer.Option(help="Steps of a pass.", min=1)] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the copies.", min=0)] = 0,
    quick: page.Quick = False,
) -> Json:
    """Measure."""
    parts = [("free", free_flight, x) for x in named(free)] + [("ground", on_ground, x) for x in named(ground)]
    robots = {name: load(name) for _, _, name in parts}
    result: Json = header("sim", seed) | {"copies": copies, "steps": steps, "quick": quick}
    result |= {"free": {}, "ground": {}, "skipped": []}
    for k, (part, measure_part, name) in enumerate(parts):
        tell(k / len(parts), f"{name} {part}")
        try:
            result[part][name] = measure_part(robots[name], copies, steps, seed, _QUICK if quick else _WHOLE)
        except NotSupportedError as error:
            result["skipped"].append(f"{name} {part}: {error.message}")
    tell(1.0, "")
    return result


def _rows(times: dict[str, Times], baseline: float) -> Json:
    return {
        way: x.json() | {"steps_per_second": 1.0 / x.p50, "ratio": baseline / x.p50} for way, x in times.items()
    }  # fmt: skip


# -- free flight ------------------------------------------------------------------------------------------------------


def free_flight(robot: Robot, copies: int, steps: int, seed: int, effort: Effort) -> Json:
    """Steps per second of a single copy, and of a batch per core; a pass has ten times as many steps.

    Raises:
        WrongAnswerError: A way ends in another state than MuJoCo.
    """
    flight = _Flight(robot, seed)
    ways: dict[str, tuple[Callable[[], tuple[Array, Array]], int]] = {
        _BASELINE: (flight.pinocchio, 1),
        "mujoco, one call per step": (lambda: flight.mujoco(1), 1),
        "mujoco, one call for all steps": (lambda: flight.mujoco(flight.steps), 1),
        "native engine, one call per step": (flight.engine_step_by_step, 1),
        "native engine, one call for all steps": (flight.engine_at_once, 1),
        "native step, one call per step": (flight.native_step_by_step, 1),
        "native step, one call for all steps": (flight.native_at_once, 1),
        "native step, batch": (flight.batch(copies), copies),
    }
    errors = {name: flight.error(name, *way()) for name, (way, _) in ways.items()}
    flight.steps = 10 * steps
    with pinned():
        times = {name: measure(way, flight.steps * count, effort) for name, (way, count) in ways.items()}
    rows = _rows(times, times[_BASELINE].p50)
    return {name: row | {"error": errors[name]} for name, row in rows.items()}


class _Flight:
    """A robot in empty space, under constant torques; every way begins with the same state."""

    def __init__(self, robot: Robot, seed: int) -> None:
        rng = np.random.default_rng(seed)
        limits, nothing = DrivenJoints(robot).torque_limits, np.zeros(robot.nu)
        self.robot, self.steps = robot, _COMPARED
        self.q, self.v = np.array(robot.home), _SPREAD * rng.standard_normal(robot.nv)
        self.torque = _TORQUE * np.where(np.isfinite(limits), limits, 1.0) * rng.uniform(-1.0, 1.0, robot.nu)
        settings = Settings(_FREE_DT, SpringDamper(), "semi_implicit", touches=False, stops=False, friction=False)
        self.step: Kernel = compiled_step(robot, Variant(settings, "torque", None, "float64", False)).kernel
        self.loop, self.data = Repeated(self.step, {"q": 0, "v": 1}), robot.model.createData()
        self.tau = np.zeros(robot.nv)
        self.tau[robot.driven] = self.torque
        self.engine = NativeEngine(robot, None, _FREE_DT, limits=False, friction=False, springs=False)
        self.actuation = Actuation(self.torque, nothing, nothing, nothing, nothing, -limits, limits)
        self.model = build_mujoco(robot, None, timestep=_FREE_DT)
        self.mj, self.mj_data = self.model.mj, mujoco.MjData(self.model.mj)
        self.mj.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
        for name in _OFF:
            self.mj.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}")
        self.mj_start = qpos_qvel(self.model, self.q, self.v)
        self.mj_data.ctrl[:] = self.torque[self.model.actuators >= 0]
        self.expected = self.mujoco(self.steps)

    def error(self, name: str, q: Array, v: Array) -> float:
        """How far the last state of a way is from MuJoCo's, on the manifold."""
        gap = np.abs(pin.difference(self.robot.model, self.expected[0], np.array(q))).max()
        error, tolerance = float(max(gap, np.abs(v - self.expected[1]).max())), _NEAR if name == _BASELINE else _SAME
        if not error <= tolerance:
            raise WrongAnswerError(
                f"{self.robot.name}, {name}: the last state differs from MuJoCo's, so it is not timed",
                evidence={"error": error, "tolerance": tolerance, "steps": self.steps},
            )
        return error

    def pinocchio(self) -> tuple[Array, Array]:
        """A loop in Python; it moves the base along a velocity in its own axes: another method of first order."""
        model, data, q, v, tau = self.robot.model, self.data, self.q, self.v, self.tau
        for _ in range(self.steps):
            v = v + _FREE_DT * pin.aba(model, data, q, v, tau)
            q = pin.integrate(model, q, _FREE_DT * v)
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

    def batch(self, copies: int) -> Callable[[], tuple[Array, Array]]:
        """Many copies in one call; they all do the same."""
        q, v = np.tile(self.q, (copies, 1)), np.tile(self.v, (copies, 1))

        def call() -> tuple[Array, Array]:
            found = self.loop({"q": q, "v": v, "torque": self.torque}, self.steps)
            return found.final["q"][-1], found.final["v"][-1]

        return call

    def mujoco(self, at_once: int) -> tuple[Array, Array]:
        step, mj, data = mujoco.mj_step, self.mj, self.mj_data
        data.qpos[:], data.qvel[:] = self.mj_start
        if at_once == self.steps:
            step(mj, data, nstep=at_once)
        else:
            for _ in range(self.steps):
                step(mj, data)
        return q_v(self.model, data.qpos, data.qvel)


# -- on the ground ----------------------------------------------------------------------------------------------------


def on_ground(robot: Robot, copies: int, steps: int, seed: int, effort: Effort) -> Json:
    """Rest, energy and speed of a robot on flat ground.

    Raises:
        NotSupportedError: The robot does not stand.
        WrongAnswerError: One of the engines does not carry the weight, or a copy diverges.
    """
    stand = _Stand(robot)
    rest = stand.compare_rest()
    found = {"points": rest["points"], "rest": rest, "energy": stand.energy_residual()}
    for name, march in (("stand", 0.0), ("march", _MARCH)):
        found[name] = stand.times(copies, steps, seed, march, effort)
    return found


class _Stand:
    """A robot that its joint controller holds upright."""

    def __init__(self, robot: Robot) -> None:
        if robot.base_joint is None or not robot.contacts:
            raise NotSupportedError(f"`{robot.name}` does not stand: it is fixed, or has no contact surface")
        self.robot, self.world, controller = robot, World.flat(), JointPd(robot)
        command = controller.command(0.0, State.of(robot))
        self.kp, self.kd = controller.kp, controller.kd
        lift = np.zeros(robot.nu) if command.torque is None else command.torque / controller.kp
        self.target = np.asarray(command.position) + lift  # springs that carry the weight

    def request(self, copies: int, steps: int, seed: int, march: float, every: int = 1) -> Request:
        """Copies that differ in their first velocity and in the phase of their steps."""
        rng = np.random.default_rng(seed)
        v = 0.01 * rng.standard_normal((copies, self.robot.nv)) * (copies > 1)
        phase = 2.0 * np.pi * rng.random((copies, 1, self.robot.nu))
        time = _DT * np.arange(steps)[None, :, None]
        controls = self.target + march * (np.sin(2.0 * np.pi / _PERIOD * time + phase) - np.sin(phase))
        states = np.tile(self.robot.home, (copies, 1)), v
        settings = RolloutSettings(mode="position", kp=self.kp, kd=self.kd, record_every=every)
        return make_request(self.robot, states, controls, self.world, _DT, 1, settings)

    def compare_rest(self) -> Json:
        """Forces and depths of both engines at rest."""
        request = self.request(1, _REST, 0, 0.0, every=_REST)
        weight = self.robot.mass * float(np.linalg.norm(self.world.gravity))
        native, judge = NativeRollout(request, RolloutSettings(forces=True)), _feet_only(request)
        q, _, force, good = native.run()
        if force is None or good[0] < _REST:
            raise WrongAnswerError(f"{self.robot.name} diverges on the ground", evidence={"steps": int(good[0])})
        judge_q, _, _ = judge.read(judge.run())
        sides = {"native": (force[0, -1, :, 2], q), "mujoco": (_normal_forces(judge), judge_q)}
        found: Json = {"points": len(sides["native"][0]), "mujoco_contacts": len(sides["mujoco"][0])}
        found |= {"weight_n": weight} | {f"{who}_load_n": float(x.sum()) for who, (x, _) in sides.items()}
        for who, (_, x) in sides.items():
            found[f"{who}_depth_mm"] = -1e3 * float(native.points(x[:, -1])[0, :, 2].min())
            if abs(found[f"{who}_load_n"] - weight) > _WEIGHT_TOLERANCE * weight:
                raise WrongAnswerError(f"{self.robot.name} does not rest in {who}, so it is not timed", evidence=found)
        return found

    def energy_residual(self) -> Json:
        """Change of energy less all work of a marching copy over a second, and the work that was done [J]."""
        steps, nothing = 1000, np.zeros(self.robot.nu)
        request, limits = self.request(1, steps, 0, _MARCH), DrivenJoints(self.robot).torque_limits
        engine = NativeEngine(self.robot, self.world, _DT)
        engine.reset(State.of(self.robot))
        for position in request.controls[0]:
            engine.advance(Actuation(nothing, position, self.kp, nothing, self.kd, -limits, limits))
        found = engine.balance
        work = sum(abs(x) for x in (found.drives, found.contacts, found.damping))
        return {"residual_j": float(found.energy_residual), "work_j": float(work), "seconds": steps * _DT}

    def times(self, copies: int, steps: int, seed: int, march: float, effort: Effort) -> Json:
        """Steps per second and core of both engines; MuJoCo, whose steps take longer, has a quarter of the copies."""
        request, fewer = (self.request(n, steps, seed, march) for n in (copies, max(1, copies // 4)))
        ours = {way: NativeRollout(request, RolloutSettings(dtype=dtype)) for way, dtype in _WAYS.items()}
        peers = {"mujoco as judge": _feet_only(fewer), "mujoco defaults": _with_defaults(_feet_only(fewer))}
        for way, x in ours.items():
            if not (good := x.run()[3] == steps).all():
                raise WrongAnswerError(f"{self.robot.name}, {way}: {np.sum(~good)} copies diverge, so it is not timed")
        with pinned():
            found = {way: measure(x.run, fewer.copies * steps, effort) for way, x in peers.items()}
            found |= {way: measure(x.run, copies * steps, effort) for way, x in ours.items()}
        return _rows(found, min(found[way].p50 for way in peers))


def _feet_only(request: Request) -> MujocoRollout:
    """MuJoCo's rollout in which a robot touches the ground by its contact surfaces alone."""
    judge = MujocoRollout(request)
    feet = {geom for geoms in judge.model.contact_geoms.values() for geom in geoms}
    others = [geom for geom in judge.model.geoms if geom not in feet]
    judge.model.mj.geom_contype[others], judge.model.mj.geom_conaffinity[others] = 0, 0
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
    wrenches = np.zeros((data.ncon, 6))
    for k, wrench in enumerate(wrenches):
        mujoco.mj_contactForce(mj, data, k, wrench)
    return wrenches[:, 0]


# -- what is printed --------------------------------------------------------------------------------------------------


def show(result: Json) -> None:
    """Print tables of steps, rest and energy for each robot."""
    for name, ways in result["free"].items():
        print(f"\n{name} in free flight; one core, × the loop with Pinocchio")
        _print_steps(ways)
    for name, part in result["ground"].items():
        print(f"\n{name} on {part['points']} contact points; one core, × the faster settings of MuJoCo")
        for case in ("stand", "march"):
            print(case)
            _print_steps(part[case])
        print_lines("rest", [_rest_line(part["rest"], who) for who in ("native", "mujoco")])
        energy = part["energy"]
        print(
            f"energy, marching {energy['seconds']:g} s: work {energy['work_j']:.3g} J, residual "
            f"{energy['residual_j']:.2g} J"
        )
    print_lines("not measured", result["skipped"])


def _print_steps(ways: Json) -> None:
    def rows() -> Iterator[list[str]]:
        for name, row in ways.items():
            cells = [number_text(row[key]) for key in ("p50_us", "p95_us", "ratio")]
            error = f"{row['error']:.1e}" if "error" in row else ""
            yield [name, f"{row['steps_per_second']:,.0f}", *cells, error]

    print_table(("", "steps/s", "µs p50", "µs p95", "×", "error"), rows())


def _rest_line(rest: Json, who: str) -> str:
    load, depth = rest[f"{who}_load_n"], rest[f"{who}_depth_mm"]
    return f"{who}: carries {load:.2f} N of {rest['weight_n']:.2f} N, deepest point {depth:.2f} mm"
