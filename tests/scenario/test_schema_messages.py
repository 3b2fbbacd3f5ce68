"""Mistakes in a scenario file: `surefoot run` leaves with status 2 and names the key, or the name that is wrong."""

from __future__ import annotations

import pytest

from surefoot.cli.main import _status


def run(tmp_path, capsys, text: str) -> tuple[int, str]:
    """Exit status and message of `surefoot run` with a file."""
    path = tmp_path / "mine.toml"
    path.write_text(f'name = "mine"\n{text}\n')
    status = _status(["run", str(path), "--out", str(tmp_path / "out")])
    err = capsys.readouterr().err
    assert "Traceback" not in err
    return status, err


def refused(tmp_path, capsys, text: str, *words: str) -> str:
    status, err = run(tmp_path, capsys, text)
    assert status == 2, err
    for word in words:
        assert word in err
    assert not (tmp_path / "out").exists()
    return err


GROUND, OBJECT = "[[world.ground]]\nkind = ", "[[world.objects]]\nname = 'a'\nmass = 1.0\nkind = "
CONTROLLER, EVENT = "[controller]\nkind = ", "[[events]]\nkind = "


@pytest.mark.parametrize(
    ("text", "key", "hint"),
    [
        ("study = 'walk'", "`study`", "'slide'"),
        ("[robot]\ndrives = 'steam'", "`robot.drives`", "'servo'"),
        (f"{GROUND}'hill'", "`world.ground.0.kind`", "'stairs'"),
        (f"{OBJECT}'cone'", "`world.objects.0.kind`", "'sphere'"),
        (f"{CONTROLLER}'joint_pdd'", "`controller.kind`", "'joint_pd'"),
        ("[sensors]\nkind = 'good'", "`sensors.kind`", "'ideal'"),
        ("[estimator]\nkind = 'bass'", "`estimator.kind`", "'base'"),
        ("[simulation]\nengine = 'mujoko'", "`simulation.engine`", "'mujoco'"),
        ("[simulation]\nengine = 'native'\ncontact = 'soft'", "`simulation.contact`", "'rigid'"),
        (f"{EVENT}'shove'", "`events.0.kind`", "'push'"),
        (f"{EVENT}'terrain'\nground = [{{kind = 'hill'}}]", "`events.0.ground.0.kind`", "'box'"),
    ],
)
def test_wrong_kinds(tmp_path, capsys, text, key, hint):
    assert "mine.toml:" in refused(tmp_path, capsys, text, key, hint)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{GROUND}'plane'\nsize = [1.0, 1.0, 1.0]", ("`world.ground.0`", "a plane has no `size`", "normal")),
        (f"{OBJECT}'sphere'\nradius = 1.0\nlength = 1.0", ("`world.objects.0`", "a sphere has no `length`")),
        (f"{CONTROLLER}'joint_pd'\nkeyframes = []", ("`controller`", "a joint_pd has no `keyframes`", "bandwidth")),
        (f"{CONTROLLER}'limp'\nbandwidth = 3.0", ("`controller`", "a limp has no `bandwidth`")),
        (f"{EVENT}'push'\nmass = 1.0", ("`events.0`", "a push has no `mass`", "impulse")),
        (f"{EVENT}'friction'\nfriction = 0.1\nsensor = 'imu.*'", ("`events.0`", "a friction has no `sensor`")),
    ],
)
def test_keys_of_another_kind(tmp_path, capsys, text, words):
    assert "mine.toml:2" in refused(tmp_path, capsys, text, *words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[world.ground]]\nsize = [1.0, 1.0, 1.0]", ("`world.ground.0.kind` is missing",)),
        (f"{GROUND}'box'", ("a box needs `size`",)),
        (f"{GROUND}'height_field'\ncell = 0.1", ("a height_field needs `heights`",)),
        (f"{OBJECT}'cylinder'\nradius = 1.0", ("a cylinder needs `length`",)),
        ("[[world.objects]]\nkind = 'sphere'\nradius = 1.0\nmass = 1.0", ("`world.objects.0.name` is missing",)),
        (f"{CONTROLLER}'joint_path'", ("a joint_path needs `keyframes`",)),
        (f"{CONTROLLER}'joint_waves'", ("a joint_waves needs `waves`",)),
        (f"{CONTROLLER}'reactionless'\nspeed = 1.0", ("a reactionless needs `joints`",)),
        (f"{CONTROLLER}'hand_reach'\nframe = 'x'", ("a hand_reach needs `displacement`",)),
        (f"{CONTROLLER}'force_schedule'", ("a force_schedule needs `points`",)),
        (f"{CONTROLLER}'joint_path'\nkeyframes = [{{time = 1.0}}]", ("`controller.keyframes.0.joints` is missing",)),
        (f"{CONTROLLER}'joint_waves'\nwaves = {{j = {{amplitude = 1.0}}}}", ("`controller.waves.j.frequency`",)),
        (f"{EVENT}'friction'", ("a friction needs `friction`",)),
        (f"{EVENT}'payload'", ("a payload needs `mass`",)),
        (f"{EVENT}'terrain'", ("a terrain needs `ground`",)),
        (f"{EVENT}'sensor_loss'\nduration = 1.0", ("a sensor_loss needs `sensor`",)),
    ],
)
def test_needed_keys(tmp_path, capsys, text, words):
    assert "mine.toml:" in refused(tmp_path, capsys, text, *words)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[world]\nfriction = -1.0", "`world.friction`"),
        ("[world]\ngravity = [0.0, -9.81]", "`world.gravity.2`"),
        ("[world]\nempty = true\n[[world.ground]]\nkind = 'plane'", "`empty`"),
        ("[initial]\nposition = [1.0]", "`initial.position.1`"),
        ("[initial]\njoints = { j = 'up' }", "`initial.joints.j`"),
        ("[sensors]\ndropout = 1.0", "`sensors.dropout`"),
        ("[simulation]\ndt = 0.5", "`simulation.dt`"),
        ("[simulation]\nseed = -1", "`simulation.seed`"),
        ("[simulation]\nduration = inf", "`simulation.duration`"),
        (f"{EVENT}'push'\ndirection = [0.0, 0.0, 0.0]", "direction"),
        (f"{EVENT}'push'\ntime = -1.0", "`events.0.time`"),
        (f"{EVENT}'parameter_error'\nmass_factor = 0.0", "`events.0.mass_factor`"),
        ("[simulation]\ncontact = 'rigid'", "`simulation.contact`"),
        ("[simulation]\ncontrol_dt = 0.003", "control_dt"),
        ("[estimator]\nkind = 'base'", "sensors.kind"),
    ],
)
def test_values_out_of_range_or_against_each_other(tmp_path, capsys, text, key):
    robot = "" if "[robot]" in text else "\n[robot]\nname = 'block'\n"
    refused(tmp_path, capsys, text + robot, key)


