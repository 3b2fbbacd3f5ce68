"""Write a page to look at and to send.

One HTML file that opens from disk: the robot in 3-D, plots and numbers on the same clock. `Evidence` takes what there
is to show; the rest is computed or omitted. An argument names the folder; without it the page is thrown away.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import surefoot as sf
from surefoot.control import JointWaves
from surefoot.report import Evidence, Plot, motion_plots, write_report

robot = sf.load("small-humanoid")
waves = {"left_shoulder_pitch": (0.8, 1.0, 0.0), "right_shoulder_pitch": (-0.8, 1.0, 0.0)}
log = sf.simulate(robot, JointWaves(robot, waves, gravity=True), sf.World(), 2.0)
q, v = np.asarray(log["q"]), np.asarray(log["v"])
wrenches = {name: np.asarray(log[f"contact.{name}.wrench"]) for name in robot.contacts}

evidence = Evidence(
    "Swinging arms",
    robot,
    log.time,
    q,
    v=v,
    world=sf.World(),
    wrenches=wrenches,
    plots=(Plot("Tilt", "rad", {"base": np.asarray(log["base.tilt"])}), *motion_plots(robot, q, v)),
    metrics={"largest tilt [rad]": float(log["base.tilt"].max())},
)
with tempfile.TemporaryDirectory() as scratch:
    page = Path(sys.argv[1] if len(sys.argv) > 1 else scratch) / "swinging_arms.html"
    write_report(page, evidence)
    print(f"{page.name}: {len(evidence.plots)} plots, one file: {page.stat().st_size > 100_000}")
