"""The command line as a user meets it: exit codes, messages, JSON, help."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest

from surefoot.cli.frame import commands_of
from surefoot.cli.main import _status, app
from surefoot.robot import zoo
from tests.robot.sample_files import ARM_URDF, write


def surefoot(capsys, *words: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command."""
    status = _status(list(words))
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return status, out, err


def test_help_of_every_command_reads_well(capsys):
    status, out, _ = surefoot(capsys, "--help")
    assert status == 0
    for command in commands_of(app):
        assert command.name in out
        status, page, _ = surefoot(capsys, command.name, "--help")
        assert status == 0
        text = "usage: surefoot bench NAME" if command.name == "bench" else command.help  # the runner prints its own
        assert text in " ".join(page.split()).replace(" │ │ ", " ")
        for parameter in command.params:
            assert parameter.name == "help" or getattr(parameter, "help", None), (
                f"{command.name} {parameter.name}: no help"
            )
            assert not re.search(r"\[[a-z/]", getattr(parameter, "help", "")), "the terminal takes it as a style"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["chek", "g1"], "did you mean `check`"),
        (["check", "g1", "--jsn"], "did you mean `--json`"),
        (["check", "anymall"], "did you mean `anymal`"),
        (["check", "g1", "--base", "floatng"], "did you mean `floating`"),
        (["run", "stnad"], "did you mean `stand`"),
        (["run", "stand", "--robot", "tallos"], "did you mean `talos`"),
        (["run", "stand", "--set", "simulation.duratoin=1"], "did you mean `duration`"),
        (["run", "stand", "--set", "nonsense"], "="),
        (["run", "no_such_file.toml"], "no_such_file.toml"),
        (["check"], "Missing argument"),
        (["run", "stand", "--robot"], "option `--robot` needs a value\n  next: `surefoot run --help`"),
        (["run", "stand", "--seed", "x"], "seed"),
        (["convert", "a.csv", "b.csv", "--robot", "g1", "--from", "mujoko", "--to", "ros"], "did you mean `mujoco`"),
    ],
)
def test_wrong_words_are_answered_with_a_suggestion_and_status_2(capsys, words, hint):
    status, _, err = surefoot(capsys, *words)
    assert status == 2, err
    assert hint in err


def test_check_has_a_verdict(capsys, tmp_path):
    good = write(tmp_path, "good.urdf", ARM_URDF)
    assert surefoot(capsys, "check", str(good))[0] == 0
    bad = write(tmp_path, "bad.urdf", ARM_URDF.replace('value="2.5"', 'value="abc"'))
    status, out, _ = surefoot(capsys, "check", str(bad))
    assert status == 1
    assert "bad.urdf:8" in out or "bad.urdf:7" in out
    status, _, err = surefoot(capsys, "check", str(write(tmp_path, "no.urdf", "hello")))
    assert status == 2
    assert "no.urdf" in err


def test_check_tells_warnings_in_its_verdict_and_units_in_its_tables(capsys, tmp_path):
    doubtful = write(tmp_path, "odd.urdf", ARM_URDF.replace('izz="0.025"', 'izz="0.2"'))
    status, out, _ = surefoot(capsys, "check", str(doubtful))
    assert status == 0
    assert "sound, with 1 warning (0 errors, 1 warning, " in " ".join(out.split())
    out = surefoot(capsys, "check", "anymal")[1]
    assert ": sound (0 errors, 0 warnings, " in " ".join(out.split())
    assert "size [mm]" in out
    assert "speed [rad/s | m/s]" in out


def test_check_as_json_and_as_page(capsys, tmp_path):
    page = tmp_path / "page.html"
    status, out, _ = surefoot(capsys, "check", "hexapod", "--json", "--html", str(page))
    assert status == 0
    data = json.loads(out[: out.rindex("}") + 1])
    assert data["sound"]
    assert (data["nq"], data["nv"], data["nu"]) == (25, 24, 18)
    assert len(data["contacts"]) == 6
    assert "<svg" in page.read_text(encoding="utf-8")


def test_robots_as_a_page_with_pictures(capsys, tmp_path, monkeypatch):
    few = {name: facts for name, facts in zoo.facts().items() if name in ("biped", "delta", "solo12")}
    monkeypatch.setattr(zoo, "facts", lambda: few)
    monkeypatch.setattr(zoo, "names", lambda: list(few))
    page = tmp_path / "robots.html"
    status, out, _ = surefoot(capsys, "robots", "--html", str(page))
    assert (status, out.split()[-1]) == (0, str(page))
    text = page.read_text(encoding="utf-8")
    assert text.count("<figure>") == text.count("<svg") == len(few)
    for name, facts in few.items():
        assert f"<b>{name}</b><br>{facts.kind} · {facts.dof} dof · {facts.mass:.4g} kg<br>{facts.licence}" in text
    assert surefoot(capsys, "robots", "--html", str(tmp_path / "robots.png"))[0] != 0


def test_listings(capsys):
    robots = json.loads(surefoot(capsys, "robots", "--json")[1])
    assert {"g1", "lola", "coil", "talos"} <= set(robots)
    assert "stand" in json.loads(surefoot(capsys, "list", "--json")[1])
    assert "g1" in surefoot(capsys, "robots")[1]


def test_doctor_finds_nothing_broken_here(capsys):
    status, out, _ = surefoot(capsys, "doctor", "--json")
    rows = json.loads(out)
    assert status == 0, [row for row in rows if not row["ok"]]
    assert {"python", "cpu", "mujoco", "pin", "cache folder"} <= {row["what"] for row in rows}


