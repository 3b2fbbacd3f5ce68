"""Motions and folders of runs for tests, made without a simulation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin

from surefoot.motion import Column, Log, Trajectory
from surefoot.robot import Robot, zoo

__all__ = ["swaying", "weight_on", "write_run"]


def swaying(robot: Robot, end: float = 1.0, count: int = 101, **others: object) -> Trajectory:
    """Joints swing smoothly about home, and the base turns and walks along x; v and a are those of q."""
    time = np.linspace(0.0, end, count)
    rng = np.random.default_rng(7)
    way = 0.1 * rng.uniform(-1.0, 1.0, robot.nv)
    phase = 2.0 * np.pi * time / end
    q = np.array([pin.integrate(robot.model, robot.home, way * s) for s in np.sin(phase)])
    v, a = np.zeros((count, robot.nv)), np.zeros((count, robot.nv))
    for k in range(count):  # differences on the manifold, fine enough to be exact for the tests
        h = 1e-5
        before, here, after = (
            pin.integrate(robot.model, robot.home, way * np.sin(2.0 * np.pi * t / end))
            for t in (time[k] - h, time[k], time[k] + h)
        )
        v[k] = pin.difference(robot.model, before, after) / (2.0 * h)
        a[k] = (pin.difference(robot.model, here, after) - pin.difference(robot.model, before, here)) / h**2
    tau = np.sin(phase)[:, None] * np.arange(1.0, robot.nu + 1.0)
    moments = [0.1 * np.sin(phase + i) for i in range(3)]
    wrench = np.column_stack([np.sin(phase), np.cos(phase), 20.0 + np.sin(phase), *moments])
    wrenches = {name: (1.0 + 0.1 * k) * wrench for k, name in enumerate(robot.contacts)}
    given = {"a": a, "tau": tau, "wrenches": wrenches} | others
    return Trajectory.of(robot, time, q, v, **given)


def weight_on(robot: Robot, trajectory: Trajectory) -> Trajectory:
    """The motion without wrenches and at rest in its first posture."""
    still = np.tile(trajectory.q[0], (len(trajectory), 1))
    zero = np.zeros_like(trajectory.v)
    return replace(trajectory, q=still, v=zero, a=zero, wrenches={}, tau=None)


def write_run(folder: Path, robot_name: str = "hexapod", end: float = 1.0, count: int = 101, **metrics: object) -> Path:
    """A folder like that of a run."""
    robot = zoo.load(robot_name)
    trajectory = replace(swaying(robot, end, count), a=None)
    columns = [
        Column("time", "s", trajectory.time),
        Column("q", "mixed", trajectory.q),
        Column("v", "mixed", trajectory.v),
        Column("tau", "N m | N", trajectory.tau),
        Column("base.height", "m", trajectory.q[:, 2] if robot.base == "floating" else np.ones(count)),
        Column("energy.residual", "J", np.full(count, np.nan)),
    ]
    columns += [Column(f"contact.{name}.wrench", "N | N m", wrench) for name, wrench in trajectory.wrenches.items()]
    folder.mkdir(parents=True)
    trajectory.save(folder / "trajectory.npz")
    Log.of(*columns).save(folder / "log.parquet")
    found = {"schema": "surefoot.metrics/1", "scenario": "stand", "robot": robot.name, "fallen": False,
             "duration_s": end, "slip_m": 0.0, "versions": {"python": "3.11", "pin": "4.1"}}  # fmt: skip
    (folder / "metrics.json").write_text(json.dumps({**found, **metrics}))
    (folder / "scenario.toml").write_text(
        f'name = "stand"\n\n[robot]\nname = "{robot_name}"\n\n[world]\nfriction = {0.4 + 0.1 * end:.2f}\n'
    )
    return folder
