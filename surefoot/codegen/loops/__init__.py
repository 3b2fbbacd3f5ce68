"""Loops that are written in plain Python, translated to machine code."""

from surefoot.codegen.loops.machine_code import BoundCode, Floats, Ints, NativeCode

__all__ = ["BoundCode", "Floats", "Ints", "NativeCode"]
