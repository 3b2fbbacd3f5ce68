import hashlib
import json
import subprocess
import sys
import tomllib

import numpy as np
import pytest

from surefoot.errors import NotSupportedError, ScenarioError, ShapeError, UnknownNameError
from surefoot.motion import load_log, load_trajectory
from surefoot.robot import Drive
from surefoot.robot.load import load
from surefoot.scenario import build, run_scenario
from surefoot.scenario.folder import make_folder

from .test_metrics import ALWAYS

FILES = {
    "log.parquet",
    "metrics.json",
    "report.html",
    "scenario.toml",
    "timing.parquet",
    "trajectory.npz",
}
SHORT = ["simulation.duration=0.2", "events.0.time=0.05"]
STANDING = [
    "g1", "talos", "simple_humanoid", "icub", "romeo", "anymal", "anymal_c", "solo12", "go1", "go2", "a1", "b1", "hyq",
    "laikago", "hexapod", "small-humanoid", "humanoid", "lola",
]  # fmt: skip


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def strict(path):
    def refuse(text):
        raise ValueError(text)

    return json.loads(path.read_text(), parse_constant=refuse)


def test_folder_of_a_run(tmp_path):
    result = run_scenario("stand", "anymal", out=tmp_path / "a", overrides=SHORT)
    assert result.passed
    assert {p.name for p in result.path.iterdir()} == FILES
    metrics = strict(result.path / "metrics.json")
    assert metrics == result.metrics
    assert set(ALWAYS) <= set(metrics)
    assert metrics["completed"] is True
    assert metrics["robot"] == "anymal"
    log = load_log(result.path / "log.parquet")
    motion = load_trajectory(result.path / "trajectory.npz")
    motion.require(load("anymal"))
    np.testing.assert_array_equal(motion.q, log["q"])
    assert len(load_log(result.path / "timing.parquet")) == len(log) - 1


def test_same_seed_same_bits_in_two_processes_and_from_the_resolved_file(tmp_path):
    code = (
        "import sys; from surefoot.scenario import run_scenario; scenario, out, robot, seed, *more = sys.argv[1:];"
        "run_scenario(scenario, robot or None, out=out, seed=int(seed) if seed else None, overrides=more)"
    )
    extra = [*SHORT, "simulation.initial_spread=0.01"]

    def run(scenario, out, *more):
        subprocess.run([sys.executable, "-c", code, scenario, str(tmp_path / out), *more], check=True, cwd=tmp_path)
        return digest(tmp_path / out / "log.parquet"), (tmp_path / out / "metrics.json").read_text()

    first = run("stand", "a", "anymal", "7", *extra)
    again = run("stand", "b", "anymal", "7", *extra)
    resolved = run(str(tmp_path / "a" / "scenario.toml"), "c", "", "")
    other = run("stand", "d", "anymal", "8", *extra)
    assert first == again == resolved
    assert first[0] != other[0]


def test_resolved_scenario_has_everything(tmp_path):
    result = run_scenario("stand", "anymal", out=tmp_path / "a", seed=5, overrides=SHORT)
    tables = tomllib.loads((result.path / "scenario.toml").read_text())
    assert tables["robot"]["name"] == "anymal"
    assert tables["simulation"]["seed"] == 5
    assert tables["simulation"]["duration"] == 0.2
    assert tables["controller"]["kind"] == "joint_pd"
    assert tables["events"][0]["margin"] == 0.3


def test_fixed_robot_holds_its_posture(tmp_path):
    for name in ("panda", "double_pendulum"):
        result = run_scenario("stand", name, out=tmp_path / name, overrides=["simulation.duration=0.5"])
        assert result.passed
        assert result.metrics["momentum_residual"] is None
        assert result.metrics["slip_m"] == 0.0
        assert result.metrics["tracking_rms"] < 0.01


def test_posture_that_the_drives_cannot_hold_is_noted(tmp_path, monkeypatch):
    robot = load("panda")
    weak = robot.replace(drives=tuple(Drive(drive.joint, torque_limit=0.5) for drive in robot.drives))
    monkeypatch.setattr(build, "load", lambda name, **options: weak)
    notes = run_scenario("stand", "panda", out=tmp_path / "a", overrides=SHORT).metrics["notes"]
    assert any("panda_joint2" in note for note in notes)


