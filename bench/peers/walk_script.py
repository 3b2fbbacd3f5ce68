"""A walk planned by placo; run in an interpreter of its own: python walk_script.py FOLDER.

Reads `walk.json`; writes `answer.json`: CPU times of the plan and of a tick of its inverse kinematics [s], and by tick
the base as position and quaternion xyzw, joint positions, centre of mass, and which feet carry.
"""

# mypy: ignore-errors
from __future__ import annotations

import json
import sys
import time

import numpy as np
import placo

_SIDES = placo.HumanoidRobot_Side.left, placo.HumanoidRobot_Side.right


def _parameters(job):
    p = placo.HumanoidParameters()
    for name, value in job["parameters"].items():
        setattr(p, name, value)
    return p


def _ready(job, folder, p):
    robot = placo.HumanoidRobot(f"{folder}/robot.urdf", placo.Flags.ignore_collisions)
    for name, value in job["joints"].items():
        robot.set_joint(name, value)
    solver = placo.KinematicsSolver(robot)
    solver.enable_velocity_limits(True)
    solver.dt = job["dt"]
    tasks = placo.WalkTasks()
    tasks.initialize_tasks(solver, robot)
    posture = solver.add_joints_task()
    posture.set_joints(job["joints"])
    posture.configure("posture", "soft", 1e-2)
    solver.add_regularization_task(1e-6)
    tasks.reach_initial_pose(np.eye(4), p.feet_spacing, p.walk_com_height, p.walk_trunk_pitch)
    return robot, solver, tasks


def _planned(job, robot, p):
    planner = placo.FootstepsPlannerRepetitive(p)
    planner.configure(job["step"], 0.0, 0.0, job["steps"])
    sides = (placo.flatten_on_floor(T) for T in (robot.get_T_world_left(), robot.get_T_world_right()))
    steps = planner.plan(placo.HumanoidRobot_Side.left, *sides)
    supports = placo.FootstepsPlanner.make_supports(steps, 0.0, True, p.has_double_support(), True)
    generator = placo.WalkPatternGenerator(robot, p)
    begin = time.process_time_ns()
    found = generator.plan(supports, robot.com_world(), 0.0)
    return found, 1e-9 * (time.process_time_ns() - begin)


def main(folder):
    """Plan, follow the plan by inverse kinematics, and write it all down."""
    with open(f"{folder}/walk.json") as file:
        job = json.load(file)
    p = _parameters(job)
    robot, solver, tasks = _ready(job, folder, p)
    plans = [_planned(job, robot, p) for _ in range(job["passes"])]
    plan, rows, ticks, carrying = plans[0][0], [], [], []
    joints = list(job["joints"])
    for t in np.arange(0.0, plan.t_end, job["dt"]):
        begin = time.process_time_ns()
        tasks.update_tasks_from_trajectory(plan, t)
        robot.update_kinematics()
        solver.solve(True)
        ticks.append(1e-9 * (time.process_time_ns() - begin))
        both = plan.support_is_both(t)
        carrying.append([both or plan.support_side(t) == side for side in _SIDES])
        if not both:
            robot.update_support_side("left" if carrying[-1][0] else "right")
            robot.ensure_on_floor()
        q = robot.state.q
        rows.append([*q[:7], *(robot.get_joint(name) for name in joints), *robot.com_world()])
    times = {"plan": min(time for _, time in plans), "tick": float(np.median(ticks))}
    with open(f"{folder}/answer.json", "w") as file:
        json.dump({"times": times, "rows": np.array(rows).tolist(), "joints": joints, "carrying": carrying}, file)


if __name__ == "__main__":
    main(sys.argv[1])
