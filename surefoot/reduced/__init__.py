"""Reduced models of walking and balance: the linear inverted pendulum and its divergent component of motion."""

from surefoot.reduced.dcm import DcmPlan, ZmpPiece

__all__ = ["DcmPlan", "ZmpPiece"]
