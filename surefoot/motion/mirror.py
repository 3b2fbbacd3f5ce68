"""Mirror images of motions at the x–z plane, for robots that are their own mirror image.

Body i of the robot and body j on its other side are mirror images where, for all q and its mirror image q',

    T_world_j(q') = M T_world_i(q) G_i,      M = diag(1, −1, 1, 1)                       [motion.mirror]

with a constant reflection G_i. Going down the tree from G_world = M, G_i = T_joint_i⁻¹ G_parent T_joint_j (placements
at q = 0); with S the linear part of G_i, a vector of body i is Sᵀ x in body j and an axis of turning −Sᵀ a, which gives
the sign of each joint. Whether it all holds is checked by forward kinematics of random configurations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.errors import ModelError
from surefoot.robot import ContactSurface, Robot
from surefoot.words import side_pairs

_M = np.diag([1.0, -1.0, 1.0, 1.0])
_ALIGNED = 1e-2
_CONTACT_TOLERANCE = 2e-2  # [m]; contact surfaces are found on meshes, which are coarse
_ONE_TURN = ("revolute", "continuous", "helical")
_Size = Callable[[int], int]
_Convert = Callable[[int, int, Array], Array]


@dataclass(frozen=True, eq=False)
class Mirror:
    """How a robot is its own mirror image. Arrays may be single (nq,) or series (n, nq).

    Args:
        robot: The robot.
        joints: Joint → joint on the other side.
        contacts: Contact → contact on the other side.
        reflections: (n, 3, 3) S of each body of the tree.
        contact_reflections: Contact → S of its frame, (3, 3).
    """

    robot: Robot
    joints: Mapping[str, str]
    contacts: Mapping[str, str]
    reflections: Array
    contact_reflections: Mapping[str, Array]

    def configuration(self, q: ArrayLike) -> Array:
        """The mirror image of a configuration."""
        values = np.asarray(q, dtype=float)
        return self._image(values, self.robot.tree.q_index, self.robot.tree.nq_of, self._joint_position)

    def velocity(self, v: ArrayLike) -> Array:
        """The mirror image of a velocity, or of an acceleration."""
        values = np.asarray(v, dtype=float)
        return self._image(values, self.robot.tree.v_index, self.robot.tree.nv_of, self._joint_velocity)

    def torque(self, tau: ArrayLike) -> Array:
        """The mirror image of torques at the driven degrees of freedom, (nu,) or (n, nu)."""
        values = np.asarray(tau, dtype=float)
        full = np.zeros((*values.shape[:-1], self.robot.nv))
        full[..., self.robot.driven] = values
        return self.velocity(full)[..., self.robot.driven]

    def wrench(self, contact: str, wrench: ArrayLike) -> Array:
        """The mirror image of a wrench of `contact`, (6,) or (n, 6), in the frame of the contact on the other side."""
        S, values = self.contact_reflections[contact], np.asarray(wrench, dtype=float)
        return np.concatenate([values[..., :3] @ S, -values[..., 3:] @ S], axis=-1)

    def _image(self, values: Array, index: NDArray[np.int64], size_of: _Size, convert: _Convert) -> Array:
        """Each joint's entries, converted, at the place of the joint on the other side."""
        tree, out = self.robot.tree, np.empty_like(values)
        for i, name in enumerate(tree.joint_names):
            size, j = size_of(i), self.robot.joint_index(self.joints[name])
            if size:
                out[..., index[j] : index[j] + size] = convert(i, j, values[..., index[i] : index[i] + size])
        return out

    def _sign(self, i: int, j: int) -> float:
        """Sign of a one-axis joint: of −Sᵀ a for turning, of Sᵀ a for sliding, against the axis on the other side."""
        image = self.reflections[i].T @ self.robot.tree.axes[i] @ self.robot.tree.axes[j]
        return float(np.sign(image if self.robot.tree.kinds[i] == "prismatic" else -image))

    def _joint_position(self, i: int, j: int, q: Array) -> Array:
        S = self.reflections[i]
        match self.robot.tree.kinds[i]:
            case "continuous":
                return q * [1.0, self._sign(i, j)]
            case "spherical":
                return _turned(S, q)
            case "free":
                return np.concatenate([q[..., :3] @ S, _turned(S, q[..., 3:])], axis=-1)
            case "planar":
                return np.concatenate([q[..., :2] @ S[:2, :2], q[..., 2:] * [1.0, -S[2, 2]]], axis=-1)
            case "translation":
                return q @ S
            case _:
                return q * self._sign(i, j)

    def _joint_velocity(self, i: int, j: int, v: Array) -> Array:
        S = self.reflections[i]
        match self.robot.tree.kinds[i]:
            case "spherical":
                return -v @ S
            case "free":
                return np.concatenate([v[..., :3] @ S, -v[..., 3:] @ S], axis=-1)
            case "planar":
                return np.concatenate([v[..., :2] @ S[:2, :2], -S[2, 2] * v[..., 2:]], axis=-1)
            case "translation":
                return v @ S
            case _:
                return v * self._sign(i, j)


