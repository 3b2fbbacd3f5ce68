"""Velocities and accelerations by strict priorities, with inequalities on any level."""

from surefoot.ik.stepper.limit_parabola import stopping_acceleration_bounds, stopping_velocity_bounds
from surefoot.ik.stepper.rows import StepperRows
from surefoot.ik.stepper.stepper import Stepper, StepResult

__all__ = ["StepResult", "Stepper", "StepperRows", "stopping_acceleration_bounds", "stopping_velocity_bounds"]
