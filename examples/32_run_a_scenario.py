"""Run a scenario from Python.

A scenario is a file that joins robot, world, controller and events; the package comes with about twenty. A run writes
metrics, logs, the audit and a report page into a folder, and can be repeated bit for bit. Overrides change any value.
"""

import tempfile
from pathlib import Path

from surefoot.scenario import names, run_scenario

print(f"scenarios: {', '.join(sorted(names())[:4])}, …")
with tempfile.TemporaryDirectory() as folder:
    run = run_scenario("slide", out=Path(folder) / "run", overrides=["audit.kind=none"])
    print(f"slide: {run.verdict}")
    print(f"slope {run.metrics['slope_deg']:.1f}°, friction {run.metrics['friction']}, slides: {run.metrics['slides']}")
    print("files:", ", ".join(sorted(file.name for file in run.path.iterdir())))
