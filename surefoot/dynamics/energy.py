"""Kinetic and potential energy."""

from __future__ import annotations

from typing import Any

from surefoot.dynamics.block_inertia import inertia_times, own_inertia
from surefoot.dynamics.crba import composite_bodies
from surefoot.dynamics.grouped_bodies import grouped_bodies
from surefoot.kinematics.motion import TWISTS
from surefoot.kinematics.recursion import run
from surefoot.ops import Array
from surefoot.robot.tree import Tree

__all__ = ["kinetic_energy", "potential_energy"]


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
