"""`surefoot studio` as a process: it says where it is, and Ctrl-C ends it and its jobs."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from surefoot.errors import FileFormatError, SurefootError
from surefoot.studio import Studio
from surefoot.studio.files import RobotStore
from surefoot.studio.safety import OutsideError

CODE = (  # a process that is started in the background of a shell ignores interrupts otherwise
    "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "import sys\nfrom pathlib import Path\nfrom surefoot.cli.studio import studio_command\n"
    "sys.exit(studio_command(Path(sys.argv[1]), '127.0.0.1', 0, 'panda', True, False))"
)


def test_an_interrupt_ends_it_cleanly(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline()
        url = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{24}/", line)[0]
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()


def test_a_folder_or_robot_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(SurefootError, match="is not a folder"):
        Studio(tmp_path / "missing", port=0)
    with pytest.raises(SurefootError, match="panda"):
        Studio(tmp_path, port=0, robot="pandda")


def test_a_robot_of_a_file_in_the_folder_is_taken_and_others_are_refused(tmp_path, monkeypatch):
    folder, outside = tmp_path / "work", tmp_path / "other.urdf"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "one.urdf").write_text("<robot name='one'><link name='a'/></robot>")
    outside.write_text("<robot name='other'><link name='a'/></robot>")
    store = RobotStore(folder)
    monkeypatch.chdir(tmp_path)
    for name in ("sub/one.urdf", "./sub/one.urdf", "work/sub/one.urdf", folder / "sub" / "one.urdf"):
        assert store.choice(name) == "./sub/one.urdf"
        assert store.choice(name) in store.choices()
    assert store.choice("g1") == "g1"
    with pytest.raises(OutsideError):
        store.choice("other.urdf")
    with pytest.raises(FileFormatError, match="no such file"):
        store.choice("none.urdf")
    with Studio(folder, port=0, robot="sub/one.urdf") as studio:
        assert studio.url


def test_without_its_packages_the_studio_says_what_to_install():
    """As after `pip install .` without the extra."""
    code = "import sys; sys.modules['viser'] = None; from surefoot.cli import main; main(['studio', '--no-open'])"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "needs `viser`" in done.stderr
    assert "surefoot[studio]" in done.stderr
