"""Momentum of the whole robot about its centre of mass and its base, the coupling of base and joints, and energy.

    L_C = A(q) v        [dyn.centroidal]   Orin, Goswami & Lee 2013; Nenchev & Konno 2019, section 4.6

L_C = (p, l_C): the linear momentum and the angular momentum about the centre of mass, in world axes (errata: (4.71)
leaves out Σ m_i r_iC × v_i; (4.73) must read I_C = Σ (I_i - m_i [r_iC×]²)). Column j of A is the momentum of what
joint j carries for a unit rate: the composite body times S, in world axes and about the centre of mass.

Everything is seen from the origin of the first body, with axes of the world: no position in the world enters, so that
accuracy does not depend on where the robot is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from surefoot import ops
from surefoot.dynamics.algebra import (
    factor_full,
    grouped_bodies,
    inertia_times,
    join,
    own_inertia,
    packed,
    solve,
    unpacked,
)
from surefoot.dynamics.tree.crba import composite_bodies
from surefoot.dynamics.tree.rnea import RNEA
from surefoot.errors import ModelError, NotSupportedError
from surefoot.kinematics.recursion import (
    TWISTS,
    Body,
    Fields,
    Recursion,
    Step,
    Sweep,
    bodies,
    dof_rows,
    joint_placement,
    joint_subspace,
    move,
    run,
    to_parent,
)
from surefoot.ops import Array
from surefoot.robot import Tree
from surefoot.spatial.so3 import skew


def centroidal_momentum_matrix(tree: Tree, q: Array) -> Array:
    """A (6, nv) with A v = L_C.   [dyn.centroidal].

    Args:
        tree: The tree.
        q: (nq,) configuration.
    """
    fields = composite_bodies(tree, q, grouped_bodies)
    centre = _whole(tree, fields).centre
    A = ops.zeros((6, len(tree.armature)), like=q)
    for i, (body, (R, r)) in enumerate(zip(bodies(tree), _places(tree, fields), strict=True)):
        momenta = inertia_times(fields[i], joint_subspace(body))
        columns = [to_parent(R, r - centre, momentum) for momentum in momenta.T]
        A[:, dof_rows(tree, i)] = A[:, dof_rows(tree, i)] + ops.stack(columns, axis=1)
    return A


def centroidal_momentum(tree: Tree, q: Array, v: Array) -> Array:
    """L_C (6,), N s and N m s.   [dyn.centroidal].

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
    """
    fields, _ = run(_MOMENTUM, tree, {"q": q, "v": v}, constants=grouped_bodies)
    return _about_centre(tree, q, fields)


def centroidal_momentum_bias(tree: Tree, q: Array, v: Array) -> Array:
    """dA/dt v (6,), N and N m: the change of L_C at a = 0.

    It is the wrench that the robot would take there without gravity, about the centre of mass.   [dyn.centroidal].

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
    """
    inputs = {"q": q, "v": v, "a": np.zeros(len(tree.armature))}
    fields, _ = run(_WEIGHTLESS, tree, inputs, constants=grouped_bodies)
    return _about_centre(tree, q, fields)


def centroidal_inertia(tree: Tree, q: Array) -> Array:
    """diag(m E, I_C) (6, 6): the inertia of the robot with locked joints about its centre of mass, in world axes.

    I_C = Σ (I_i - m_i [r_iC×]²)        [dyn.locked-inertia]   Nenchev & Konno 2019, (4.73) (erratum: prints +)

    Args:
        tree: The tree.
        q: (nq,) configuration.
    """
    whole = _whole(tree, composite_bodies(tree, q, grouped_bodies))
    out = ops.zeros((6, 6), like=q)
    out[:3, :3], out[3:, 3:] = whole.mass * np.eye(3), whole.inertia
    return out


@dataclass(frozen=True, eq=False)
class BaseCoupling:
    """Momentum of a floating robot, split into that of the base and that of its n joints, in world axes.

    L_B = M_B V_B + H_BB θ',  l_C = I_C ω_B + H_C θ'        [dyn.coupling]   Nenchev & Konno 2019, (4.87), (4.74)

    with V_B = (v_B, ω_B) the twist of the base at its origin, in world axes, θ' the rates of all other joints.

    Args:
        R: R_world_base (3, 3).
        mass: m, kg.
        offset: r_CB (3,), m: from the base's origin to the centre of mass.
        I_C: (3, 3) locked inertia about the centre of mass, kg m².
        H_C: (3, n) angular momentum about the centre of mass for unit rates of the joints.
        J_CB: (3, n) velocity of the centre of mass against the base for unit rates of the joints.
    """

    R: Array
    mass: Any
    offset: Array
    I_C: Array
    H_C: Array
    J_CB: Array

    @property
    def H_BB(self) -> Array:
        """(6, n) momentum about the base for unit rates of the joints: (m J_CB, H_C + r_CB × m J_CB)."""
        linear = self.mass * self.J_CB
        return ops.concatenate([linear, self.H_C + skew(self.offset) @ linear])

    @property
    def M_B(self) -> Array:
        """(6, 6) inertia of the robot with locked joints about the base."""
        arm = self.mass * skew(self.offset)
        return np.block([[self.mass * np.eye(3), -arm], [arm, self.I_C - arm @ skew(self.offset)]])

    @property
    def J_omega(self) -> Array:
        """(3, n) = I_C⁻¹ H_C: ω_C = ω_B + J_ω θ', the mean angular velocity of the robot."""
        return solve(factor_full(self.I_C), self.H_C)


