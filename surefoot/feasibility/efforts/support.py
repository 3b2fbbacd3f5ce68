"""What can push on the robot at each time: points that touch, the frames that they push in, and their wrench cones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.contact import PlacedCones, outer_corners, placed_cones
from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts.means import spread
from surefoot.feasibility.touch import Touch
from surefoot.geometry import convex_hull
from surefoot.kinematics import contact_frame
from surefoot.robot import ContactSurface

Mask = NDArray[np.bool_]
ROUND = ("point", "soft_finger")
"""Kinds of contacts that touch in one point, with or without the radius of a ball."""
_LIFTED = 0.01  # [m]: a corner that is higher above the ground does not push
_SLIPPERY = 1e-6  # least friction, so that there are as many generators on ice as elsewhere
_TINY = 1e-3  # [m]: corners that stick out by less do not count
_PUSH_AT_CORNERS = ("point", "line", "rectangle", "polygon")


@dataclass(frozen=True, eq=False)
class Support:
    """The points by which a robot is carried, p of them, and what they can exert.

    Args:
        carrying: (n, c) which contacts may carry.
        frames: (n, c, 4, 4) T_world_touch: the contact frame; of a ball at its lowest point, along the ground.
        points: (n, p, 3) corners in world [m].
        pushes: (n, p) which of them touch.
        cones: Wrench cones in `frames`, about the centre of mass; generators of corners that touch.
    """

    carrying: Mask
    frames: Array
    points: Array
    pushes: Mask
    cones: PlacedCones


def support_of(case: Case, touch: Touch, com: Array) -> Support:
    """Contacts that may carry a motion."""
    carrying, frames, surfaces = _carrying_contacts(case, touch), touch_frames(case, touch), surfaces_at_touch(case)
    points, pushes, usable = [np.zeros((case.n, 0, 3))], [np.zeros((case.n, 0), bool)], [np.zeros((case.n, 0), bool)]
    cones = placed_cones(surfaces, frames, carrying, com, np.maximum(touch.friction, _SLIPPERY))
    for k, surface in enumerate(surfaces):
        T = frames[:, k]
        at = outer_corners(surface) @ np.swapaxes(T[:, :3, :3], 1, 2) + T[:, None, :3, 3]
        # (n, p): corners that are not lifted; the lowest one never is
        along = np.einsum("npi,ni->np", at, touch.normals[:, k])
        above = along - along.min(axis=1, keepdims=True)
        floor = np.maximum(_LIFTED - np.maximum(np.nan_to_num(touch.height[:, k]), 0.0), 0.0)[:, None]
        down = np.asarray(above <= floor + 1e-9) & carrying[:, [k]]
        shown = down if surface.kind in _PUSH_AT_CORNERS else carrying[:, [k]]
        points.append(at)
        pushes.append(down)
        usable.append(np.repeat(shown, int(np.sum(cones.owner == k)) // shown.shape[1], axis=1))
    touching = replace(cones, use=cones.use & np.concatenate(usable, axis=1))
    return Support(carrying, frames, np.concatenate(points, axis=1), np.concatenate(pushes, axis=1), touching)


def _carrying_contacts(case: Case, touch: Touch) -> Mask:
    """(n, c): contacts that may carry: those that touch, those with forces, and those near the ground, however fast.

    Given contacts are taken as they are. Where accelerations are means over a window, so is what carries them.
    """
    tol = case.tolerances
    carrying = np.array(touch.active)
    if case.trajectory.schedule is None:
        with np.errstate(invalid="ignore"):
            carrying |= touch.height <= tol.touch_height
    for k, name in enumerate(case.contact_names):
        if name in case.trajectory.wrenches:
            force = np.linalg.norm(case.trajectory.wrenches[name][:, :3], axis=1)
            carrying[:, k] |= force > tol.touch_force * case.weight
    return carrying if case.trajectory.a is not None else spread(carrying, case.time, tol.window)


def surfaces_at_touch(case: Case) -> list[ContactSurface]:
    """The contact surfaces in their frames of touch: points and balls at the origin, outlines without tiny corners."""
    return [_simple(case.robot.contacts[name]) for name in case.contact_names]


def touch_frames(case: Case, touch: Touch) -> Array:
    """(n, c, 4, 4): contact frames; points stand along the ground's normal, balls touch with their lowest point."""
    frames = np.array(touch.placements)
    for k, name in enumerate(case.contact_names):
        surface = case.robot.contacts[name]
        if surface.kind in ROUND:
            T, normal = touch.placements[:, k], touch.normals[:, k]
            centre = surface.corners.mean(axis=0) + np.array([0.0, 0.0, surface.radius])
            frames[:, k, :3, 3] = T[:, :3, :3] @ centre + T[:, :3, 3] - surface.radius * normal
            frames[:, k, :3, :3] = _along(normal, T[:, :3, 0])
    return frames


def in_frames(wrenches: Array, source: Array, target: Array) -> Array:
    """Wrenches (..., 6) in other frames.

    Args:
        wrenches: (..., 6) in the axes of `source`, about its origin.
        source: (..., 4, 4) T_world_source.
        target: (..., 4, 4) T_world_target.
    """
    R = np.swapaxes(target[..., :3, :3], -1, -2) @ source[..., :3, :3]
    arm = np.einsum("...ji,...j->...i", target[..., :3, :3], source[..., :3, 3] - target[..., :3, 3])
    force = np.einsum("...ij,...j->...i", R, wrenches[..., :3])
    moment = np.einsum("...ij,...j->...i", R, wrenches[..., 3:]) + np.cross(arm, force)
    return np.concatenate([force, moment], axis=-1)


def _simple(surface: ContactSurface) -> ContactSurface:
    if surface.kind in ROUND:
        return replace(surface, corners=np.zeros((1, 3)), radius=0.0)
    if surface.kind == "polygon" and np.ptp(surface.corners[:, 2]) <= _TINY:
        outline = convex_hull(surface.corners[:, :2], _TINY)
        if len(outline) >= 3:
            return replace(surface, corners=np.c_[outline, np.full(len(outline), surface.corners[:, 2].mean())])
    return surface


def _along(normals: Array, x: Array) -> Array:
    """(n, 3, 3): rotations whose z is a normal, and whose x is as near as can be to another direction."""
    other = np.where(np.abs(np.einsum("ni,ni->n", normals, x))[:, None] < 0.99, x, np.roll(normals, 1, axis=1))
    across = np.cross(normals, other)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return np.stack([np.cross(across, normals), across, normals], axis=2)


def touch_jacobians(case: Case, touch: Touch, frames: Array, rows: NDArray[np.int64]) -> Array:
    """(m, c, 6, nv): Jacobians of the frames of touch, in their own axes, linear first."""
    out = np.zeros((len(rows), len(case.contact_names), 6, case.robot.nv))
    for k, name in enumerate(case.contact_names):
        surface = case.robot.contacts[name]
        if contact_frame(case.robot, name).body >= 0:
            J = case.kernels.jacobian(case.q[rows], surface.frame, "local_world_aligned")
            T = frames[rows, k]
            link = touch.placements[rows, k] @ np.linalg.inv(surface.placement)
            arm = np.broadcast_to((T[:, :3, 3] - link[:, :3, 3])[:, :, None], J[:, 3:].shape)
            turn = np.swapaxes(T[:, :3, :3], 1, 2)
            out[:, k, :3], out[:, k, 3:] = turn @ (J[:, :3] + np.cross(J[:, 3:], arm, axis=1)), turn @ J[:, 3:]
    return out
