"""A motion with its robot, its world and tolerances, and names and units of the entries of v."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.compiler import KernelSet, compile_robot
from surefoot.errors import ShapeError
from surefoot.motion import Trajectory, World
from surefoot.motion.world import in_world
from surefoot.robot import Robot


def _entry(value: float, unit: str, about: str) -> Any:
    return field(default=value, metadata={"unit": unit, "about": about})


@dataclass(frozen=True)
class Tolerances:
    """Tolerances of the audit. The metadata of each field has its unit and meaning."""

    quaternion_norm: float = _entry(1e-3, "", "difference of a quaternion's length from 1")
    touch_height: float = _entry(0.005, "m", "distance from the ground within which a surface may touch it")
    touch_speed: float = _entry(0.05, "m/s", "largest speed of a touching surface")
    touch_time: float = _entry(0.03, "s", "shortest touch, and shortest gap between two touches")
    touch_hysteresis: float = _entry(
        1.5, "", "ratio of the height and speed at which a touch ends to those at which it begins"
    )
    touch_slide: float = _entry(
        0.002, "m", "a surface that stays within this of its standing height slides rather than lifts"
    )
    touch_force: float = _entry(0.01, "", "share of the weight above which a given normal force is a contact")
    column_shift: float = _entry(1.0, "samples", "time shift between a column of v and q")
    jump: float = _entry(0.01, "rad", "distance by which a sample of q may leave the path and come back")
    jump_acceleration: float = _entry(500.0, "rad/s²", "or the distance that this acceleration allows within a step")
    base_jump: float = _entry(1.5, "m/s", "change of the base's velocity from one step to the next")
    base_turn_jump: float = _entry(10.0, "rad/s", "change of the base's angular velocity from one step to the next")
    velocity: float = _entry(0.05, "rad/s", "difference between v and the rate of q, plus `relative` of its range")
    acceleration: float = _entry(1.0, "rad/s²", "difference between a and the rate of v, plus `relative` of its range")
    relative: float = _entry(0.05, "", "relative part of the tolerances of v and a")
    loop_gap: float = _entry(1e-3, "m", "gap of a closed chain")
    coupling_error: float = _entry(1e-3, "rad", "position error of a follower joint")
    slip: float = _entry(0.01, "m", "distance that a surface slides during one contact")
    penetration: float = _entry(0.01, "m", "depth of a contact surface in the ground")
    contact_gap: float = _entry(0.01, "m", "height of a surface whose contact is given as closed")
    joint_position: float = _entry(1e-3, "rad", "q beyond its limit")
    joint_velocity: float = _entry(0.01, "", "v beyond its limit, relative")
    joint_torque: float = _entry(0.01, "", "torque and power beyond their limits, relative")
    acceleration_limit: float = _entry(float("inf"), "rad/s²", "limit of joint accelerations")
    clearance: float = _entry(0.0, "m", "least distance between links, and to obstacles")
    overlap: float = _entry(0.002, "m", "tolerated overlap of collision volumes")
    unilateral: float = _entry(0.005, "", "pulling force, relative to the weight")
    friction: float = _entry(0.01, "", "tangential force beyond the cone, relative to the weight")
    cop: float = _entry(0.005, "m", "centre of pressure outside a contact")
    zmp: float = _entry(0.005, "m", "zero moment point outside the support polygon")
    admissible: float = _entry(0.01, "", "missing contact force, relative to the weight")
    window: float = _entry(
        0.02, "s", "averaging window of balances; computed accelerations are averaged over twice this"
    )
    momentum: float = _entry(0.05, "", "unexplained force, relative to the weight")
    energy: float = _entry(0.05, "", "unexplained power, relative to the largest power")
    impact: float = _entry(1.0, "m/s", "normal speed of a surface at touch-down")
    jerk_limit: float = _entry(1e5, "rad/s³", "jerk of a joint")
    rest: float = _entry(0.05, "rad/s", "speed of the first and last sample")

    def __post_init__(self) -> None:
        wrong = {
            entry.name: getattr(self, entry.name) for entry in fields(self) if not getattr(self, entry.name) >= 0.0
        }
        if wrong:
            raise ShapeError("tolerances must not be negative", evidence=wrong)

    def table(self) -> list[tuple[str, float, str, str]]:
        """Name, value, unit and meaning of every tolerance."""
        rows = fields(self)
        return [(row.name, getattr(self, row.name), row.metadata["unit"], row.metadata["about"]) for row in rows]


@dataclass(frozen=True, eq=False)
class Case:
    """A motion, the robot that makes it, and the world that it makes it in.

    Args:
        given_robot: The robot as it was loaded.
        world: Ground, obstacles, friction, gravity.
        trajectory: The motion as it was given; quaternions made of unit length, velocities only if they were given.
        tolerances: What passes.
        quaternion_norm: Length of quaternions as they were given (n,) by joint, before they were normalised.
        filled: Joints whose velocities were not given: those of the trajectory are differences of q.
        quaternion_order: In which order a file says that its base quaternion is: "xyzw" or "wxyz"; "" if it says none.
        bodies: Contacts of the robot that were added because links touch the ground (`touch.body_contacts`).
    """

    given_robot: Robot
    world: World
    trajectory: Trajectory
    tolerances: Tolerances = field(default_factory=Tolerances)
    quaternion_norm: Mapping[str, Array] = field(default_factory=dict)
    filled: tuple[str, ...] = ()
    quaternion_order: str = ""
    bodies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "trajectory", self.trajectory.as_given)

    @cached_property
    def robot(self) -> Robot:
        """The robot under the gravity of the world."""
        return in_world(self.given_robot, self.world)

    @cached_property
    def robot_on_feet(self) -> Robot:
        """The robot with the contacts that it was loaded with."""
        own = {name: surface for name, surface in self.robot.contacts.items() if name not in self.bodies}
        return self.robot.replace(contacts=own) if self.bodies else self.robot

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
    def contact_names(self) -> tuple[str, ...]:
        """Contact surfaces of the robot."""
        return tuple(self.robot.contacts)

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


Rows = NDArray[np.int64]
_SLIDING = ("prismatic", "translation")
_SLIDING_AXES = {"free": 3, "planar": 2}  # that come first, before those that turn


def names_at(case: Case, rows: Rows) -> tuple[str, ...]:
    """Names of entries of v."""
    return tuple(case.velocity_names[row] for row in rows)


def bodies_at(case: Case, rows: Rows) -> tuple[frozenset[int], ...]:
    """Bodies that move with entries of v."""
    return tuple(case.velocity_bodies[row] for row in rows)


def joint_rows(case: Case) -> Rows:
    """Entries of v that do not belong to the base."""
    return np.setdiff1d(np.arange(case.robot.nv), case.robot.base_rows)


def unit_at(case: Case, rows: Rows, turning: str, sliding: str) -> str:
    """The unit of entries of v; both where joints of both kinds are among them."""
    tree = case.robot.tree
    slides: set[bool] = set()
    for i, kind in enumerate(tree.kinds):
        start = int(tree.v_index[i])
        if ((rows >= start) & (rows < start + tree.nv_of(i))).any():
            slides.add(kind in _SLIDING)
    return " | ".join(unit for unit, there in ((turning, False in slides), (sliding, True in slides)) if there)


def units_at(case: Case, rows: Rows, turning: str, sliding: str) -> tuple[str, ...]:
    """The unit of each entry of v, also of those of joints that slide and turn."""
    tree, units = case.robot.tree, [turning] * case.robot.nv
    for i, kind in enumerate(tree.kinds):
        start, size = int(tree.v_index[i]), tree.nv_of(i)
        count = size if kind in _SLIDING else min(size, _SLIDING_AXES.get(kind, 0))
        units[start : start + count] = [sliding] * count
    return tuple(units[row] for row in rows)
