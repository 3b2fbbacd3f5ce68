"""How a continuous problem becomes a discrete one: dynamics, integrator and shape of the controls.

Dynamics
    "inverse"   accelerations and contact wrenches are controls, the equations of motion are rows (direct inverse
                dynamics): cheap second derivatives, for floating bases
    "forward"   forces of the drives are controls, accelerations follow (FdOP; Koch, (5.13))
    "idop"      desired accelerations of the driven joints are controls, relaxed by their inertia (IdOP; Koch, (5.26))
    "centroidal"  momentum is the state beside the coordinates, rates and contact wrenches are controls (Dai, Valenzuela
                and Tedrake 2014; Sleiman et al. 2021): no inertia of single links, small stages, for receding horizons
Integrator
    "semi_implicit", "rk4": shooting;  "hermite_simpson", "radau": collocation, where the accelerations at the
    collocation points are controls and meet the equations of motion as rows
Control
    "constant" on each interval, "plc": linear and continuous, "plci": linear and continuous rates (Koch, section 4.1)
Contacts (semi-implicit steps of inverse dynamics)
    "velocity": they rest after each step, and errors of their places vanish;  "acceleration": J a + J̇ v = −30/s J v, as
    Crocoddyl holds them
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError, one_of

Dynamics = Literal["inverse", "forward", "idop", "centroidal"]
Integrator = Literal["semi_implicit", "rk4", "hermite_simpson", "radau"]
Control = Literal["constant", "plc", "plci"]
Contacts = Literal["velocity", "acceleration"]

_S6 = np.sqrt(6.0)
TABLES: dict[str, tuple[Array, Array, Array]] = {
    "hermite_simpson": (
        np.array([[0.0, 0.0, 0.0], [5 / 24, 1 / 3, -1 / 24], [1 / 6, 2 / 3, 1 / 6]]),
        np.array([1 / 6, 2 / 3, 1 / 6]),
        np.array([0.0, 0.5, 1.0]),
    ),
    "radau": (
        np.array(
            [
                [(88 - 7 * _S6) / 360, (296 - 169 * _S6) / 1800, (-2 + 3 * _S6) / 225],
                [(296 + 169 * _S6) / 1800, (88 + 7 * _S6) / 360, (-2 - 3 * _S6) / 225],
                [(16 - _S6) / 36, (16 + _S6) / 36, 1 / 9],
            ]
        ),
        np.array([(16 - _S6) / 36, (16 + _S6) / 36, 1 / 9]),
        np.array([(4 - _S6) / 10, (4 + _S6) / 10, 1.0]),
    ),
}
"""Butcher tables (A, b, c): Lobatto IIIA of order 4, which is Hermite–Simpson, and Radau IIA of order 5."""


@dataclass(frozen=True)
class Formulation:
    """Dynamics, integrator and shape of the controls; see the module.

    Args:
        dynamics: "inverse", "forward", "idop" or "centroidal".
        integrator: "semi_implicit", "rk4", "hermite_simpson" or "radau".
        control: "constant", "plc" or "plci"; inverse dynamics has constant ones.
        contacts: "velocity" or "acceleration".

    Raises:
        UnknownNameError: There is no such formulation.
        NotSupportedError: The parts do not fit together.
    """

    dynamics: Dynamics = "inverse"
    integrator: Integrator = "semi_implicit"
    control: Control = "constant"
    contacts: Contacts = "velocity"

    def __post_init__(self) -> None:
        for value, kind, known in (
            (self.dynamics, "dynamics", Dynamics),
            (self.integrator, "integrator", Integrator),
            (self.control, "control", Control),
            (self.contacts, "contacts", Contacts),
        ):
            if value not in get_args(known):
                raise one_of(kind, value, get_args(known))
        if self.dynamics == "inverse" and (self.integrator == "rk4" or self.control != "constant"):
            raise NotSupportedError(
                "direct inverse dynamics has accelerations as controls, constant or at collocation points",
                evidence={"integrator": self.integrator, "control": self.control},
                next_step='use integrator="semi_implicit" or a collocation with control="constant", or dynamics="idop"',
            )
        if self.dynamics == "centroidal" and (self.integrator, self.control) != ("semi_implicit", "constant"):
            raise NotSupportedError(
                "centroidal dynamics takes semi-implicit steps with constant controls",
                evidence={"integrator": self.integrator, "control": self.control},
                next_step='leave integrator="semi_implicit" and control="constant"',
            )
        if self.integrator == "semi_implicit" and self.control != "constant":
            raise NotSupportedError(
                "the semi-implicit step takes constant controls",
                next_step='set integrator="rk4", or control="constant"',
            )

    @property
    def is_collocation(self) -> bool:
        """Whether equations of motion hold at collocation points."""
        return self.integrator in TABLES

    @property
    def has_wrenches(self) -> bool:
        """Whether contact wrenches are controls, and rows hold the contacts."""
        return self.dynamics in ("inverse", "centroidal")

    def __str__(self) -> str:
        held = "" if self.contacts == "velocity" else f"-{self.contacts}"
        return f"{self.dynamics}-{self.integrator}-{self.control}{held}"
