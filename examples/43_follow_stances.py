"""Follow stored stances.

A plan is more than a motion: its stances can be saved, and followed again by any planner of motions, in the time of a
wink. A quadruped crawls ahead; its torques hold it while the load goes from foot to foot.
"""

import tempfile
from pathlib import Path

import numpy as np

import surefoot as sf
from surefoot.planning import Margins, Pace, StancePlanner, StanceSequence, audit_plan, timed_plan

robot = sf.load("anymal")
planner = StancePlanner(robot, sf.World(), Margins(balance=0.03, swing_height=0.03))
plan = planner.plan(np.array(robot.home), goal=(0.25, 0.0, 0.0), seed=0)
print(f"solved: {plan.solved}, {len(plan.moves)} moves, {len(plan.explored)} stances explored")

with tempfile.TemporaryDirectory() as folder:
    plan.sequence().save(Path(folder) / "stances.json")
    stances = StanceSequence.load(Path(folder) / "stances.json")

again = planner.follow(stances, seed=1)
print(f"followed: {again.solved}, motions tried and solved: {again.tried}, audit passed: {audit_plan(again).passed}")

timed = timed_plan(again, Pace(rate=0.1, acceleration=8.0))
torque = np.abs(timed.trajectory.tau).max(axis=0) / [drive.torque_limit for drive in robot.drives]
print(f"{timed.trajectory.duration:.1f} s, largest torque / limit: {torque.max():.2f}")
