"""How limb motion moves a free-floating base."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.scenario.findings import Findings, StudiedRun

__all__ = ["free_floating"]

_TURN = 1e-4  # of a base on which there should be no reaction [rad]
_MOMENTUM = 1e-6  # what a robot may gain by itself, per mass: [m/s] and [m²/s]


def free_floating(run: StudiedRun) -> Findings:
    """Turn and shift of the base, largest on the way and at the end; momentum, which must stay zero.

    Nenchev & Konno 2019, §4.6–4.7: without outer forces, joint motion in the reaction null space leaves the base
    at rest, and cycles of the limbs turn it although the momentum stays zero.

    Args:
        run: The run.
    """
    robot, log = run.simulation.robot, run.log
    data = robot.model.createData()
    base = robot.base_joint or 0
    poses, momenta = [], []
    for q, v in zip(log["q"], log["v"], strict=True):
        momenta.append(pin.computeCentroidalMomentum(robot.model, data, np.array(q), np.array(v)).vector)
        poses.append(data.oMi[base + 1].copy())
    turns = np.array([pin.log3(poses[0].rotation.T @ pose.rotation) for pose in poses])
    shifts = np.array([pose.translation - poses[0].translation for pose in poses])
    momentum = float(np.abs(np.array(momenta) - momenta[0]).max()) / robot.mass
    moved = np.abs(np.array(log["v"])[:, robot.driven])
    metrics = {
        "base_turn_max_rad": float(np.linalg.norm(turns, axis=1).max()),
        "base_turn_end_rad": turns[-1].tolist(),
        "base_shift_max_m": float(np.linalg.norm(shifts, axis=1).max()),
        "joint_travel_rad": float(np.trapezoid(moved, log.time, axis=0).sum()),
        "momentum_gain_per_mass": momentum,
    }
    if momentum >= _MOMENTUM:
        return Findings(metrics, f"momentum is not conserved: {momentum:.2g} per mass")
    if run.scenario.controller.kind == "reactionless" and not metrics["base_turn_max_rad"] <= _TURN:
        return Findings(
            metrics, f"the base turns by {metrics['base_turn_max_rad']:.2g} rad, although it should not turn"
        )
    return Findings(metrics)
