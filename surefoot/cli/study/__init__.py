"""Commands that compare methods: `surefoot regions`, `compare-distribution`, `compare-controllers`, `swing-up`."""

from surefoot.cli.study.commands import study

__all__ = ["study"]
