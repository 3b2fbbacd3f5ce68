"""Long retargeted motions: what is wrong with them, by cause, in a few lines."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import brentq

from surefoot.feasibility import audit
from surefoot.feasibility.touch.bodies import _corners
from surefoot.motion import AuditResult, Finding, Trajectory, World
from surefoot.motion.audit_result import FindingGroup
from surefoot.motion.reading import link_placements
from surefoot.motion.reading.joint_order import joint_orders
from tests.feasibility.good_motions import loaded
from tests.motion.reading.walks import joint_columns, walk


def _judged(q: np.ndarray, duration: float = 3.0) -> AuditResult:
    motion = walk("g1", 30.0, duration)
    return audit(Trajectory.of(loaded("g1"), motion.time, q), loaded("g1"), replay=False, collisions=False)


def _walked(duration: float = 3.0) -> np.ndarray:
    return np.array(walk("g1", 30.0, duration).q)


@lru_cache(maxsize=1)
def _cut() -> AuditResult:
    """Twenty seconds that hang 0.6 … 4.6 cm above the ground, with a cut in which the base leaps by 8.5 cm."""
    q = _walked(20.0)
    time = np.arange(len(q)) / 30.0
    q[:, 2] += 0.026 + 0.02 * np.sin(time)
    q[np.round(time * 30) >= 402, :2] += (0.08, 0.03)
    return _judged(q, 20.0)


def test_a_cut_comes_before_the_friction_that_it_needs() -> None:
    first = _cut().findings[0]
    assert first.item == "velocity_jump"
    assert first.value == pytest.approx(np.hypot(0.08, 0.03) * 30.0, rel=0.1)
    assert first.time == pytest.approx(402 / 30.0, abs=1 / 30.0 + 1e-9)
    assert not any(one.item == "friction" and abs(one.time - first.time) < 0.05 for one in _cut().findings)


def test_feet_that_hang_are_named_as_such() -> None:
    result = _cut()
    group = next(one for one in result.groups if one.worst.item == "ground_height")
    assert "the feet hang 0.6–4.6 cm above the ground all the time" in group.message
    assert "within 5 mm" in group.message
    assert "--ground fit" in group.worst.next_step
    assert set(group.consequences) >= {"admissible"}
    assert "lowest sole at 0.6 … 4.6 cm" in result.contacts
    assert "left_ankle_roll_link 0 %" in result.contacts
    assert not any(one.item in ("admissible", "zmp") for one in result.findings if one.start > 14.0)


def test_feet_that_are_sunk_are_named_as_such() -> None:
    q = _walked()
    q[:, 2] -= 0.03
    result = _judged(q)
    first = result.findings[0]
    assert first.item == "ground_height"
    assert "the feet are sunk 3.0 cm into the ground all the time" in first.message
    assert "--ground -0.030" in first.next_step
    assert not any(one.item == "penetration" for one in result.findings)


def test_a_good_walk_stands_and_a_flight_does_not_hang() -> None:
    assert _judged(_walked()).item("ground_height").status == "passed"
    robot, t = loaded("g1"), np.arange(16) / 30.0
    q = np.tile(robot.home, (16, 1))
    q[:, 2] += 0.3 + 2.0 * t - 0.5 * 9.81 * t**2  # thrown: nothing has to carry it
    result = audit(Trajectory.of(robot, t, q), robot, replay=False, collisions=False)
    assert result.item("ground_height").status == "passed"
    assert result.item("velocity_jump").status == "passed"


def test_a_long_motion_is_a_dozen_lines() -> None:
    result = _judged(_walked(20.0), 20.0)
    assert len(result.groups) <= 12 < len(result.findings)
    assert sum(len(group.findings) for group in result.groups) == len(result.findings)
    assert [group.to_dict() for group in result.groups] == result.to_dict()["groups"]


def _finding(item: str, where: str, start: float, covers: tuple[Finding, ...] = ()) -> Finding:
    return Finding(
        item, "limits", "defect", where, start, start + 1.0, start, 2.0, 1.0, "rad", 1.0, "so", "", "", covers
    )


def test_groups_count_what_follows_and_how_long() -> None:
    below = _finding("zmp", "", 0.0, (_finding("admissible", "", 0.0),))
    group = FindingGroup((_finding("joint_position", "a", 0.0, (below,)), _finding("joint_position", "b", 0.5)))
    assert group.consequences == {"zmp": 1, "admissible": 1}
    assert group.duration == pytest.approx(1.5)
    assert group.message == "so; 1 more, 1.5 s in all, also of `b`"
    many = [_finding("joint_position", f"joint {k}", float(k)) for k in range(40)]
    result = AuditResult("r", 1.0, 2, (), (*many, _finding("zmp", "", 3.0)))
    assert [len(one.findings) for one in result.groups] == [40, 1]
    few = AuditResult("r", 1.0, 2, (), tuple(many[:3]))
    assert [one.worst.where for one in few.groups] == ["joint 0", "joint 1", "joint 2"]


def test_joints_in_another_order_are_one_finding() -> None:
    robot, q = loaded("g1"), _walked()
    at = [int(robot.tree.q_index[robot.joint_index(name)]) for name in joint_orders(robot)["robot"]]
    q[:, at] = joint_columns(robot, q, "breadth-first")
    result = _judged(q)
    assert result.findings[0].item == "joint_order"
    assert "breadth-first" in result.findings[0].message
    assert "--joint-order breadth-first" in result.findings[0].next_step
    assert len([one for one in result.findings if one.severity == "defect"]) == 1


def test_a_robot_that_lies_on_its_back_is_carried_by_it() -> None:
    robot = loaded("g1")
    q = robot.home.copy()
    q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, -np.pi / 2, 0.0)).coeffs()
    links = ["logo_link", "torso_link"]
    T = link_placements(robot, q[None], links)[0]
    corners = [_corners(robot, link, T[[k]]) @ T[k, :3, :3].T + T[k, :3, 3] for k, link in enumerate(links)]
    q[2] -= min(points[:, 2].min() for points in corners) - 0.002
    t = np.arange(16) / 30.0
    lying = audit(Trajectory.of(robot, t, np.tile(q, (16, 1))), robot, World(), replay=False, collisions=False)
    assert lying.item("admissible").status == "passed"
    assert "torso_link 100 %" in lying.contacts
    assert lying.schedule is not None
    assert set(lying.schedule.names) <= set(robot.contacts)
    q[2] += 0.05
    above = audit(Trajectory.of(robot, t, np.tile(q, (16, 1))), robot, World(), replay=False, collisions=False)
    assert above.item("admissible").status == "failed"


_KNEES, _HANDS = (tuple(f"{side}_{part}_link" for side in ("left", "right")) for part in ("knee", "wrist_yaw"))


def _on_hands_and_knees() -> np.ndarray:
    """Knees and hands at the height of the ground: the pitch and height of the base are those that put them there."""
    robot, q = loaded("g1"), loaded("g1").home.copy()
    angles = {"hip_pitch": -1.5, "knee": 1.6, "ankle_pitch": 0.5, "shoulder_pitch": -1.5, "elbow": 1.3}
    for side in ("left", "right"):
        for joint, angle in angles.items():
            q[robot.tree.q_index[robot.joint_index(f"{side}_{joint}_joint")]] = angle

    def lowest(pitch: float) -> list[float]:
        q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, pitch, 0.0)).coeffs()
        T = link_placements(robot, q[None], [_KNEES[0], _HANDS[0]])[0]
        places = [_corners(robot, link, T[[k]]) for k, link in enumerate((_KNEES[0], _HANDS[0]))]
        return [float((x @ T[k, :3, :3].T + T[k, :3, 3])[:, 2].min()) for k, x in enumerate(places)]

    pitch = brentq(lambda angle: np.subtract(*lowest(angle)), 0.8, 2.0)
    q[2] -= lowest(pitch)[0] - 0.001
    return q


def test_a_robot_that_gets_up_over_hands_and_knees_is_carried_by_them() -> None:
    """Links that are not soles carry it, by name; 5 cm above the ground, nothing does."""
    robot, q, t = loaded("g1"), _on_hands_and_knees(), np.arange(16) / 30.0
    found = audit(Trajectory.of(robot, t, np.tile(q, (16, 1))), robot, World(), replay=False, collisions=False)
    for link in (*_KNEES, *_HANDS):
        assert f"{link} 100 %" in found.contacts, found.contacts
    assert found.item("admissible").status == "passed"
    q[2] += 0.05
    above = audit(Trajectory.of(robot, t, np.tile(q, (16, 1))), robot, World(), replay=False, collisions=False)
    assert above.item("admissible").status == "failed"
    assert "knee" not in above.contacts
