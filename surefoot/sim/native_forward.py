"""The acceleration of a step: articulated bodies whose joints and links carry the gains of implicit forces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot import ops
from surefoot.dynamics import ABA, mass_matrix, rnea
from surefoot.dynamics.cholesky import factor, solve
from surefoot.dynamics.grouped_bodies import grouped_bodies
from surefoot.kinematics.bodies import Body
from surefoot.kinematics.recursion import Fields, Recursion, Step, Sweep, run
from surefoot.ops import Array
from surefoot.sim.native_contact import LOAD, Contacts
from surefoot.sim.native_joints import Force

if TYPE_CHECKING:
    from surefoot.sim.native_step import Layout

__all__ = ["accelerate"]


def accelerate(
    layout: Layout, contacts: Contacts, q: Array, v: Array, force: Force, push: Array | None, ahead: float
) -> tuple[Array, Array]:
    """Acceleration (nv,), and the contact forces (n, 3) that act with it, in world [N].

    Args:
        layout: Of the step.
        contacts: Its contacts.
        q: (nq,) configuration.
        v: (nv,) velocity.
        force: Of all joints.
        push: (bodies, 6), or None.
        ahead: 0 where contacts do not depend on the acceleration.
    """
    tree, n = layout.robot.tree, len(layout.points)
    centres = {body: _centres(layout, link.indices) for body, link in contacts.links.items()}
    width = LOAD if ahead and contacts.links else 6
    load = ops.zeros((tree.n, width), like=[q, v])
    for body, link in contacts.links.items():
        load[body] = link.load(centres[body], tree.gravity, ahead)
    if push is not None:
        load[:, :6] = load[:, :6] + push
    if (tree.mimic_source >= 0).any():
        return _by_mass_matrix(layout, q, v, force, load), contacts.start_forces()
    inputs = {"q": q, "v": v, "tau": force.start, "armature": tree.armature + force.gain, "external": load}
    fields, joints = run(_LOADED, tree, inputs, constants=grouped_bodies)
    if not ahead:
        return joints["a"], contacts.start_forces()
    rows: dict[int, Array] = {}
    for body, link in contacts.links.items():
        acting = link.acting_force(centres[body], tree.gravity, fields[body]["acceleration"], fields[body]["alpha"])
        rows.update(zip(link.indices, acting, strict=True))
    return joints["a"], ops.stack([rows[k] for k in range(n)]) if n else np.zeros((0, 3))


def _by_mass_matrix(layout: Layout, q: Array, v: Array, force: Force, load: Array) -> Array:
    """For trees with followers, which articulated bodies do not take."""
    tree = layout.robot.tree
    M, bias = mass_matrix(tree, q), rnea(tree, q, v, np.zeros(len(tree.armature)), load)
    return solve(factor(tree, M + np.diag(force.gain)), force.start - bias)


def _centres(layout: Layout, indices: list[int]) -> Array:
    return np.array([layout.points[k].position for k in indices])


def _loaded(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """The first sweep of articulated bodies, with inertia added to the body.   [sim.contact-inertia]."""
    load = joint["external"]
    found = dict(ABA.sweeps[0].step(body, {**joint, "external": load[:6]}, own, parent).own)
    if len(load) == LOAD:
        found["A"] = found["A"] + load[6:12]
        found["B"] = found["B"] + load[12:21].reshape(3, 3)
        found["C"] = found["C"] + load[21:]
    return Step(found)


_LOADED = Recursion((Sweep("outward", _loaded), *ABA.sweeps[1:]), ABA.world)
