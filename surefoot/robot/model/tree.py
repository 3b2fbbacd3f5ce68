"""The kinematic tree as plain frozen arrays: the input of algorithms and of the compiler.

Body i is moved by joint i, parents come before children, and every subtree is contiguous (depth first). Links that a
fixed joint holds are merged into the body that carries them; they live on as frames.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError

NQ = {
    "revolute": 1,
    "continuous": 2,
    "prismatic": 1,
    "helical": 1,
    "spherical": 4,
    "planar": 4,
    "free": 7,
    "translation": 3,
}
NV = {
    "revolute": 1,
    "continuous": 1,
    "prismatic": 1,
    "helical": 1,
    "spherical": 3,
    "planar": 3,
    "free": 6,
    "translation": 3,
}

_KIND_OF_PINOCCHIO = {
    "RX": "revolute", "RY": "revolute", "RZ": "revolute", "RevoluteUnaligned": "revolute",
    "RUBX": "continuous", "RUBY": "continuous", "RUBZ": "continuous", "RevoluteUnboundedUnaligned": "continuous",
    "PX": "prismatic", "PY": "prismatic", "PZ": "prismatic", "PrismaticUnaligned": "prismatic",
    "HX": "helical", "HY": "helical", "HZ": "helical", "HelicalUnaligned": "helical",
    "Spherical": "spherical", "Planar": "planar", "FreeFlyer": "free", "Translation": "translation",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Tree:
    """n bodies, each with the joint that moves it. All arrays are read-only; units are SI.

    Args:
        joint_names: n names.
        body_names: n names: the link that the joint moves.
        kinds: n joint kinds: revolute, continuous, prismatic, helical, spherical, planar, free, translation.
        parents: (n,) index of the parent body, −1 for the world.
        placements: (n, 4, 4) T_parent_joint at q = 0.
        axes: (n, 3) unit axis in the joint frame; zero for joints without one.
        pitches: (n,) of helical joints [m/rad].
        masses: (n,) [kg].
        coms: (n, 3) centre of mass in the body frame [m].
        inertias: (n, 3, 3) about the centre of mass, in body axes [kg m²].
        q_index: (n,) first entry of the joint in q.
        v_index: (n,) first entry of the joint in v.
        armature: (nv,) inertia of the drives, added to the diagonal of the mass matrix [kg m²] or [kg].
        mimic_source: (n,) joint whose position this one copies (`mimic="reduce"`), −1 for none.
        mimic_ratio: (n,) n in q_i = c + n q_source.
        mimic_offset: (n,) c in q_i = c + n q_source.
        gravity: (3,) in world [m/s²].
    """

    joint_names: tuple[str, ...]
    body_names: tuple[str, ...]
    kinds: tuple[str, ...]
    parents: NDArray[np.int64]
    placements: Array
    axes: Array
    pitches: Array
    masses: Array
    coms: Array
    inertias: Array
    q_index: NDArray[np.int64]
    v_index: NDArray[np.int64]
    armature: Array
    mimic_source: NDArray[np.int64]
    mimic_ratio: Array
    mimic_offset: Array
    gravity: Array

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def n(self) -> int:
        """Number of bodies."""
        return len(self.kinds)

    def nq_of(self, i: int) -> int:
        """Entries of joint i in q (0 for a joint that copies another)."""
        return 0 if self.mimic_source[i] >= 0 else NQ[self.kinds[i]]

    def nv_of(self, i: int) -> int:
        """Entries of joint i in v (0 for a joint that copies another)."""
        return 0 if self.mimic_source[i] >= 0 else NV[self.kinds[i]]

    def ancestors(self, i: int) -> list[int]:
        """Bodies from the parent of i up to the root."""
        out = []
        while (i := int(self.parents[i])) >= 0:
            out.append(i)
        return out

    def children(self, i: int) -> list[int]:
        """Bodies that hang on body i (−1: on the world)."""
        return [int(k) for k in np.flatnonzero(self.parents == i)]


def tree_of_model(model: pin.Model, kinds_of_mimics: dict[str, tuple[str, Array]] | None = None) -> Tree:
    """Read the tree off a Pinocchio model.

    Args:
        model: The model.
        kinds_of_mimics: Kind and axis of each joint that copies another, by name (Pinocchio hides them).
    """
    rows = range(1, model.njoints)
    neutral = pin.neutral(model)
    motions = [_motion(model.joints[i], neutral, (kinds_of_mimics or {}).get(model.names[i])) for i in rows]
    source, ratio, offset = _mimics(model)
    return Tree(
        joint_names=tuple(model.names[i] for i in rows),
        body_names=tuple(_body_name(model, i) for i in rows),
        kinds=tuple(kind for kind, _, _ in motions),
        parents=np.array([model.parents[i] - 1 for i in rows], dtype=np.int64),
        placements=np.array([model.jointPlacements[i].homogeneous for i in rows]).reshape(-1, 4, 4),
        axes=np.array([axis for _, axis, _ in motions]).reshape(-1, 3),
        pitches=np.array([pitch for _, _, pitch in motions], dtype=float),
        masses=np.array([model.inertias[i].mass for i in rows], dtype=float),
        coms=np.array([model.inertias[i].lever for i in rows]).reshape(-1, 3),
        inertias=np.array([model.inertias[i].inertia for i in rows]).reshape(-1, 3, 3),
        q_index=np.array([model.joints[i].idx_q for i in rows], dtype=np.int64),
        v_index=np.array([model.joints[i].idx_v for i in rows], dtype=np.int64),
        armature=np.array(model.armature, dtype=float),
        mimic_source=source,
        mimic_ratio=ratio,
        mimic_offset=offset,
        gravity=np.array(model.gravity.linear, dtype=float),
    )


def _motion(joint: pin.JointModel, neutral: Array, mimic: tuple[str, Array] | None) -> tuple[str, Array, float]:
    """Kind, axis and pitch of one Pinocchio joint."""
    if mimic is not None:
        return mimic[0], mimic[1], 0.0
    short = joint.shortname().removeprefix("JointModel")
    if short not in _KIND_OF_PINOCCHIO:
        raise NotSupportedError(f"joint kind `{short}` is not supported", next_step="use chains of one-axis joints")
    kind = _KIND_OF_PINOCCHIO[short]
    if NV[kind] != 1:
        return kind, np.zeros(3), 0.0
    # Motion subspace of a one-axis joint in its own frame, (6,), linear first
    data = joint.createData()
    joint.calc(data, neutral, np.zeros(joint.idx_v + 1))
    subspace = np.array(data.S, dtype=float).reshape(6)
    axis = subspace[:3] if kind == "prismatic" else subspace[3:]
    pitch = float(joint.extract().pitch) if kind == "helical" else 0.0
    return kind, axis, pitch


def _mimics(model: pin.Model) -> tuple[NDArray[np.int64], Array, Array]:
    n = model.njoints - 1
    source, ratio, offset = np.full(n, -1, dtype=np.int64), np.ones(n), np.zeros(n)
    leaders = {int(joint.idx_v): i for i, joint in enumerate(model.joints) if i and joint.nv}
    for follower in model.mimicking_joints:  # Pinocchio's list of those that they copy is in another order
        joint = model.joints[follower].extract()
        leader = leaders[int(model.joints[follower].idx_v)]
        source[follower - 1], ratio[follower - 1], offset[follower - 1] = leader - 1, joint.scaling, joint.offset
    return source, ratio, offset


def _body_name(model: pin.Model, joint: int) -> str:
    """The first body frame on a joint that sits in the joint's own frame, else the joint's name."""
    for frame in model.frames:
        if frame.parentJoint == joint and frame.type == pin.FrameType.BODY and frame.placement.isIdentity(1e-12):
            return str(frame.name)
    return str(model.names[joint])
