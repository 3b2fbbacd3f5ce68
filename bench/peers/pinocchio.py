"""Pinocchio's own batches, and its dynamics with constraints."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from bench.check import States
from bench.timing import Effort, Times, measure
from surefoot.dynamics import own_constraints
from surefoot.dynamics.constraints import Tie
from surefoot.errors import NotSupportedError
from surefoot.robot import Robot

__all__ = ["PinocchioBatch", "PinocchioConstraints"]

Array = NDArray[Any]
_INPUTS = {"rnea": ("q", "v", "a"), "aba": ("q", "v", "tau")}
_KINDS = {"flat": pin.ContactType.CONTACT_6D, "point": pin.ContactType.CONTACT_3D}


class PinocchioBatch:
    """Batches in C++ on all cores; states in columns.

    Raises:
        NotSupportedError: Pinocchio was built without them, or would take an array of one row for a vector and write
            beyond its end.
    """

    name, all_cores = "pinocchio_all", True
    calls = {case: f"{case}InParallel" for case in _INPUTS}
    frames: Sequence[str] = ()

    def __init__(self, robot: Robot, states: States) -> None:
        if robot.nv < 2 or not all(hasattr(pin, name) for name in self.calls.values()):
            raise NotSupportedError("Pinocchio has no batches for this robot")
        self.threads = os.cpu_count() or 1
        self.pool = pin.ModelPool(robot.model, self.threads)
        self.states, self.out = states, np.zeros((robot.nv, len(states)), order="F")

    def _run(self, case: str) -> Callable[[], Any]:
        function, inputs = getattr(pin, self.calls[case]), self.states.of(_INPUTS[case])
        columns = [np.asfortranarray(x.T) for x in inputs]
        return lambda: function(self.threads, self.pool, *columns, self.out)

    def answers(self, case: str, count: int) -> Array:
        """As `MujocoPeer.answers`."""
        self._run(case)()
        return self.out.T[:count].copy()

    def times(self, case: str, effort: Effort) -> Times:
        """Times for one state."""
        return measure(self._run(case), len(self.states), effort)


class PinocchioConstraints:
    """`constraintDynamics` of a robot that is held by contact surfaces, "flat" or "point", or by its own loops."""

    describe = "constraintDynamics, ProximalSettings(1e-12, 0, 1); then computeConstraintDynamicsDerivatives"

    def __init__(self, robot: Robot, kinds: Mapping[str, str] | None = None) -> None:
        self.model, self.data = robot.model, robot.model.createData()
        self.models, self.datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for model in self._loops(robot) if kinds is None else self._contacts(robot, kinds):
            self.models.append(model)
        for model in self.models:
            self.datas.append(model.createData())
        pin.initConstraintDynamics(self.model, self.data, self.models, self.datas)
        self.settings = pin.ProximalSettings(1e-12, 0.0, 1)

    def _contacts(self, robot: Robot, kinds: Mapping[str, str]) -> list[Any]:
        found = []
        for name, kind in kinds.items():
            surface = robot.contacts[name]
            frame = self.model.frames[robot.frame_id(surface.frame)]
            place = frame.placement * pin.SE3(np.asarray(surface.placement))
            found.append(pin.RigidConstraintModel(_KINDS[kind], self.model, frame.parentJoint, place, pin.LOCAL))
        return found

    def _loops(self, robot: Robot) -> list[Any]:
        ties = [part for part in own_constraints(robot).parts if isinstance(part, Tie)]
        ends = [[(end.body + 1, pin.SE3(end.R, end.p)) for end in (tie.first, tie.second)] for tie in ties]
        return [pin.RigidConstraintModel(_KINDS["point"], self.model, *a, *b, pin.LOCAL) for a, b in ends]

    def accelerate(self, q: Array, v: Array, tau: Array) -> Array:
        """Accelerations of one state."""
        found: Array = pin.constraintDynamics(self.model, self.data, q, v, tau, self.models, self.datas, self.settings)
        return found

    def differentiate(self, q: Array, v: Array, tau: Array) -> tuple[Array, Array, Array]:
        """∂a/∂q, ∂a/∂v and ∂a/∂τ of one state."""
        self.accelerate(q, v, tau)
        pin.computeConstraintDynamicsDerivatives(self.model, self.data, self.models, self.datas, self.settings)
        return self.data.ddq_dq, self.data.ddq_dv, self.data.ddq_dtau
