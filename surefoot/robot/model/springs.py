"""Springs and dampers on joints, and along sums of joint positions (tendons that run over joints)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.arrays import Array
from surefoot.errors import ModelError
from surefoot.ops import Array as Symbols
from surefoot.robot.model.tree import Tree


@dataclass(frozen=True)
class Spring:
    """A spring and damper along a length L = Σ c_j q_j of one-axis joints.

        τ_j = c_j f,   f = k (rest − L) − d L̇        [robot.spring]

    Between the two rest lengths the spring is slack.

    Args:
        name: Unique among the springs.
        joints: c_j by joint.
        stiffness: k [N m/rad] or [N/m].
        damping: d [N m s/rad] or [N s/m].
        rest: Lengths between which it is slack [rad] or [m].
    """

    name: str
    joints: Mapping[str, float]
    stiffness: float
    damping: float = 0.0
    rest: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        numbers = [self.stiffness, self.damping, *self.joints.values()]
        if not np.isfinite(numbers).all() or min(self.stiffness, self.damping) < 0.0 or self.rest[0] > self.rest[1]:
            evidence = {"stiffness": self.stiffness, "damping": self.damping, "rest": self.rest}
            raise ModelError(f"numbers of spring `{self.name}` contradict each other", evidence=evidence)

    def without(self, gone: Mapping[str, tuple[str | None, float, float]]) -> Spring | None:
        """The spring after joints lost their coordinate, q_j = offset + ratio · q_source; None if none is left.

        Args:
            gone: Source (None for a joint that is held), ratio and offset by joint.
        """
        joints: dict[str, float] = {}
        shift = 0.0
        for joint, share in self.joints.items():
            source, ratio, offset = gone.get(joint, (joint, 1.0, 0.0))
            shift += share * offset
            if source is not None and ratio != 0.0:
                joints[source] = joints.get(source, 0.0) + share * ratio
        return replace(self, joints=joints, rest=(self.rest[0] - shift, self.rest[1] - shift)) if joints else None


@dataclass(frozen=True, eq=False)
class SpringForces:
    """The springs of a tree as arrays; k springs.

    Args:
        shares: (k, nv) c_j.
        positions: (k, nq) c_j, at the entries of q.
        stiffness: (k,).
        damping: (k,).
        rest: (2, k).
    """

    shares: Array
    positions: Array
    stiffness: Array
    damping: Array
    rest: Array

    @classmethod
    def of(cls, springs: Sequence[Spring], tree: Tree) -> SpringForces:
        """The springs of a robot."""
        nq = sum(tree.nq_of(i) for i in range(tree.n))
        nv = sum(tree.nv_of(i) for i in range(tree.n))
        shares, positions = np.zeros((len(springs), nv)), np.zeros((len(springs), nq))
        for k, spring in enumerate(springs):
            for joint, share in spring.joints.items():
                i = tree.joint_names.index(joint)
                shares[k, tree.v_index[i]], positions[k, tree.q_index[i]] = share, share
        stiffness, damping = (np.array([getattr(x, key) for x in springs]) for key in ("stiffness", "damping"))
        return cls(shares, positions, stiffness, damping, np.array([x.rest for x in springs]).reshape(-1, 2).T)

    def torque(self, q: Symbols, v: Symbols) -> Symbols:
        """Joint forces (…, nv) of springs and dampers.   [robot.spring].

        Args:
            q: (…, nq) configuration, numbers or symbols.
            v: (…, nv) velocity.
        """
        force = -self.stiffness * self.stretch(q) - self.damping * (v @ self.shares.T)
        return force @ self.shares

    def stretch(self, q: Symbols) -> Symbols:
        """(…, k) by how much each is longer than its rest; < 0 where it is shorter.

        Args:
            q: (…, nq) configuration, numbers or symbols.
        """
        length = q @ self.positions.T
        return ops.maximum(length - self.rest[1], 0.0) - ops.maximum(self.rest[0] - length, 0.0)

    def energy(self, q: Symbols) -> Any:
        """(…,) energy of the springs [J].

        Args:
            q: (…, nq) configuration, numbers or symbols.
        """
        stretch = self.stretch(q)
        return 0.5 * (stretch * stretch) @ self.stiffness
