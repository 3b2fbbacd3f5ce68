"""Pinocchio's dynamics of robots that are held by contacts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.benchmarks.states import States
from surefoot.robot import Robot

__all__ = ["PinocchioConstraints"]

Array = NDArray[np.float64]
_KINDS = {"flat": pin.ContactType.CONTACT_6D, "point": pin.ContactType.CONTACT_3D}


class PinocchioConstraints:
    """A robot held by contact surfaces.

    Args:
        robot: The robot.
        kinds: "flat" or "point" by contact surface.
    """

    describe = "constraintDynamics, ProximalSettings(1e-12, 0, 1); then computeConstraintDynamicsDerivatives"

    def __init__(self, robot: Robot, kinds: Mapping[str, str]) -> None:
        self.model, self.data = robot.model, robot.model.createData()
        self.models, self.datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for name, kind in kinds.items():
            surface = robot.contacts[name]
            frame = self.model.frames[robot.frame_id(surface.frame)]
            place = frame.placement * pin.SE3(np.asarray(surface.placement))
            self.models.append(pin.RigidConstraintModel(_KINDS[kind], self.model, frame.parentJoint, place, pin.LOCAL))
        for model in self.models:
            self.datas.append(model.createData())
        pin.initConstraintDynamics(self.model, self.data, self.models, self.datas)
        self.settings = pin.ProximalSettings(1e-12, 0.0, 1)

    def _accelerate(self, q: Array, v: Array, tau: Array) -> Array:
        found: Array = pin.constraintDynamics(self.model, self.data, q, v, tau, self.models, self.datas, self.settings)
        return found

    def _differentiate(self, q: Array, v: Array, tau: Array) -> None:
        self._accelerate(q, v, tau)
        pin.computeConstraintDynamicsDerivatives(self.model, self.data, self.models, self.datas, self.settings)

    def _call(self, what: str) -> Callable[..., Any]:
        return self._accelerate if what == "constrained" else self._differentiate

    def one_pass(self, what: str, states: States) -> Callable[[], Any]:
        """A pass over all states.

        Args:
            what: "constrained" or "constrained_derivatives".
            states: n states.
        """
        call, rows = self._call(what), list(zip(states.q, states.v, states.tau, strict=True))
        return lambda: [call(*row) for row in rows]

    def answers(self, what: str, states: States) -> list[Array]:
        """Accelerations (n, nv); or ∂a/∂q, ∂a/∂v and ∂a/∂τ, (n, nv, nv) each.

        Args:
            what: "constrained" or "constrained_derivatives".
            states: n states.
        """
        rows = []
        for row in zip(states.q, states.v, states.tau, strict=True):
            a = self._call(what)(*row)
            derived = (self.data.ddq_dq, self.data.ddq_dv, self.data.ddq_dtau)
            rows.append([np.array(x) for x in ((a,) if what == "constrained" else derived)])
        return [np.array(column) for column in zip(*rows, strict=True)]
