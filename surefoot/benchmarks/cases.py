"""What is compared, as a table: our kernel, and the calls of Pinocchio that give the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.compiler import Kernel, KernelSet
from surefoot.robot import Robot

__all__ = ["CASES", "Case", "as_arrays"]

Array = NDArray[Any]
_AXES = pin.LOCAL_WORLD_ALIGNED


@dataclass(frozen=True)
class Case:
    """One thing that is computed.

    Args:
        name: Its name.
        title: What it is.
        inputs: Names of the inputs, of q, v, a, tau.
        kernel: kernel(kernel set, frames): ours.
        pinocchio: pinocchio(model, data, frame ids): a function of one state, whose results are in the kernel's order.
        calls: The calls of Pinocchio, for people.
        inverts: Whether the mass matrix is inverted, so that its condition decides about the error.
    """

    name: str
    title: str
    inputs: tuple[str, ...]
    kernel: Callable[[KernelSet, Sequence[str]], Kernel]
    pinocchio: Callable[[Any, Any, Sequence[int]], Callable[..., Any]]
    calls: str
    inverts: bool = False

    def reference(self, robot: Robot, frames: Sequence[str]) -> Callable[..., Any]:
        """Pinocchio's function of one state.

        Args:
            robot: The robot.
            frames: End frames.
        """
        return self.pinocchio(robot.model, robot.model.createData(), [robot.frame_id(name) for name in frames])


def as_arrays(found: Any) -> list[Array]:
    """Results of one state, ours or Pinocchio's, as arrays of their own.

    Args:
        found: An array, a tuple or dictionary of them; placements and motions of Pinocchio.
    """
    items = found.values() if isinstance(found, dict) else found if isinstance(found, tuple) else (found,)
    return [np.array(_plain(item)) for item in items]


def _plain(item: Any) -> Any:
    if isinstance(item, pin.SE3):
        return item.homogeneous
    return item.vector if isinstance(item, pin.Motion) else item


def _one_call(function: Callable[..., Any]) -> Callable[..., Callable[..., Any]]:
    def prepare(model: Any, data: Any, _: Sequence[int]) -> Callable[..., Any]:
        return partial(function, model, data)

    return prepare


def _pinocchio_frames(model: Any, data: Any, ids: Sequence[int]) -> Callable[..., Any]:
    def call(q: Array) -> tuple[Any, ...]:
        pin.computeJointJacobians(model, data, q)
        placements = [pin.updateFramePlacement(model, data, i) for i in ids]
        return (*placements, *[pin.getFrameJacobian(model, data, i, _AXES) for i in ids])

    return call


def _pinocchio_controller(model: Any, data: Any, ids: Sequence[int]) -> Callable[..., Any]:
    still = np.zeros(model.nv)

    def call(q: Array, v: Array) -> tuple[Any, ...]:
        pin.computeAllTerms(model, data, q, v)
        pin.forwardKinematics(model, data, q, v, still)
        jacobians = [pin.getFrameJacobian(model, data, i, _AXES) for i in ids]
        biases = [pin.getFrameClassicalAcceleration(model, data, i, _AXES) for i in ids]
        return (data.M, data.nle, data.com[0], data.Jcom, *jacobians, *biases)

    return call


def _frames(k: KernelSet, names: Sequence[str]) -> Kernel:
    return k.bundle([f"{what}:{name}" for what in ("T", "J") for name in names])


def _controller(k: KernelSet, names: Sequence[str]) -> Kernel:
    return k.bundle(["M", "h", "com", "Jcom", *(f"{what}:{name}" for what in ("J", "Jdv") for name in names)])


CASES = (
    Case("rnea", "inverse dynamics", ("q", "v", "a"), lambda k, _: k.rnea, _one_call(pin.rnea), "rnea"),
    Case(
        "aba", "forward dynamics", ("q", "v", "tau"), lambda k, _: k.aba, _one_call(pin.aba), "aba", inverts=True
    ),
    Case("crba", "mass matrix", ("q",), lambda k, _: k.crba, _one_call(pin.crba), "crba"),
    Case(
        "frames", "placements and Jacobians of end frames", ("q",), _frames, _pinocchio_frames,
        "computeJointJacobians; of each frame: updateFramePlacement, getFrameJacobian",
    ),
    Case(
        "rnea_derivatives", "derivatives of inverse dynamics", ("q", "v", "a"), lambda k, _: k.rnea_derivatives,
        _one_call(pin.computeRNEADerivatives), "computeRNEADerivatives",
    ),
    Case(
        "aba_derivatives", "derivatives of forward dynamics", ("q", "v", "tau"), lambda k, _: k.aba_derivatives,
        _one_call(pin.computeABADerivatives), "computeABADerivatives", inverts=True,
    ),
    Case(
        "controller", "M, h, com, Jcom, and J, J̇v of end frames", ("q", "v"), _controller, _pinocchio_controller,
        "computeAllTerms, forwardKinematics; of each frame: getFrameJacobian, getFrameClassicalAcceleration",
    ),
)  # fmt: skip
