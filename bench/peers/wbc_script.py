"""Ticks of whole-body control by placo or TSID; run in an interpreter of its own: python wbc_script.py FOLDER.

Reads `wbc.json`; writes `answer.json`: CPU times of the ticks [s], fastest of the passes, and the largest errors.
With `serve` as a second word it controls a robot instead: it reads states from its input (turn and place of the base,
joints, their rates; doubles) and writes torques and joint rates of the next tick; NaN where there is no solution.
"""

# mypy: ignore-errors
from __future__ import annotations

import glob
import importlib.util
import json
import os
import sys
import time

import numpy as np
import pinocchio as pin


def _placo(job, folder):
    import placo

    r = placo.RobotWrapper(f"{folder}/robot.urdf", placo.Flags.ignore_collisions)
    q0 = r.state.q.copy()
    q0[:7] = job["q"][:7]
    for name, value in job["joints"].items():
        q0[r.get_joint_offset(name)] = value

    def begin():
        r.state.q, r.state.qd = q0, 0 * r.state.qd
        r.update_kinematics()
        s = placo.DynamicsSolver(r)
        s.dt, held = job["dt"], []
        for foot in job["feet"]:
            task = s.add_frame_task(foot["frame"], r.get_T_world_frame(foot["frame"]))
            task.configure(foot["frame"], "hard", 1e3, 1e3)
            held += [task.position(), task.orientation()]
            contact = s.add_planar_contact(task)
            contact.length, contact.width, contact.mu, contact.unilateral = *foot["size"], job["friction"], True
            contact.weight_forces = contact.weight_moments = contact.weight_tangentials = 1e-5
        com = s.add_com_task(r.com_world())
        com.configure("com", "soft", 10.0)
        hand = s.add_position_task(job["hand"], r.get_T_world_frame(job["hand"])[:3, 3])
        hand.configure("hand", "soft", 1.0)
        torso = s.add_orientation_task(job["torso"], r.get_T_world_frame(job["torso"])[:3, :3])
        torso.configure("t", "soft", 1.0)
        posture = s.add_joints_task()
        posture.set_joints(job["joints"])
        posture.configure("posture", "soft", 0.1)
        for task in (*held, com, hand, torso, posture) if "gain" in job else ():
            task.kp = job["gain"]
        s.enable_torque_limits(True)
        s.enable_joint_limits(True)
        s.enable_velocity_limits(True)
        for name, limit in job["torques"].items():
            s.set_torque_limit(name, limit)
        c0 = r.com_world().copy()

        def tick(k):
            com.target_world = c0 + np.array(job["sway"][k])
            com.dtarget_world, com.ddtarget_world = np.array(job["speed"][k]), np.array(job["change"][k])
            r.update_kinematics()
            if not s.solve(True).success:
                raise RuntimeError("placo found no solution")

        def control(base, joints, twist, rates):
            q, v = r.state.q.copy(), r.state.qd.copy()
            q[:7], v[:6] = base, twist
            for name, x, rate in zip(job["joints"], joints, rates, strict=True):
                q[r.get_joint_offset(name)], v[r.get_joint_v_offset(name)] = x, rate
            r.state.q, r.state.qd = q, v
            r.update_kinematics()
            found = s.solve(False)
            if not found.success:
                raise RuntimeError("placo found no solution")
            rows = [r.get_joint_v_offset(name) for name in job["joints"]]
            return found.tau[rows], (v + job["dt"] * found.qdd)[rows]

        return tick, lambda k: float(np.linalg.norm(r.com_world() - c0 - np.array(job["sway"][k]))), control

    return begin


def _load_tsid():
    places = [*sys.path, os.path.dirname(os.path.dirname(pin.__file__))]
    file = next(f for p in places for f in glob.glob(os.path.join(p, "tsid", "tsid_pywrap*.so")))
    spec = importlib.util.spec_from_file_location("tsid_pywrap", file)  # the wheel puts it beside its package
    tsid = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tsid)
    return tsid


