"""`surefoot export`: what a user gives, what lies there afterwards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from surefoot.cli.export import ExportOptions, export_command
from surefoot.errors import FileFormatError, NotSupportedError, ShapeError, UnknownNameError
from surefoot.motion import Trajectory
from surefoot.motion.files.columns import read_csv, read_parquet
from surefoot.report.export.columns import read_column_files
from tests.conftest import BROWSER
from tests.report.motions import write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("runs") / "run")


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.yaml", "a.mcap", "columns"])
def test_a_run_is_exported_and_the_last_line_is_the_path(run, tmp_path, capsys, name):
    assert export_command(run, tmp_path / name, ExportOptions()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == str(tmp_path / name)
    assert lines[0].startswith("hexapod · 1.000 s · 101 samples")
    assert (tmp_path / name).exists()
    assert len(list(tmp_path.iterdir())) == 1


def test_a_table_can_have_another_step(run, tmp_path):
    export_command(run, tmp_path / "a.csv", ExportOptions(dt=0.05))
    np.testing.assert_allclose(read_csv(tmp_path / "a.csv").columns["time [s]"], np.linspace(0.0, 1.0, 21))


def test_a_log_is_exported_as_it_is(run, tmp_path):
    export_command(run, tmp_path / "a.parquet", ExportOptions(log=True))
    assert "base.height [m]" in read_parquet(tmp_path / "a.parquet").header
    with pytest.raises(NotSupportedError, match="table"):
        export_command(run, tmp_path / "a.yaml", ExportOptions(log=True))


def test_files_of_ours_name_their_robot_and_others_do_not(run, tmp_path):
    export_command(run / "trajectory.npz", tmp_path / "a.csv", ExportOptions())
    with pytest.raises(NotSupportedError, match="does not name its robot"):
        export_command(tmp_path / "a.csv", tmp_path / "b.yaml", ExportOptions())
    export_command(tmp_path / "a.csv", tmp_path / "b", ExportOptions(robot="hexapod", format="columns5ms"))
    found = read_column_files(tmp_path / "b")
    own = Trajectory.load(run / "trajectory.npz")
    np.testing.assert_allclose(found.joints[::2], own.q[:, 7:], atol=1e-9)


def test_wrong_words_are_told(run, tmp_path):
    for source, target, options, error in [
        (run, "a.avi", ExportOptions(), FileFormatError),
        (run, "a.csv", ExportOptions(format="cvs"), UnknownNameError),
        (run, "a.csv", ExportOptions(robot="hexapot"), UnknownNameError),
        (run, "a.csv", ExportOptions(robot="arm4"), ShapeError),
        (run, "a.mp4", ExportOptions(size="big"), ShapeError),
        (run, "a.mp4", ExportOptions(camera="frnt"), UnknownNameError),
        (run, "a.mp4", ExportOptions(renderer="blender"), UnknownNameError),
        (run, "no/folder/a.csv", ExportOptions(), FileFormatError),
        (tmp_path / "missing.csv", "a.csv", ExportOptions(robot="hexapod"), FileFormatError),
    ]:
        with pytest.raises(error):
            export_command(Path(source), tmp_path / target, options)
    assert not list(tmp_path.iterdir())


@pytest.mark.browser
@pytest.mark.parametrize("renderer", [pytest.param("auto", marks=pytest.mark.slow), "mujoco"])
def test_a_run_is_filmed(run, tmp_path, capsys, renderer):
    assert BROWSER
    options = ExportOptions(fps=3.0, size="160x120", camera="left", plain=True, renderer=renderer)
    assert export_command(run, tmp_path / "a.gif", options) == 0
    assert "3 frames" in capsys.readouterr().out
    assert (tmp_path / "a.gif").read_bytes().startswith(b"GIF8")
