"""Commands that compare methods on one robot: `surefoot regions`, `compare-distribution`, `compare-controllers`, `swing-up`."""

from surefoot.cli.study.commands import study

__all__ = ["study"]
