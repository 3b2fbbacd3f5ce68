"""In which order are unnamed joints, and which are they? Named orders, and the evidence for one of them.

Simulators list the joints of a tree in different orders: branch by branch (URDF tools, MuJoCo), level by level (Isaac
Lab), or the right side before the left. Read in a wrong order, joints leave their limits, and feet are askew, below the
ground, or slide over it; positions of bodies in the file do not fit. An order that is free of this is the right one,
because no other is free of it by chance.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.errors import FileFormatError, one_of
from surefoot.files import is_file, read_bytes
from surefoot.motion.reading.order import dense, foot_slide, foot_touch, link_placements
from surefoot.motion.world import World, surface_motion
from surefoot.robot import Robot
from surefoot.words import side_pairs

_SAMPLES = 60  # postures that are looked at
_LIMITS = 0.2  # [rad] beyond limits, summed over the joints;
_TILT = np.radians(10.0)  # of the flattest foot;
_DEEP = 0.05  # [m] below the ground, beyond
_SUNK = 0.02  # [m]: each of these is one point of badness,
_SWAPPED = "sides-swapped"
_STILLER = ((0.1, 0.35), (0.015, 0.1))
"""[m], share: where a foot slides farther than the first as read, and at most the second share of that with the sides
exchanged, they are exchanged."""
_TOUCHES = 0.8  # share of the time on the ground that feet must keep then
_BAD = 1.5  # points that make an order doubtful,
_BETTER = 0.25  # of them that the right order may have
_FITS = 0.02  # [m]: mean distance of bodies from links,
_SAME = 0.001  # of which so much more tells nothing
_OWN, _ISAAC = "robot", "breadth-first"


def own_joints(robot: Robot) -> list[str]:
    """Joints but the base that have one position of their own, in the robot's order."""
    tree = robot.tree
    single = [i for i in range(tree.n) if i != robot.base_joint and tree.mimic_source[i] < 0 and tree.nv_of(i) == 1]
    return [tree.joint_names[i] for i in single]


def joint_orders(robot: Robot) -> dict[str, list[str]]:
    """Orders in which programs list the joints: branch by branch, level by level, by their letters, sides exchanged.

    Args:
        robot: The robot, whose own order is the first one.
    """
    own, tree = own_joints(robot), robot.tree
    depth = {name: len(list(tree.ancestors(robot.joint_index(name)))) for name in own}
    other_side = side_pairs(own)
    return {
        _OWN: own,
        _ISAAC: sorted(own, key=lambda name: depth[name]),
        "alphabetical": sorted(own),
        _SWAPPED: [other_side[name] for name in own],
    }


def named_order(robot: Robot, name_or_file: str | Path) -> list[str]:
    """The joints in an order by name, or as a text file lists them.

    Args:
        robot: The robot.
        name_or_file: A name in `joint_orders`, or a file with names between commas, spaces or line breaks.

    Raises:
        UnknownNameError: There is no such order or file.
        FileFormatError: The file cannot be read, or is empty.
    """
    known = joint_orders(robot)
    if str(name_or_file) in known:
        return known[str(name_or_file)]
    if not is_file(name_or_file):
        raise one_of("joint order or file", str(name_or_file), known)
    try:
        text = read_bytes(name_or_file).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError("is not a text file", file=Path(name_or_file)) from error
    lines = [line.partition("#")[0].strip().removeprefix("- ") for line in text.splitlines()]
    words = re.split(r"[\s,;\[\]\"']+", " ".join(lines))
    words = [word for word in words if word]
    if not words:
        raise FileFormatError("names no joints", file=Path(name_or_file), next_step="write one joint in each line")
    return words


