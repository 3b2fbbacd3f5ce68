"""Quantities that have looped code, and when it is used."""

from __future__ import annotations

import numpy as np

from surefoot.compiler.looped import LoopSpec
from surefoot.compiler.walked import Walk, symmetric_layout
from surefoot.dynamics.algebra import grouped_bodies, inertia_times
from surefoot.dynamics.tree import ABA, COMPOSITE, RNEA
from surefoot.errors import NotSupportedError
from surefoot.kinematics import PLACEMENTS
from surefoot.kinematics.recursion import Body, Fields, bodies, to_parent
from surefoot.ops import Array
from surefoot.robot import Tree

LOOP_FROM = 160  # bodies; below, straight-line code is two to three times faster and compiles within seconds
LOOP_FROM_PAIRS = 4_000  # pairs of joints on one line, for matrices


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


def _momentum(body: Body, composite: Fields, S: Array) -> Array:
    """Momentum of all that a joint carries, at unit rate (6,)."""
    found: Array = inertia_times(composite, S.reshape(6, 1))[:, 0]
    return found


def _carried(child: Fields, wrench: Array) -> Array:
    """A wrench on the child, on the parent (6,)."""
    return to_parent(child["mount"] @ child["turn"], child["p"], wrench)


LOOPED = {
    "rnea": _forces("q", "v", "a"),
    "rnea:external": _forces("q", "v", "a", "external"),
    "nonlinear_effects": _forces("q", "v", zero=("a",)),
    "generalized_gravity": _forces("q", zero=("v", "a")),
    "aba": _accelerations("q", "v", "tau"),
    "aba:external": _accelerations("q", "v", "tau", "external"),
    "crba": LoopSpec(COMPOSITE, grouped_bodies, ("q",), walk=Walk(_momentum, _carried), output=symmetric_layout),
    "placements": LoopSpec(PLACEMENTS, bodies, ("q",), fields=("R", "p"), output=_homogeneous),
}


_PAIRS = 15_000  # of joints on one line: what straight-line code can hold within a minute of compilation
_MATRICES = {"crba", "M", "minverse", "Minv", "rnea_derivatives", "aba_derivatives", "joint_torque_regressor"}


def refuse_too_large(tree: Tree, name: str) -> None:
    """Refuse matrices of trees for which there is no looped code and straight-line code would be too long.

    Args:
        tree: The tree.
        name: The quantity, or the words of a bundle with colons between them.

    Raises:
        NotSupportedError: With what to do instead.
    """
    pairs = _pairs(tree)
    if pairs > _PAIRS and _MATRICES & set(name.split(":")):
        raise NotSupportedError(
            f"`{name}` of {tree.n} bodies is too large for straight-line code",
            evidence={"pairs of joints on one line": pairs, "limit": _PAIRS},
            next_step='use backend="numpy", or what has looped code: ' + ", ".join(LOOPED),
        )


def is_large(tree: Tree, name: str) -> bool:
    """Whether a quantity of a tree should be compiled as loops."""
    if name not in LOOPED or (name.startswith(("aba", "crba")) and (tree.mimic_source >= 0).any()):
        return False
    return _pairs(tree) >= LOOP_FROM_PAIRS if name == "crba" else tree.n >= LOOP_FROM


def _pairs(tree: Tree) -> int:
    """Pairs of a joint and one that it is carried by."""
    return sum(len(tree.ancestors(i)) for i in range(tree.n))
