import json
import subprocess
import sys
import tomllib

import numpy as np
import pytest

from surefoot.errors import NotSupportedError, ScenarioError, ShapeError, UnknownNameError
from surefoot.motion import Log, Trajectory
from surefoot.robot import Drive
from surefoot.robot.loading import load
from surefoot.scenario import names, resolved_scenario, run_scenario, scenario_text
from surefoot.scenario.build import simulation
from surefoot.scenario.outcome.files import make_folder
from surefoot.scenario.stages import STAGES
from tests.robot.sample_files import ARM_URDF

from .test_metrics import ALWAYS

MEASURED = {
    "log.parquet",
    "metrics.json",
    "report.html",
    "scenario.toml",
    "timing.parquet",
    "trajectory.npz",
}
SHORT = ["simulation.duration=0.2", "events.0.time=0.05", "audit.kind=none"]
AUDITED = ["simulation.duration=0.2", "events.0.time=0.05"]
STANDING = [
    "g1", "talos", "simple_humanoid", "icub", "romeo", "anymal", "anymal_c", "solo12", "go1", "go2", "a1", "b1", "hyq",
    "laikago", "hexapod", "small-humanoid", "humanoid", "lola",
]  # fmt: skip


def strict(path):
    def refuse(text):
        raise ValueError(text)

    return json.loads(path.read_text(), parse_constant=refuse)


def test_folder_of_a_run(tmp_path):
    result = run_scenario("stand-pd", "anymal", out=tmp_path / "a", overrides=AUDITED)
    assert result.passed
    assert {p.name for p in result.path.iterdir()} == MEASURED | {"audit.json"}
    assert result.metrics["audit"]["passed"] is strict(result.path / "audit.json")["passed"]
    metrics = strict(result.path / "metrics.json")
    assert metrics == result.metrics
    assert set(ALWAYS) <= set(metrics)
    assert metrics["completed"] is True
    assert metrics["robot"] == "anymal"
    log = Log.load(result.path / "log.parquet")
    motion = Trajectory.load(result.path / "trajectory.npz")
    motion.require(load("anymal"))
    np.testing.assert_array_equal(motion.q, log["q"])
    assert len(Log.load(result.path / "timing.parquet")) == len(log) - 1


REPEATED = {"log.parquet", "trajectory.npz", "metrics.json", "audit.json", "report.html"}


def same(one, two):
    """The files that are the same in two folders, byte by byte."""
    return {path.name for path in one.iterdir() if path.read_bytes() == (two / path.name).read_bytes()}


def run_elsewhere(tmp_path, out, *words):
    """`surefoot run` in a process of its own, in another folder."""
    folder = tmp_path / "elsewhere"
    folder.mkdir(exist_ok=True)
    run = subprocess.run(
        [sys.executable, "-m", "surefoot.cli", "run", *words, "--out", str(tmp_path / out)],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode < 2, run.stderr
    return tmp_path / out


def test_same_seed_same_bits_in_two_processes_and_from_the_resolved_file(tmp_path):
    extra = [*AUDITED, "simulation.initial_spread=0.01"]
    options = ["--robot", "hexapod", *(word for text in extra for word in ("--set", text))]
    first = run_elsewhere(tmp_path, "a", "stand-pd", "--seed", "7", *options)
    again = run_scenario("stand-pd", "hexapod", out=tmp_path / "b", seed=7, overrides=extra).path
    resolved = run_elsewhere(tmp_path, "c", str(first / "scenario.toml"))
    other = run_scenario("stand-pd", "hexapod", out=tmp_path / "d", seed=8, overrides=extra).path
    assert same(first, again) >= REPEATED
    assert same(first, resolved) >= REPEATED | {"scenario.toml"}
    assert not same(first, other) & {"log.parquet", "trajectory.npz", "metrics.json"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "overrides"),
    [
        ("noise", ["simulation.duration=0.3", "events.0.time=0.1", "simulation.seed=5"]),
        ("drop", ["simulation.duration=0.1", "initial.lift=0.01"]),
        ("slide", ["simulation.duration=0.4"]),
        ("stand-pd", ['events=[{kind="push", speed=5.0, time=0.05}]', "robot.name=hexapod", "simulation.duration=0.3"]),
    ],
)
def test_the_resolved_file_repeats_the_run(tmp_path, scenario, overrides):
    """Noise and a seed, both engines, with overrides, with another robot, and with a fall."""
    first = run_scenario(scenario, out=tmp_path / "a", overrides=[*overrides, "audit.kind=quick"])
    again = run_scenario(first.path / "scenario.toml", out=tmp_path / "b")
    assert same(first.path, again.path) >= REPEATED | {"scenario.toml"}
    assert first.metrics == again.metrics


