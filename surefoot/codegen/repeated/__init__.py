"""Kernels that are called in a loop of their own: steps that feed the next one."""

from surefoot.codegen.repeated.repeated import Repeated, Repeats

__all__ = ["Repeated", "Repeats"]
