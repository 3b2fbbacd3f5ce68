"""`Case`: a motion that is audited, with what all checks need: rates, contacts, forces, computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.compiler import KernelSet, compile_robot
from surefoot.feasibility.tolerances import Tolerances
from surefoot.motion import Trajectory, World
from surefoot.robot import Robot
from surefoot.sim.native import in_world

if TYPE_CHECKING:
    from surefoot.feasibility.efforts import Efforts
    from surefoot.feasibility.layout_readings import OtherReading
    from surefoot.feasibility.touch import Touch

__all__ = ["Case"]


@dataclass(frozen=True, eq=False)
class Case:
    """A motion, the robot that makes it, and the world that it makes it in.

    Args:
        given_robot: The robot as it was loaded.
        world: Ground, obstacles, friction, gravity.
        trajectory: The motion as it was given; quaternions made of unit length.
        tolerances: What passes.
        quaternion_norm: Length of quaternions as they were given (n,) by joint, before they were normalised.
        filled: Joints whose velocities were not given: those of the trajectory are differences of q.
        quaternion_order: In which order a file says that its base quaternion is: "xyzw" or "wxyz"; "" if it says none.
    """

    given_robot: Robot
    world: World
    trajectory: Trajectory
    tolerances: Tolerances = field(default_factory=Tolerances)
    quaternion_norm: Mapping[str, Array] = field(default_factory=dict)
    filled: tuple[str, ...] = ()
    quaternion_order: str = ""

    @cached_property
    def robot(self) -> Robot:
        """The robot under the gravity of the world."""
        return in_world(self.given_robot, self.world)

    @cached_property
    def kernels(self) -> KernelSet:
        """Compiled functions of the robot under the gravity of the world."""
        return compile_robot(self.robot)

    @property
    def time(self) -> Array:
        """(n,) [s]."""
        return self.trajectory.time

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.trajectory)

    @property
    def q(self) -> Array:
        """(n, nq)."""
        return self.trajectory.q

    @cached_property
    def steps(self) -> Array:
        """(n − 1, nv): q_k ⊕ steps_k = q_{k+1}."""
        model, q = self.robot.model, self.q
        found = [pin.difference(model, a, b) for a, b in pairwise(q)]
        return np.array(found).reshape(-1, self.robot.nv)

    @cached_property
    def rates(self) -> Array:
        """(n − 1, nv): mean velocity between samples, from q alone."""
        return self.steps / np.diff(self.time)[:, None]

    @cached_property
    def v(self) -> Array:
        """(n, nv): as given, else by differences of q."""
        given = self.trajectory.v
        return _at_samples(self.rates, self.time) if given is None else given

    @cached_property
    def filled_rows(self) -> list[int]:
        """Entries of v that were not given, of the joints in `filled`."""
        tree = self.robot.tree
        starts = [(int(tree.v_index[i]), tree.nv_of(i)) for i in map(self.robot.joint_index, self.filled)]
        return [start + k for start, size in starts for k in range(size)]

    @cached_property
    def other_readings(self) -> tuple[OtherReading, ...]:
        """Columns of the given v that fit the rate of q only if they are read otherwise."""
        from surefoot.feasibility.layout_readings import other_readings

        return other_readings(self)

    @cached_property
    def contact_names(self) -> tuple[str, ...]:
        """Contact surfaces of the robot."""
        return tuple(self.robot.contacts)

    @cached_property
    def touch(self) -> Touch:
        """When each contact surface touches, where, and how fast."""
        from surefoot.feasibility.touch import touch_of

        return touch_of(self)

    @cached_property
    def efforts(self) -> Efforts:
        """Joint torques and contact wrenches: given, or the least that the motion needs."""
        from surefoot.feasibility.efforts import efforts_of

        return efforts_of(self)

    @cached_property
    def friction_counts(self) -> bool:
        """Whether given torques overcome the friction of the joints."""
        from surefoot.feasibility.balance_forces import friction_counts

        return friction_counts(self)

    @cached_property
    def weight(self) -> float:
        """Weight of the robot [N]; 1 where there is no gravity, so that shares of it stay finite."""
        return float(self.robot.mass * np.linalg.norm(self.world.gravity)) or 1.0

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """(nv,) name of the joint of each entry of v; with its axis where it has several: `root_joint.x`."""
        tree, names = self.robot.tree, [""] * self.robot.nv
        for i, joint in enumerate(tree.joint_names):
            size, start = tree.nv_of(i), int(tree.v_index[i])
            axes = ("",) if size == 1 else tuple(f".{axis}" for axis in _AXES[-size:] if size <= 3) or _TWIST
            for k in range(size):
                names[start + k] = joint + axes[k]
        return tuple(names)

    @cached_property
    def velocity_bodies(self) -> tuple[frozenset[int], ...]:
        """(nv,) bodies that move with each entry of v: the subtree of its joint."""
        tree = self.robot.tree
        found: list[frozenset[int]] = [frozenset()] * self.robot.nv
        for i in range(tree.n):
            moved = self.subtree(i)
            for k in range(tree.nv_of(i)):
                found[int(tree.v_index[i]) + k] = moved
        return tuple(found)

    def subtree(self, body: int) -> frozenset[int]:
        """The body and all that hang on it; the subtree of −1 is the whole robot."""
        tree = self.robot.tree
        return frozenset(i for i in range(tree.n) if i == body or body in (-1, *tree.ancestors(i)))


_AXES = ("x", "y", "z")
_TWIST = (".x", ".y", ".z", ".rx", ".ry", ".rz")


def _at_samples(between: Array, time: Array) -> Array:
    """(n, k) at the samples from (n − 1, k) between them: weighted means, ends held."""
    if not len(between):
        return np.zeros((len(time), between.shape[1]))
    dt = np.diff(time)[:, None]
    inner = (between[:-1] * dt[1:] + between[1:] * dt[:-1]) / (dt[:-1] + dt[1:])
    return np.vstack([between[:1], inner, between[-1:]])
