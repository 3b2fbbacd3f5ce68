"""Commands of legged robots: `surefoot walk`, `surefoot matrix` and `surefoot speed`."""

from surefoot.cli.legged.commands import legged

__all__ = ["legged"]
