"""`JointSliders`: a slider for every number of every joint, limb by limb."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import viser
from numpy.typing import NDArray

from surefoot.robot import Robot
from surefoot.studio.inputs import set_value
from surefoot.studio.joint_values import Axis, axes_of, value_of
from surefoot.studio.limbs import Limb, limbs_of

__all__ = ["JointSliders"]

Array = NDArray[np.float64]
_STEP = 0.001


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
