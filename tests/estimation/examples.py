"""True motions without any engine: a body that moves as told over feet that do not move at all."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

import surefoot as sf
from surefoot.estimation import BaseEstimator, EstimatorSettings
from surefoot.motion import State
from surefoot.robot import Joint, Link, Robot, placement
from surefoot.sim.sensors.sensors import Sensors, Truth
from surefoot.sim.sensors.settings import SensorSettings

STEP = 1e-4


def arm(base: str) -> Robot:
    """A turning, a continuous and a sliding joint."""
    body = {"mass": 1.0, "inertia": 0.01 * np.eye(3)}
    links = [
        Link("base", **body),
        Link("one", "base", Joint("swing", "revolute", placement((0.1, 0.0, 0.2)), axis=(0.0, 1.0, 0.0)), **body),
        Link("two", "one", Joint("spin", "continuous", placement((0.0, 0.2, 0.0)), axis=(1.0, 0.0, 0.0)), **body),
        Link("three", "two", Joint("slide", "prismatic", placement((0.0, 0.0, 0.3)), axis=(0.0, 0.0, 1.0)), **body),
    ]
    return Robot.from_tree("arm", links, base)


@dataclass(frozen=True)
class Sway:
    """Amplitudes [m], [rad] and frequencies [Hz] of the base against its home."""

    way: tuple = (0.03, 0.04, 0.02)
    turn: tuple = (0.08, 0.06, 0.1)
    way_rate: tuple = (0.7, 0.5, 0.9)
    turn_rate: tuple = (0.6, 0.8, 0.4)

    def pose(self, t: float, home: pin.SE3) -> pin.SE3:
        p = np.array(self.way) * np.sin(2 * np.pi * np.array(self.way_rate) * t)
        r = np.array(self.turn) * np.sin(2 * np.pi * np.array(self.turn_rate) * t)
        return pin.SE3(home.rotation @ pin.exp3(r), home.translation + p)

    def twist(self, t: float, home: pin.SE3) -> np.ndarray:
        before, after = self.pose(t - STEP, home), self.pose(t + STEP, home)
        return pin.log6(before.actInv(after)).vector / (2 * STEP)


GENTLE = Sway(way=(0.01, 0.02, 0.0), turn=(0.03, 0.03, 0.04))
WIDE = Sway()
STILL = Sway(way=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Slide:
    """The first contact moves by `reach` (3,) [m] between two times, gently, on the ground or lifted."""

    reach: tuple
    start: float = 1.0
    end: float = 1.4
    lifted: bool = False

    def way(self, t: float) -> np.ndarray:
        s = np.clip((t - self.start) / (self.end - self.start), 0.0, 1.0)
        return np.array(self.reach) * (0.5 - 0.5 * np.cos(np.pi * s))

    def rate(self, t: float) -> np.ndarray:
        return (self.way(t + STEP) - self.way(t - STEP)) / (2 * STEP)


class Stander:
    """A robot whose contacts stay where they are at home while its base follows a `Sway`."""

    def __init__(self, robot, sway: Sway, slide: Slide | None = None) -> None:
        self.slide = slide
        self.robot, self.sway, self.data = robot, sway, robot.model.createData()
        self.q = np.array(robot.home)
        self.home = pin.XYZQUATToSE3(self.q[:7])
        frames = [robot.model.frames[robot.frame_id(c.frame)] for c in robot.contacts.values()]
        self.on = [(f.parentJoint, f.placement * pin.SE3(np.array(c.placement)))
                   for f, c in zip(frames, robot.contacts.values(), strict=True)]  # fmt: skip
        self.rows = slice(0, 3) if all(c.kind == "point" for c in robot.contacts.values()) else slice(0, 6)
        legs = set()
        for c in robot.contacts.values():
            body = robot.body_of(c.frame)
            legs |= {int(robot.tree.v_index[i]) for i in [body, *robot.tree.ancestors(body)] if i != robot.base_joint}
        self.legs = np.array(sorted(legs))
        pin.forwardKinematics(robot.model, self.data, self.q)
        self.spots = [self.data.oMi[j] * P for j, P in self.on]

    def jacobian(self) -> np.ndarray:
        model, data = self.robot.model, self.data
        pin.computeJointJacobians(model, data, self.q)
        return np.vstack([pin.getFrameJacobian(model, data, j, P, pin.LOCAL)[self.rows] for j, P in self.on])

    def spots_at(self, t: float) -> list:
        if self.slide is None:
            return self.spots
        way = pin.SE3(np.eye(3), self.slide.way(t))
        return [way * spot if k == 0 else spot for k, spot in enumerate(self.spots)]

    def at(self, t: float) -> Truth:
        spots = self.spots_at(t)
        self.q[:7] = pin.SE3ToXYZQUAT(self.sway.pose(t, self.home))
        for _ in range(20):
            J = self.jacobian()
            error = np.concatenate(
                [pin.log6((self.data.oMi[j] * P).actInv(S)).vector[self.rows]
                 if self.rows.stop == 6 else (self.data.oMi[j] * P).actInv(S).translation
                 for (j, P), S in zip(self.on, spots, strict=True)]
            )  # fmt: skip
            if np.abs(error).max() < 1e-12:
                break
            step = np.zeros(self.robot.nv)
            step[self.legs] = np.linalg.solve(J[:, self.legs], error)
            self.q = pin.integrate(self.robot.model, self.q, step)
        else:
            raise ValueError(f"the legs of {self.robot.name} do not reach the ground at t = {t}")
        return self.moving(t, J)

    def moving(self, t: float, J: np.ndarray) -> Truth:
        robot, model, data = self.robot, self.robot.model, self.data
        v, a = np.zeros(robot.nv), np.zeros(robot.nv)
        v[:6] = self.sway.twist(t, self.home)
        a[:6] = (self.sway.twist(t + STEP, self.home) - self.sway.twist(t - STEP, self.home)) / (2 * STEP)
        rate = np.zeros(len(J))
        if self.slide is not None:
            T = self.data.oMi[self.on[0][0]] * self.on[0][1]
            rate[:3] = T.rotation.T @ self.slide.rate(t)
        v[self.legs] = np.linalg.solve(J[:, self.legs], rate - J[:, :6] @ v[:6])
        pin.forwardKinematics(model, data, self.q, v, a)
        drift = np.concatenate(
            [pin.getFrameClassicalAcceleration(model, data, j, P, pin.LOCAL).vector[self.rows] for j, P in self.on]
        )
        a[self.legs] = -np.linalg.solve(J[:, self.legs], drift)
        load = robot.mass * 9.81 / len(self.on)
        wrenches = {name: np.array([0.0, 0.0, load, 0.0, 0.0, 0.0]) for name in robot.contacts}
        if self.slide is not None and self.slide.lifted and np.any(self.slide.rate(t)):
            wrenches[next(iter(wrenches))] = np.zeros(6)
        return Truth(t, self.q.copy(), v, a, wrenches)


@functools.lru_cache(maxsize=8)
def standing(name: str, duration: float, dt: float, sway: Sway, slide: Slide | None = None) -> tuple[Truth, ...]:
    stander = Stander(robot_of(name), sway, slide)
    return tuple(stander.at(k * dt) for k in range(round(duration / dt) + 1))


@functools.cache
def robot_of(name: str):
    return sf.load(name)


@functools.cache
def estimator_of(name: str, settings: EstimatorSettings) -> BaseEstimator:
    """Used again and again: `reset` must make it as new."""
    return BaseEstimator(robot_of(name), settings)


@dataclass
class Run:
    """Errors over time: attitude [rad], velocity (n, 3) in world [m/s], position (n, 3) [m], and the estimator."""

    attitude: np.ndarray
    velocity: np.ndarray
    position: np.ndarray
    estimator: BaseEstimator
    states: list

    @property
    def tilt(self) -> np.ndarray:
        return np.degrees(np.linalg.norm(self.attitude, axis=1))

    @property
    def speed(self) -> np.ndarray:
        return np.linalg.norm(self.velocity, axis=1)


def run(robot, truths, sensors: SensorSettings, seed=0, settings=None, start=None, event=None, each=None) -> Run:
    """Feed an estimator with the readings of a motion.

    Args: `start` changes the state that the estimator begins with; `event(k, sensors, readings)` is called before every
    update, `each(k, estimator, errors)` after it.
    """
    dt = truths[1].t - truths[0].t
    suite = Sensors(robot, sensors, np.random.default_rng(seed), dt)
    estimator = estimator_of(robot.name, settings or EstimatorSettings())
    first = State(truths[0].t, truths[0].q, truths[0].v)
    estimator.reset(start(first) if start else first)
    rows, states = [], []
    for k, truth in enumerate(truths):
        readings = suite.read(truth)
        if event:
            event(k, suite, readings)
        state = estimator.update(truth.t, readings)
        errors = base_errors(truth, state)
        if each:
            each(k, estimator, errors)
        rows.append(errors)
        states.append(state)
    found = np.array(rows)
    return Run(found[:, :3], found[:, 3:6], found[:, 6:9], estimator, states)


def base_errors(truth: Truth, state: State) -> np.ndarray:
    """(9,) rotation vector, velocity, position: estimate less truth, in world."""
    T, E = pin.XYZQUATToSE3(np.array(truth.q[:7])), pin.XYZQUATToSE3(np.array(state.q[:7]))
    turn = pin.log3(E.rotation @ T.rotation.T)
    return np.concatenate([turn, E.rotation @ state.v[:3] - T.rotation @ truth.v[:3], E.translation - T.translation])
