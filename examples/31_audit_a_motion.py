"""Audit a motion.

Is a motion physically possible, by what margin, and where does it break? Talos squats, once in two seconds and once in
half a second. The quick one would have to be pulled down by the ground; the audit says when, and by how much.
"""

import numpy as np

import surefoot as sf
from surefoot.tasks import CenterOfMass, Contact, FrameOrientation

robot = sf.load("talos")
com = sf.compile(robot).com(robot.home)
trunk = robot.placements(robot.home)["base_link"][:3, :3]
tasks = [Contact(robot, name) for name in robot.contacts]
tasks += [FrameOrientation("base_link", trunk), CenterOfMass(com)]
samples = 101
down = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.linspace(0.0, 1.0, samples))
found = sf.ik.solve_batch(
    robot, tasks, {"com": com - np.outer(down, [0.0, 0.0, 0.12])}, tolerances={"m": 1e-9, "rad": 1e-9}
)

results = {}
for name, duration in (("slow", 2.0), ("quick", 0.45)):
    motion = sf.Trajectory.of(robot, np.linspace(0.0, duration, samples), found.q)
    result = results[name] = sf.audit(motion, robot, collisions=False, replay=False)
    print(f"{name}: {'possible' if result.passed else 'impossible'}")
    for finding in result.findings:
        if finding.severity == "defect":
            print(f"  {finding.item} {finding.value:.0f} {finding.unit} at {finding.time:.2f} s: {finding.next_step}")
