"""Benchmarks: kernels and solvers against other libraries, and their growth with the robot. Not part of the wheel."""

from bench.machine import header
from bench.runner import CASES, main

__all__ = ["CASES", "header", "main"]
