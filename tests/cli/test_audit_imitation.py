"""`surefoot audit` on motions of imitation learning: one command, or the option that its message names."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from surefoot.cli.main import main
from surefoot.motion.reading.joint_order import inner_joints
from tests.feasibility.good_motions import loaded
from tests.motion.reading.walks import walk, write_asap, write_lafan


def _run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as info:
        main(list(arguments))
    return int(info.value.code or 0)


def test_a_pickle_of_fewer_joints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(write_asap(tmp_path / "walk.pkl", walk("g1"), inner_joints(loaded("g1"), 23)))
    assert _run("audit", file, "--robot", "g1", "--no-replay") == 2
    assert "--missing home" in capsys.readouterr().err
    assert _run("audit", file, "--robot", "g1", "--no-replay", "--missing", "home", "--ground", "fit", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert any("held at home" in remark for remark in found["remarks"])
    assert any("moved by" in remark for remark in found["remarks"])
    assert 0 < len(found["groups"]) <= 12


@pytest.mark.slow
def test_the_first_verdict_on_a_minute_takes_ten_seconds(tmp_path: Path) -> None:
    """A minute at 30 Hz, nothing compiled before; in time of the processor, whatever else the machine does."""
    file = write_lafan(tmp_path / "walk.csv", walk("g1", 30.0, 60.0))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "surefoot.cli", "audit", str(file), "--robot", "g1"]
    done = subprocess.run(
        command,
        env={**os.environ, "SUREFOOT_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 1, done.stderr
    assert "g1 · 60.000 s · 1801 samples: failed" in done.stdout
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 10.0
