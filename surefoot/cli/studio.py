"""`surefoot studio`: robots, scenarios, runs and audits in the browser."""

from __future__ import annotations

import sys
from pathlib import Path


def studio_command(folder: Path, host: str, port: int, robot: str, plain: bool, open_browser: bool) -> int:
    """Run the studio until it is interrupted."""
    from surefoot.studio import Studio

    with Studio(folder, host, port, robot, plain) as studio:
        print(f"surefoot studio for {studio.folder}: {studio.url} (stop with Ctrl-C)", flush=True)
        if not studio.is_local:
            print(
                f"surefoot: anyone who can reach {host}:{studio.port} can run simulations and read {studio.folder}",
                file=sys.stderr,
            )
        if open_browser:
            studio.open_browser()
        try:
            studio.wait()
        except KeyboardInterrupt:
            print("surefoot: stopping", file=sys.stderr)
    return 0
