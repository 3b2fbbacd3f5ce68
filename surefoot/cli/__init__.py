"""The command line: `surefoot COMMAND`.

Exit status: 0 passed, 1 bad verdict, 2 bad input, 3 internal error, 130 interrupted.
"""

from surefoot.cli.main import main

__all__ = ["main"]
