"""How bodies move: twists and accelerations, outwards, in body axes.

    V_i = X_ip V_p + S_i v_i        [kin.twist]   Buschmann 2014, section 2.3
    ω_i' = Rᵀ ω_p' + ω_i × s_ω + S_ω a_i
    a_i  = Rᵀ (a_p + W_p r) + (Rᵀ ω_p + ω_i) × s_v + S_v a_i        [kin.acceleration]   Buschmann 2014, (2.67), (2.68)
    (errata: (2.67) and (A.25) need ω~_0p ω_pi; the Coriolis term of (2.68) is 2 ω~ J_Jv v)

with s = S v, r the origin of the body in its parent, and W = ω~' + ω~ ω~. The acceleration a of the origin is the
*classical* one: it needs no linear velocities, and W r is all that a lever arm adds. Nothing here depends on where a
root body is.

`PerBody` computes a value of a body on first use. The order in which an algorithm computes is the order of its compiled
code, and values that are used late are kept in memory until then. If results are asked for limb by limb, from the tip
inwards, the needs of a limb are computed just before it and forgotten when it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar, overload

import numpy as np

from surefoot import ops
from surefoot.kinematics.recursion.bodies import Body, joint_placement, joint_subspace, to_child
from surefoot.kinematics.recursion.recursion import Fields, Recursion, Step, Sweep
from surefoot.ops import Array


def move(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """Outward step: "twist" (6,) at the body's origin, in its axes; needs the joint's "q" and "v".   [kin.twist]."""
    R, p = joint_placement(body, joint["q"])
    return Step({"twist": to_child(R, p, parent["twist"]) + joint_subspace(body) @ joint["v"]})


def accelerate(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """Outward step: "omega", "alpha" and the classical "acceleration" of the origin (3,), and "W" (3, 3).

    Needs the joint's "q", "v" and "a".   [kin.acceleration].
    """
    R, p = joint_placement(body, joint["q"])
    S = joint_subspace(body)
    relative, push = S @ joint["v"], S @ joint["a"]
    carried = R.T @ parent["omega"]
    omega = carried + relative[3:]
    alpha = R.T @ parent["alpha"] + ops.cross(omega, relative[3:]) + push[3:]
    coriolis = ops.cross(carried + omega, relative[:3])
    acceleration = R.T @ (parent["acceleration"] + parent["W"] @ p) + coriolis + push[:3]
    W = acceleration_matrix(omega, alpha)
    return Step({"omega": omega, "alpha": alpha, "acceleration": acceleration, "W": W})


def acceleration_matrix(omega: Array, alpha: Array) -> Array:
    """W (3, 3) = ω~' + ω~ ω~: a body point r accelerates by W r against the origin.

    Args:
        omega: ω (3,), rad/s.
        alpha: dω/dt (3,), rad/s².
    """
    (x, y, z), (dx, dy, dz) = omega, alpha
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return ops.array(
        [[-(yy + zz), xy - dz, xz + dy], [xy + dz, -(xx + zz), yz - dx], [xz - dy, yz + dx, -(xx + yy)]],
    )


def _resting(gravity: Array) -> Fields:
    """The world does not move; accelerations are true ones, without gravity."""
    rest = np.zeros(3)
    return {"twist": np.zeros(6), "omega": rest, "alpha": rest, "acceleration": rest, "W": np.zeros((3, 3))}


TWISTS = Recursion((Sweep("outward", move),), _resting)
ACCELERATIONS = Recursion((Sweep("outward", move), Sweep("outward", accelerate)), _resting)


T = TypeVar("T")
_DEEP = 100  # bodies; of more, those before are computed first, because Python does not recurse that deep


class PerBody(Sequence[T], Generic[T]):
    """A sequence with one entry for each body.

    Args:
        count: Number of bodies.
        compute: compute(i) -> the entry of body i; may ask for entries of this and other sequences.
        outward: Whether entries depend on those of the parent (True) or of the children (False).
    """

    def __init__(self, count: int, compute: Callable[[int], T], *, outward: bool = True) -> None:
        self._compute, self._known = compute, dict[int, T]()
        self._count, self._outward = count, outward

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, i: int) -> T: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[T]: ...
    def __getitem__(self, i: int | slice) -> T | Sequence[T]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(self._count))]
        if not 0 <= i < self._count:
            raise IndexError(i)
        if i not in self._known:
            for k in self._before(i):
                if k not in self._known:
                    self._known[k] = self._compute(k)
            self._known[i] = self._compute(i)
        return self._known[i]

    def _before(self, i: int) -> Iterable[int]:
        """Bodies to compute first, so that no long recursion arises."""
        if self._count <= _DEEP:
            return ()
        return range(i) if self._outward else reversed(range(i + 1, self._count))

    def __iter__(self) -> Iterator[T]:
        return (self[i] for i in range(self._count))
