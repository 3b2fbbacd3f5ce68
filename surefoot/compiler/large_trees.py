"""Quantities that have looped code, and when it is used."""

from __future__ import annotations

import numpy as np

from surefoot.compiler.looped import LoopSpec
from surefoot.dynamics.aba import ABA
from surefoot.dynamics.grouped_bodies import grouped_bodies
from surefoot.dynamics.rnea import RNEA
from surefoot.kinematics.bodies import bodies
from surefoot.kinematics.fk import PLACEMENTS
from surefoot.robot.tree import Tree

__all__ = ["LOOPED", "LOOP_FROM", "is_large"]

LOOP_FROM = 96  # bodies; below, straight-line code is faster and compiles within a second or two


def _homogeneous(tree: Tree) -> tuple[tuple[int, ...], tuple[int, ...], tuple[float, ...]]:
    """Entries of (n, 4, 4) from nine numbers of R and three of p of every body; the last rows are 0, 0, 0, 1."""
    one = np.array([[0, 1, 2, 9], [3, 4, 5, 10], [6, 7, 8, 11], [-1, -1, -1, -2]])
    layout = np.concatenate([np.where(one < 0, one, one + 12 * i).ravel() for i in range(tree.n)])
    return (tree.n, 4, 4), tuple(int(x) for x in layout), (0.0, 1.0)


def _forces(*inputs: str, zero: tuple[str, ...] = ()) -> LoopSpec:
    """Joint forces by RNEA; some of v and a may be zero."""
    fixed = dict.fromkeys(zero, "zero")
    if "a" in inputs:
        fixed["armature"] = "armature"
    return LoopSpec(RNEA, grouped_bodies, inputs, fixed, joint="tau", adds_armature="a" in inputs)


def _accelerations(*inputs: str) -> LoopSpec:
    return LoopSpec(ABA, grouped_bodies, inputs, {"armature": "armature"}, joint="a")


LOOPED = {
    "rnea": _forces("q", "v", "a"),
    "rnea:external": _forces("q", "v", "a", "external"),
    "nonlinear": _forces("q", "v", zero=("a",)),
    "gravity": _forces("q", zero=("v", "a")),
    "aba": _accelerations("q", "v", "tau"),
    "aba:external": _accelerations("q", "v", "tau", "external"),
    "placements": LoopSpec(PLACEMENTS, bodies, ("q",), fields=("R", "p"), output=_homogeneous),
}


def is_large(tree: Tree, name: str) -> bool:
    """Whether a quantity of a tree should be compiled as loops.

    Args:
        tree: The tree.
        name: The quantity.
    """
    followers = bool((tree.mimic_source >= 0).any())
    return tree.n >= LOOP_FROM and name in LOOPED and not (name.startswith("aba") and followers)
