"""A walk that placo plans, made in MuJoCo: its joints followed by springs, or the plan by our whole-body control."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

import surefoot as sf
from bench.page import Json
from bench.peers.outside import run_outside, write_bare_urdf
from surefoot.control import TrajectoryFollower
from surefoot.control.legged import WholeBodyFollower
from surefoot.control.walking import WalkingController, walk_settings
from surefoot.gait import GoalSteps, StepLimits, stance_of
from surefoot.motion import ContactSchedule, Spot, Stance, State, Trajectory
from surefoot.robot import Robot, anatomy, placement

__all__ = ["placo_walk"]

STEP, DT, FRICTION = 0.2, 0.002, 0.7
_SECONDS, _STANDS = 600.0, 1.0  # for placo; at the end of a run


def placo_walk(robot: Robot, peers: Path, steps: int, passes: int) -> Json:
    """Times of placo's plan and of a tick of its inverse kinematics, and how far walks in MuJoCo come.

    Args:
        robot: A biped from a URDF.
        peers: Folder of the environment `placo`.
        steps: Number of steps, of 20 cm.
        passes: Plans, of which the fastest counts.
    """
    limits = StepLimits.of(robot, forward=STEP)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _write_robot(robot, folder / "robot.urdf")
        (folder / "walk.json").write_text(json.dumps(_job(robot, limits, steps, passes)))
        run_outside(peers / "placo" / "bin" / "python", "placo", folder, ("walk_script.py",), _SECONDS)
        answer = json.loads((folder / "answer.json").read_text())
    plan = _trajectory(robot, answer)
    way = float(np.linalg.norm(plan.q[-1, :2] - plan.q[0, :2]))
    goal = GoalSteps.from_stance(limits, stance_of(robot, robot.home), (way, 0.0, 0.0))
    runs = {
        "placo, joint springs": (TrajectoryFollower(robot, plan), plan.q[0], plan.end),
        "placo, our whole-body control": (WholeBodyFollower(robot, plan), plan.q[0], plan.end),
        "surefoot": (WalkingController(robot, goal, walk_settings(robot, STEP)), robot.home, plan.end + 2.0),
    }
    walks = {name: _walked(robot, *run, plan if name != "surefoot" else None) for name, run in runs.items()}
    return {
        "plan_ms": 1e3 * answer["times"]["plan"],
        "tick_ms": 1e3 * answer["times"]["tick"],
        "walks": walks,
        "way_m": way,
    }


def _write_robot(robot: Robot, file: Path) -> None:
    """The bare robot with the frames that placo wants: feet and trunk, x ahead, z up."""
    body, home = anatomy(robot), robot.placements(robot.home)
    write_bare_urdf(Path(str(robot.source)), file)
    tree = ElementTree.parse(file)
    frames = {f"{foot.side}_foot": (foot.link, foot.placement) for foot in body.feet}
    frames["trunk"] = body.torso, placement((0.0, 0.0, 0.0), home[body.torso][:3, :3].T)
    for name, (link, T) in frames.items():
        ElementTree.SubElement(tree.getroot(), "link", name=name)
        joint = ElementTree.SubElement(tree.getroot(), "joint", name=f"{name}_fixed", type="fixed")
        rpy = pin.rpy.matrixToRpy(T[:3, :3])
        words = {key: " ".join(map(repr, map(float, x))) for key, x in (("xyz", T[:3, 3]), ("rpy", rpy))}
        ElementTree.SubElement(joint, "origin", words)
        ElementTree.SubElement(joint, "parent", link=link)
        ElementTree.SubElement(joint, "child", link=name)
    tree.write(file)


def _job(robot: Robot, limits: StepLimits, steps: int, passes: int) -> dict[str, Any]:
    """Our times and heights, so that both plan the same walk."""
    s, (length, width) = walk_settings(robot, STEP), limits.sole
    parameters = {
        "single_support_duration": s.single, "single_support_timesteps": 10,
        "double_support_ratio": s.double / s.single, "startend_double_support_ratio": s.first / s.single,
        "planned_timesteps": 1000, "walk_com_height": s.height,
        "walk_foot_height": s.lift, "walk_trunk_pitch": 0.0, "walk_foot_rise_ratio": 0.2, "foot_length": 2.0 * length,
        "foot_width": 2.0 * width, "feet_spacing": limits.width, "zmp_margin": 0.02, "foot_zmp_target_x": 0.0,
        "foot_zmp_target_y": 0.0, "walk_max_dx_forward": 1.0, "walk_max_dx_backward": 1.0, "walk_max_dy": 1.0,
        "walk_max_dtheta": 1.0,
    }  # fmt: skip
    joints = {drive.joint: float(robot.home[_entry(robot, drive.joint)]) for drive in robot.drives}
    return {"parameters": parameters, "joints": joints, "dt": DT, "step": STEP, "steps": steps, "passes": passes}


def _entry(robot: Robot, joint: str) -> int:
    return int(robot.tree.q_index[robot.joint_index(joint)])


def _trajectory(robot: Robot, answer: Json) -> Trajectory:
    rows, feet = np.array(answer["rows"]), anatomy(robot).feet
    q = np.tile(robot.home, (len(rows), 1))
    q[:, :7] = rows[:, :7]
    q[:, [_entry(robot, joint) for joint in answer["joints"]]] = rows[:, 7 : 7 + len(answer["joints"])]
    time, stances = DT * np.arange(len(q)), []
    carrying = np.array(answer["carrying"])[:, [0 if foot.side == "left" else 1 for foot in feet]]
    starts = [0, *(np.flatnonzero(np.diff(carrying, axis=0).any(axis=1)) + 1).tolist()]
    for row in starts:
        frames = robot.placements(q[row])
        contacts = [
            name for foot, carries in zip(feet, carrying[row], strict=True) if carries for name in foot.contacts
        ]
        surfaces = {name: robot.contacts[name] for name in contacts}
        stances.append(Stance({n: Spot(frames[c.frame] @ c.placement, FRICTION) for n, c in surfaces.items()}))
    schedule = ContactSchedule.of(stances, [*time[starts], time[-1]])
    return Trajectory.of(robot, time, q, schedule=schedule)


def _walked(robot: Robot, controller: Any, q0: Any, duration: float, plan: Trajectory | None) -> Json:
    start, length = State(0.0, q0, np.zeros(robot.nv)), duration + _STANDS
    log = sf.simulate(robot, controller, sf.World(), length, self_collision=True, initial=start)
    fall, q = log.metadata["fall_time_s"], np.asarray(log["q"])
    end = len(q) if fall is None else int(np.searchsorted(log.time, fall))
    data, off = robot.model.createData(), []
    for k in range(0, end if plan is not None else 0, 10):
        wanted = plan.sample(min(float(log.time[k]), plan.end)).q  # type: ignore[union-attr]
        places = (pin.centerOfMass(robot.model, data, np.array(x)).copy() for x in (wanted, q[k]))
        off.append(float(np.linalg.norm(np.subtract(*places))))
    way = float(np.linalg.norm(q[end - 1, :2] - q[0, :2]))
    return {"fall_time_s": fall, "way_m": way, "com_error_m": max(off) if off else None}
