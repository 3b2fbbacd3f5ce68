"""`JointSliders`: a slider for every number of every joint, limb by limb; also of joints with several axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import viser
from scipy.spatial.transform import Rotation

from surefoot.arrays import Array
from surefoot.robot import Robot
from surefoot.robot.model import resolve_couplings
from surefoot.studio.panels.inputs import set_value
from surefoot.studio.scene import Limb, limbs_of

_STEP = 0.001
_TURNS = ("roll", "pitch", "yaw")
_PARTS: dict[str, tuple[str, ...]] = {
    "revolute": ("",),
    "continuous": ("",),
    "prismatic": ("",),
    "helical": ("",),
    "spherical": _TURNS,
    "planar": ("x", "y", "yaw"),
    "free": ("x", "y", "z", *_TURNS),
    "translation": ("x", "y", "z"),
}
_REACH = 2.0
"""Of sliders for lengths without limits, both ways [m]."""


class JointSliders:
    """Sliders for the joints of a robot, in folders.

    Args:
        gui: The panel of the tab; the folders go where it is in a `with` of a container.
        robot: The robot.
        q: (nq,) posture to begin with.
        moved: Called in the thread of viser with an axis and its new value when the user moves a slider.
    """

    def __init__(self, gui: viser.GuiApi, robot: Robot, q: Array, moved: Callable[[Axis, float], None]) -> None:
        self._gui, self._robot, self._moved = gui, robot, moved
        self._sliders: list[tuple[Axis, viser.GuiSliderHandle[float]]] = []
        self._folders: list[viser.GuiFolderHandle] = []
        for number, limb in enumerate(limbs_of(robot)):
            axes = [axis for body in limb.bodies for axis in axes_of(robot, body)]
            if axes:
                self._add_folder(limb, axes, q, is_open=number == 0)

    def _add_folder(self, limb: Limb, axes: list[Axis], q: Array, is_open: bool) -> None:
        units = " and ".join(dict.fromkeys(axis.unit for axis in axes))
        folder = self._gui.add_folder(f"{limb.title} [{units}]", expand_by_default=is_open)
        self._folders.append(folder)
        with folder:
            for axis in axes:
                self._add_slider(limb, axis, q)

    def _add_slider(self, limb: Limb, axis: Axis, q: Array) -> None:
        joint = self._robot.joint_names[axis.joint]
        is_base = axis.joint == self._robot.base_joint
        label = axis.part if is_base else " ".join(word for word in (limb.short(joint), axis.part) if word)
        lower, upper = _rounded_in(axis)
        hint = f"{joint}: {axis.lower:.3g} … {axis.upper:.3g} {axis.unit}"
        slider = self._gui.add_slider(
            label, lower, upper, _STEP, _clipped(value_of(self._robot, q, axis), lower, upper),
            disabled=bool(axis.follows) or lower == upper,
            hint=hint + (f", follows {axis.follows}" if axis.follows else ""),
        )  # fmt: skip

        async def update(event: viser.GuiEvent) -> None:
            if event.client is not None:  # the user, not the program
                self._moved(axis, float(slider.value))

        slider.on_update(update)
        self._sliders.append((axis, slider))

    def show(self, q: Array, but: Axis | None = None) -> None:
        """Move the sliders to a posture.

        Args:
            q: (nq,).
            but: The axis whose slider the user holds, which is left alone.
        """
        for axis, slider in self._sliders:
            if axis != but:
                value = _clipped(value_of(self._robot, q, axis), slider.min, slider.max)
                if abs(value - slider.value) >= 0.5 * _STEP:
                    set_value(slider, value)

    def remove(self) -> None:
        """Take the folders away."""
        for folder in self._folders:
            folder.remove()
        self._folders, self._sliders = [], []


def _rounded_in(axis: Axis) -> tuple[float, float]:
    """Limits in whole steps, not beyond the true ones; a narrow range as it is."""
    lower, upper = np.ceil(axis.lower / _STEP) * _STEP, np.floor(axis.upper / _STEP) * _STEP
    if upper <= lower:
        return axis.lower, axis.upper
    return round(float(lower), 6), round(float(upper), 6)


def _clipped(value: float, lower: float, upper: float) -> float:
    """Inside the limits, in whole steps where there is room for some."""
    inside = float(np.clip(value, lower, upper))
    return round(inside, 3) if upper - lower > 10 * _STEP and lower <= round(inside, 3) <= upper else inside


@dataclass(frozen=True)
class Axis:
    """One number of a joint.

    Args:
        joint: Index of the joint in the tree.
        part: Which of its numbers: "" for a joint with one, else x, y, z, roll, pitch or yaw.
        unit: "rad" or "m".
        lower: [unit].
        upper: [unit].
        follows: The joint that decides about it, or "".
    """

    joint: int
    part: str
    unit: str
    lower: float
    upper: float
    follows: str = ""


def axes_of(robot: Robot, joint: int) -> tuple[Axis, ...]:
    """The numbers of a joint; none of one that copies another.

    Args:
        robot: The robot.
        joint: Index in the tree.
    """
    tree = robot.tree
    if tree.nq_of(joint) == 0:
        return ()
    sources = {item.joint: item.source for item in robot.couplings}
    follows = sources.get(tree.joint_names[joint], "")
    return tuple(_axis(robot, joint, part, follows) for part in _PARTS[tree.kinds[joint]])


def _axis(robot: Robot, joint: int, part: str, follows: str) -> Axis:
    tree, kind = robot.tree, robot.tree.kinds[joint]
    unit = "m" if kind in ("prismatic", "translation") or part in ("x", "y", "z") else "rad"
    widest = _REACH if unit == "m" else float(np.pi)
    lower, upper = -widest, widest
    if kind in ("revolute", "prismatic", "helical"):
        at = int(tree.q_index[joint])
        given = float(robot.limits.lower[at]), float(robot.limits.upper[at])
        lower, upper = (x if np.isfinite(x) else y for x, y in zip(given, (lower, upper), strict=True))
    if kind in ("free", "planar") and unit == "m":
        middle = float(robot.home[int(tree.q_index[joint]) + "xyz".index(part)])
        lower, upper = middle - widest, middle + widest
    return Axis(joint, part, unit, lower, upper, follows)


def value_of(robot: Robot, q: Array, axis: Axis) -> float:
    """The number of an axis [rad] or [m].

    Args:
        robot: The robot.
        q: (nq,).
        axis: Which number.
    """
    at, kind = int(robot.tree.q_index[axis.joint]), robot.tree.kinds[axis.joint]
    if kind == "continuous" or (kind == "planar" and axis.part == "yaw"):
        cosine = at + (2 if kind == "planar" else 0)
        return float(np.arctan2(q[cosine + 1], q[cosine]))
    if axis.part in _TURNS:
        return float(_roll_pitch_yaw(q, _quaternion(kind, at))[_TURNS.index(axis.part)])
    return float(q[at + ("xyz".index(axis.part) if axis.part else 0)])


def with_value(robot: Robot, q: Array, axis: Axis, value: float) -> Array:
    """The configuration with another number of an axis, and joints that follow it moved with it.

    Args:
        robot: The robot.
        q: (nq,).
        axis: Which number.
        value: [rad] or [m].
    """
    out = np.array(q, dtype=float)
    at, kind = int(robot.tree.q_index[axis.joint]), robot.tree.kinds[axis.joint]
    if kind == "continuous" or (kind == "planar" and axis.part == "yaw"):
        cosine = at + (2 if kind == "planar" else 0)
        out[cosine : cosine + 2] = np.cos(value), np.sin(value)
    elif axis.part in _TURNS:
        place = _quaternion(kind, at)
        turns = _roll_pitch_yaw(q, place)
        turns[_TURNS.index(axis.part)] = value
        out[place] = Rotation.from_euler("ZYX", turns[::-1]).as_quat()
    else:
        out[at + ("xyz".index(axis.part) if axis.part else 0)] = value
    return _followed(robot, out)


def _followed(robot: Robot, q: Array) -> Array:
    """With q_i = c + n q_j of all couplings."""
    single = {"revolute", "prismatic", "helical", "continuous"}
    for item in resolve_couplings(robot.couplings):
        source, joint = robot.joint_index(item.source), robot.joint_index(item.joint)
        if robot.tree.kinds[source] not in single or robot.tree.kinds[joint] not in single:
            continue
        leader = value_of(robot, q, Axis(source, "", "", 0.0, 0.0))
        _put(robot, q, joint, item.offset + item.ratio * leader)
    return q


def _put(robot: Robot, q: Array, joint: int, value: float) -> None:
    at = int(robot.tree.q_index[joint])
    numbers: Sequence[float] = (
        (float(np.cos(value)), float(np.sin(value))) if robot.tree.kinds[joint] == "continuous" else (value,)
    )
    q[at : at + len(numbers)] = numbers


def _quaternion(kind: str, at: int) -> slice:
    first = at + (3 if kind == "free" else 0)
    return slice(first, first + 4)


def _roll_pitch_yaw(q: Array, place: slice) -> Array:
    turn = Rotation.from_quat(q[place])
    near = np.abs(turn.as_matrix()[2, 0]) > 1.0 - 1e-12  # at ±90° of pitch the other two are one
    if near:
        pitch = -np.pi / 2 * np.sign(turn.as_matrix()[2, 0])
        R = turn.as_matrix()
        return np.array([0.0, pitch, np.arctan2(-R[0, 1], R[1, 1])])
    return np.array(turn.as_euler("ZYX")[::-1])
