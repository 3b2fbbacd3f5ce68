"""Exports: read back by independent readers, they hold the numbers of the motion."""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2._dynamic import serialize_dynamic
from mcap_ros2.decoder import DecoderFactory
from scipy.spatial.transform import Rotation

from surefoot.errors import FileFormatError, NotSupportedError, ShapeError, UnknownNameError
from surefoot.motion import Column, Log, Trajectory
from surefoot.motion.files.columns import read_csv, read_parquet
from surefoot.motion.reading import read_motion
from surefoot.report.export.columns import STEP, column_files, read_column_files, write_column_files, zmp_of_motion
from surefoot.report.export.joints import joint_table, nanoseconds
from surefoot.report.export.mcap import (
    JOINT_STATE,
    TF_MESSAGE,
    WRENCH_STAMPED,
    MessageLayout,
    definition,
    topic_name,
    write_mcap,
)
from surefoot.report.export.tables import FORMATS, format_of, write_table
from surefoot.report.export.yaml import _number, _text, joint_trajectory_yaml, write_joint_trajectory
from surefoot.robot import zoo
from tests.report.motions import swaying, weight_on


@pytest.fixture(scope="module")
def hexapod():
    return zoo.load("hexapod")


@pytest.fixture(scope="module")
def motion(hexapod):
    return swaying(hexapod)


# ── formats ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "columns5ms"])
def test_the_suffix_says_the_format(name):
    assert format_of(f"a.{name}") == name
    assert format_of(f"a.{name.upper()}") == name


def test_a_folder_is_column_files_and_contradictions_are_refused():
    assert format_of("out") == "columns5ms"
    assert format_of("out.d", "columns5ms") == "columns5ms"
    assert format_of("a.yml") == "yaml"
    assert format_of("a", "csv") == "csv"
    with pytest.raises(FileFormatError, match="not known"):
        format_of("a.avi")
    with pytest.raises(FileFormatError, match="not that of format"):
        format_of("a.csv", "yaml")
    with pytest.raises(UnknownNameError, match="parquet"):
        format_of("a.csv", "parket")


# ── tables ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_csv_and_parquet_have_the_same_columns_and_read_back(tmp_path, hexapod, motion):
    count = write_table(tmp_path / "a.csv", motion, hexapod, "csv")
    assert write_table(tmp_path / "a.parquet", motion, hexapod, "parquet") == count
    text, packed = read_csv(tmp_path / "a.csv"), read_parquet(tmp_path / "a.parquet")
    assert text.header == packed.header
    assert len(text.header) == count == 1 + hexapod.nq + 2 * hexapod.nv + hexapod.nu + 6 * len(hexapod.contacts)
    np.testing.assert_array_equal(text.numbers, packed.numbers)
    units = json.loads(packed.metadata["surefoot.units"])
    assert units["time [s]"] == "s"
    assert all(
        unit in ("s", "m", "rad", "1", "m/s", "rad/s", "m/s^2", "rad/s^2", "N m", "N") for unit in units.values()
    )


def test_an_exported_table_is_read_as_the_same_motion(tmp_path, hexapod, motion):
    write_table(tmp_path / "a.csv", motion, hexapod, "csv")
    found = read_motion(tmp_path / "a.csv", hexapod).trajectory
    np.testing.assert_allclose(found.q, motion.q, atol=1e-12)
    np.testing.assert_array_equal(found.v, motion.v)
    np.testing.assert_array_equal(found.time, motion.time)


def test_a_log_has_its_units_in_the_header(tmp_path):
    log = Log.of(Column("time", "s", np.arange(3.0)), Column("push.force", "N", np.ones((3, 3))))
    assert write_table(tmp_path / "a.csv", log, None, "csv") == 4
    assert read_csv(tmp_path / "a.csv").header[1] == "push.force[0] [N]"


def test_a_motion_needs_its_robot(tmp_path, motion):
    with pytest.raises(NotSupportedError, match="robot"):
        write_table(tmp_path / "a.csv", motion, None, "csv")


