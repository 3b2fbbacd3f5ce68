"""Statics of a plan: how feet share the weight, and what the joints hold.

Standing feet share the weight by least squares; a foot that is about to leave hands its load over before it does, and
one that has come takes it on after landing:

    min Σ |f_k|² / w_k   with   Σ f_k + m g = 0,  Σ (p_k − c) × f_k = 0        [plan.statics]
    τ = g(q) − Σ J_kᵀ f_k

A foot with w_k = 0 carries nothing.
"""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.planning.space import StanceModel

_ACROSS = 0.01  # how willingly a hand pushes across, beside downwards: on a thin rail it would slide off


def static_torques(model: StanceModel, q: Array, feet: Array, shares: Array) -> tuple[Array, Array]:
    """Joint torques (n, nu) that hold the robot still on some of its feet [N m], and forces and moments on them.

    Flat feet carry at the corners of their soles; hands do so as willingly as the share of the weight that they bear.

    Args:
        model: The robot in its world.
        q: (n, nq).
        feet: (n, L, 3) footholds, in world [m].
        shares: (n, L) how willingly each foot carries, 0…1; of three points at least above 0.

    Returns:
        Torques, and (n, L, 6) wrenches in the contact frames, linear first [N], [N m].
    """
    robot, kernels = model.robot, compile_robot(model.robot)
    q = np.ascontiguousarray(q)
    none = np.zeros((len(q), robot.nv))
    torques = np.array(kernels.rnea(q, none, none))
    owner = np.repeat(np.arange(len(model.soles)), [len(sole) for sole in model.soles])
    points = feet[:, owner] + np.concatenate(model.soles)
    willing = np.repeat((shares * model.shares / np.bincount(owner))[:, owner, None], 3, axis=2)
    willing[:, ~np.isin(owner, model.feet), :2] *= _ACROSS
    forces = shared_forces(points, np.asarray(kernels.com(q)), willing, -robot.mass * model.world.gravity)
    surfaces = [robot.contacts[name] for name in model.chart.names]
    frames = np.asarray(kernels.frames(q, [surface.frame for surface in surfaces]))
    wrenches = np.zeros((len(q), len(surfaces), 6))
    for k, surface in enumerate(surfaces):
        J, mine = np.asarray(kernels.jacobian(q, surface.frame)), owner == k
        force, contact = forces[:, mine].sum(axis=1), frames[:, k] @ surface.placement
        at_frame, at_contact = (
            np.cross(points[:, mine] - T[:, None, :3, 3], forces[:, mine]).sum(axis=1) for T in (frames[:, k], contact)
        )
        torques -= np.einsum("nij,ni->nj", J, np.concatenate([force, at_frame], axis=1))
        wrenches[:, k] = (np.stack([force, at_contact], axis=1) @ contact[:, :3, :3]).reshape(-1, 6)
    return torques[:, robot.driven], wrenches


def shared_forces(feet: Array, com: Array, shares: Array, load: Array) -> Array:
    """(n, L, 3) forces on feet that carry a load at the centre of mass together [N].

    Args:
        feet: (n, L, 3) where they touch [m].
        com: (n, 3) centre of mass [m].
        shares: (n, L) or (n, L, 3) how willingly each foot carries, 0…1; along the axes of the world.
        load: (3,) what is to be carried, upwards [N].
    """
    n, legs, _ = feet.shape
    arms = feet - com[:, None]
    grasp = np.zeros((n, 6, legs, 3))
    grasp[:, :3] = np.eye(3)[:, None]
    x, y, z = arms[..., 0], arms[..., 1], arms[..., 2]
    grasp[:, 3, :, 1], grasp[:, 3, :, 2] = -z, y
    grasp[:, 4, :, 0], grasp[:, 4, :, 2] = z, -x
    grasp[:, 5, :, 0], grasp[:, 5, :, 1] = -y, x
    weights = shares[..., None] if shares.ndim == 2 else shares
    weighted = (grasp * weights[:, None]).reshape(n, 6, 3 * legs)
    square = weighted @ np.swapaxes(grasp.reshape(n, 6, 3 * legs), 1, 2)
    wanted = np.broadcast_to(np.concatenate([load, np.zeros(3)]), (n, 6))[..., None]
    out: Array = (np.swapaxes(weighted, 1, 2) @ np.linalg.solve(square, wanted)).reshape(n, legs, 3)
    return out