def base_coupling(tree: Tree, q: Array) -> BaseCoupling:
    """The coupling of base and joints of a floating robot.   [dyn.coupling].

    Args:
        tree: The tree; its first joint, and no other on the world, is free.
        q: (nq,) configuration.

    Raises:
        NotSupportedError: The robot does not float.
    """
    if tree.kinds[0] != "free" or tree.children(-1) != [0]:
        raise NotSupportedError(
            "this coupling of base and joints exists for a floating robot only",
            evidence={"joints on the world": ", ".join(tree.kinds[i] for i in tree.children(-1))},
            next_step='load it with base="floating"',
        )
    A = centroidal_momentum_matrix(tree, q)
    fields = composite_bodies(tree, q, grouped_bodies)
    whole = _whole(tree, fields)
    R = fields[0]["mount"] @ fields[0]["turn"]
    return BaseCoupling(R, whole.mass, whole.centre, whole.inertia, A[3:, 6:], A[:3, 6:] / whole.mass)


class _Whole(NamedTuple):
    """The robot as one rigid body: mass, centre from the first body's origin (3,), inertia about the centre (3, 3)."""

    mass: Any
    centre: Array
    inertia: Array


def _whole(tree: Tree, fields: list[dict[str, Array]]) -> _Whole:
    """The composite body of the whole robot, about its centre of mass, in world axes."""
    whole = join(fields[0], np.zeros(3))
    for i in tree.children(-1)[1:]:
        part = join(fields[i], fields[i]["p"] - fields[0]["p"])
        whole = {name: whole[name] + part[name] for name in whole}
    mass, moment, inertia = whole["mass"], whole["moment"], whole["inertia"]
    if not mass > 0.0:
        raise ModelError("a robot without mass has no centre of mass", evidence={"mass": mass})
    centre = moment / mass
    return _Whole(mass, centre, unpacked(inertia + packed(skew(moment) @ skew(centre))))


def _places(tree: Tree, fields: list[dict[str, Array]]) -> list[tuple[Array, Array]]:
    """R_world_body (3, 3) of every body, and its origin seen from that of the first one (3,), m, in world axes."""
    out: list[tuple[Array, Array]] = []
    for i in range(tree.n):
        own, parent = fields[i], int(tree.parents[i])
        R = np.eye(3) if parent < 0 else out[parent][0]
        r = own["p"] - fields[0]["p"] if parent < 0 else out[parent][1] + R @ own["p"]
        out.append(((R @ own["mount"]) @ own["turn"], r))
    return out


def _about_centre(tree: Tree, q: Array, fields: list[dict[str, Array]]) -> Array:
    """The "wrench" fields of the bodies on the world, summed about the centre of mass, in world axes (6,)."""
    centre = _whole(tree, composite_bodies(tree, q, grouped_bodies)).centre
    roots = [fields[i] for i in tree.children(-1)]
    parts = [to_parent(own["R"], (own["p"] - roots[0]["p"]) - centre, own["wrench"]) for own in roots]
    return sum(parts[1:], start=parts[0])


def _own_momentum(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """The twist of the body, and its momentum in place of a wrench."""
    R, p = joint_placement(body, joint["q"])
    twist = move(body, joint, own, parent).own["twist"]
    momentum = inertia_times(own_inertia(body), twist[:, None])[:, 0]
    return Step({"R": R, "p": p, "twist": twist, "wrench": momentum})


_MOMENTUM = Recursion((Sweep("outward", _own_momentum), RNEA.sweeps[1]), TWISTS.world)
_WEIGHTLESS = Recursion(RNEA.sweeps, lambda gravity: RNEA.world(np.zeros(3)))


def kinetic_energy(tree: Tree, q: Array, v: Array) -> Any:
    """½ vᵀ M v, J, with the armature.

    T = ½ Σ V_iᵀ I_i V_i + ½ Σ armature v²        [dyn.kinetic-energy]   Featherstone 2008, section 2.13

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
    """
    fields, _ = run(TWISTS, tree, {"q": q, "v": v})
    twice = (tree.armature * v) @ v
    for body, own in zip(grouped_bodies(tree), fields, strict=False):
        twice = twice + own["twist"] @ inertia_times(own_inertia(body), own["twist"][:, None])[:, 0]
    return 0.5 * twice


def potential_energy(tree: Tree, q: Array) -> Any:
    """-m g · r_C, J: zero where the centre of mass is at the height of the world's origin.

    Args:
        tree: The tree.
        q: (nq,) configuration.
    """
    return -(tree.gravity @ composite_bodies(tree, q, grouped_bodies)[-1]["moment"])