def _tsid(job, folder):
    tsid = _load_tsid()
    paths = pin.StdVec_StdString()
    paths.append(folder)

    def begin():
        rob = tsid.RobotWrapper(f"{folder}/robot.urdf", paths, pin.JointModelFreeFlyer(), False)
        m = rob.model()
        state = {"q": pin.neutral(m), "v": np.zeros(rob.nv), "t": 0.0}
        state["q"][:7] = job["q"][:7]
        for name, value in job["joints"].items():
            state["q"][m.joints[m.getJointId(name)].idx_q] = value
        posture0 = state["q"][7:].copy()
        idf = tsid.InverseDynamicsFormulationAccForce("tsid", rob, False)
        idf.computeProblemData(0.0, state["q"], state["v"])
        data, keep = idf.data(), []

        def gains(task, n):
            gain = job.get("gain", 30.0)
            task.setKp(gain * np.ones(n))
            task.setKd(2 * np.sqrt(gain) * np.ones(n))
            keep.append(task)
            return task

        for foot in job["feet"]:
            x, y = 0.5 * np.array(foot["size"])
            points = np.array([[-x, -x, x, x], [-y, y, -y, y], [0.0] * 4])
            up, frame = np.array([0.0, 0.0, 1.0]), foot["frame"]
            c = tsid.Contact6d(frame, rob, frame, points, up, job["friction"], 1.0, 5e3)
            gains(c, 6).setReference(rob.framePosition(data, m.getFrameId(foot["frame"])))
            idf.addRigidContact(c, 1e-5, 1.0, 0)
        com = gains(tsid.TaskComEquality("com", rob), 3)
        idf.addMotionTask(com, 10.0, 1, 0.0)
        for name, mask in ((job["torso"], [0, 0, 0, 1, 1, 1]), (job["hand"], [1, 1, 1, 0, 0, 0])):
            task = gains(tsid.TaskSE3Equality(name, rob, name), 6)
            task.setMask(np.array(mask, dtype=float))
            task.setReference(
                tsid.TrajectorySE3Constant(name, rob.framePosition(data, m.getFrameId(name))).computeNext()
            )
            idf.addMotionTask(task, 1.0, 1, 0.0)
        posture = gains(tsid.TaskJointPosture("posture", rob), rob.nv - 6)
        posture.setReference(tsid.TrajectoryEuclidianConstant("p", posture0).computeNext())
        idf.addMotionTask(posture, 0.1, 1, 0.0)
        torque = tsid.TaskActuationBounds("torque", rob)
        torque.setBounds(-m.effortLimit[6:], m.effortLimit[6:])
        idf.addActuationTask(torque, 1.0, 0, 0.0)
        bounds = tsid.TaskJointBounds("bounds", rob, job["dt"])
        bounds.setVelocityBounds(-m.velocityLimit[6:], m.velocityLimit[6:])
        idf.addMotionTask(bounds, 1.0, 0, 0.0)
        keep += [torque, bounds]
        state["keep"] = keep  # the library itself does not
        c0, sample = rob.com(data).copy(), tsid.TrajectorySample(3)
        solver = tsid.SolverHQuadProgFast("qp")
        solver.resize(idf.nVar, idf.nEq, idf.nIn)

        def tick(k):
            sample.value(c0 + np.array(job["sway"][k]))
            sample.derivative(np.array(job["speed"][k]))
            sample.second_derivative(np.array(job["change"][k]))
            com.setReference(sample)
            found = solver.solve(idf.computeProblemData(state["t"], state["q"], state["v"]))
            idf.getActuatorForces(found)
            dv = idf.getAccelerations(found)
            if found.status != 0:
                raise RuntimeError("TSID found no solution")
            state["v"] = state["v"] + job["dt"] * dv
            state["q"] = pin.integrate(m, state["q"], state["v"] * job["dt"])
            state["t"] += job["dt"]

        places = [m.joints[m.getJointId(name)] for name in job["joints"]]

        def control(base, joints, twist, rates):
            q, v = state["q"], state["v"]
            q[:7], v[:6] = base, twist
            for place, x, rate in zip(places, joints, rates, strict=True):
                q[place.idx_q], v[place.idx_v] = x, rate
            sample.value(c0)
            com.setReference(sample)
            found = solver.solve(idf.computeProblemData(state["t"], q, v))
            if found.status != 0:
                raise RuntimeError("TSID found no solution")
            torques, dv, rows = idf.getActuatorForces(found), idf.getAccelerations(found), [x.idx_v for x in places]
            state["t"] += job["dt"]
            return torques[np.array(rows) - 6], (v + job["dt"] * dv)[rows]

        return tick, lambda k: float(np.linalg.norm(rob.com(idf.data()) - c0 - np.array(job["sway"][k]))), control

    return begin


def serve(job, begin):
    """Answer states with torques until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the libraries print
    parts, n = begin(), len(job["joints"])  # all kept: the libraries do not keep what they use
    while len(data := sys.stdin.buffer.read(8 * (13 + 2 * n))) == 8 * (13 + 2 * n):
        try:
            found = parts[2](*np.split(np.frombuffer(data), [7, 7 + n, 13 + n]))
        except RuntimeError:
            found = np.full((2, n), np.nan)
        answers.write(np.concatenate(found).tobytes())
        answers.flush()


def main(folder, what="time"):
    """Time the ticks of all passes, or control a robot."""
    with open(f"{folder}/wbc.json") as file:
        job = json.load(file)
    begin = {"placo": _placo, "tsid": _tsid}[job["library"]](job, folder)
    if what == "serve":
        return serve(job, begin)
    best, errors = np.full(len(job["sway"]), np.inf), []
    for _ in range(job["passes"]):
        tick, error, _ = begin()
        for k in range(len(best)):
            start = time.process_time_ns()
            tick(k)
            best[k] = min(best[k], 1e-9 * (time.process_time_ns() - start))
            errors.append(error(k))
    with open(f"{folder}/answer.json", "w") as file:
        json.dump({"times": best.tolist(), "com_error_m": max(errors)}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
