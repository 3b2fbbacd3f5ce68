"""Commands that compare methods on one robot: `surefoot regions`."""

from surefoot.cli.study.commands import study

__all__ = ["study"]
