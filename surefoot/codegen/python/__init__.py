"""Entry points by which Python calls machine code without overhead."""

from surefoot.codegen.python.entry import bound_function, entry_function, front_spec, supported

__all__ = ["bound_function", "entry_function", "front_spec", "supported"]
