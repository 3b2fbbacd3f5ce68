"""Crocoddyl's biped walk; run in an interpreter of its own: python crocoddyl_script.py FOLDER.

Reads `job.json`: the robot, repeats, and, if our motion is to be judged, `motion.npz` with states xs and torques us.
Writes `answer.json`: first state, numbers of the model, CPU times of the solves, iterations, cost; cost and defects of
our motion.
"""

# mypy: ignore-errors
from __future__ import annotations

import json
import os
import sys
import time

import numpy as np
import pinocchio as pin

pin.WITH_COLLISION = True  # example-robot-data-loaders 5.0 reads it; pin 3.9 has no such name
import crocoddyl  # noqa: E402
import example_robot_data  # noqa: E402
from crocoddyl.utils.biped import SimpleBipedGaitProblem  # noqa: E402


def _problem(model, x0):
    # a new object each time: createWalkingProblem changes it, so that a second call poses another problem
    gait = SimpleBipedGaitProblem(model, "right_sole_link", "left_sole_link")
    return gait.createWalkingProblem(x0, 0.6, 0.1, 0.03, 25, 12)


def _solved(model, x0):
    solver = crocoddyl.SolverFDDP(_problem(model, x0))
    solver.th_stop = 1e-7
    xs, us = [x0] * (solver.problem.T + 1), solver.problem.quasiStatic([x0] * solver.problem.T)
    begin = time.process_time()
    done = solver.solve(xs, us, 100, False)
    return time.process_time() - begin, done, solver


def _judged(problem, xs, us):
    """Cost of states and torques, and what is missing between a state and the one that the last leads to."""
    state = problem.runningModels[0].state
    cost, gaps = 0.0, []
    for k, (model, data) in enumerate(zip(problem.runningModels, problem.runningDatas, strict=True)):
        model.calc(data, xs[k], us[k][: model.nu])
        cost += data.cost
        gaps.append(np.abs(state.diff(xs[k + 1], data.xnext)))
    problem.terminalModel.calc(problem.terminalData, xs[-1])
    cost += problem.terminalData.cost
    gaps = np.array(gaps)
    nv = state.nv
    return {"cost": cost, "position_defect": float(gaps[:, :nv].max()), "velocity_defect": float(gaps[:, nv:].max())}


def _excess(model, xs, us):
    """Largest share of a torque limit, and how far joints are beyond their limits."""
    tau = np.array([u for u in us if len(u)])
    q = np.array([x[: model.nq] for x in xs])[:, 7:]
    low, high = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    share = float((np.abs(tau) / model.effortLimit[6:]).max())
    return {"torque_share": share, "position_excess": float(np.maximum(low - q, q - high).max())}


def _main(folder):
    with open(f"{folder}/job.json") as stream:
        job = json.load(stream)
    model = example_robot_data.load(job["robot"]).model
    q0 = model.referenceConfigurations["half_sitting"].copy()
    x0 = np.concatenate([q0, np.zeros(model.nv)])
    found = {"q0": q0.tolist(), "joints": list(model.names)[1:], "version": crocoddyl.__version__}
    bodies = [model.inertias[i] for i in range(1, model.njoints)]
    found |= {"armature": model.armature.tolist(), "masses": [body.mass for body in bodies]}
    found |= {"coms": [body.lever.tolist() for body in bodies], "inertias": [body.inertia.tolist() for body in bodies]}
    found["placements"] = [model.jointPlacements[i].homogeneous.tolist() for i in range(1, model.njoints)]
    motion = f"{folder}/motion.npz"
    if os.path.exists(motion):
        data = np.load(motion)
        xs, us = list(data["xs"]), list(data["us"])
        found["judged"] = _judged(_problem(model, x0), xs, us) | _excess(model, xs, us)
    else:
        solves = [_solved(model, x0) for _ in range(job["repeats"])]
        seconds, done, solver = min(solves, key=lambda item: item[0])
        found |= {"seconds": seconds, "success": bool(done), "iterations": solver.iter, "cost": solver.cost}
        found["judged"] = _judged(solver.problem, solver.xs, solver.us) | _excess(model, solver.xs, solver.us)
    with open(f"{folder}/answer.json", "w") as stream:
        json.dump(found, stream)


_main(sys.argv[1])
