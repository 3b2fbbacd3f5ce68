"""How limb motion moves a free-floating base."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.scenario.findings import Findings, StudiedRun

_TURN = 1e-4  # of a base on which there should be no reaction [rad]
_SHIFT = 1e-4  # of a frame that should rest in space, beside its turn [m]
_MOMENTUM = 1e-6  # what a robot may gain by itself, per mass: [m/s] and [m²/s]


def free_floating(run: StudiedRun) -> Findings:
    """Turn and shift of the base, largest on the way and at the end; momentum, which must stay zero.

    Nenchev & Konno 2019, §4.6–4.7: without outer forces, joint motion in the reaction null space leaves the base
    at rest, cycles of the limbs turn it although the momentum stays zero, and motion in the
    null space of the generalised Jacobian turns it about a frame that rests in space.
    """
    robot, log = run.simulation.robot, run.log
    data = robot.model.createData()
    base = robot.base_joint or 0
    held = run.scenario.controller.frame
    poses, rests, momenta = [], [], []
    for q, v in zip(log["q"], log["v"], strict=True):
        momenta.append(pin.computeCentroidalMomentum(robot.model, data, np.array(q), np.array(v)).vector)
        poses.append(data.oMi[base + 1].copy())
        rests.append(pin.updateFramePlacement(robot.model, data, robot.frame_id(held)).copy() if held else pin.SE3())
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
    if held:
        metrics["frame_turn_max_rad"] = max(np.linalg.norm(pin.log3(rests[0].rotation.T @ T.rotation)) for T in rests)
        metrics["frame_shift_max_m"] = max(np.linalg.norm(T.translation - rests[0].translation) for T in rests)
    if momentum >= _MOMENTUM:
        return Findings(metrics, f"momentum is not conserved: {momentum:.2g} per mass")
    if run.scenario.controller.kind == "reactionless" and not metrics["base_turn_max_rad"] <= _TURN:
        return Findings(
            metrics, f"the base turns by {metrics['base_turn_max_rad']:.2g} rad, although it should not turn"
        )
    if held and not (metrics["frame_turn_max_rad"] <= _TURN and metrics["frame_shift_max_m"] <= _SHIFT):
        return Findings(metrics, f"`{held}` moves by {metrics['frame_shift_max_m']:.2g} m, although it should rest")
    return Findings(metrics)
