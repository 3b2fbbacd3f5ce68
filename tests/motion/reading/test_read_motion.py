"""Motions from files of ours and of others: what was written in any way is read back the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from surefoot.errors import FileFormatError, ShapeError, SurefootError, UnknownNameError
from surefoot.feasibility import audit
from surefoot.motion import Column, Log, Trajectory
from surefoot.motion.exchange import to_layout
from surefoot.motion.exchange.joints import rotate
from surefoot.motion.files.columns import write_csv, write_parquet
from surefoot.motion.reading import GivenMotion, read_motion
from surefoot.motion.reading.names import find_key, likely_names, matched_joint
from surefoot.motion.storage import StateTable, export_csv, trajectory_columns, write_states
from surefoot.report.export.tables import FORMATS, write_table
from surefoot.robot import Joint, Link, Robot
from tests.feasibility.foot_motions import feet_motion
from tests.feasibility.good_motions import loaded

_MOTIONS: dict[str, Trajectory] = {}


def _motion(name: str = "g1") -> Trajectory:
    if name not in _MOTIONS:
        if name == "panda":
            robot, t = loaded(name), np.arange(101) / 50.0
            q = robot.home + 0.1 * np.sin(3.0 * t)[:, None]
            _MOTIONS[name] = Trajectory.of(robot, t, q, 0.3 * np.cos(3.0 * t)[:, None] * np.ones(robot.nv))
        else:
            _MOTIONS[name] = feet_motion(loaded(name), np.arange(101) / 50.0)
    return _MOTIONS[name]


def _same(found: GivenMotion, wanted: Trajectory, with_v: bool = True) -> None:
    np.testing.assert_allclose(found.trajectory.time, wanted.time, atol=1e-9)
    signs = np.sign(np.sum(found.trajectory.q[:, 3:7] * wanted.q[:, 3:7], axis=1, keepdims=True))
    q = np.array(found.trajectory.q)
    q[:, 3:7] *= signs if wanted.q.shape[1] > 20 else 1.0
    np.testing.assert_allclose(q, wanted.q, atol=1e-9)
    assert (found.trajectory.v is not None) == with_v
    if with_v:
        np.testing.assert_allclose(np.asarray(found.trajectory.v), np.asarray(wanted.v), atol=1e-9)


def _torques(robot: Robot, n: int) -> np.ndarray:
    return np.arange(n)[:, None] + 100.0 * np.arange(robot.nu)


# -- ours -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["g1", "panda"])
@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_our_trajectories_and_run_folders(name: str, suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"trajectory{suffix}"
    _motion(name).save(file)
    for path in (file, tmp_path):
        found = read_motion(path, loaded(name))
        _same(found, _motion(name))
        assert found.remarks == ("a trajectory of surefoot",)


def test_our_logs(tmp_path: Path) -> None:
    robot, motion = loaded("g1"), _motion()
    wrench, tau = np.ones((len(motion), 6)), _torques(robot, len(motion))
    columns = [("time", motion.time), ("q", motion.q), ("v", motion.v), ("tau", tau)]
    columns.append(("contact.left_ankle_roll_link.wrench", wrench))
    Log.of(*(Column(name, "mixed", data) for name, data in columns)).save(tmp_path / "log.parquet")
    found = read_motion(tmp_path, robot)
    _same(found, motion)
    np.testing.assert_array_equal(np.asarray(found.trajectory.tau), tau)
    np.testing.assert_array_equal(found.trajectory.wrenches["left_ankle_roll_link"], wrench)


def test_our_trajectory_with_quaternions_of_other_length_is_read_for_the_audit(tmp_path: Path) -> None:
    _motion().save(tmp_path / "good.npz")
    arrays = dict(np.load(tmp_path / "good.npz"))
    arrays["q"] = arrays["q"].copy()
    arrays["q"][:, 3:7] *= 1.02
    np.savez(tmp_path / "scaled.npz", **arrays)
    found = read_motion(tmp_path / "scaled.npz", loaded("g1"))
    _same(found, _motion())
    np.testing.assert_allclose(found.quaternion_norm["root_joint"], 1.02)


def test_a_trajectory_of_another_robot_is_refused(tmp_path: Path) -> None:
    _motion("panda").save(tmp_path / "t.npz")
    with pytest.raises(ShapeError, match="does not fit robot `g1`"):
        read_motion(tmp_path / "t.npz", loaded("g1"))


# -- layouts and columns ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["g1", "anymal", "panda"])
@pytest.mark.parametrize("layout", ["mujoco", "pinocchio", "ros", "csv"])
@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
def test_every_layout_is_told_by_its_keys(name: str, layout: str, suffix: str, tmp_path: Path) -> None:
    if layout == "csv" and suffix == ".npz":
        layout = "mujoco"
    robot, motion = loaded(name), _motion(name)
    write_states(tmp_path / f"m{suffix}", robot, layout, StateTable(motion.time, motion.q, motion.v))
    _same(read_motion(tmp_path / f"m{suffix}", robot), motion)


@pytest.mark.parametrize("name", ["g1", "panda"])
def test_exported_tables_are_read_with_torques_accelerations_and_wrenches(name: str, tmp_path: Path) -> None:
    robot, motion = loaded(name), _motion(name)
    n = len(motion)
    contacts = {c: np.random.default_rng(0).standard_normal((n, 6)) for c in robot.contacts}
    full = Trajectory.of(
        robot, motion.time, motion.q, motion.v, a=np.ones((n, robot.nv)), tau=_torques(robot, n), wrenches=contacts
    )
    export_csv(tmp_path / "m.csv", full, robot)
    found = read_motion(tmp_path / "m.csv", robot).trajectory
    np.testing.assert_array_equal(np.asarray(found.tau), np.asarray(full.tau))
    np.testing.assert_array_equal(np.asarray(found.a), np.asarray(full.a))
    for contact, wrench in contacts.items():
        np.testing.assert_array_equal(found.wrenches[contact], wrench)


def _full(name: str) -> Trajectory:
    """A motion with everything that a trajectory can have."""
    robot, motion = loaded(name), _motion(name)
    rng, n = np.random.default_rng(0), len(motion)
    contacts = {c: rng.standard_normal((n, 6)) for c in robot.contacts}
    references = {"push.force": rng.standard_normal((n, 3)), "com": rng.standard_normal((n, 2))}
    a, tau = rng.standard_normal((n, robot.nv)), _torques(robot, n)
    return Trajectory.of(
        robot, motion.time, motion.q, motion.v, a=a, tau=tau, wrenches=contacts, references=references
    )  # fmt: skip


@pytest.mark.parametrize("name", ["g1", "panda", "hyq"])
@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind in ("csv", "parquet")])
def test_our_exports_of_motions_are_read_whole(name: str, kind: str, tmp_path: Path) -> None:
    robot, full = loaded(name), _full(name)
    write_table(tmp_path / f"m.{kind}", full, robot, kind)
    given = read_motion(tmp_path / f"m.{kind}", robot)
    found = given.trajectory
    for key in ("time", "q", "v", "a", "tau"):
        np.testing.assert_allclose(getattr(found, key), getattr(full, key), rtol=0.0, atol=1e-12)
    for key in ("wrenches", "references"):
        assert set(getattr(found, key)) == set(getattr(full, key))
        for part, values in getattr(full, key).items():
            np.testing.assert_array_equal(getattr(found, key)[part], values)
    assert given.remarks == ("columns as exported by surefoot",)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_our_exports_of_logs_are_read_with_pushes_and_whatever_was_not_measured(kind: str, tmp_path: Path) -> None:
    robot, full = loaded("g1"), _full("g1")
    unmeasured = np.full(len(full), np.nan)
    columns = [("time", full.time), ("error", unmeasured), ("q", full.q), ("v", full.v), ("tau", full.tau)]
    columns += [("push.force", full.references["push.force"])]
    columns += [(f"contact.{name}.wrench", wrench) for name, wrench in full.wrenches.items()]
    log = Log.of(*(Column(name, "mixed", np.asarray(data)) for name, data in columns))
    write_table(tmp_path / f"log.{kind}", log, None, kind)
    log.save(tmp_path / "log.npz")
    for file in (f"log.{kind}", "log.npz"):
        found = read_motion(tmp_path / file, robot)
        _same(found, full)
        np.testing.assert_array_equal(found.trajectory.references["push.force"], full.references["push.force"])
        assert set(found.trajectory.wrenches) == set(full.wrenches)


def test_an_export_that_was_cut_is_told_by_its_columns(tmp_path: Path) -> None:
    robot, full = loaded("g1"), _full("g1")
    columns = dict(trajectory_columns(full, robot))
    left = ("v.left_knee_joint [rad/s]", "a.left_knee_joint [rad/s^2]", "tau.left_knee_joint [N m]")
    write_csv(tmp_path / "m.csv", {n: x for n, x in columns.items() if n not in left} | {"reward": full.time})
    found = read_motion(tmp_path / "m.csv", robot)
    assert found.filled == ("left_knee_joint",)
    assert found.trajectory.a is None
    assert found.trajectory.tau is None
    assert {"torques are incomplete and are ignored", "ignored columns: reward"} < set(found.remarks)
    del columns["q.left_knee_joint [rad]"]
    write_csv(tmp_path / "m.csv", columns)
    with pytest.raises(UnknownNameError, match="1 column is missing") as info:
        read_motion(tmp_path / "m.csv", robot)
    assert info.value.evidence["missing"] == "q.left_knee_joint"


def _columns(robot: Robot, motion: Trajectory, velocity: str, effort: str) -> dict[str, np.ndarray]:
    """Named after joints as people do."""
    data = to_layout(robot, "csv", motion.q, motion.v)
    out = {"t": motion.time, "reward": 0.0 * motion.time}
    for heading, values in data.items():
        name = heading.split(" [")[0]
        if name.startswith("base."):
            out[{"base.x": "base_pos_x", "base.qw": "base_quat_w"}.get(name, name)] = values
        elif name.endswith(".v"):
            out[name.removesuffix(".v").removesuffix("_joint") + velocity] = values
        else:
            out[name.removesuffix("_joint")] = values
    tau = _torques(robot, len(motion))
    return out | {drive.joint + effort: tau[:, k] for k, drive in enumerate(robot.drives)}


@pytest.mark.parametrize(("velocity", "effort"), [(".v", ".tau"), ("_vel", ".effort"), ("/velocity", "_torque")])
def test_columns_as_people_name_them(velocity: str, effort: str, tmp_path: Path) -> None:
    robot, motion = loaded("g1"), _motion()
    write_csv(tmp_path / "m.csv", _columns(robot, motion, velocity, effort))
    found = read_motion(tmp_path / "m.csv", robot)
    _same(found, motion)
    np.testing.assert_array_equal(np.asarray(found.trajectory.tau), _torques(robot, len(motion)))
    assert "ignored columns: reward" in found.remarks


def test_wrench_columns_and_incomplete_velocities(tmp_path: Path) -> None:
    robot, motion = loaded("g1"), _motion()
    columns = _columns(robot, motion, ".v", ".tau")
    columns |= {
        f"left_ankle_roll_link.{part}": k + motion.time for k, part in enumerate(("fx", "fy", "fz", "mx", "my", "mz"))
    }
    del columns["left_knee.v"]
    write_parquet(tmp_path / "m.parquet", columns)
    found = read_motion(tmp_path / "m.parquet", robot)
    assert found.filled == ("left_knee_joint",)
    knee = int(robot.tree.v_index[robot.joint_index("left_knee_joint")])
    v, wanted = np.asarray(found.trajectory.v), np.asarray(motion.v)
    np.testing.assert_allclose(np.delete(v, knee, axis=1), np.delete(wanted, knee, axis=1), atol=1e-9)
    np.testing.assert_allclose(v[2:-2, knee], wanted[2:-2, knee], atol=0.02)
    np.testing.assert_allclose(found.trajectory.wrenches["left_ankle_roll_link"][:, 2], 2.0 + motion.time)
    assert "velocities of left_knee_joint are not given and are computed from q" in found.remarks
    del columns["left_ankle_roll_link.fy"]
    write_parquet(tmp_path / "m.parquet", columns)
    with pytest.raises(UnknownNameError, match=r"left_ankle_roll_link\.fy"):
        read_motion(tmp_path / "m.parquet", robot)


def test_units_in_the_header_are_converted_and_degrees_without_one_are_not(tmp_path: Path) -> None:
    robot, motion = loaded("panda"), _motion("panda")
    names = [n for n in robot.joint_names if "finger" not in n]
    data = {name: motion.q[:, robot.tree.q_index[robot.joint_index(name)]] for name in robot.joint_names}
    said = {"time [ms]": 1e3 * motion.time} | {
        f"{name} [deg]" if name in names else name: np.degrees(x) if name in names else x for name, x in data.items()
    }
    write_csv(tmp_path / "m.csv", said)
    found = read_motion(tmp_path / "m.csv", robot)
    np.testing.assert_allclose(found.trajectory.q, motion.q, atol=1e-9)
    np.testing.assert_allclose(found.trajectory.time, motion.time)
    assert any("converted from deg" in remark for remark in found.remarks)
    write_csv(tmp_path / "m.csv", {name.split(" [")[0]: x for name, x in said.items()})
    np.testing.assert_allclose(
        read_motion(tmp_path / "m.csv", robot).trajectory.q[:, 0], np.degrees(motion.q[:, 0]), atol=1e-9
    )


@pytest.mark.parametrize("separator", [";", "\t", " "])
def test_other_separators_are_told(separator: str, tmp_path: Path) -> None:
    robot, motion = loaded("g1"), _motion()
    write_csv(tmp_path / "m.csv", _columns(robot, motion, ".v", ".tau"))
    text = (tmp_path / "m.csv").read_text()
    (tmp_path / "m.csv").write_text(text.replace(",", separator))
    found = read_motion(tmp_path / "m.csv", robot)
    _same(found, motion)
    assert sum("entries are separated by" in remark for remark in found.remarks) == 1


def test_a_number_that_is_none_is_told_with_its_line_only_where_it_is_used(tmp_path: Path) -> None:
    robot, motion = loaded("g1"), _motion()
    columns = _columns(robot, motion, ".v", ".tau")
    spoiled = np.where(np.arange(len(motion)) == 5, np.nan, 0.0)
    write_csv(tmp_path / "m.csv", columns | {"reward": spoiled})
    _same(read_motion(tmp_path / "m.csv", robot), motion)
    write_csv(tmp_path / "m.csv", columns | {"left_knee": spoiled})
    with pytest.raises(ShapeError, match="`left_knee` contains nan in row 5") as info:
        read_motion(tmp_path / "m.csv", robot)
    assert info.value.line == 7  # after the header, counted from 1


# -- velocities of some joints ----------------------------------------------------------------------


def _joint_velocities(how: str, tmp_path: Path, shifted: str | None = None) -> GivenMotion:
    """A file with velocities of the joints and none of the base; one of them 8 samples late."""
    robot = loaded("g1")
    motion = feet_motion(robot, np.arange(401) / 100.0)
    v = np.array(motion.v)
    if shifted is not None:
        row = int(robot.tree.v_index[robot.joint_index(shifted)])
        v[:, row] = np.roll(v[:, row], 8)
    names = list(robot.joint_names[1:])
    if how == "columns":
        csv = to_layout(robot, "csv", motion.q, v)
        columns = {name: x for name, x in csv.items() if not name.startswith(("base.v", "base.w"))}
        write_csv(tmp_path / "m.csv", {"time": motion.time, **columns})
        return read_motion(tmp_path / "m.csv", robot)
    base = {"root_pos": motion.q[:, :3], "root_quat": motion.q[:, 3:7]}
    qpos = to_layout(robot, "mujoco", motion.q)["qpos"]
    states = {"qpos": qpos} if how == "states" else {**base, "dof_pos": motion.q[:, 7:], "joint_names": names}
    np.savez(tmp_path / "m.npz", time=motion.time, dof_vel=v[:, 6:], **states)
    return read_motion(tmp_path / "m.npz", robot)


@pytest.mark.parametrize(
    "how", ["columns", *(pytest.param(how, marks=pytest.mark.slow) for how in ("policy", "states"))]
)
def test_joint_velocities_without_those_of_the_base_are_kept(how: str, tmp_path: Path) -> None:
    robot = loaded("g1")
    found, wanted = _joint_velocities(how, tmp_path), feet_motion(robot, np.arange(401) / 100.0)
    assert found.filled == ("root_joint",)
    assert "velocities of the base are not given and are computed from q" in found.remarks
    v = np.asarray(found.trajectory.v)
    np.testing.assert_allclose(v[:, 6:], np.asarray(wanted.v)[:, 6:], atol=1e-9)
    np.testing.assert_allclose(v[1:-1, :6], np.asarray(wanted.v)[1:-1, :6], atol=5e-3)
    assert audit(found, robot, replay=False, collisions=False).passed
    late = audit(_joint_velocities(how, tmp_path, "left_knee_joint"), robot, replay=False, collisions=False)
    assert late.first is not None
    assert (late.first.item, late.first.where) == ("column_shift", "left_knee_joint")


def test_a_base_that_jerks_raises_no_finding_about_velocities_that_nobody_gave(tmp_path: Path) -> None:
    robot = loaded("g1")
    given = _joint_velocities("columns", tmp_path)
    q = np.array(given.trajectory.q)
    q[200:, 0] += 0.2  # a jump of the base, that differences of q smooth over
    spoiled = replace(given, trajectory=replace(given.trajectory, q=q))
    said = {
        f.where
        for f in audit(spoiled, robot, replay=False, collisions=False).findings
        if f.item == "velocity_consistency"
    }
    assert said == set()
    assert "root_joint.x" in {
        f.where
        for f in audit(replace(spoiled, filled=()), robot, replay=False, collisions=False).findings
        for f in (f, *f.covers)
        if f.item == "velocity_consistency"
    }


def test_base_velocities_alone_are_kept_too(tmp_path: Path) -> None:
    robot, motion = loaded("g1"), _motion()
    log = _policy_log("xyzw", "body", **_ISAAC)
    del log["dof_vel"]
    np.savez(tmp_path / "m.npz", time=motion.time, **log)
    found = read_motion(tmp_path / "m.npz", robot)
    assert found.filled == tuple(robot.joint_names[1:])
    np.testing.assert_allclose(np.asarray(found.trajectory.v)[:, :6], np.asarray(motion.v)[:, :6], atol=1e-9)


# -- logs of simulators and policies ----------------------------------------------------------------


def _policy_log(order: str, axes: str, **keys: str) -> dict[str, Any]:
    """A log with joints and base apart."""
    motion, robot = _motion(), loaded("g1")
    turn, v = motion.q[:, 3:7], np.asarray(motion.v)
    linear, angular = v[:, :3], v[:, 3:6]
    if axes == "world":
        linear, angular = rotate(turn, linear), rotate(turn, angular)
    shuffled = np.random.default_rng(1).permutation(robot.nu)
    names = [name for i, name in enumerate(robot.joint_names) if i != robot.base_joint]
    values = {
        "positions": motion.q[:, 7:][:, shuffled],
        "velocities": v[:, 6:][:, shuffled],
        "torques": _torques(robot, len(motion))[:, shuffled],
        "base_position": motion.q[:, :3],
        "base_orientation": np.roll(turn, 1, axis=1) if order == "wxyz" else turn,
        "base_linear": linear,
        "base_angular": angular,
        "names": np.array([names[k] for k in shuffled]),
    }
    return {keys[what]: value for what, value in values.items()}


_ISAAC = {
    "positions": "dof_pos", "velocities": "dof_vel", "torques": "torques", "base_position": "root_pos",
    "base_orientation": "root_rot", "base_linear": "base_lin_vel", "base_angular": "base_ang_vel", "names": "dof_names",
}  # fmt: skip
_OTHER = {
    "positions": "joint_positions", "velocities": "joint_vel", "torques": "effort", "base_position": "base_pos",
    "base_orientation": "base_quat", "base_linear": "root_lin_vel", "base_angular": "root_ang_vel",
    "names": "joint_names",
}  # fmt: skip


@pytest.mark.parametrize("keys", [_ISAAC, _OTHER])
@pytest.mark.parametrize("order", ["xyzw", "wxyz"])
@pytest.mark.parametrize("axes", ["body", "world"])
@pytest.mark.parametrize("timing", ["time", "fps", "dt", "rate"])
def test_policy_logs_in_any_order_and_frame(
    keys: dict[str, str], order: str, axes: str, timing: str, tmp_path: Path
) -> None:
    motion = _motion()
    log = _policy_log(order, axes, **keys)
    log |= {"time": {"timestamps": motion.time}, "fps": {"fps": 50}, "dt": {"dt": 0.02}, "rate": {}}[timing]
    np.savez(tmp_path / "log.npz", **log)
    found = read_motion(tmp_path / "log.npz", loaded("g1"), rate=50.0 if timing == "rate" else None)
    _same(found, motion)
    np.testing.assert_array_equal(np.asarray(found.trajectory.tau), _torques(loaded("g1"), len(motion)))
    assert any(f"base quaternion is read as {order}" in remark for remark in found.remarks)
    assert ("linear velocity of the base is in world axes" in found.remarks) == (axes == "world")


def test_root_states_and_positions_alone(tmp_path: Path) -> None:
    motion = _motion()
    np.savez(tmp_path / "m.npz", root_states=motion.q[:, :7], dof_pos=motion.q[:, 7:], fps=50.0)
    _same(read_motion(tmp_path / "m.npz", loaded("g1")), motion, with_v=False)


def test_the_order_of_joints_may_be_told(tmp_path: Path) -> None:
    robot, motion = loaded("g1"), _motion()
    names = list(robot.joint_names[1:])[::-1]
    np.savez(tmp_path / "m.npz", root_pos=motion.q[:, :3], root_quat=motion.q[:, 3:7], q=motion.q[:, :6:-1], dt=0.02)
    _same(read_motion(tmp_path / "m.npz", robot, joints=names), motion, with_v=False)


def test_mujoco_arrays_alone_with_a_rate(tmp_path: Path) -> None:
    robot, motion = loaded("g1"), _motion()
    data = to_layout(robot, "mujoco", motion.q, motion.v)
    np.savez(tmp_path / "m.npz", **data)
    _same(read_motion(tmp_path / "m.npz", robot, rate=50.0), motion)
    _same(read_motion(tmp_path / "m.npz", robot), motion)  # the velocities tell the time between samples
    np.savez(tmp_path / "alone.npz", qpos=data["qpos"])
    with pytest.raises(FileFormatError, match="has no times") as info:
        read_motion(tmp_path / "alone.npz", robot)
    assert "--rate" in info.value.next_step


@pytest.mark.parametrize("layout", ["mujoco", "pinocchio"])
@pytest.mark.parametrize("suffix", [".npy", ".csv"])
@pytest.mark.parametrize("with_v", [True, False])
def test_matrices_without_names_are_told_apart(layout: str, suffix: str, with_v: bool, tmp_path: Path) -> None:
    robot, motion = loaded("g1"), _motion()
    data = to_layout(robot, layout, motion.q, motion.v if with_v else None)
    numbers = np.hstack(list(data.values()))
    file = tmp_path / f"m{suffix}"
    np.save(file, numbers) if suffix == ".npy" else np.savetxt(file, numbers, delimiter=",", fmt="%.17g")
    found = read_motion(file, robot, rate=50.0)
    assert found.layout == layout
    _same(found, motion, with_v)


def test_mujoco_accelerations_become_those_of_the_body_twist(tmp_path: Path) -> None:
    robot = loaded("g1")
    t = np.arange(401) / 200.0
    q = np.tile(robot.home, (len(t), 1))
    turn = np.column_stack([0.0 * t, 0.0 * t, np.sin(0.5 * t), np.cos(0.5 * t)])  # turns at 1 rad/s, goes on a circle
    q[:, 3:7] = turn
    q[:, 0], q[:, 1] = np.sin(t), 1.0 - np.cos(t)
    world = np.column_stack([np.cos(t), np.sin(t), 0.0 * t])
    qvel = np.zeros((len(t), robot.nv))
    qvel[:, :3], qvel[:, 5] = world, 1.0
    qacc = np.zeros((len(t), robot.nv))
    qacc[:, 0], qacc[:, 1] = -np.sin(t), np.cos(t)
    qpos = np.array(q)
    qpos[:, 3:7] = np.roll(turn, 1, axis=1)
    np.savez(tmp_path / "m.npz", time=t, qpos=qpos, qvel=qvel, qacc=qacc)
    found = read_motion(tmp_path / "m.npz", robot).trajectory
    np.testing.assert_allclose(np.asarray(found.v)[:, :3], np.tile([1.0, 0.0, 0.0], (len(t), 1)), atol=1e-12)
    np.testing.assert_allclose(np.asarray(found.a), 0.0, atol=1e-12)  # the body twist is constant


def test_commands_that_follow_the_positions_are_no_torques(tmp_path: Path) -> None:
    robot, motion = loaded("g1"), _motion()
    data = to_layout(robot, "mujoco", motion.q, motion.v)
    np.savez(tmp_path / "m.npz", time=motion.time, ctrl=motion.q[:, 7:] + 0.1, **data)
    assert read_motion(tmp_path / "m.npz", robot).trajectory.tau is None
    np.savez(tmp_path / "m.npz", time=motion.time, ctrl=_torques(robot, len(motion)), **data)
    assert read_motion(tmp_path / "m.npz", robot).trajectory.tau is not None


def test_the_header_of_numbered_columns_tells_layout_and_joint_order(tmp_path: Path) -> None:
    robot, motion = loaded("g1"), _motion()
    order = ["root_joint", *robot.joint_names[:0:-1]]
    for layout in ("pinocchio", "mujoco", "drake"):
        table = StateTable(motion.time, motion.q, motion.v)
        write_states(tmp_path / f"{layout}.csv", robot, layout, table, order)
        found = read_motion(tmp_path / f"{layout}.csv", robot)
        assert found.layout == layout
        _same(found, motion)


# -- refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [0.9, 1.05])
def test_quaternions_of_other_length_are_normalised_and_told(factor: float, tmp_path: Path) -> None:
    robot, motion = loaded("g1"), _motion()
    data = to_layout(robot, "mujoco", motion.q, motion.v)
    data["qpos"] = np.array(data["qpos"])
    data["qpos"][:, 3:7] *= factor
    np.savez(tmp_path / "m.npz", time=motion.time, **data)
    found = read_motion(tmp_path / "m.npz", robot)
    _same(found, motion)
    np.testing.assert_allclose(found.quaternion_norm["root_joint"], factor)


def test_numbers_that_are_none_are_refused_with_their_place(tmp_path: Path) -> None:
    robot, motion = loaded("g1"), _motion()
    data = to_layout(robot, "mujoco", motion.q, motion.v)
    broken = np.array(data["qpos"])
    broken[17, 9] = np.nan
    np.savez(tmp_path / "m.npz", time=motion.time, qpos=broken)
    with pytest.raises(ShapeError, match="`qpos` contains nan in row 17, column 9") as info:
        read_motion(tmp_path / "m.npz", robot)
    assert info.value.file == str(tmp_path / "m.npz")
    broken = np.array(data["qpos"])
    broken[23, 3:7] = 0.0
    np.savez(tmp_path / "m.npz", time=motion.time, qpos=broken)
    with pytest.raises(ShapeError, match="`root_joint` has length 0 in row 23"):
        read_motion(tmp_path / "m.npz", robot)
    columns = _columns(robot, motion, ".v", ".tau")
    columns["left_knee"] = np.where(motion.time == motion.time[5], np.inf, columns["left_knee"])
    write_parquet(tmp_path / "m.parquet", columns)
    with pytest.raises(ShapeError, match="`left_knee` contains inf in row 5"):
        read_motion(tmp_path / "m.parquet", robot)


def _refused(tmp_path: Path, **arrays: Any) -> SurefootError:
    np.savez(tmp_path / "m.npz", **arrays)
    with pytest.raises(SurefootError) as info:
        read_motion(tmp_path / "m.npz", loaded("g1"))
    assert info.value.next_step
    return info.value


def test_what_cannot_be_told_is_refused_with_what_was_found_and_what_to_do(tmp_path: Path) -> None:
    motion = _motion()
    unknown = _refused(tmp_path, time=motion.time, angles=motion.q)
    assert "angles (101, 36)" in unknown.evidence["found"]
    assert "qpos" in unknown.evidence["expected"]
    fixed = _refused(tmp_path, time=motion.time, dof_pos=motion.q[:, 7:])
    assert "floating base" in fixed.message
    few = _refused(tmp_path, time=motion.time, root_states=motion.q[:, :7], dof_pos=motion.q[:, 7:19])
    assert "(101, 12)" in few.message
    names = list(loaded("g1").joint_names[1:])
    names[3] = "tail"
    missing = _refused(
        tmp_path, time=motion.time, root_states=motion.q[:, :7], dof_pos=motion.q[:, 7:], dof_names=names
    )
    assert loaded("g1").joint_names[4] in missing.evidence["missing"]
    assert "tail" in missing.evidence["not in this robot"]
    batch = _refused(tmp_path, time=motion.time, qpos=motion.q[:, None])
    assert "3-dimensional" in batch.message
    wide = _refused(tmp_path, arr_0=motion.q[:, :31])
    assert "31 columns" in wide.message


def test_slips_of_the_pen_in_column_names_are_told_with_what_was_meant(tmp_path: Path) -> None:
    robot, motion = loaded("panda"), _motion("panda")
    names = list(robot.joint_names)
    header = ["time", *names, *(f"{name}.v" for name in names)]
    numbers = np.column_stack([motion.time, motion.q, motion.v])

    def read(wrong: str, right: str) -> GivenMotion:
        columns = {wrong if name == right else name: x for name, x in zip(header, numbers.T, strict=True)}
        write_csv(tmp_path / "m.csv", columns)
        return read_motion(tmp_path / "m.csv", robot)

    wrong, right = names[3].replace("joint", "jiont"), names[3]
    with pytest.raises(UnknownNameError) as info:
        read(wrong, right)
    assert info.value.next_step == f"rename `{wrong}` to `{right}`"
    found = read(f"{right}.vv", f"{right}.v")
    assert found.filled == (right,)
    assert any(f"{right}.vv (did you mean `{right}.v`?)" in remark for remark in found.remarks)


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
def test_a_file_of_another_robot_is_told(suffix: str, tmp_path: Path) -> None:
    other, motion = loaded("anymal"), _motion("anymal")
    names = list(other.joint_names[1:])
    if suffix == ".csv":
        write_states(tmp_path / "m.csv", other, "csv", StateTable(motion.time, motion.q, motion.v))
    else:
        np.savez(
            tmp_path / "m.npz", time=motion.time, root_states=motion.q[:, :7], dof_pos=motion.q[:, 7:], dof_names=names
        )
    text = "seems to belong to another robot: it has 0 of 29 joints of `g1`"
    with pytest.raises(UnknownNameError, match=text) as info:
        read_motion(tmp_path / f"m{suffix}", loaded("g1"))
    assert names[0] in info.value.evidence["names in the file"]
    assert "--robot" in info.value.next_step


def test_no_name_is_proposed_twice() -> None:
    given = ["fl_knee", "fr_knee", "rl_knee", "left_kne"]
    found = likely_names(given, ["left_knee_joint", "right_knee_joint"])
    assert found["left_kne"] == "left_knee_joint"
    assert len(set(found.values())) == len(found)


def test_an_order_of_quaternions_that_the_file_says_itself_is_passed_over_and_told(tmp_path: Path) -> None:
    robot, motion = loaded("g1"), _motion()
    write_states(tmp_path / "m.npz", robot, "mujoco", StateTable(motion.time, motion.q, motion.v))
    plain, told = (read_motion(tmp_path / "m.npz", robot, quaternion=order) for order in (None, "xyzw"))
    np.testing.assert_array_equal(plain.trajectory.q, told.trajectory.q)
    assert [text for text in told.remarks if text not in plain.remarks] == [
        "`quaternion` is ignored: layout `mujoco` determines it"
    ]
    motion.save(tmp_path / "t.npz")
    remarks = read_motion(tmp_path / "t.npz", robot, rate=50.0, quaternion="wxyz").remarks
    assert sum("is ignored" in text for text in remarks) == 2


def test_a_base_that_looks_back_by_its_quaternion_is_remarked(tmp_path: Path) -> None:
    robot = loaded("g1")
    q = np.tile(robot.home, (50, 1))
    q[:, 2] -= min(corners[:, 2].min() for corners in robot.contact_corners(robot.home).values())
    for order, said in (([3, 4, 5, 6], True), ([6, 3, 4, 5], False)):
        np.savez(tmp_path / "m.npz", time=0.02 * np.arange(50), qpos=q[:, [0, 1, 2, *order, *range(7, robot.nq)]])
        found = read_motion(tmp_path / "m.npz", robot)
        assert found.layout == "mujoco"
        assert any("faces backwards" in r and "--layout pinocchio" in r for r in found.remarks) == said
        np.savez(
            tmp_path / "p.npz", fps=50, root_pos=q[:, :3], root_quat=q[:, order], dof_pos=q[:, 7:]
        )  # here nothing says the order, and the robot looks ahead
        _same(read_motion(tmp_path / "p.npz", robot), Trajectory.of(robot, 0.02 * np.arange(50), q), with_v=False)


def test_an_order_that_nothing_tells_is_asked_for(tmp_path: Path) -> None:
    robot, motion = loaded("g1"), _motion()
    q = np.array(motion.q)
    q[:, 2] += 10.0
    q[:, 3:7] = 0.5
    np.savez(
        tmp_path / "m.npz", root_pos=q[:, :3], root_quat=q[:, 3:7] * [1.0, -1.0, 1.0, 1.0], dof_pos=q[:, 7:], fps=50
    )
    with pytest.raises(FileFormatError, match="does not determine the order") as info:
        read_motion(tmp_path / "m.npz", robot)
    assert "--quaternion" in info.value.next_step
    assert read_motion(tmp_path / "m.npz", robot, quaternion="wxyz").quaternion_order == "wxyz"
    found = read_motion(tmp_path / "m.npz", robot, quaternion="wxyz").trajectory
    np.testing.assert_allclose(found.q[0, 3:7], [-0.5, 0.5, 0.5, 0.5])


@pytest.mark.parametrize("option", [{"layout": "mujocco"}, {"quaternion": "xwyz"}])
def test_wrong_options_are_refused(option: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError):
        read_motion(tmp_path / "m.npz", loaded("g1"), **option)


def test_wrong_files_are_refused(tmp_path: Path) -> None:
    for name, text in (("m.pt", "run code"), ("m.bag", "not supported"), ("m.npz", "no such file")):
        with pytest.raises(FileFormatError, match=text):
            read_motion(tmp_path / name, loaded("g1"))
    with pytest.raises(FileFormatError, match="folder without a motion"):
        read_motion(tmp_path, loaded("g1"))
    np.savez(tmp_path / "late.npz", time=_motion().time[::-1], qpos=_motion().q)
    with pytest.raises(ShapeError, match="does not increase"):
        read_motion(tmp_path / "late.npz", loaded("g1"))


def test_names_are_folded() -> None:
    robot = loaded("g1")
    assert matched_joint(robot, "Left-Knee") == "left_knee_joint"
    assert matched_joint(robot, "left_knee_motor") == "left_knee_joint"
    assert matched_joint(robot, "knee") is None
    assert find_key("positions", ["obs/Joint-Pos", "x"]) == "obs/Joint-Pos"
    assert find_key("time", ["x"]) is None


@pytest.mark.parametrize("name", ["a\nb", "a\r\nb", 'a"b', "a, b", "a;b", "=1+1"])
def test_odd_names_of_joints_are_read_back_from_our_own_tables(name: str, tmp_path: Path) -> None:
    tip = Link("tip", "base", Joint(name, "revolute"), mass=1.0, inertia=np.eye(3))
    robot = Robot.from_tree("odd", [Link("base"), tip], base="fixed")
    motion = Trajectory.of(robot, np.arange(9) / 10.0, np.full((9, 1), 0.25))
    export_csv(tmp_path / "m.csv", motion, robot)
    np.testing.assert_allclose(read_motion(tmp_path / "m.csv", robot).trajectory.q, motion.q)