def inner_joints(robot: Robot, count: int) -> list[str] | None:
    """The joints without those of one kind at the ends of limbs, such as all wrists; None if that is not one choice.

    Args:
        robot: The robot.
        count: Joints that remain.
    """
    own, tree = own_joints(robot), robot.tree
    above = {name: {tree.joint_names[i] for i in tree.ancestors(robot.joint_index(name))} for name in own}
    words = {word for name in own for word in name.lower().split("_")}
    found = []
    for word in sorted(words):
        outer = {name for name in own if word in name.lower().split("_")}
        at_ends = all(name in outer for name in own if above[name] & outer)
        kept = [name for name in own if name not in outer]
        if len(kept) == count and at_ends and kept not in found:
            found.append(kept)
    return found[0] if len(found) == 1 else None


def for_width(robot: Robot, order: Sequence[str], width: int) -> list[str]:
    """An order of all joints without those that a file of fewer joints is likely to lack; else the order as it is."""
    some = inner_joints(robot, width) if width != len(order) and set(order) == set(own_joints(robot)) else None
    return list(order) if some is None else [name for name in order if name in some]


def reordered(robot: Robot, rows: Array, order: Sequence[str], of_velocities: bool = False) -> Array:
    """Columns that were read in the robot's own order, and are in another one.

    Args:
        robot: The robot; its joints have one entry each.
        rows: (n, nq), or (n, nv).
        order: Of the joints in the file; others stay as they are.
        of_velocities: Whether the rows are (n, nv).
    """
    index = robot.tree.v_index if of_velocities else robot.tree.q_index
    own = [name for name in own_joints(robot) if name in set(order)]
    read, meant = ([int(index[robot.joint_index(name)]) for name in names] for names in (own, order))
    out = np.array(rows)
    out[:, meant] = rows[:, read]
    return out


@dataclass(frozen=True)
class JointOrder:
    """In which order joints are likely to be.

    Args:
        meant: A name in `joint_orders`; "" if they fit as they were read, or nothing tells.
        reason: The evidence; without a meant order, what makes another one likely that has no name.
    """

    meant: str
    reason: str = ""


def judge_joint_order(
    robot: Robot, world: World, time: Array, q: Array, among: Sequence[str] | None = None
) -> JointOrder:
    """Whether joints read in the robot's order fit another order much better.

    Args:
        robot: The robot.
        world: Its ground counts.
        time: (n,) [s].
        q: (n, nq) as it was read.
        among: The joints that may be in another order; None for all.
    """
    tree = robot.tree
    known = set(own_joints(robot) if among is None else among)
    orders = {key: [name for name in order if name in known] for key, order in joint_orders(robot).items()}
    if robot.base_joint is None or any(tree.nq_of(robot.joint_index(name)) != 1 for name in orders["robot"]):
        return JointOrder("")
    some = q[np.unique(np.linspace(0, len(q) - 1, _SAMPLES).astype(int))]
    signs = {"robot": _Signs.of(robot, world, some)}
    if signs["robot"].bad < _BAD:
        return _by_slides(robot, world, dense(time, q), orders)
    others = {name: order for name, order in orders.items() if order != orders["robot"]}
    signs |= {name: _Signs.of(robot, world, reordered(robot, some, order)) for name, order in others.items()}
    best = min(signs, key=lambda name: signs[name].bad)
    if best == "robot" or signs[best].bad > min(_BETTER * signs["robot"].bad, _BAD):
        return JointOrder("", f"{signs['robot']}; no known order fits" if signs["robot"].of_joints else "")
    return JointOrder(best, f"{signs['robot']}; in {best} order, {signs[best]}")


def _by_slides(robot: Robot, world: World, q: Array, orders: Mapping[str, Sequence[str]]) -> JointOrder:
    """Whether feet that slide stay in place with the sides exchanged, which limits do not show."""
    if not robot.contacts or not world.ground or orders[_SWAPPED] == orders["robot"]:
        return JointOrder("")
    slide = foot_slide(robot, world, q)
    if slide < min(far for far, _ in _STILLER):
        return JointOrder("")
    there = reordered(robot, q, orders[_SWAPPED])
    other = foot_slide(robot, world, there)
    stiller = any(slide > far and other <= share * slide for far, share in _STILLER)
    if not stiller or _Signs.of(robot, world, there).bad >= _BAD:
        return JointOrder("")
    if foot_touch(robot, world, there) < _TOUCHES * foot_touch(robot, world, q):
        return JointOrder("")  # feet in the air do not slide
    return JointOrder(_SWAPPED, f"feet slide by {100.0 * slide:.0f} cm; in {_SWAPPED} order, by {100.0 * other:.0f} cm")


