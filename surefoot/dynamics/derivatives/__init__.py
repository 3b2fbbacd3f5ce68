"""Analytic derivatives of inverse and forward dynamics."""

from surefoot.dynamics.derivatives.derivatives import aba_derivatives, rnea_derivatives

__all__ = ["aba_derivatives", "rnea_derivatives"]