def test_a_robot_file_beside_the_scenario(tmp_path, monkeypatch):
    """Named from the folder of the scenario, also through a link; the resolved file has the full path."""
    (tmp_path / "robots").mkdir()
    (tmp_path / "real.urdf").write_text(ARM_URDF)
    (tmp_path / "robots" / "arm.urdf").symlink_to(tmp_path / "real.urdf")
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\n[robot]\nname = "robots/arm.urdf"\n[simulation]\nduration = 0.1\n')
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    first = run_scenario("../mine.toml", out="a", overrides=["audit.kind=quick"])
    monkeypatch.chdir(tmp_path)
    again = run_scenario("elsewhere/a/scenario.toml", out="b")
    assert first.metrics == again.metrics
    assert same(tmp_path / "elsewhere" / "a", again.path) >= REPEATED | {"scenario.toml"}
    assert tomllib.loads((again.path / "scenario.toml").read_text())["robot"]["name"] == str(tmp_path / "real.urdf")


def test_a_file_named_like_a_robot_of_the_zoo_is_not_meant(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "block").write_text("not a robot")
    assert resolved_scenario("slide").robot.name == "block"


def test_a_copy_of_every_scenario_is_the_scenario(tmp_path):
    for name in names():
        (tmp_path / "copy.toml").write_text(scenario_text(name))
        assert resolved_scenario(tmp_path / "copy.toml") == resolved_scenario(name)


def test_resolved_scenario_has_everything(tmp_path):
    result = run_scenario("stand-pd", "anymal", out=tmp_path / "a", seed=5, overrides=SHORT)
    tables = tomllib.loads((result.path / "scenario.toml").read_text())
    assert tables["robot"]["name"] == "anymal"
    assert tables["simulation"]["seed"] == 5
    assert tables["simulation"]["duration"] == 0.2
    assert tables["controller"]["kind"] == "joint_pd"
    assert tables["events"][0]["margin"] == 0.3


def test_fixed_robot_holds_its_posture(tmp_path):
    for name in ("panda", "double_pendulum"):
        result = run_scenario(
            "stand-pd", name, out=tmp_path / name, overrides=["simulation.duration=0.5", "audit.kind=none"]
        )
        assert result.passed
        assert result.metrics["momentum_residual"] is None
        assert result.metrics["slip_m"] == 0.0
        assert result.metrics["tracking_rms"] < 0.01


def test_posture_that_the_drives_cannot_hold_is_noted(tmp_path, monkeypatch):
    robot = load("panda")
    weak = robot.replace(drives=tuple(Drive(drive.joint, torque_limit=0.5) for drive in robot.drives))
    monkeypatch.setattr(simulation, "load", lambda name, **options: weak)
    notes = run_scenario("stand-pd", "panda", out=tmp_path / "a", overrides=SHORT).metrics["notes"]
    assert any("panda_joint2" in note for note in notes)


def test_fall_is_told(tmp_path):
    fall = ["events.0.speed=5", "events.0.time=0.1", "audit.kind=none"]
    result = run_scenario("stand-pd", "anymal", out=tmp_path / "a", overrides=fall)
    assert not result.passed
    assert result.metrics["study_metrics"] == ["least_height_share", "largest_tilt_deg"]
    assert result.metrics["largest_tilt_deg"] > 45.0
    assert "fell" in result.verdict
    assert result.metrics["fallen"] is True
    assert result.metrics["completed"] is False
    assert 0.1 < result.metrics["fall_time_s"] < 1.5
    assert abs(result.metrics["duration_s"] - result.metrics["fall_time_s"] - 0.5) < 0.01


def test_divergence_is_a_verdict(tmp_path):
    result = run_scenario(
        "stand-pd",
        "anymal",
        out=tmp_path / "a",
        overrides=["events.0.impulse=1e12", "events.0.time=0.1", "audit.kind=none"],
    )
    assert not result.passed
    assert "diverged" in result.verdict
    assert result.metrics["completed"] is False
    assert strict(result.path / "metrics.json")["duration_s"] > 0.05