HEXAPOD = "\n[robot]\nname = 'hexapod'\n"
LOSS = "[sensors]\nkind = 'ideal'\n[[events]]\nkind = 'sensor_loss'\nduration = 1.0\nsensor = "


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        ("[initial]\njoints = { left_front_femor = 0.1 }", "left_front_femor", "left_front_femur"),
        ("[sensors]\nkind = 'ideal'\nimu = 'bodi'", "bodi", "body"),
        (f"{LOSS}'imu.gyra'", "imu.gyra", "imu.gyro"),
        (
            f"{CONTROLLER}'joint_path'\nkeyframes = [{{time = 1.0, joints = {{femur = 0.1}}}}]",
            "femur",
            "left_rear_femur",
        ),
        (f"{CONTROLLER}'joint_waves'\nwaves = {{hip = {{amplitude = 1.0, frequency = 1.0}}}}", "hip", "coxa"),
        (f"{CONTROLLER}'reactionless'\nspeed = 1.0\njoints = ['hip']", "hip", "coxa"),
        (f"{CONTROLLER}'hand_reach'\nframe = 'hand'\ndisplacement = [0.0, 0.0, 0.01]", "hand", "left_front"),
        (f"{CONTROLLER}'force_schedule'\npoints = [{{time = 0.0, torques = {{hip = 1.0}}}}]", "hip", "coxa"),
        (f"{EVENT}'push'\nlink = 'bodi'", "bodi", "body"),
        (f"{EVENT}'payload'\nmass = 1.0\nlink = 'bodi'", "bodi", "body"),
        (f"{EVENT}'parameter_error'\nlink = 'bodi'", "bodi", "body"),
    ],
)
def test_names_that_the_robot_does_not_have(tmp_path, capsys, text, wrong, right):
    refused(tmp_path, capsys, text + HEXAPOD, f"`{wrong}`", right)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (f"{EVENT}'friction'\nfriction = 0.1\ntime = 0.05\npieces = [3]", "pieces"),
        (f"{EVENT}'terrain'\ntime = 0.05\nground = [{{kind = 'box', size = [1.0, 1.0, 1.0]}}]", "same kinds"),
        (f"{EVENT}'terrain'\ntime = 0.05\nground = []", "same kinds"),
        (f"{EVENT}'sensor_loss'\nduration = 1.0\nsensor = 'imu.gyro'", "sensors"),
        (f"{EVENT}'payload'\nmass = 1.0\n[[events]]\nkind = 'payload'\ntime = 2.0\nmass = 1.0", "two payloads"),
    ],
)
def test_events_that_cannot_happen_are_refused_before_the_run(tmp_path, capsys, text, word):
    refused(tmp_path, capsys, f"{text}\n[robot]\nname = 'block'\n[simulation]\nduration = 0.1", word)


def test_names_of_robots(tmp_path, capsys):
    refused(tmp_path, capsys, "[robot]\nname = 'hexapot'", "`hexapot`", "`hexapod`")
    refused(tmp_path, capsys, "[robot]\nname = 'missing.urdf'", "missing.urdf")
