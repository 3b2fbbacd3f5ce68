"""`Robot`: the one description that every room shares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array, finite_array
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.robot.model.contacts import ContactSurface
from surefoot.robot.model.dh import DHRow, dh_links
from surefoot.robot.model.drives import Drive
from surefoot.robot.model.findings import Finding
from surefoot.robot.model.links import Geometry, Link, NamedFrame
from surefoot.robot.model.loops import Coupling, Loop
from surefoot.robot.model.springs import Spring, SpringForces
from surefoot.robot.model.tree import Tree

_MAKERS: dict[str, Callable[..., Robot]] = {}


def makes_robots(name: str) -> Callable[[Callable[..., Robot]], Callable[..., Robot]]:
    """Decorator of functions that methods of `Robot` call: assembly knows robots, a robot's data knows no assembly.

    Args:
        name: "assemble" (name, links, base and further parts by name → robot) or "lock" (robot, joints → robot).
    """

    def register(function: Callable[..., Robot]) -> Callable[..., Robot]:
        _MAKERS[name] = function
        return function

    return register


@dataclass(frozen=True, eq=False)
class Limits:
    """Bounds, infinite where there is none; ±1.01 for entries of unit vectors (quaternions, cos and sin).

    Args:
        lower: (nq,) position [rad] or [m].
        upper: (nq,) position [rad] or [m].
        velocity: (nv,) [rad/s] or [m/s].
        effort: (nv,) [N m] or [N].
    """

    lower: Array
    upper: Array
    velocity: Array
    effort: Array


@dataclass(frozen=True)
class AnatomyHints:
    """What the side file says about the anatomy of a robot; the rest is found (`surefoot.robot.anatomy`).

    Args:
        forward: Where the robot looks, in world axes at home.
        torso: The link that carries arms and head.
        feet: Names of the contacts that make one foot, by the name of the foot; empty to find the feet.
    """

    forward: tuple[float, float, float] | None = None
    torso: str | None = None
    feet: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Robot:
    """A robot, frozen: made by `surefoot.load` or `Robot.from_tree`.

    Configurations `q` and velocities `v` are laid out as Pinocchio has them (floating base: xyz and quaternion xyzw;
    twist in the base frame, linear first).

    Args:
        name: Its name.
        model: The Pinocchio model; treat it as read-only.
        tree: The same as plain frozen arrays.
        base: "floating", "planar" or "fixed".
        limits: Bounds on q, v and torques.
        neutral: (nq,) the configuration of zero joint positions.
        home: (nq,) a standing or resting posture; a floating robot has its feet on z = 0.
        contacts: Contact surfaces by name.
        drives: Motors and gears, in the order of the commands u.
        loops: Closed chains.
        couplings: q_i = c + n q_j that a controller or engine must hold (empty after `mimic="reduce"`).
        collisions: Collision shapes.
        visuals: Shapes to look at.
        frames: Frames that were added to the links.
        hints: What is given of its anatomy.
        notes: Findings of the reader.
        source: The file that it came from, or "".
        springs: Springs and dampers on joints and along sums of joint positions.
        excludes: Pairs of links that never touch each other, as the file says.
    """

    name: str
    model: pin.Model = field(repr=False)
    tree: Tree = field(repr=False)
    base: str
    limits: Limits = field(repr=False)
    neutral: Array = field(repr=False)
    home: Array = field(repr=False)
    contacts: Mapping[str, ContactSurface] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    drives: tuple[Drive, ...] = field(default=(), repr=False)
    loops: tuple[Loop, ...] = field(default=(), repr=False)
    couplings: tuple[Coupling, ...] = field(default=(), repr=False)
    collisions: tuple[Geometry, ...] = field(default=(), repr=False)
    visuals: tuple[Geometry, ...] = field(default=(), repr=False)
    frames: tuple[NamedFrame, ...] = field(default=(), repr=False)
    hints: AnatomyHints = field(default=AnatomyHints(), repr=False)
    notes: tuple[Finding, ...] = field(default=(), repr=False)
    source: str = ""
    springs: tuple[Spring, ...] = field(default=(), repr=False)
    excludes: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def from_tree(cls, name: str, links: Sequence[Link], base: str = "fixed", **extras: Any) -> Robot:
        """A robot from links in code.

        Args:
            name: Its name.
            links: The links, each with its joint; the first link without joint hangs on the base.
            base: Joint of links without joint: "floating", "planar" or "fixed".
            **extras: `frames`, `contacts`, `drives`, `loops`, `couplings`, `home` (joint positions by name),
                `mimic`, as in `surefoot.robot.build.assemble.assemble`.
        """
        return _MAKERS["assemble"](name, links, base, **extras)

    @classmethod
    def from_dh(cls, name: str, rows: Sequence[DHRow], base: str = "fixed", **extras: Any) -> Robot:
        """A robot from a table of proximal Denavit–Hartenberg parameters (`surefoot.robot.model.dh`).

        Args:
            name: Its name.
            rows: One row for each joint.
            base: As in `from_tree`.
            **extras: As in `from_tree`.
        """
        links = dh_links(rows)
        if base != "fixed":  # the table hangs on a link of its own, which the base carries
            links = [Link("base"), *(replace(link, parent=link.parent or "base") for link in links)]
        return cls.from_tree(name, links, base, **extras)

    @property
    def nq(self) -> int:
        """Size of q."""
        return int(self.model.nq)

    @property
    def nv(self) -> int:
        """Size of v."""
        return int(self.model.nv)

    @property
    def nu(self) -> int:
        """Size of the command: one entry for each driven degree of freedom."""
        return len(self.driven)

    @cached_property
    def mass(self) -> float:
        """Mass of all moving bodies [kg]; links fixed to the world do not count."""
        return float(self.tree.masses.sum())

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, the base joint included, in the order of q."""
        return self.tree.joint_names

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """Names of the frames: joints, links and added ones."""
        return tuple(str(frame.name) for frame in self.model.frames)

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        """Names of the links, also of those that a fixed joint holds."""
        return tuple(str(f.name) for f in self.model.frames if f.type == pin.FrameType.BODY)

    @cached_property
    def driven(self) -> NDArray[np.int64]:
        """(nu,) the entries of v that the drives act on, in the order of `drives`."""
        rows: list[int] = []
        for drive in self.drives:
            i = self.joint_index(drive.joint)
            rows.extend(range(int(self.tree.v_index[i]), int(self.tree.v_index[i]) + self.tree.nv_of(i)))
        return np.array(rows, dtype=np.int64)

    @cached_property
    def base_joint(self) -> int | None:
        """Index in the tree of the joint that carries the whole robot: free or planar, on the world; None if fixed."""
        tree = self.tree
        if self.base == "fixed":
            return None
        rows = [i for i in range(tree.n) if tree.parents[i] < 0 and tree.kinds[i] in ("free", "planar")]
        return rows[0] if rows else None

    @cached_property
    def base_rows(self) -> NDArray[np.int64]:
        """The entries of v that belong to the base joint; empty for a fixed base."""
        if self.base_joint is None:
            return np.zeros(0, dtype=np.int64)
        start = int(self.tree.v_index[self.base_joint])
        return np.arange(start, start + self.tree.nv_of(self.base_joint))

    def body_of(self, frame: str) -> int:
        """Index in the tree of the body that carries a frame; −1 for the world."""
        return int(self.model.frames[self.frame_id(frame)].parentJoint) - 1

    def joint_index(self, name: str) -> int:
        """Index of a joint in the tree, by name."""
        if name not in self.tree.joint_names:
            raise one_of("joint", name, self.tree.joint_names)
        return self.tree.joint_names.index(name)

    def frame_id(self, name: str) -> int:
        """Pinocchio's index of a frame; a link goes before a joint of the same name."""
        if not self.model.existFrame(name):
            raise one_of("frame", name, self.frame_names)
        if self.model.existFrame(name, pin.FrameType.BODY):
            return int(self.model.getFrameId(name, pin.FrameType.BODY))
        return next(i for i, frame in enumerate(self.model.frames) if frame.name == name)

    @cached_property
    def spring_forces(self) -> SpringForces:
        """The springs as arrays: their joint forces and energy."""
        return SpringForces.of(self.springs, self.tree)

    def passive_forces(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Joint forces of springs, dampers and viscous friction, (…, nv): MuJoCo's `qfrc_passive`.   [robot.spring].

        Args:
            q: (…, nq) configuration.
            v: (…, nv) velocity.
        """
        speed = np.asarray(v, dtype=float)
        return np.asarray(self.spring_forces.torque(np.asarray(q, dtype=float), speed) - self.model.damping * speed)

    def q_of(self, positions: Mapping[str, ArrayLike], base: ArrayLike | None = None) -> Array:
        """A configuration from joint positions by name; omitted joints stay neutral.

        Args:
            positions: One-axis joints: position [rad] or [m]; other joints: their entries of q (quaternions xyzw).
            base: Entries of the base joint (7 for a floating, 4 for a planar base); neutral if omitted.
        """
        q = np.array(self.neutral)
        for name, value in positions.items():
            i = self.joint_index(name)
            start, kind = int(self.tree.q_index[i]), self.tree.kinds[i]
            entries = _entries_of(name, kind, value)
            if entries.size != self.tree.nq_of(i):
                words = "one number does not" if entries.size == 1 else f"{entries.size} numbers do not"
                raise ShapeError(f"joint `{name}` is {kind}; {words} place it", subject=name, kind="joint")
            q[start : start + self.tree.nq_of(i)] = entries
        if base is not None:
            q[self._base_entries(base)] = finite_array(base, np.shape(base), "base")
        return q

    def _base_entries(self, base: ArrayLike) -> slice:
        """Where the numbers of a base pose go in q."""
        size = 0 if self.base_joint is None else self.tree.nq_of(self.base_joint)
        if np.shape(base) != (size,):
            raise ShapeError(f"base has shape {np.shape(base)}, `{self.name}` ({self.base}) needs ({size},)")
        start = 0 if self.base_joint is None else int(self.tree.q_index[self.base_joint])
        return slice(start, start + size)

    def placements(self, q: ArrayLike) -> dict[str, Array]:
        """T_world_frame (4, 4) of every frame, by name.

        Args:
            q: (nq,) configuration.
        """
        data = self.model.createData()
        pin.framesForwardKinematics(self.model, data, self.checked_q(q))
        out = {str(f.name): data.oMf[i].homogeneous for i, f in enumerate(self.model.frames)}
        bodies = {
            str(f.name): data.oMf[i].homogeneous
            for i, f in enumerate(self.model.frames)
            if f.type == pin.FrameType.BODY
        }
        return out | bodies

    def contact_corners(self, q: ArrayLike) -> dict[str, Array]:
        """Corners of every contact surface in world, (k, 3) [m], by name.

        Args:
            q: (nq,) configuration.
        """
        frames = self.placements(q)
        out = {}
        for name, contact in self.contacts.items():
            T = frames[contact.frame] @ contact.placement
            out[name] = contact.corners @ T[:3, :3].T + T[:3, 3]
        return out

    def checked_q(self, q: ArrayLike) -> Array:
        """The configuration as floats, or a clear error for a wrong shape, NaN or quaternions that are not unit."""
        values = np.asarray(q, dtype=float)
        if values.shape != (self.nq,):
            raise ShapeError(f"q has shape {values.shape}, `{self.name}` needs ({self.nq},)")
        if not np.isfinite(values).all():
            raise ShapeError("q is not finite", evidence={"entries": np.flatnonzero(~np.isfinite(values)).tolist()})
        if not pin.isNormalized(self.model, values, 1e-6):
            raise ShapeError(
                "q holds a quaternion or (cos, sin) pair that is not of unit length",
                next_step="normalise it, and check the layout: quaternions are xyzw, after the position",
            )
        return values

    def __deepcopy__(self, _: dict[int, Any]) -> Robot:
        return self  # frozen: a copy is the same

    def __getstate__(self) -> dict[str, Any]:
        if (self.tree.mimic_source >= 0).any():
            raise NotSupportedError(
                f'`{self.name}` (mimic="reduce") cannot be pickled: Pinocchio does not restore such joints',
                next_step='load it anew in the other process, or use mimic="coupling"',
            )
        return {item.name: getattr(self, item.name) for item in fields(self)} | {"contacts": dict(self.contacts)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in (state | {"contacts": MappingProxyType(state["contacts"])}).items():
            object.__setattr__(self, name, value)

    def lock(self, joints: Mapping[str, ArrayLike] | Iterable[str]) -> Robot:
        """The robot with joints held: `robot.lock({"waist": 0.0, "neck_*": 0.0})`, or by name alone at home.

        Args:
            joints: Names or patterns, with positions [rad] or [m].
        """
        return _MAKERS["lock"](self, joints)

    def only(self, joints: Iterable[str]) -> Robot:
        """The robot with all joints held at home but these and the base: `robot.only(["left_arm_*"])`.

        Args:
            joints: Names or patterns.
        """
        return _MAKERS["lock"](self, (), joints)

    def replace(self, **changes: Any) -> Robot:
        """A copy with some fields changed."""
        return replace(self, **changes)


def _entries_of(name: str, kind: str, value: ArrayLike) -> Array:
    """The entries of q of a joint at a position; refused if they are not finite numbers."""
    out = finite_array(np.ravel(value), (None,), f"position of joint `{name}`")
    return np.concatenate([np.cos(out), np.sin(out)]) if kind == "continuous" else out
