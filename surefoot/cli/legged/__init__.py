"""Commands of legged robots: `surefoot walk`, `matrix`, `speed`, `push-map` and `hexapod`."""

from surefoot.cli.legged.commands import legged

__all__ = ["legged"]
