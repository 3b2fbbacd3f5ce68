"""Loops that are written in plain Python, translated to machine code."""

from surefoot.codegen.loops.machine_code import Floats, Ints, NativeCode

__all__ = ["Floats", "Ints", "NativeCode"]