# ── joints ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_joints_that_turn_without_end_go_on_beyond_a_turn():
    robot = zoo.load("double_pendulum_continuous")
    angle = np.linspace(0.0, 15.0, 200)
    q = np.tile(robot.home, (200, 1))
    row = int(robot.tree.q_index[0])
    q[:, row], q[:, row + 1] = np.cos(angle), np.sin(angle)
    table = joint_table(Trajectory.of(robot, np.arange(200.0), q).as_given, robot)
    np.testing.assert_allclose(table.position[:, 0], angle, atol=1e-12)
    assert table.velocity is table.effort is table.acceleration is None


def test_efforts_stand_with_their_joints(hexapod, motion):
    table = joint_table(motion, hexapod)
    for k, drive in enumerate(hexapod.drives):
        np.testing.assert_array_equal(table.effort[:, table.names.index(drive.joint)], motion.tau[:, k])
    assert table.left_out == (hexapod.joint_names[0],)


def test_stamps_are_whole_nanoseconds():
    seconds, rest = nanoseconds(np.array([0.0, 0.1, 0.9999999999, 12.000000001]))
    np.testing.assert_array_equal(seconds, [0, 0, 1, 12])
    np.testing.assert_array_equal(rest, [0, 100_000_000, 0, 1])
    with pytest.raises(ShapeError, match="from 0"):
        nanoseconds(np.array([-0.1, 0.0]))
    with pytest.raises(ShapeError, match="nanosecond"):
        nanoseconds(np.array([0.0, 1e-10]))


# ── YAML ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_yaml(text: str) -> dict:
    """The message, read without a YAML library: flow lists are JSON."""
    out: dict = {"joint_names": [], "points": []}
    for line in text.splitlines():
        if found := re.fullmatch(r'  - (".*")', line):
            out["joint_names"].append(json.loads(found[1]))
        elif found := re.fullmatch(r"(  - |    )(\w+): (\[.*\])", line):
            if found[1] == "  - ":
                out["points"].append({})
            out["points"][-1][found[2]] = json.loads(found[3])
        elif found := re.fullmatch(r"    time_from_start: \{sec: (\d+), nanosec: (\d+)\}", line):
            out["points"][-1]["time_from_start"] = {"sec": int(found[1]), "nanosec": int(found[2])}
    return out


