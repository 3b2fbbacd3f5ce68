"""Joints that are independent of each other, to test drives without an engine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefoot.motion import Command
from surefoot.robot import Drive, Joint, Link, Robot
from surefoot.sim.drives.actuation import Actuation
from surefoot.sim.drives.drives import DriveBank

MOTOR = {"gear_ratio": 50.0, "resistance": 2.0, "inductance": 1e-3, "torque_constant": 0.05, "voltage": 24.0}
GEAR = {"gear_ratio": 100.0, "rotor_inertia": 2e-5, "gear": "elastic", "stiffness": 3e3, "damping": 3.0}
SERVO = {"torque_limit": 0.94, "speed_limit": 5.2, "servo_stiffness": 20.0, "servo_damping": 0.3}


def robot_of(*drives: dict, kind: str = "revolute") -> Robot:
    """Joints j0, j1, … of one kind, with drives made of these fields."""
    links, made = [Link("base")], []
    for k, fields in enumerate(drives):
        links.append(Link(f"l{k}", "base", Joint(f"j{k}", kind), mass=1.0, inertia=np.eye(3)))
        made.append(Drive(f"j{k}", **fields))
    return Robot.from_tree("joints", links, drives=tuple(made))


class Joints:
    """I dv/dt = drive − viscous v + load, one step: speed first, then position; the drive as [sim.drive] says."""

    def __init__(self, inertia, velocity=0.0, *, position=0.0, viscous=0.0, dt: float = 0.002, n: int = 1) -> None:
        self.inertia, self.viscous, self.dt = np.broadcast_to(np.asarray(inertia, dtype=float), n), viscous, dt
        self.q, self.v = np.full(n, position, dtype=float), np.full(n, velocity, dtype=float)
        self.torque, self.work = np.zeros(n), np.zeros(n)

    def advance(self, a: Actuation, load=0.0) -> None:
        heavy = self.inertia / self.dt
        push = heavy * self.v + load
        v = (push + a.torque + a.kp * (a.position - self.q) + a.kd * a.velocity) / (
            heavy + self.viscous + self.dt * a.kp + a.kd
        )
        law = a.torque + a.kp * (a.position - self.q - self.dt * v) + a.kd * (a.velocity - v)
        self.torque = np.clip(law, a.lower, a.upper)
        v = np.where(law == self.torque, v, (push + self.torque) / (heavy + self.viscous))
        self.work += self.torque * 0.5 * self.dt * (self.v + v)
        self.v, self.q = v, self.q + self.dt * v

    @property
    def kinetic(self) -> float:
        return float(0.5 * self.inertia @ self.v**2)


class Held(Joints):
    """Joints that keep their speed whatever the drives do."""

    def advance(self, a: Actuation, load=0.0) -> None:
        q, v = self.q + self.dt * self.v, self.v
        self.torque = np.clip(a.torque + a.kp * (a.position - q) + a.kd * (a.velocity - v), a.lower, a.upper)
        self.work += self.torque * self.dt * v
        self.q = q


def torque(*values: float) -> Command:
    return Command(torque=np.array(values))


def run(bank: DriveBank, joints: Joints, command: Command | Callable[[float], Command], steps: int, load=0.0) -> dict:
    """Histories, (steps + 1, n): q and v at the start of each step and at the end, torque of each step."""
    bank.reset(joints.q, joints.v)
    out: dict[str, list] = {"q": [joints.q], "v": [joints.v], "torque": []}
    for k in range(steps):
        now = command if isinstance(command, Command) else command(k * joints.dt)
        joints.advance(bank.act(now, joints.q, joints.v), load)
        out["q"].append(joints.q)
        out["v"].append(joints.v)
        out["torque"].append(joints.torque)
    bank.settle(joints.q, joints.v)
    return {name: np.array(values) for name, values in out.items()}
