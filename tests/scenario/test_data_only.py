"""A scenario is data: whatever its texts say, nothing of it runs, and nothing outside of the run folder is written."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.robot.sample_files import ARM_URDF

WATCH = """
import json, os, sys
from pathlib import Path
from surefoot.scenario import run_scenario

WATCHED = ("exec", "compile", "import", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen")
seen = []

def hook(event, given):
    if event in WATCHED:
        seen.append([event, str(given[0])])
    elif event == "open" and isinstance(given[2], int) and given[2] & (os.O_WRONLY | os.O_RDWR):
        path = os.path.realpath(given[0]) if isinstance(given[0], str) else folder
        if not os.path.isdir(path) and not path.startswith((folder, "/dev")):  # files without a name open a folder
            seen.append([event, path])

def events(scenario, out):
    global folder
    folder = str(Path(out).resolve())
    seen.clear()
    assert run_scenario(scenario, out=out).passed
    return list(seen)

harmless, hostile, out = sys.argv[1:]
sys.addaudithook(hook)
events(harmless, out + "-first")  # imports and compiled kernels
print(json.dumps([events(harmless, out + "-again"), events(hostile, out)]))
"""
CODE = "__import__('os').system('touch {0}')"
HOSTILE = """
name = "mine"
description = \"\"\"{code} ${{HOME}} $(touch {0}) `touch {0}` {{0.__class__}} %n <script>alert(1)</script>\"\"\"
[robot]
name = "link.urdf"
[[world.obstacles]]
kind = "box"
name = \"\"\"{code}; rm -rf /\"\"\"
size = [0.1, 0.1, 0.1]
position = [5.0, 0.0, 0.0]
[simulation]
duration = 0.1
[audit]
kind = "quick"
"""


def test_nothing_runs_from_a_scenario(tmp_path):
    marker = tmp_path / "marker"
    (tmp_path / "arm.urdf").write_text(ARM_URDF)
    (tmp_path / "link.urdf").symlink_to(tmp_path / "arm.urdf")
    good = HOSTILE.format("x", code="x")
    (tmp_path / "first.toml").write_text(good)
    (tmp_path / "mine.toml").write_text(HOSTILE.format(marker, code=CODE.format(marker)))
    words = [str(tmp_path / name) for name in ("first.toml", "mine.toml", "out")]
    run = subprocess.run([sys.executable, "-c", WATCH, *words], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    harmless, hostile = json.loads(run.stdout.splitlines()[-1])
    assert hostile == harmless
    assert not any(event in ("open", "os.system", "subprocess.Popen") for event, _ in hostile)
    assert not marker.exists()
    assert "<script>alert(1)" not in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    "text",
    [
        '[robot]\nname = "{0}"',
        '[initial]\njoints = {{ "{0}" = 0.1 }}',
        '[[events]]\nlink = "{0}"',
        "[controller]\nkind = 'hand_reach'\nframe = \"{0}\"\ndisplacement = [0.0, 0.0, 0.01]",
        '[simulation]\nduration = "{0}"',
    ],
)
def test_code_in_place_of_a_name_is_an_unknown_name(tmp_path, capsys, text):
    from surefoot.cli.main import _status

    path = tmp_path / "mine.toml"
    robot = "" if "[robot]" in text else "\n[robot]\nname = 'hexapod'\n"
    path.write_text("name = 'mine'\n" + text.format(CODE.format(tmp_path / "marker")) + robot)
    assert _status(["run", str(path), "--out", str(tmp_path / "out")]) == 2
    assert "mine.toml:" in capsys.readouterr().err
    assert [item.name for item in tmp_path.iterdir()] == ["mine.toml"]