def test_yaml_holds_the_motion_bit_by_bit(hexapod, motion):
    shifted = replace(motion, time=motion.time + 3.25)
    text = joint_trajectory_yaml(shifted, hexapod)
    found, table = read_yaml(text), joint_table(motion, hexapod)
    assert found["joint_names"] == list(table.names)
    for key, wanted in {"positions": table.position, "velocities": table.velocity,
                        "accelerations": table.acceleration, "effort": table.effort}.items():  # fmt: skip
        np.testing.assert_array_equal([point[key] for point in found["points"]], wanted)
    stamps = [point["time_from_start"] for point in found["points"]]
    np.testing.assert_allclose([s["sec"] + 1e-9 * s["nanosec"] for s in stamps], motion.time, atol=1e-9)
    assert stamps[0] == {"sec": 0, "nanosec": 0}
    if importlib.util.find_spec("yaml"):
        import yaml

        assert yaml.safe_load(text) == {"header": {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": ""}, **found}


def test_yaml_without_velocities_has_empty_lists(tmp_path, hexapod, motion):
    bare = replace(motion, v=None, a=None, tau=None)
    found = read_yaml(joint_trajectory_yaml(bare, hexapod))
    assert found["points"][0]["velocities"] == found["points"][0]["effort"] == []
    notes = write_joint_trajectory(tmp_path / "a.yaml", bare, hexapod)
    assert "cannot hold" in notes[0]
    assert "no velocity, no acceleration, no effort" in notes[1]


def test_numbers_and_texts_are_ones_that_yaml_reads(rng):
    for value in [*rng.normal(size=50), 1e-7, 1e22, -3e-300, 5.0, -0.0, *(10.0 ** rng.uniform(-30, 30, 50))]:
        text = _number(float(value))
        assert float(text) == value
        assert re.fullmatch(r"-?\d+\.\d*([eE][-+]\d+)?", text), text  # what YAML 1.1 takes for a number
    assert _text('a "b" \\ c\n') == '"a \\U00000022b\\U00000022 \\U0000005c c\\U0000000a"'
    assert _text("κ😀") == '"\\U000003ba\\U0001f600"'


# ── MCAP ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def header(sec: int, nanosec: int, frame: str) -> dict:
    return {"stamp": {"sec": sec, "nanosec": nanosec}, "frame_id": frame}


def test_bytes_are_those_of_another_encoder(rng):
    encode = serialize_dynamic(JOINT_STATE, definition(JOINT_STATE))[JOINT_STATE]
    for names in [(), ("a",), ("knee", "a longer name", "ü")]:
        layout = MessageLayout().number("s", "<i4").number("n", "<u4").text("frame").texts(names)
        position = rng.normal(size=(4, len(names)))
        layout.sequence("p", len(names)).sequence("v", 0).sequence("e", len(names))
        columns = {"s": np.arange(4), "n": np.arange(4) + 7, "p": position, "e": 2.0 * position}
        for k, content in enumerate(layout.encoded(columns, 4)):
            message = {"header": header(k, k + 7, "frame"), "name": list(names), "position": position[k].tolist(),
                       "velocity": [], "effort": (2.0 * position[k]).tolist()}  # fmt: skip
            wanted = bytes(encode(message))
            assert content[: len(wanted)] == wanted
            assert not content[len(wanted) :]


def messages_of(path) -> dict[str, list]:
    found: dict[str, list] = {}
    with path.open("rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        for _, channel, message, decoded in reader.iter_decoded_messages():
            found.setdefault(channel.topic, []).append((message.log_time, decoded))
    return found


def matrix(transform) -> np.ndarray:
    T, p, turn = np.eye(4), transform.translation, transform.rotation
    T[:3, :3] = Rotation.from_quat([turn.x, turn.y, turn.z, turn.w]).as_matrix()
    T[:3, 3] = [p.x, p.y, p.z]
    return T


def test_mcap_messages_hold_the_motion(tmp_path, hexapod, motion):
    part = motion.resample(motion.time[:7])
    topics = write_mcap(tmp_path / "a.mcap", part, hexapod)
    found, table = messages_of(tmp_path / "a.mcap"), joint_table(part, hexapod)
    assert set(found) == set(topics)
    for k, (log_time, state) in enumerate(found["/joint_states"]):
        assert list(state.name) == list(table.names)
        np.testing.assert_array_equal(state.position, table.position[k])
        np.testing.assert_array_equal(state.velocity, table.velocity[k])
        np.testing.assert_array_equal(state.effort, table.effort[k])
        assert log_time == state.header.stamp.sec * 10**9 + state.header.stamp.nanosec
        assert log_time == round(part.time[k] * 1e9)
    for name, wrench in part.wrenches.items():
        for k, (_, message) in enumerate(found[f"/contacts/{topic_name(name)}/wrench"]):
            f, m = message.wrench.force, message.wrench.torque
            np.testing.assert_array_equal([f.x, f.y, f.z, m.x, m.y, m.z], wrench[k])
            assert message.header.frame_id == f"contact/{name}"


@pytest.mark.parametrize("name", ["hexapod", "anymal", "double_pendulum_continuous"])
def test_transforms_lead_from_the_world_to_every_link_and_contact(tmp_path, name):
    robot = zoo.load(name)
    part = swaying(robot, count=3)
    write_mcap(tmp_path / "a.mcap", part, robot)
    for k, (_, message) in enumerate(messages_of(tmp_path / "a.mcap")["/tf"]):
        edges = {t.child_frame_id: (t.header.frame_id, matrix(t.transform)) for t in message.transforms}
        wanted = robot.placements(part.q[k])
        for body in robot.tree.body_names:
            np.testing.assert_allclose(in_world(edges, body), wanted[body], atol=1e-9)
        for contact, surface in robot.contacts.items():
            T = wanted[surface.frame] @ surface.placement
            np.testing.assert_allclose(in_world(edges, f"contact/{contact}"), T, atol=1e-9)


def in_world(edges: dict, frame: str) -> np.ndarray:
    T = np.eye(4)
    while frame != "world":
        frame, step = edges[frame]
        T = step @ T
    return T


def test_an_mcap_file_is_whole_and_tells_its_kinds(tmp_path, hexapod, motion):
    shares: list[float] = []
    write_mcap(tmp_path / "a.mcap", motion, hexapod, shares.append)
    with (tmp_path / "a.mcap").open("rb") as stream:
        reader = make_reader(stream)
        assert reader.get_header().profile == "ros2"
        summary = reader.get_summary()
    assert {schema.name for schema in summary.schemas.values()} == {JOINT_STATE, TF_MESSAGE, WRENCH_STAMPED}
    assert set(summary.statistics.channel_message_counts.values()) == {len(motion)}
    assert summary.statistics.message_end_time == 10**9
    assert shares[-1] == 1.0


def test_topics_are_ones_that_ros_allows():
    assert topic_name("left foot") == "left_foot"
    assert topic_name("1/ü") == "_1__"


def test_nothing_is_left_where_times_cannot_be_written(tmp_path, hexapod, motion):
    with pytest.raises(ShapeError):
        write_mcap(tmp_path / "a.mcap", replace(motion, time=motion.time - 0.5), hexapod)
    assert not list(tmp_path.iterdir())


# ── column files ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_column_files_have_a_row_every_5_ms_and_read_back(tmp_path, hexapod, motion):
    files = column_files(motion, hexapod)
    written = write_column_files(tmp_path / "step", files)
    assert [path.name for path in written] == ["step.pos", "step.hip", "step.zmp", "step.names"]
    found = read_column_files(tmp_path / "step")
    assert found.names == files.names == joint_table(motion, hexapod).names
    for name in ("time", "joints", "attitude", "zmp"):
        np.testing.assert_array_equal(getattr(found, name), getattr(files, name))
    np.testing.assert_allclose(found.time, STEP * np.arange(201), atol=1e-9)
    np.testing.assert_allclose(found.joints[::2], joint_table(motion, hexapod).position, atol=1e-9)
    first = (tmp_path / "step" / "step.hip").read_text().splitlines()[0].split()
    assert len(first) == 4
    assert first[0] == "0.0"


def test_attitude_is_roll_pitch_yaw_and_goes_on_beyond_a_turn(hexapod):
    time = np.arange(0.0, 1.0001, 0.01)
    angles = np.column_stack([0.1 * time, -0.2 * time, 7.0 * time])
    q = np.tile(hexapod.home, (len(time), 1))
    q[:, 3:7] = Rotation.from_euler(
        "ZYX", angles[:, ::-1]
    ).as_quat()  # first yaw, then pitch, then roll, about own axes
    wrench = {name: np.tile([0.0, 0.0, 5.0, 0.0, 0.0, 0.0], (len(time), 1)) for name in hexapod.contacts}
    files = column_files(Trajectory.of(hexapod, time, q, wrenches=wrench), hexapod)
    np.testing.assert_allclose(files.attitude[::2], angles, atol=1e-9)


def test_the_zmp_of_one_loaded_foot_is_where_it_is_pushed_in_the_pelvis_frame(hexapod, motion):
    name = next(iter(hexapod.contacts))
    x, y, load = 0.004, -0.003, 21.0
    wrench = np.tile([0.0, 0.0, load, y * load, -x * load, 0.0], (len(motion), 1))
    level = np.tile(hexapod.home, (len(motion), 1))
    level[:, 0] += 0.3
    files = column_files(replace(motion, q=level, v=None, a=None, wrenches={name: wrench}), hexapod)
    contact = hexapod.contacts[name]
    T = hexapod.placements(level[0])[contact.frame] @ contact.placement
    pelvis = hexapod.placements(level[0])[hexapod.tree.body_names[0]]
    zmp = pelvis[:3, :3] @ files.zmp[0] + pelvis[:3, 3]
    force = T[:3, :3] @ wrench[0, :3]
    moment = T[:3, :3] @ wrench[0, 3:] + np.cross(T[:3, 3] - zmp, force)
    np.testing.assert_allclose(moment[:2], 0.0, atol=1e-9)
    np.testing.assert_allclose(zmp[2], T[2, 3], atol=1e-12)
    np.testing.assert_allclose(zmp, (T @ [x, y, 0.0, 1.0])[:3], atol=1e-9)
    np.testing.assert_allclose(files.zmp, np.tile(files.zmp[0], (len(files.zmp), 1)), atol=1e-12)


def test_at_rest_the_zmp_is_under_the_centre_of_mass(hexapod, motion):
    still = weight_on(hexapod, motion)
    zmp, notes = zmp_of_motion(still, hexapod)
    import pinocchio as pin

    com = pin.centerOfMass(hexapod.model, hexapod.model.createData(), np.array(still.q[0]))
    np.testing.assert_allclose(zmp[:, :2], np.tile(com[:2], (len(zmp), 1)), atol=1e-9)
    assert "ZMP computed from the motion" in notes[0]


def test_the_zmp_of_a_moving_robot_obeys_newton_and_euler(hexapod, motion):
    """Oracle: x = c_x − c_z-h … from the rate of momentum by Pinocchio, about the point itself."""
    import pinocchio as pin

    free = replace(motion, wrenches={})
    zmp, _ = zmp_of_motion(free, hexapod)
    data = hexapod.model.createData()
    for k in (10, 37, 80):
        pin.computeCentroidalMomentumTimeVariation(hexapod.model, data, free.q[k], free.v[k], free.a[k])
        force = data.dhg.linear - hexapod.mass * hexapod.tree.gravity
        moment = data.dhg.angular + np.cross(data.com[0] - zmp[k], force)
        np.testing.assert_allclose(moment[:2], 0.0, atol=1e-6)


def test_flight_has_no_zmp_and_short_gaps_are_bridged(hexapod, motion):
    wrench = {name: np.array(w) for name, w in motion.wrenches.items()}
    for values in wrench.values():
        values[0] = 0.0  # the first tick of a simulation
    files = column_files(replace(motion, wrenches=wrench), hexapod)
    assert np.isfinite(files.zmp).all()
    assert any("without load" in note for note in files.notes)
    for values in wrench.values():
        values[30:50] = 0.0
    with pytest.raises(NotSupportedError, match="nothing supports"):
        column_files(replace(motion, wrenches=wrench), hexapod)


def test_column_files_refuse_what_they_cannot_hold(tmp_path, hexapod, motion):
    arm = zoo.load("arm4")
    with pytest.raises(NotSupportedError, match="pelvis"):
        column_files(swaying(arm), arm)
    with pytest.raises(NotSupportedError, match="wrenches, or velocities"):
        column_files(replace(motion, v=None, a=None, wrenches={}), hexapod)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine.txt").write_text("keep")
    with pytest.raises(FileFormatError, match="not an empty folder"):
        write_column_files(tmp_path / "there", column_files(motion, hexapod))
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    with pytest.raises(FileFormatError, match="expected one"):
        read_column_files(tmp_path / "there")


def test_motions_that_do_not_end_at_rest_are_told(hexapod, motion):
    assert any("not at rest at its start" in note for note in column_files(motion, hexapod).notes)