def test_doctor_says_what_to_do_about_a_cache_that_cannot_be_written(capsys, monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("SUREFOOT_CACHE", str(blocked / "cache"))
    status, out, _ = surefoot(capsys, "doctor")
    assert status == 1
    assert "SUREFOOT_CACHE" in out


def test_run_prints_its_folder_on_the_last_line_and_keeps_the_contract(capsys, tmp_path):
    out_dir = tmp_path / "run"
    status, out, _ = surefoot(
        capsys, "run", "stand-pd", "--robot", "hexapod", "--out", str(out_dir), "--seed", "3",
        "--set", "simulation.duration=0.3", "--set", "audit.kind=quick",
    )  # fmt: skip
    assert status == 0
    assert out.splitlines()[-1] == str(out_dir)
    metrics = json.loads((out_dir / "metrics.json").read_text())
    keys = (
        "schema scenario robot seed duration_s completed fallen fall_time_s slip_m max_torque_ratio "
        "energy_residual_j momentum_residual tracking_rms versions"
    )
    assert set(keys.split()) <= set(metrics)
    assert (metrics["seed"], metrics["robot"], metrics["fallen"], metrics["completed"]) == (3, "hexapod", False, True)
    for name in ("log.parquet", "timing.parquet", "trajectory.npz", "scenario.toml", "report.html"):
        assert (out_dir / name).is_file(), name


def test_a_fallen_robot_is_a_bad_verdict(capsys, tmp_path):
    status, out, _ = surefoot(
        capsys, "run", "stand-pd", "--out", str(tmp_path / "run"), "--set", "simulation.duration=2",
        "--set", "controller.bandwidth=0.5", "--set", "events.0.speed=0.6", "--set", "audit.kind=none",
    )  # fmt: skip
    assert status == 1
    assert "fell at" in out


def test_convert_there_and_back(capsys, tmp_path, rng):
    import pinocchio as pin

    from surefoot.robot.loading import load

    robot = load("g1")
    q = np.array([pin.integrate(robot.model, robot.home, rng.uniform(-1, 1, robot.nv)) for _ in range(5)])
    v = rng.normal(size=(5, robot.nv))
    np.savez(tmp_path / "a.npz", q=q, v=v)
    there = [
        "convert",
        str(tmp_path / "a.npz"),
        str(tmp_path / "b.csv"),
        "--robot",
        "g1",
        "--from",
        "pinocchio",
        "--to",
        "mujoco",
    ]
    back = [
        "convert",
        str(tmp_path / "b.csv"),
        str(tmp_path / "c.npz"),
        "--robot",
        "g1",
        "--from",
        "mujoco",
        "--to",
        "pinocchio",
    ]
    assert surefoot(capsys, *there)[0] == 0
    assert surefoot(capsys, *back)[0] == 0
    with np.load(tmp_path / "c.npz") as data:
        np.testing.assert_allclose(data["q"], q, atol=1e-12)
        np.testing.assert_allclose(data["v"], v, atol=1e-12)


def test_a_process_of_its_own(tmp_path):
    """The installed command, with its exit status, outside of this interpreter."""
    path = write(tmp_path, "bad.urdf", "<robot")
    run = subprocess.run(
        [sys.executable, "-m", "surefoot.cli", "check", str(path)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    assert "bad.urdf:1" in run.stderr


LOADING = """
import os, signal, sys
class Interrupted:
    def find_spec(self, name, *rest):
        if name == "{module}":
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt as stop:
                raise {error} from stop
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupted())
from surefoot.cli import main
main(["list"])
"""


@pytest.mark.parametrize(
    ("module", "error"),
    [
        ("surefoot.cli.main", "KeyboardInterrupt"),
        ("surefoot.scenario", "KeyboardInterrupt"),
        ("surefoot.scenario", "ImportError('initialization failed')"),
    ],
)
def test_interrupted_while_it_loads(module, error):
    """Also where a library makes another error of it, once the command has begun."""
    code = LOADING.format(module=module, error=error)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (130, "surefoot: interrupted\n")


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "surefoot.cli", *words]


def test_the_version_and_no_command(capsys):
    import surefoot as sf

    assert surefoot(capsys, "--version")[1].strip() == sf.__version__
    status, out, _ = surefoot(capsys)
    assert status == 2
    assert "Usage" in out


@pytest.mark.slow
@pytest.mark.parametrize("words", [["robots"], ["list"], ["check", "pendulum"], ["check", "pendulum", "--json"]])
def test_a_reader_that_goes_away_is_no_verdict(words):
    process = subprocess.Popen(command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=60) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_stopped_run_keeps_what_it_has(tmp_path, number):
    words = [
        "run",
        "stand-pd",
        "--robot",
        "pendulum",
        "--set",
        "simulation.duration=3600",
        "--out",
        str(tmp_path / "run"),
    ]
    # a shell in the background starts its children with SIGINT ignored; a user's terminal does not
    as_in_a_terminal = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(
        command(*words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=as_in_a_terminal,  # noqa: PLW1509
    )
    deadline = time.monotonic() + 60.0
    while not (tmp_path / "run").is_dir() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in err
    assert out.splitlines()[-1] == str(tmp_path / "run")
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["completed"] is False
    assert 0.0 < metrics["duration_s"] < 3600.0
    assert {"log.parquet", "trajectory.npz", "report.html"} <= {path.name for path in (tmp_path / "run").iterdir()}
