"""Torques and contact forces along a path as functions of its speed and acceleration."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array, number
from surefoot.compiler import compile_robot
from surefoot.contact import admissible_wrenches, placed_cones, wrench_cone
from surefoot.errors import ShapeError, one_of
from surefoot.motion import Stance
from surefoot.motion.timing import PathPoints, PathRows, RowsOf, affine_rows
from surefoot.robot import ContactSurface, Robot

Affine = tuple[Array, Array, Array]
"""y₀, y_u and y_x, each (n, k), of a quantity y = y₀ + y_u u + y_x x."""
_LEAST_LOAD = 0.02  # share of the weight that a contact may take beside what it carries at rest


def effort_limits(robot: Robot, stance: Stance | None = None, share: float = 1.0) -> RowsOf:
    """Limits of joint torques along a path, and of the contact forces of a stance that carries a floating base.

        M a + h = τ + Jᵀ f,  v = q' ṡ,  a = q' u + q'' x          [ik.path-efforts]   Pham & Pham 2018, §III

    is affine in u and x once the contact forces are. At rest they are the smallest that carry the weight within the
    friction cones; what a motion needs beyond that is added with the least squares, weighted by the load that each
    contact carries at rest. Other distributions might allow more: the limits are safe, not tight.

    Args:
        robot: The robot, under its own gravity.
        stance: The contacts that hold all along the path; None for a robot with a fixed base.
        share: Share of the torque limits that may be used, 0…1.

    Raises:
        ShapeError: A floating base has no contact.
    """
    most = number(share, "share of the torques", positive=True) * robot.limits.effort
    most = np.where(np.isin(np.arange(robot.nv), robot.driven), most, np.inf)
    joints = [f"torque of {joint}" for i, joint in enumerate(robot.joint_names) for _ in range(robot.tree.nv_of(i))]
    base = robot.base_rows
    if not len(base):
        return lambda point: affine_rows(_forces(robot, point), -most, most, joints)
    if stance is None or not len(stance):
        raise ShapeError(f"`{robot.name}` has a floating base", next_step="give the stance that carries it")
    contacts = _Contacts(robot, stance)

    def rows(point: PathPoints) -> PathRows:
        needed = _forces(robot, point)
        wrenches, missing = contacts.distribute(point.q, needed)
        lift = contacts.jacobians(point.q)
        torques = [tau - np.einsum("ncij,nci->nj", lift, w) for tau, w in zip(needed, wrenches, strict=True)]
        return _join(
            affine_rows(torques, -most, most, joints), contacts.cone_rows(wrenches), _static_rows(missing, robot)
        )

    return rows


def _forces(robot: Robot, point: PathPoints) -> Affine:
    """M a + h: three calls of inverse dynamics."""
    rnea, rest = compile_robot(robot).rnea, np.zeros_like(point.first)
    q, first, second = (np.ascontiguousarray(x) for x in point[1:])
    still = np.asarray(rnea(q, rest, rest))
    return still, np.asarray(rnea(q, rest, first)) - still, np.asarray(rnea(q, first, second)) - still


class _Contacts:
    """The contacts of a stance: where they push, and how they share a load."""

    def __init__(self, robot: Robot, stance: Stance) -> None:
        for name in stance.names:
            if name not in robot.contacts:
                raise one_of("contact", name, robot.contacts)
        self.robot, self.names = robot, stance.names
        self.surfaces: list[ContactSurface] = [robot.contacts[name] for name in self.names]
        self.poses = np.array([stance[name].pose for name in self.names])
        self.friction = np.array([stance[name].friction for name in self.names])
        self.tied = np.array([surface.tied for surface in self.surfaces])
        self.faces = [
            wrench_cone(surface, mu, inscribed=True).faces
            for surface, mu in zip(self.surfaces, self.friction, strict=True)
        ]

    def jacobians(self, q: Array) -> Array:
        """(n, c, 6, nv): twists at the spots, in their axes, linear first."""
        kernels, q = compile_robot(self.robot), np.ascontiguousarray(q)
        frames = [surface.frame for surface in self.surfaces]
        origins = np.asarray(kernels.frames(q, frames))[:, :, :3, 3]
        J = np.stack([kernels.jacobian(q, frame) for frame in frames], axis=1)
        arms = self.poses[:, :3, 3] - origins
        linear = J[:, :, :3] + np.cross(J[:, :, 3:], arms[..., None], axis=2)
        R = self.poses[:, :3, :3]
        return np.concatenate([np.einsum("cji,ncjv->nciv", R, part) for part in (linear, J[:, :, 3:])], axis=2)

    def distribute(self, q: Array, needed: Affine) -> tuple[tuple[Array, ...], Array]:
        """Contact wrenches (n, c, 6) on the robot as an affine function, and what is missing at rest (n,) [N]."""
        base = self.robot.base_rows
        n, c = len(q), len(self.names)
        lift = np.swapaxes(self.jacobians(q)[..., base], 2, 3)  # (n, c, 6 of the base, 6)
        A = np.swapaxes(lift * self.tied[None, :, None], 1, 2).reshape(n, len(base), 6 * c)
        here = np.tile(np.eye(4), (1, c, 1, 1))
        spans = placed_cones(self.surfaces, here, friction=self.friction, inscribed=True)
        G = np.zeros((n, len(base), spans.spans.shape[2]))
        for k, owner in enumerate(spans.owner):
            G[:, :, k] = lift[:, owner] @ spans.spans[0, :, k]
        found = admissible_wrenches(G, needed[0][:, base], np.repeat(spans.use, n, axis=0))
        each = found.shares[:, None] * spans.spans
        rest = np.stack([each[:, :, spans.owner == k].sum(axis=2) for k in range(c)], axis=1)
        load = rest[:, :, 2] + _LEAST_LOAD * _weight(self.robot)
        W = np.repeat(load, 6, axis=1) * np.tile(np.r_[np.ones(3), np.full(3, 0.01)], c)
        AW = A * W[:, None]
        core = np.linalg.pinv(AW @ np.swapaxes(A, 1, 2), rcond=1e-10, hermitian=True)
        share = np.swapaxes(AW, 1, 2) @ core
        added = [(share @ part[:, base, None]).reshape(n, c, 6) for part in needed[1:]]
        return (rest, *added), found.violation * ~found.attained

    def cone_rows(self, wrenches: tuple[Array, ...]) -> PathRows:
        """Rows of the friction cones, scaled by the weight."""
        weight = _weight(self.robot)
        values = [
            np.concatenate([w[:, k] @ faces.T for k, faces in enumerate(self.faces)], axis=1) / weight for w in wrenches
        ]
        names = [f"force of {name}" for name, faces in zip(self.names, self.faces, strict=True) for _ in faces]
        still, along_u, along_x = values
        return PathRows(-along_u, -along_x, np.minimum(-still, 0.0), tuple(names))


def _static_rows(missing: Array, robot: Robot) -> PathRows:
    """A row that nothing fulfils where the contacts cannot carry the robot at rest."""
    zero = np.zeros((len(missing), 1))
    fails = missing > 1e-6 * _weight(robot)
    return PathRows(zero, zero, np.where(fails, 1.0, -1.0)[:, None], ("static balance",))


def _weight(robot: Robot) -> float:
    """[N]; the mass where there is no gravity."""
    return float(robot.mass * (np.linalg.norm(robot.model.gravity.linear) or 1.0))


def _join(*parts: PathRows) -> PathRows:
    a, b, c = (np.hstack([part[k] for part in parts]) for k in range(3))
    return PathRows(a, b, c, tuple(name for part in parts for name in part.names))
