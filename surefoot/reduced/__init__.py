"""Reduced models of walking and balance: the linear inverted pendulum, its divergent component (DCM), capture, gaits.

Plain SI numbers, no robot. `capture_radius`, `capturable`, `capture_box`: from where a stop is possible. `StepAdapter`:
where and when to step, from the measured DCM.
"""

from surefoot.reduced.capture import capturable, capture_box, capture_radius, step_offset, steps_to_capture
from surefoot.reduced.dcm import DcmPlan, ZmpPiece
from surefoot.reduced.step_adaptation import AdaptedStep, NominalStep, Side, StepAdapter, StepLimits, StepWeights

__all__ = [
    "AdaptedStep",
    "DcmPlan",
    "NominalStep",
    "Side",
    "StepAdapter",
    "StepLimits",
    "StepWeights",
    "ZmpPiece",
    "capturable",
    "capture_box",
    "capture_radius",
    "step_offset",
    "steps_to_capture",
]
