"""The inertia that each drive answers for: gains from the robot's own masses, so that no robot needs tuning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh, null_space

from surefoot.arrays import Array
from surefoot.control.driven_joints import coupled_motion
from surefoot.control.static_balance import SoleCorners
from surefoot.robot import Robot

__all__ = ["BANDWIDTH", "DAMPING_RATIO", "drive_gains", "moved_inertia", "standing_inertia"]

BANDWIDTH = 12.0
"""Least natural frequency of the joints and of the standing robot [rad/s]."""
DAMPING_RATIO = 0.7

_STILL = 1e-12  # a foot whose twist is below this does not hang on the drive
_ROUNDS = 300
_ENOUGH = 1.01  # ways to move with less than this share too much inertia are left to the last scaling
_UNDRIVEN = 1e4  # with this many times the inertia that the drives answer for, no drive resists the motion
_RANK = 1e-8
_LEAST = 1e-12


def moved_inertia(robot: Robot, q: Array, standing: Sequence[str] = ()) -> Array:
    """(nu,) the inertia [kg m²] or [kg] that each drive moves, all other drives held; followers move with their leader.

        m = gᵀ M g        [control.moved-inertia]

    with g the velocities for unit speed of the drive. A joint divides the robot in two. Of a limb that hangs in the
    air the far part moves, and the base rests. Of a limb that stands, the far part stays on the ground, as well as the
    base can move for it, and the rest of the robot moves; the standing limbs share it; rotors turn with their own
    drive alone. A robot with a fixed base has hanging limbs only.

    Args:
        robot: The robot.
        q: (nq,) the posture.
        standing: Names of the contact surfaces that stand.
    """
    model, data = robot.model, robot.model.createData()
    rotors = np.diag(robot.tree.armature)
    bodies = np.array(pin.crba(model, data, np.array(q))) - rotors
    motions = coupled_motion(robot)[:, robot.driven]
    if robot.base_joint is None:
        standing = ()
    pin.computeJointJacobians(model, data, np.array(q))
    frames = [robot.frame_id(robot.contacts[name].frame) for name in standing]
    feet = [np.array(pin.getFrameJacobian(model, data, frame, pin.LOCAL)) for frame in frames]
    return np.array([g @ rotors @ g + _inertia_of(bodies, g, feet, robot.base_rows) for g in motions.T])


def _inertia_of(M: Array, motion: Array, feet: Sequence[Array], base_rows: NDArray[np.int64]) -> float:
    """Inertia along one motion (nv,), its share on each foot that the motion would move without the ground."""
    moved = [foot for foot in feet if np.abs(foot @ motion).max() > _STILL]
    if not moved:
        return float(motion @ M @ motion)
    held = [_with_foot_held(motion, foot, base_rows) for foot in moved]
    return float(sum(v @ M @ v for v in held)) / len(feet)


def _with_foot_held(motion: Array, foot: Array, base_rows: NDArray[np.int64]) -> Array:
    """The motion (nv,) with that of the base which leaves a foot, with Jacobian (6, nv), at rest."""
    out = np.array(motion)
    out[base_rows] = -np.linalg.pinv(foot[:, base_rows]) @ (foot @ motion)
    return out


def standing_inertia(robot: Robot, q: Array, standing: Sequence[str]) -> Array:
    """(nu,) inertias m [kg m²] or [kg] of the drives that together outweigh every way in which a standing robot moves.

        vᵀ M v ≤ Σ m_k u_k²  for all v with J v = 0,  u = v at the drives        [control.standing-inertia]

    J are the corners of the contacts. Springs ω² m and dampers 2 ζ ω m at the drives then give every such motion a
    natural frequency of at least ω and a damping ratio of at least ζ (Rayleigh's quotient: Horn & Johnson 2013, Thm
    4.2.2). One drive after another (`moved_inertia`) does not: a quadruped that sways turns all hips together and
    carries its base along, and joints in series yield one after another.

    m begins with `moved_inertia`; drives gain by their part in the motions that are too heavy for them. Motions that
    no drive resists count for nothing. Robots that do not stand, and robots with closed chains, keep `moved_inertia`.

    Args:
        robot: The robot.
        q: (nq,) the posture.
        standing: Names of the contact surfaces that stand.
    """
    inertia = moved_inertia(robot, q, standing)
    if robot.base_joint is None or not standing or robot.loops or not robot.nu:
        return inertia
    motions = _free_motions(robot, q, standing)
    M = np.array(pin.crba(robot.model, robot.model.createData(), np.array(q)))
    return _raised(inertia, motions.T @ M @ motions, motions[robot.driven])


def _free_motions(robot: Robot, q: Array, standing: Sequence[str]) -> Array:
    """(nv, n) velocities that span those with all corners at rest and followers moving with their leaders."""
    followers = [int(robot.tree.v_index[robot.joint_index(item.joint)]) for item in robot.couplings]
    G = np.delete(coupled_motion(robot), followers, axis=1)
    return np.array(G @ null_space(SoleCorners(robot, standing).jacobian(np.array(q)) @ G, rcond=_RANK))


def _raised(inertia: Array, M: Array, speeds: Array) -> Array:
    """Inertias (nu,) that outweigh M (n, n), from smaller ones; `speeds` (nu, n) are those of the drives."""
    out, heaviest = np.array(inertia), 1.0
    for _ in range(_ROUNDS):
        weights, ways = _relative_weights(M, speeds.T @ (out[:, None] * speeds))
        heavy = (weights > 1.0) & (weights < _UNDRIVEN)
        heaviest = float(weights[heavy].max(initial=1.0))
        if heaviest <= _ENOUGH:
            break
        parts = out[:, None] * (speeds @ ways[:, heavy]) ** 2
        parts /= parts.sum(axis=0)
        out *= 1.0 + np.max(parts * (weights[heavy] - 1.0), axis=1)
    return out * heaviest


def _relative_weights(M: Array, held: Array) -> tuple[Array, Array]:
    """How many times each of the ways (n, n) in which M and `held` are both diagonal weighs in M what it is held by.

    Ways that nothing holds get `_UNDRIVEN` times or more; they are kept finite.
    """
    floor = _LEAST * max(float(np.trace(held)), float(np.trace(M))) * np.eye(len(M))
    weights, ways = eigh(M, held + M * (1e-2 / _UNDRIVEN) + floor)
    return np.array(weights), np.array(ways)


def drive_gains(
    robot: Robot,
    q: Array,
    standing: Sequence[str],
    bandwidth: float = BANDWIDTH,
    damping_ratio: float = DAMPING_RATIO,
    stiffness: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """(nu,) kp and kd of position drives: those of the drive's servo where known, else from the robot's inertia.

        kp = m ω², kd = 2 ζ m ω        [control.joint-pd]

    Args:
        robot: The robot.
        q: (nq,) the posture.
        standing: Names of the contact surfaces that stand.
        bandwidth: ω [rad/s].
        damping_ratio: ζ.
        stiffness: (nu,) or a number: kp that is given; from servo or inertia if omitted.
    """
    inertia = standing_inertia(robot, q, standing)
    servo = np.array([(drive.servo_stiffness, drive.servo_damping) for drive in robot.drives]).reshape(-1, 2)
    kp = np.where(servo[:, 0] > 0.0, servo[:, 0], inertia * bandwidth**2)
    kp = kp if stiffness is None else np.ones(robot.nu) * np.asarray(stiffness, dtype=float)
    return kp, np.where(servo[:, 1] > 0.0, servo[:, 1], 2.0 * damping_ratio * np.sqrt(inertia * kp))
