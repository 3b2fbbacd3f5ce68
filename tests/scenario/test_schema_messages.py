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
        ("study = 'slid'", "`study`", '"slide"'),
        ("[robot]\ndrives = 'steam'", "`robot.drives`", '"servo"'),
        (f"{GROUND}'hill'", "`world.ground.0.kind`", '"stairs"'),
        (f"{OBJECT}'cone'", "`world.objects.0.kind`", '"sphere"'),
        (f"{CONTROLLER}'joint_pdd'", "`controller.kind`", '"joint_pd"'),
        ("[sensors]\nkind = 'good'", "`sensors.kind`", '"ideal"'),
        ("[estimator]\nkind = 'bass'", "`estimator.kind`", '"base"'),
        ("[simulation]\nengine = 'mujoko'", "`simulation.engine`", '"mujoco"'),
        ("[simulation]\nengine = 'native'\ncontact = 'soft'", "`simulation.contact`", '"rigid"'),
        (f"{EVENT}'shove'", "`events.0.kind`", '"push"'),
        (f"{EVENT}'terrain'\nground = [{{kind = 'hill'}}]", "`events.0.ground.0.kind`", '"box"'),
    ],
)
def test_wrong_kinds(tmp_path, capsys, text, key, hint):
    assert "mine.toml:" in refused(tmp_path, capsys, text, key, hint)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            f"{GROUND}'plane'\nsize = [1.0, 1.0, 1.0]",
            ("mine.toml:4", "`world.ground.0.size`", "a plane has no `size`", "normal"),
        ),
        (
            f"{OBJECT}'sphere'\nradius = 1.0\nlength = 1.0",
            ("mine.toml:7", "`world.objects.0.length`", "a sphere has no `length`"),
        ),
        (
            f"{CONTROLLER}'joint_pd'\nkeyframes = []",
            ("mine.toml:4", "`controller.keyframes`", "a joint_pd has no `keyframes`", "bandwidth"),
        ),
        (
            f"{CONTROLLER}'limp'\nbandwidth = 3.0",
            ("mine.toml:4", "`controller.bandwidth`", "a limp has no `bandwidth`"),
        ),
        (f"{EVENT}'push'\nmass = 1.0", ("mine.toml:4", "`events.0.mass`", "a push has no `mass`", "impulse")),
        (
            f"{EVENT}'friction'\nfriction = 0.1\nsensor = 'imu.*'",
            ("mine.toml:5", "`events.0.sensor`", "a friction has no `sensor`"),
        ),
    ],
)
def test_keys_of_another_kind(tmp_path, capsys, text, words):
    refused(tmp_path, capsys, text, *words)


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
        (f"{EVENT}'payload'", ("a payload needs one of `mass` and `share`",)),
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
        ("[world]\ngravity = [0.0, -9.81]", "`world.gravity` = [0.0, -9.81]: expected a list of 3 numbers"),
        ("[world]\nempty = true\n[[world.ground]]\nkind = 'plane'", "`empty`"),
        ("[initial]\nposition = [1.0]", "`initial.position` = [1.0]: expected a list of 2 numbers"),
        ("[initial]\njoints = { j = 'up' }", "`initial.joints.j`"),
        ("[sensors]\ndropout = 1.0", "`sensors.dropout`"),
        ("[simulation]\ndt = 0.5", "`simulation.dt`"),
        ("[simulation]\nseed = -1", "`simulation.seed`"),
        ("[simulation]\nduration = inf", "`simulation.duration`"),
        ("[motion]\nkind = 'reach'\nhold = 1e9", "`motion.hold`"),
        ("[motion]\nkind = 'reach'\nduration = 1e12", "`motion.duration`"),
        ("[motion]\nkind = 'reach'\ncycle = 1e-9", "`motion.cycle`"),
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
        (f"{CONTROLLER}'hand_reach'\nframe = 'paw'\ndisplacement = [0.0, 0.0, 0.01]", "paw", "left_front"),
        (f"{CONTROLLER}'force_schedule'\npoints = [{{time = 0.0, torques = {{hip = 1.0}}}}]", "hip", "coxa"),
        (f"{EVENT}'push'\nlink = 'bodi'", "bodi", "body"),
        (f"{EVENT}'payload'\nmass = 1.0\nlink = 'bodi'", "bodi", "body"),
        (f"{EVENT}'parameter_error'\nlink = 'bodi'", "bodi", "body"),
    ],
)
def test_names_that_the_robot_does_not_have(tmp_path, capsys, text, wrong, right):
    err = refused(tmp_path, capsys, text + HEXAPOD, f"`{wrong}`", right)
    line = next(k for k, row in enumerate(text.splitlines(), 2) if wrong in row)
    assert f"mine.toml:{line}:" in err


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
    refused(tmp_path, capsys, "[robot]\nname = 'hexapot'", "mine.toml:3", "`hexapot`", "`hexapod`")
    refused(tmp_path, capsys, "[robot]\nname = 'missing.urdf'", "mine.toml:3", "`missing.urdf`", str(tmp_path))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("descripton = 'd'", ("mine.toml:2", "`descripton`", "`description`")),
        ("[simulaton]\nduration = 1.0", ("mine.toml:2", "`simulaton`", "`simulation`")),
        ("[[event]]\nkind = 'push'", ("mine.toml:2", "`event`", "`events`")),
        ("[[events]]\n[[events]]\ndirecton = [1, 0, 0]", ("mine.toml:4", "`events.1.directon`", "`direction`")),
        ("simulation = { duraton = 1.0 }", ("mine.toml:2", "`simulation.duraton`", "`duration`")),
        ("simulation.duraton = 1.0", ("mine.toml:2", "`simulation.duraton`", "`duration`")),
        ("motion.kind = 'com_rise'\nmotion.step.behnd = 1.0", ("mine.toml:3", "`motion.step.behnd`", "`behind`")),
        ("[simulation]\n'dur ation' = 1.0", ("mine.toml:3", "`simulation.dur ation`", "`duration`")),
        ("[controller.waves.j]\namplitud = 1.0", ("mine.toml:3", "`controller.waves.j.amplitud`", "`amplitude`")),
        (
            f"{CONTROLLER}'joint_path'\nkeyframes = [\n  {{ time = 0.0, joints = {{}} }},\n  {{ tiem = 1.0 }},\n]",
            ("mine.toml:6", "`controller.keyframes.1.tiem`", "`time`"),
        ),
        ("description = 'a\u2028b\u0085c'\n[simulation]\nduraton = 1.0", ("mine.toml:4", "`duration`")),
    ],
)
def test_misspelt_keys_at_every_depth(tmp_path, capsys, text, words):
    err = refused(tmp_path, capsys, text, *words)
    assert f"{words[-1][1:-1]}` is missing" not in err


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("[simulation]\nduration = '1'", "`simulation.duration` = '1'", "a number > 0 and ≤ 36000"),
        ("[simulation]\nduration = true", "`simulation.duration` = True", "a number"),
        ("[simulation]\nduration = 2020-01-01", "`simulation.duration`", "a number"),
        ("[simulation]\nduration = nan", "`simulation.duration`", "a finite number"),
        ("[simulation]\nseed = true", "`simulation.seed`", "a whole number"),
        ("[simulation]\nseed = 1.5", "`simulation.seed`", "a whole number"),
        ("[simulation]\nself_collision = 1", "`simulation.self_collision`", "true or false"),
        ("[robot]\nname = 3", "`robot.name`", "a text"),
        ("simulation = [1]", "`simulation`", "a table"),
        ("robot = 'g1'", "`robot`", "a table"),
        ("[events]\nkind = 'push'", "`events`", "a list of tables, each under [["),
        ("[world]\ngravity = [0, 0, 0, 0]", "`world.gravity`", "a list of 3 numbers"),
        ("[world]\ngravity = ['a', 0, 0]", "`world.gravity.0`", "a number"),
        ("[world]\ngravity = 9.81", "`world.gravity`", "a list of 3 numbers"),
        ("[world]\ngravity = [0, 0, -1e300]", "`world.gravity.2`", "a number ≥ -1000 and ≤ 1000"),
        ("[world]\nfriction = 1e9", "`world.friction`", "a number ≥ 0 and ≤ 1000"),
        ("[initial]\njoints = [1.0]", "`initial.joints`", "a table of numbers"),
        ("[motion]\nkind = 'harvest'\nother_horizons = [0.1, -1]", "`motion.other_horizons.1`", "a number > 0"),
        ("[planner]\ngoal = [1.0, 0.0]\nresolution = 1e-9", "`planner.resolution`", "a number ≥ 0.0001"),
        (
            "[motion]\nkind = 'swing_over'\nstep = { behind = 0.2, ahead = 0.2, apart = 0.2, lift = 0.1, shift = 1e9 }",
            "`motion.step.shift`",
            "a number > 0 and ≤ 60",
        ),
        ("[motion]\nkind = 'swing_ovr'", "`motion.kind`", 'did you mean "swing_over"?'),
    ],
)
def test_wrong_types_are_never_converted(tmp_path, capsys, text, key, expected):
    err = refused(tmp_path, capsys, text, key, expected)
    assert "mine.toml:" in err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ("`name` is missing",)),
        (b"name = 'x'\nname = 'y'\n", ("mine.toml:2", "not TOML")),
        (b"name = 'x'\n[robot]\n[world]\n[robot]\n", ("mine.toml:4", "not TOML")),
        (b'{"name": "x"}', ("mine.toml:1", "not TOML")),
        (b"name: x\n", ("mine.toml:1", "not TOML")),
        (b"\x00\xff\xfe" * 100, ("mine.toml:1", "UTF-8")),
        ("name = 'x'\ndescription = 'é'\n".encode("latin-1"), ("mine.toml:2", "UTF-8")),
        ("name = 'x'".encode("utf-16"), ("UTF-8",)),
        (b"name = 'x'\r\n[simulation]\r\nduraton = 1.0\r\n", ("mine.toml:3", "`duration`")),
        ("\ufeffname = 'x'\n[simulation]\nduraton = 1.0\n".encode(), ("mine.toml:3", "`duration`")),
        (b"name = 'x'\nevents = " + b"[" * 5000 + b"]" * 5000, ("nested too deeply",)),
        (b"name = 'x'\n#" + b"-" * (17 << 20), ("larger than 16 MiB",)),
        (b"name = '__import__(\"os\").abort()'\n", ("mine.toml:1", "`name`")),
    ],
)
def test_files_that_are_no_scenarios(tmp_path, capsys, content, words):
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    assert _status(["run", str(path), "--out", str(tmp_path / "out")]) == 2
    err = capsys.readouterr().err
    assert "Traceback" not in err
    for word in words:
        assert word in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (["--set", "initial.joints.nope=0.1"], "--set initial.joints.nope=0.1"),
        (["--set", 'world.ground=[{kind="plane", normal=[0, 0, 0]}]'], "--set world.ground="),
        (["--set", "events.0.link=bass"], "--set events.0.link=bass"),
        (["--robot", "nope.urdf"], "--robot nope.urdf"),
        (["--robot", "anymall"], "--robot anymall"),
        (["--seed", "-1"], "--seed -1"),
        (["--set", "simulation.duration='1'"], "--set simulation.duration='1'"),
    ],
)
def test_a_change_from_outside_is_named(tmp_path, capsys, change, place):
    assert _status(["run", "stand", *change, "--out", str(tmp_path / "new" / "out")]) == 2
    assert f"surefoot: {place}" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_no_folder_of_the_user_is_removed(tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    assert _status(["run", "stand", "--robot", "anymall", "--out", str(tmp_path / "mine")]) == 2
    assert (tmp_path / "mine").is_dir()


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("[simulation]\nduration = nan", "docs/scenarios.md"),
        ("[sensors]\nimu = 3", "docs/scenarios.md"),
        (f"{CONTROLLER}'joint_path'\n[[controller.keyframes]]\ntime = 1.0", "add it"),
        (
            f"[robot]\nname = 'pendulum'\n{CONTROLLER}'joint_path'\n"
            "[[controller.keyframes]]\ntime = 1.0\njoints = {}\n[[controller.keyframes]]\ntime = 0.5\njoints = {}",
            "each later than the one before",
        ),
    ],
)
def test_mistakes_have_a_next_step(tmp_path, capsys, text, step):
    err = refused(tmp_path, capsys, text)
    assert step in err.partition("  next: ")[2]
