"""The command line: `surefoot COMMAND`.

Exit status: 0 passed, 1 bad verdict, 2 bad input, 3 internal error, 130 interrupted.
"""

import sys

try:
    from surefoot.cli.main import app, main
except KeyboardInterrupt:  # while loading: reported like a later interruption
    print("surefoot: interrupted", file=sys.stderr)
    raise SystemExit(130) from None

__all__ = ["app", "main"]
