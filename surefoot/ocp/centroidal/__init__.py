"""Centroidal dynamics with full kinematics: momentum is the state, single links have no inertia of their own."""

from surefoot.ocp.centroidal.motion import whole_body_motion
from surefoot.ocp.centroidal.step import centroidal_step, momentum_rate

__all__ = ["centroidal_step", "momentum_rate", "whole_body_motion"]