def test_fall_is_told(tmp_path):
    result = run_scenario("stand", "anymal", out=tmp_path / "a", overrides=["events.0.speed=5", "events.0.time=0.1"])
    assert not result.passed
    assert "fell" in result.verdict
    assert result.metrics["fallen"] is True
    assert result.metrics["completed"] is False
    assert 0.1 < result.metrics["fall_time_s"] < 1.5
    assert abs(result.metrics["duration_s"] - result.metrics["fall_time_s"] - 0.5) < 0.01


def test_divergence_is_a_verdict(tmp_path):
    result = run_scenario(
        "stand", "anymal", out=tmp_path / "a", overrides=["events.0.impulse=1e300", "events.0.time=0.1"]
    )
    assert not result.passed
    assert "diverged" in result.verdict
    assert result.metrics["completed"] is False
    assert strict(result.path / "metrics.json")["duration_s"] > 0.05


def test_interrupt_writes_and_goes_on_up(tmp_path):
    def interrupt(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_scenario("stand", "anymal", out=tmp_path / "a", progress=interrupt)
    metrics = strict(tmp_path / "a" / "metrics.json")
    assert metrics["completed"] is False
    assert metrics["fallen"] is False
    assert len(load_log(tmp_path / "a" / "log.parquet")) == 51
    assert {p.name for p in (tmp_path / "a").iterdir()} == FILES


def test_interrupt_before_the_first_step(tmp_path, monkeypatch):
    class Interrupting:
        def command(self, t, state):
            raise KeyboardInterrupt

    monkeypatch.setattr(build, "build_controller", lambda table, robot, q, plan: Interrupting())
    with pytest.raises(KeyboardInterrupt):
        run_scenario("stand", "anymal", out=tmp_path / "a")
    assert strict(tmp_path / "a" / "metrics.json")["duration_s"] == 0.0


def test_folders_are_never_overwritten(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.strftime", lambda form: "20260101-000000")
    names = [make_folder("stand", None).name for _ in range(3)]
    assert names == ["stand-20260101-000000", "stand-20260101-000000-2", "stand-20260101-000000-3"]
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("mine")
    with pytest.raises(ScenarioError, match="not empty"):
        run_scenario("stand", "anymal", out=tmp_path / "full", overrides=SHORT)
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
        run_scenario("stand", robot, out=tmp_path / "a", overrides=overrides)
    assert not (tmp_path / "a").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", STANDING)
def test_stands_for_five_seconds_with_a_push(tmp_path, name):
    result = run_scenario("stand", name, out=tmp_path / "a")
    assert result.passed
    assert result.metrics["slip_m"] < 0.02
    assert result.metrics["energy_residual_j"] < 1e-4
    assert result.metrics["final_speed"] < 1e-2


@pytest.mark.parametrize("name", ["g1", "hexapod"])
def test_stands_after_a_push(tmp_path, name):
    result = run_scenario("stand", name, out=tmp_path / "a", overrides=["simulation.duration=1.0", "events.0.time=0.2"])
    assert result.passed
    assert result.metrics["max_torque_ratio"] < 1.0
    assert result.metrics["energy_residual_j"] < 1e-4
    assert result.metrics["momentum_residual"] < 1e-3


def test_planar_robot_stands_or_falls_and_has_all_numbers(tmp_path):
    short = ["simulation.duration=1.0", "events.0.time=0.1"]
    stands = run_scenario("stand", "biped", out=tmp_path / "a", overrides=[*short, "events.0.direction=[1, 0, 0]"])
    assert stands.passed
    numbers = [stands.metrics[name] for name in ALWAYS if name not in ("fall_time_s", "versions")]
    assert None not in numbers
    assert stands.metrics["tracking_rms"] < 0.05
    assert stands.metrics["momentum_residual"] < 0.1
    strong = ["events.0.speed=3.0", "events.0.direction=[1, 0, 0]", "simulation.duration=3.0"]
    falls = run_scenario("stand", "biped", out=tmp_path / "b", overrides=strong)
    assert not falls.passed
    assert "fell" in falls.verdict