def test_interrupt_writes_and_goes_on_up(tmp_path):
    def interrupt(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_scenario("stand-pd", "anymal", out=tmp_path / "a", progress=interrupt)  # not audited either
    metrics = strict(tmp_path / "a" / "metrics.json")
    assert metrics["completed"] is False
    assert metrics["fallen"] is False
    log = Log.load(tmp_path / "a" / "log.parquet")
    assert len(log) == 51
    assert log.partial
    assert {p.name for p in (tmp_path / "a").iterdir()} == MEASURED
    assert "interrupted" in (tmp_path / "a" / "report.html").read_text()


def test_interrupt_before_the_first_step(tmp_path, monkeypatch):
    class Interrupting:
        def command(self, t, state):
            raise KeyboardInterrupt

    monkeypatch.setattr(simulation, "build_controller", lambda scenario, robot, world, q, plan: Interrupting())
    with pytest.raises(KeyboardInterrupt):
        run_scenario("stand-pd", "anymal", out=tmp_path / "a")
    assert strict(tmp_path / "a" / "metrics.json")["duration_s"] == 0.0


def test_folders_are_never_overwritten(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.strftime", lambda form: "20260101-000000")
    names = [make_folder("stand", None).name for _ in range(3)]
    assert names == ["stand-20260101-000000", "stand-20260101-000000-2", "stand-20260101-000000-3"]
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("mine")
    with pytest.raises(ScenarioError, match="not an empty folder"):
        run_scenario("stand-pd", "anymal", out=tmp_path / "full", overrides=SHORT)
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["x"]
    assert make_folder("stand", tmp_path / "new" / "deep").is_dir()


@pytest.mark.parametrize(
    ("robot", "overrides", "error", "message"),
    [
        ("anymall", (), UnknownNameError, "anymal"),
        ("hector", (), NotSupportedError, "contact"),
        ("anymal", ("events.0.link=bass",), UnknownNameError, "base"),
        ("anymal", ("simulation.control_dt=0.003",), ShapeError, "multiple"),
    ],
)
def test_bad_input_leaves_no_folder(tmp_path, robot, overrides, error, message):
    with pytest.raises(error, match=message):
        run_scenario("stand-pd", robot, out=tmp_path / "a", overrides=overrides)
    assert not (tmp_path / "a").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", STANDING)
def test_stands_for_five_seconds_with_a_push(tmp_path, name):
    result = run_scenario("stand-pd", name, out=tmp_path / "a")
    assert result.passed
    assert result.metrics["slip_m"] < 0.02
    assert result.metrics["energy_residual_j"] < 1e-4
    assert result.metrics["final_speed"] < 1e-2


@pytest.mark.parametrize("name", ["g1", "hexapod"])
def test_stands_after_a_push(tmp_path, name):
    result = run_scenario(
        "stand-pd",
        name,
        out=tmp_path / "a",
        overrides=["simulation.duration=1.0", "events.0.time=0.2", "audit.kind=none"],
    )
    assert result.passed
    assert result.metrics["max_torque_ratio"] < 1.0
    assert result.metrics["energy_residual_j"] < 1e-4
    assert result.metrics["momentum_residual"] < 1e-3


def test_planar_robot_stands_or_falls_and_has_all_numbers(tmp_path):
    short = ["simulation.duration=1.0", "events.0.time=0.1", "audit.kind=none"]
    stands = run_scenario("stand-pd", "biped", out=tmp_path / "a", overrides=[*short, "events.0.direction=[1, 0, 0]"])
    assert stands.passed
    numbers = [stands.metrics[name] for name in ALWAYS if name not in ("fall_time_s", "versions")]
    assert None not in numbers
    assert stands.metrics["tracking_rms"] < 0.05
    assert stands.metrics["momentum_residual"] < 0.1
    strong = ["events.0.speed=3.0", "events.0.direction=[1, 0, 0]", "simulation.duration=3.0", "audit.kind=none"]
    falls = run_scenario("stand-pd", "biped", out=tmp_path / "b", overrides=strong)
    assert not falls.passed
    assert "fell" in falls.verdict


def test_stages_are_told_in_their_order(tmp_path):
    told = []
    run_scenario("stand-pd", "pendulum", out=tmp_path / "a", overrides=["simulation.duration=0.2", "audit.kind=quick"],
                 stage=lambda *words: told.append(words))  # fmt: skip
    assert tuple(dict.fromkeys(stage for stage, _ in told)) == STAGES
    for stage in STAGES:
        shares = [share for name, share in told if name == stage]
        assert shares == sorted(shares)
        assert 0.0 <= shares[0] <= shares[-1] <= 1.0
    assert ("simulating", 1.0) in told


def test_a_run_without_audit_does_not_tell_of_one(tmp_path):
    told = []
    run_scenario("stand-pd", "pendulum", out=tmp_path / "a", overrides=["simulation.duration=0.1", "audit.kind=none"],
                 stage=lambda stage, share: told.append(stage))  # fmt: skip
    assert tuple(dict.fromkeys(told)) == tuple(stage for stage in STAGES if stage != "auditing")