def _turned(S: Array, q: Array) -> Array:
    """Quaternions xyzw of Sᵀ R S for an improper S: the vector part is an axis of turning."""
    return np.concatenate([-q[..., :3] @ S, q[..., 3:]], axis=-1)


def mirror_of(robot: Robot, names: Mapping[str, str] | None = None, tolerance: float = 2e-3) -> Mirror:
    """How a robot is its own mirror image.

    Args:
        robot: The robot.
        names: Joint or contact → the one on the other side, where the names do not show it.
        tolerance: How far bodies may be off their mirror image [m], [rad]; descriptions are rounded.

    Raises:
        ModelError: The robot is not symmetric.
    """
    given = dict(names or {})
    known = (*robot.joint_names, *robot.contacts)
    pairs = side_pairs(dict.fromkeys(known), given)
    joints = {name: pairs[name] for name in robot.joint_names}
    contacts = {name: pairs[name] for name in robot.contacts}
    for name, other in joints.items():
        if other not in robot.joint_names:
            raise ModelError(f"joint `{name}` has the contact `{other}` as its other side", next_step="give the pairs")
    G = _body_reflections(robot, joints, tolerance)
    found = Mirror(robot, joints, contacts, G[:, :3, :3], _contact_reflections(robot, contacts))
    _check_by_kinematics(found, G, tolerance)
    return found


def _body_reflections(robot: Robot, joints: Mapping[str, str], tolerance: float) -> Array:
    """G (n, 4, 4) of every body, and a check that axes and parents are mirror images."""
    tree = robot.tree
    G = np.empty((tree.n, 4, 4))
    for i, name in enumerate(tree.joint_names):
        j = robot.joint_index(joints[name])
        parents = [int(tree.parents[k]) for k in (i, j)]
        expected = -1 if parents[0] < 0 else robot.joint_index(joints[tree.joint_names[parents[0]]])
        if parents[1] != expected or tree.kinds[i] != tree.kinds[j]:
            raise _asymmetric(robot, name, tree.joint_names[j], {"kinds": (tree.kinds[i], tree.kinds[j])})
        above = _M if parents[0] < 0 else G[parents[0]]
        G[i] = np.linalg.inv(tree.placements[i]) @ above @ tree.placements[j]
        image = G[i, :3, :3].T @ tree.axes[i]
        if tree.axes[i].any() and abs(abs(image @ tree.axes[j]) - 1.0) > _ALIGNED:
            raise _asymmetric(robot, name, tree.joint_names[j], {"mirrored axis": image, "axis": tree.axes[j]})
        if not np.abs(_offset(G[i, :3, 3], tree.kinds[j], tree.axes[j])).max() <= tolerance:
            raise _asymmetric(robot, name, tree.joint_names[j], {"off its mirror image by [m]": G[i, :3, 3]})
        if tree.kinds[i] == "planar" and abs(abs(G[i, 2, 2]) - 1.0) > _ALIGNED:
            raise _asymmetric(robot, name, tree.joint_names[j], {"mirrored normal": G[i, 2, :3]})
    return G


def _offset(offset: Array, kind: str, axis: Array) -> Array:
    """What of an offset of two origins counts: along an axis of turning they may lie anywhere."""
    return offset - (offset @ axis) * axis if kind in _ONE_TURN else offset


def _contact_reflections(robot: Robot, contacts: Mapping[str, str]) -> dict[str, Array]:
    """S of every contact frame, at the neutral configuration."""
    places = robot.placements(robot.neutral)

    def at(contact: ContactSurface) -> Array:
        return places[contact.frame] @ contact.placement

    out = {}
    for name, other in contacts.items():
        G = np.linalg.inv(at(robot.contacts[name])) @ _M @ at(robot.contacts[other])
        if not np.abs(G[:3, 3]).max() <= _CONTACT_TOLERANCE:
            raise _asymmetric(robot, name, other, {"distance of the contact frames [m]": G[:3, 3]})
        out[name] = G[:3, :3]
    return out


def _check_by_kinematics(mirror: Mirror, G: Array, tolerance: float) -> None:
    """T_world_j(q') = M T_world_i(q) G_i at random configurations, and the bodies' frames meet their images."""
    robot, model = mirror.robot, mirror.robot.model
    data, image, rng = model.createData(), model.createData(), np.random.default_rng(0)
    for _ in range(3):
        q = pin.integrate(model, np.array(robot.neutral), rng.uniform(-1.0, 1.0, robot.nv))
        pin.forwardKinematics(model, data, q)
        pin.forwardKinematics(model, image, mirror.configuration(q))
        for i, name in enumerate(robot.joint_names):
            j = robot.joint_index(mirror.joints[name])
            off = _M @ data.oMi[i + 1].homogeneous @ G[i] - image.oMi[j + 1].homogeneous
            if not np.abs(off).max() <= tolerance:
                raise _asymmetric(
                    robot, name, mirror.joints[name], {"off its mirror image by": float(np.abs(off).max())}
                )


def _asymmetric(robot: Robot, name: str, other: str, evidence: dict[str, object]) -> ModelError:
    return ModelError(
        f"robot `{robot.name}` is not its own mirror image: `{name}` against `{other}`",
        evidence=evidence,
        next_step="give the pairs by name, or do not mirror motions of this robot",
    )
