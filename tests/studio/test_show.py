"""`show`: pages of robots, motions, logs, runs and audits, in a notebook and outside."""

from __future__ import annotations

import re
import sys
import types
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest

from surefoot.errors import NotSupportedError, SurefootError
from surefoot.feasibility import audit
from surefoot.motion import Trajectory
from surefoot.robot import zoo
from surefoot.scenario import run_scenario
from surefoot.studio import show
from surefoot.studio.scene import Stage
from surefoot.studio.show import Shown


@pytest.fixture
def notebook(monkeypatch):
    """As in a notebook: IPython is there and has a kernel."""
    module = types.ModuleType("IPython")
    module.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", module)


@pytest.fixture(scope="module")
def robot():
    return zoo.load("panda")


@pytest.fixture(scope="module")
def motion(robot):
    time = np.linspace(0.0, 1.0, 51)
    q = np.tile(robot.home, (51, 1))
    q[:, 0] = 0.2 * time**2 * (3.0 - 2.0 * time)
    v = np.zeros((51, robot.nv))
    v[:, 0] = 1.2 * time * (1.0 - time)
    return Trajectory.of(robot, time, q, v)


def test_in_a_notebook_there_is_a_frame_that_needs_no_server(notebook, robot):
    shown = show(robot)
    assert isinstance(shown, Shown)
    text = shown._repr_html_()
    assert text.startswith("<iframe srcdoc=")
    assert 'sandbox="allow-scripts"' in text
    page = unescape(re.search(r'srcdoc="([^"]*)"', text)[1])
    assert page == shown.html
    assert "panda" in page
    assert not re.search(r'(?:src|href)\s*=\s*["\']https?:', page)


def test_outside_of_a_notebook_a_page_is_opened(monkeypatch, robot, motion):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    path = show(motion, robot)
    assert opened == [path.as_uri()]
    assert "A motion of panda" in path.read_text(encoding="utf-8")
    path.unlink()


def test_audits_are_shown_with_and_without_their_motion(notebook, robot, motion):
    result = audit(motion, robot, collisions=False, replay=False)
    assert "Audit of panda" in show(result, robot, motion=motion).html
    assert "No motion was given" in show(result).html


def test_runs_logs_and_files_are_shown(notebook, tmp_path):
    overrides = ["simulation.duration=0.05", "events=[]"]
    run = run_scenario("stand-pd", "biped", out=tmp_path / "run", overrides=overrides)
    assert show(run.path).html == (run.path / "report.html").read_text(encoding="utf-8")
    assert "A motion of biped" in show(run.path / "log.parquet").html
    assert "A motion of biped" in show(run.path / "trajectory.npz").html


def test_a_name_of_the_zoo_is_a_robot(notebook):
    assert "hexapod" in show("hexapod").html


def test_what_cannot_be_shown_is_told(notebook):
    with pytest.raises(NotSupportedError, match="int"):
        show(3)
    with pytest.raises(SurefootError, match="hexapod"):
        show("hexapood")


def test_view_is_a_function_whatever_was_imported_before():
    import surefoot
    from surefoot.studio import live_view

    assert surefoot.view is live_view.view


@pytest.mark.parametrize(
    ("width", "height", "narrow"), [(390, 844, True), (1170, 2532, True), (2400, 1400, False), (1536, 2048, False)]
)
def test_phones_are_told_by_their_shape_whatever_their_pixels(width, height, narrow):
    stage = object.__new__(Stage)
    stage._client = SimpleNamespace(camera=SimpleNamespace(image_width=width, image_height=height))
    assert stage.is_narrow == narrow