@dataclass(frozen=True)
class _Signs:
    """Signs of a wrong order.

    Args:
        excess: How far joints are beyond their limits, in sum [rad], [m].
        tilt: Of the flattest sole, in the median [rad].
        depth: Of the lowest corner below the ground, in the median [m].
    """

    excess: float
    tilt: float
    depth: float

    @classmethod
    def of(cls, robot: Robot, world: World, q: Array) -> _Signs:
        at = [int(robot.tree.q_index[robot.joint_index(name)]) for name in own_joints(robot)]
        lower, upper = robot.limits.lower[at], robot.limits.upper[at]
        beyond = np.maximum(np.maximum(q[:, at] - upper, lower - q[:, at]), 0.0)
        excess = float(np.mean(np.sum(np.where(np.isfinite(beyond), beyond, 0.0), axis=1)))
        flat = [surface for surface in robot.contacts.values() if len(surface.corners) > 2]
        if not flat or not world.ground:
            return cls(excess, 0.0, 0.0)
        links = link_placements(robot, q, [surface.frame for surface in flat])
        placed = [links[:, k] @ surface.placement for k, surface in enumerate(flat)]
        tilt = np.min([np.arccos(np.clip(T[:, 2, 2], -1.0, 1.0)) for T in placed], axis=0)
        heights = [surface_motion(world, surface, T, 0.0).height for surface, T in zip(flat, placed, strict=True)]
        lowest = np.nan_to_num(np.min(heights, axis=0), nan=0.0)
        return cls(excess, float(np.median(tilt)), float(max(-np.median(lowest), 0.0)))

    @property
    def bad(self) -> float:
        """All signs in one number."""
        return self.excess / _LIMITS + self.tilt / _TILT + max(self.depth - _SUNK, 0.0) / _DEEP

    @property
    def of_joints(self) -> bool:
        """Whether joints and feet are both wrong, as they are in no motion whose joints are in the right order."""
        return self.excess > _LIMITS and self.tilt > _TILT

    def __str__(self) -> str:
        return (
            f"joints are {self.excess:.2g} rad beyond their limits in sum, the flattest foot is tilted by"
            f" {np.degrees(self.tilt):.0f}° and {100.0 * self.depth:.1f} cm below the ground"
        )


def order_by_bodies(robot: Robot, readings: Mapping[str, Array], bodies: Array) -> tuple[str, str]:
    """The order of the joints in which the links are where the file has its bodies, and the evidence; "" for none.

    Where bodies fit in every order, as the base alone does, the order is that of the simulator that writes such files.

    Args:
        robot: The robot.
        readings: Name of an order → q (n, nq) read in it.
        bodies: (n, b, 3) positions of bodies [m].
    """
    far = {}
    for name, q in readings.items():
        model, data, gaps = robot.model, robot.model.createData(), []
        for posture, places in zip(q, bodies, strict=True):
            pin.forwardKinematics(model, data, posture)
            links = np.array([M.translation for M in list(data.oMi)[1:]])
            gaps.append(np.linalg.norm(places[:, None] - links[None], axis=2).min(axis=1).mean())
        far[name] = float(np.mean(gaps))
    best = min(far, key=lambda name: far[name])
    if far[best] > _FITS:
        return "", f"{bodies.shape[1]} bodies of the file are {far[best]:.2g} m from the links"
    if len(far) > 1 and max(far.values()) - far[best] < _SAME:
        return _ISAAC, f"that of Isaac Lab, since the bodies of the file fit in any; else give --joint-order {_OWN}"
    others = ", ".join(f"{name} {gap:.2g} m" for name, gap in far.items() if name != best)
    return best, f"its bodies are then {far[best]:.1g} m from the links ({others})"
