"""Commands that compare methods and repeat studies: `surefoot regions`, `compare-controllers`, `study-walk`."""

from surefoot.cli.study.commands import study

__all__ = ["study"]
