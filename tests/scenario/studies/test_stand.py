"""A run passes only if the robot stands: flying, sliding and sagging robots do not."""

from __future__ import annotations

import pytest

from surefoot.errors import NotSupportedError
from surefoot.scenario import run_scenario
from tests.robot.sample_files import write


@pytest.mark.parametrize(
    ("robot", "overrides", "word"),
    [
        ("anymal", [], "passed"),
        ("pendulum", [], "passed"),
        ("anymal", ["world.gravity=[0,0,9.81]"], "lost ground contact"),
        ("anymal", ['world.ground=[{kind="plane",point=[0,0,-5]}]'], "lost ground contact"),
        ("anymal", ["world.friction=0", "events.0.speed=0.5"], "slid by"),
        ("cartpole", ["events.0.speed=0.5", "events.0.link=pole", "simulation.duration=3"], "joint swing"),
        pytest.param(
            "g1",
            ["controller.bandwidth=0.5", "events.0.speed=0.6", "simulation.duration=3"],
            "fell at",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_verdicts(tmp_path, robot, overrides, word):
    settings = ["simulation.duration=1", "events.0.time=0.1", "audit.kind=none", *overrides]
    result = run_scenario("stand-pd", robot=robot, out=tmp_path / "run", overrides=settings)
    assert word in result.verdict
    assert result.passed == (word == "passed")
    assert result.metrics["verdict"] == result.verdict
    assert result.verdict in (result.path / "report.html").read_text(encoding="utf-8")


def test_a_diverged_run_says_so(tmp_path):
    result = run_scenario(
        "stand-pd",
        out=tmp_path / "run",
        overrides=["controller.bandwidth=1e6", "simulation.duration=0.5", "audit.kind=none"],
    )
    assert not result.passed
    assert "diverged" in result.verdict


def test_a_robot_without_joints_is_refused(tmp_path):
    path = write(tmp_path, "stone.urdf", '<robot name="stone"><link name="a"/></robot>')
    with pytest.raises(NotSupportedError, match="no moving joint"):
        run_scenario("stand-pd", robot=path, out=tmp_path / "run")


def test_what_loading_dropped_is_in_the_notes(tmp_path):
    body = '<body name="a"><joint name="j" axis="0 1 0" stiffness="100"/><geom size="0.1" mass="1"/></body>'
    path = write(tmp_path, "spring.xml", f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    result = run_scenario("stand-pd", robot=path, out=tmp_path / "run", overrides=["simulation.duration=0.1"])
    assert any("spring" in note for note in result.metrics["notes"])


def test_a_robot_file_may_stand_beside_the_scenario(tmp_path, monkeypatch):
    body = '<body name="a"><joint name="j" axis="0 1 0"/><geom size="0.1" mass="1"/></body>'
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub", "bob.xml", f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    scenario = write(
        tmp_path / "sub", "my.toml", 'name = "my"\n[robot]\nname = "bob.xml"\n[simulation]\nduration = 0.1\n'
    )
    monkeypatch.chdir(tmp_path)
    assert run_scenario(scenario, out=tmp_path / "run").passed
