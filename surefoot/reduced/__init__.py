"""Reduced models of walking and balance: the linear inverted pendulum, its divergent component (DCM), capture, gaits.

Plain SI numbers, no robot. `capture_radius`, `capturable`, `capture_box`: from where a stop is possible. `StepAdapter`:
where and when to step, from the measured DCM. `walking_reference`: CoM, ZMP and DCM over time, by name of the method.
"""

from surefoot.reduced.capture import capturable, capture_box, capture_radius, step_offset, steps_to_capture
from surefoot.reduced.capture_gait import CaptureGait
from surefoot.reduced.dcm import DcmPlan, ZmpPiece
from surefoot.reduced.lip import (
    capture_zmp,
    critical_horizon,
    natural_frequency,
    orbital_energy,
    pendulum_state,
    regulator_poles,
)
from surefoot.reduced.mpc import FootstepMpc, MpcPlan, MpcSettings, Schedule
from surefoot.reduced.preview import preview_control, preview_gains
from surefoot.reduced.references import METHODS, Reference, walking_reference
from surefoot.reduced.step_adaptation import AdaptedStep, NominalStep, Side, StepAdapter, StepLimits, StepWeights
from surefoot.reduced.supports import Supports

__all__ = [
    "METHODS",
    "AdaptedStep",
    "CaptureGait",
    "DcmPlan",
    "FootstepMpc",
    "MpcPlan",
    "MpcSettings",
    "NominalStep",
    "Reference",
    "Schedule",
    "Side",
    "StepAdapter",
    "StepLimits",
    "StepWeights",
    "Supports",
    "ZmpPiece",
    "capturable",
    "capture_box",
    "capture_radius",
    "capture_zmp",
    "critical_horizon",
    "natural_frequency",
    "orbital_energy",
    "pendulum_state",
    "preview_control",
    "preview_gains",
    "regulator_poles",
    "step_offset",
    "steps_to_capture",
    "walking_reference",
]
