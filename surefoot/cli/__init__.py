"""The command line: `surefoot COMMAND`.

Exit status: 0 passed, 1 bad verdict, 2 bad input, 3 internal error, 130 interrupted.
"""

import sys

try:
    from surefoot.cli.main import main
except KeyboardInterrupt:  # while it loads: told like an interruption later on
    print("surefoot: interrupted", file=sys.stderr)
    raise SystemExit(130) from None

__all__ = ["main"]
