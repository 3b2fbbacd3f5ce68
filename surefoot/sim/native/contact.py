"""The contacts of one step: what a law answers at the points of a robot, and what that does to its bodies.

The force on a point falls with its acceleration: f = f_0 − W a, W = g_t E + (g_n − g_t) n nᵀ ([sim.implicit-contact]).
To the articulated-body algorithm that is inertia on the body, about its origin and with the lever arm l of the point:

    A = W,  B = −W l~,  C = −l~ W l~        [sim.contact-inertia]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.dynamics.algebra import packed
from surefoot.ops import Array
from surefoot.robot import Tree
from surefoot.sim.native.contact_laws import ContactLaw
from surefoot.sim.native.manifold import BodyMotion, ContactPoint, body_motions, points_by_body
from surefoot.sim.native.touch import LinkTouch, Response
from surefoot.spatial.so3 import skew

_STILL = 5  # columns of ground that does not move
LOAD = 27
"""Numbers of a loaded body: wrench (6), and A (6), B (9), C (6) of its added inertia."""


@dataclass(frozen=True, eq=False)
class LinkContact:
    """The k points of one link in one step; numbers or symbols.

    Args:
        indices: Of the points.
        motion: Of the body.
        point: (k, 3) where they touch, in world [m].
        lever: (k, 3) the same from the origin of the body, in its axes [m].
        velocity: (k, 3) of the material there, in world [m/s].
        normal: (k, 3) of the ground, in world.
        carried: (k, 3) rate at which anchors move, in world [m/s]: with ground that moves, and over the material of a
            ball with its touching point.
        touch: What the law sees.
        response: What it answers; empty before it is asked.
    """

    indices: list[int]
    motion: BodyMotion
    point: Array
    lever: Array
    velocity: Array
    normal: Array
    carried: Array
    touch: LinkTouch
    response: Response = field(default_factory=lambda: Response(*(np.zeros(0) for _ in range(6))))

    def start_force(self) -> Array:
        """f_0 (k, 3) in world [N]."""
        return self.response.normal[:, None] * self.normal + self.response.along

    def acting_force(self, centres: Array, gravity: Array, acceleration: Array, alpha: Array) -> Array:
        """f_0 − W a (k, 3) in world [N].

        Args:
            centres: (k, 3) of the points in body axes [m].
            gravity: (3,) in world [m/s²].
            acceleration: (3,) of the origin of the body less gravity, in body axes.
            alpha: (3,) angular acceleration, in body axes.
        """
        out = []
        for k, lever in enumerate(self.lever):
            own = acceleration + ops.cross(alpha, lever) + self._centripetal(centres[k])
            a = self.motion.R @ own + gravity
            n, gt = self.normal[k], self.response.along_gain[k]
            out.append(gt * a + (self.response.normal_gain[k] - gt) * (n @ a) * n)
        return self.start_force() - ops.stack(out)

    def load(self, centres: Array, gravity: Array, ahead: float) -> Array:
        """Wrench and added inertia (`LOAD`,) on the body, in its axes.

        Args:
            centres: (k, 3) of the points in body axes [m].
            gravity: (3,) in world [m/s²].
            ahead: 0 where nothing is added to the inertia.
        """
        total: Any = np.zeros(LOAD if ahead else 6)
        force, down = self.start_force(), self.motion.R.T @ gravity
        for k, lever in enumerate(self.lever):
            push = self.motion.R.T @ force[k]
            if ahead:
                W = self._gain_in_body(k)
                push = push - W @ (down + self._centripetal(centres[k]))
                tilde = skew(lever)
                B = -(W @ tilde)
                total = total + ops.concatenate([push, ops.cross(lever, push), packed(W), B.ravel(), packed(tilde @ B)])
            else:
                total = total + ops.concatenate([push, ops.cross(lever, push)])
        return total

    def _gain_in_body(self, k: int) -> Array:
        """W (3, 3) in body axes."""
        n, gt = self.motion.R.T @ self.normal[k], self.response.along_gain[k]
        return gt * np.eye(3) + (self.response.normal_gain[k] - gt) * np.outer(n, n)

    def _centripetal(self, centre: Array) -> Array:
        omega = self.motion.twist[3:]
        return ops.cross(omega, ops.cross(omega, centre))


@dataclass(frozen=True, eq=False)
class Contacts:
    """All contacts of a step.

    Args:
        links: By body.
        memory: (nm,) after the step.
    """

    links: dict[int, LinkContact]
    memory: Array

    def gathered(self, name: str) -> Array:
        """An array (n, …) over all points from one of the links' or responses' arrays."""
        rows: dict[int, Array] = {}
        for link in self.links.values():
            values = getattr(link, name) if hasattr(link, name) else getattr(link.response, name)
            rows.update(zip(link.indices, values, strict=True))
        return ops.stack([rows[k] for k in sorted(rows)]) if rows else np.zeros(0)

    def start_forces(self) -> Array:
        """f_0 (n, 3) of all points in world [N]."""
        rows: dict[int, Array] = {}
        for link in self.links.values():
            rows.update(zip(link.indices, link.start_force(), strict=True))
        return ops.stack([rows[k] for k in sorted(rows)]) if rows else np.zeros((0, 3))


def memory_size(law: ContactLaw, points: Sequence[ContactPoint]) -> int:
    """Numbers that contacts keep from step to step: anchors (n, 3), then an integral for each link."""
    return 3 * len(points) * law.friction.anchored + len(points_by_body(points)) * law.remembers


def contacts_of(
    tree: Tree, points: Sequence[ContactPoint], law: ContactLaw, q: Array, v: Array, memory: Array, ground: Array,
    dt: float, ahead: float,
) -> Contacts:  # fmt: skip
    """Ask the law about all points.

    Args:
        tree: The tree.
        points: The points.
        law: The law, fitted.
        q: (nq,) configuration.
        v: (nv,) velocity.
        memory: (nm,) of the contacts.
        ground: (n, 5) unit normal, offset and friction under each point; (n, 8) with its velocity where it moves.
        dt: Step [s].
        ahead: The step, or 0 [s].
    """
    groups = points_by_body(points)
    motions = body_motions(tree, q, v, list(groups))
    anchors = memory[: 3 * len(points)].reshape(-1, 3) if law.friction.anchored else None
    integrals = memory[len(memory) - len(groups) :] if law.remembers else np.zeros(len(groups))
    links: dict[int, LinkContact] = {}
    kept_anchors: dict[int, Array] = {}
    kept_integrals = []
    for (body, indices), integral in zip(groups.items(), integrals, strict=True):
        asked = link_touch(points, indices, motions[body], ground, anchors, integral)
        link = replace(asked, response=law.respond(asked.touch, dt, ahead))
        links[body] = link
        kept_integrals.append(link.response.integral)
        if anchors is not None:
            held = link.point - link.response.kept[:, None] * link.touch.stretch + dt * link.carried
            kept_anchors.update(zip(indices, held, strict=True))
    parts = [ops.concatenate([kept_anchors[k] for k in range(len(points))])] if kept_anchors else []
    parts += [ops.array(kept_integrals)] if law.remembers else []
    return Contacts(links, ops.concatenate(parts) if parts else np.zeros(0))


def link_touch(
    points: Sequence[ContactPoint], indices: list[int], motion: BodyMotion, ground: Array, anchors: Array | None,
    integral: Any,
) -> LinkContact:  # fmt: skip
    """The points of one link as the law sees them.

    Args:
        points: All points.
        indices: Those of the link.
        motion: Of the body.
        ground: (n, 5) unit normal, offset and friction under each point; (n, 8) with its velocity where it moves.
        anchors: (n, 3) where the points stuck, in world [m]; None for a law without.
        integral: What the link remembers.
    """
    normal = ground[indices, :3]
    R, omega = motion.R, motion.twist[3:]
    lever = ops.stack([_lever(points[k], R, n) for k, n in zip(indices, normal, strict=True)])
    point = ops.stack([motion.p + R @ arm for arm in lever])
    velocity = ops.stack([R @ (motion.twist[:3] + ops.cross(omega, arm)) for arm in lever])
    carried = ops.stack(
        [
            points[k].radius * ops.cross(R @ omega, n) if points[k].radius else np.zeros(3)
            for k, n in zip(indices, normal, strict=True)
        ]
    )
    over = velocity
    if ground.shape[1] > _STILL:
        base = ground[indices, _STILL:]
        over, carried = velocity - base, carried + base
    sinking = -np.sum(normal * over, axis=1)
    stretch = np.zeros((len(indices), 3)) if anchors is None else _along(normal, point - anchors[indices])
    friction = ops.array([ops.minimum(ground[k, 4], points[k].friction) for k in indices])
    touch = LinkTouch(
        depth=ground[indices, 3] - np.sum(normal * point, axis=1),
        rate=sinking,
        stretch=stretch,
        slide=over + sinking[:, None] * normal,
        friction=friction,
        integral=integral,
    )
    return LinkContact(indices, motion, point, lever, velocity, normal, carried, touch)


def _lever(point: ContactPoint, R: Array, normal: Array) -> Array:
    """Where a point touches, in body axes from the body's origin: a ball by its lowest point."""
    if not point.radius:
        return point.position
    return point.position - point.radius * (R.T @ normal)


def _along(normal: Array, vectors: Array) -> Array:
    """What of the vectors (k, 3) lies along the ground."""
    return vectors - np.sum(normal * vectors, axis=1)[:, None] * normal
