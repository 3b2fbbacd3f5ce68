"""A folder from a stranger runs nothing: no scripts in its names (in a real browser), no Python files beside robots."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import surefoot as sf
from surefoot.cli.main import app
from surefoot.processes import isolated_python, isolated_spawn
from surefoot.studio import Studio
from surefoot.studio.files import RobotKey
from surefoot.studio.jobs import Job
from tests.conftest import BROWSER, BROWSER_FLAGS
from tests.studio.hostile import evil, evil_file, make_folder

COMMAND = Path(sys.executable).with_name("surefoot")
RUN = f"runs/{evil_file('folder')}"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "download"
    folder.mkdir()
    return folder


@pytest.fixture
def page():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=BROWSER_FLAGS)
        page = browser.new_page(viewport={"width": 680, "height": 420})
        page.set_default_timeout(30_000)
        page.blocked = []
        page.on("console", lambda text: page.blocked.append(text.text) if "Content Security" in text.text else None)
        yield page
        browser.close()


def elements_from_names(page) -> int:
    """How many elements names have made."""
    return page.locator("iframe, img[src=x], a[href^=javascript]").count()


def see(page, text: str) -> None:
    """Wait for a text in the page, markup and all."""
    page.get_by_text(text).first.wait_for(state="attached")


@pytest.mark.slow
@pytest.mark.browser
def test_names_and_files_of_a_folder_run_nothing_in_the_studio(folder, page):
    sign = make_folder(folder)
    with Studio(folder, port=0, robot="robot.urdf", plain=True) as studio:
        page.goto(studio.url)
        see(page, evil("robot"))  # facts about the robot
        tab = next(iter(studio._tabs.values()))
        tab.post(tab._robot_panel._show_drives)
        see(page, f"Drives of {evil('robot')}")
        see(page, evil("joint"))
        page.get_by_role("button", name="Close", exact=True).last.click()
        tab.post(
            lambda: tab._robot_panel.pick(f"./{evil_file('error')}.urdf")
        )  # a message with name and text of the file
        see(page, evil_file("error"))
        page.get_by_role("tab", name="Scenario").click()
        tab.post(lambda: tab._scenario_panel._choice.__setattr__("value", "./walk.toml"))
        tab.post(tab._scenario_panel._show)
        see(page, evil("scenario"))
        page.get_by_role("tab", name="Runs").click()
        tab.post(lambda: tab._replay_panel.load(RUN))
        see(page, evil_file("folder"))
        page.get_by_text("Metrics", exact=True).click()
        for field in ("metric", "value"):
            see(page, f"evil-{field}")
        tab.post(tab._replay_panel.audit.ask)
        (audited,) = finished_jobs(page, studio, 1)
        assert evil("joint") in audited.audit["findings"][0]["message"]
        see(page, audited.audit["findings"][0]["message"])
        assert evil("contact") in audited.audit["contacts"]
        see(page, evil("contact"))
        failing = {"kind": "run", "scenario": evil("error"), "robot": None, "seed": None, "overrides": []}
        studio.jobs.submit(evil("title"), failing, RobotKey("panda"))
        see(page, evil("title"))
        tab.post(tab._scenario_panel.run)
        ran, failed, _ = finished_jobs(page, studio, 3)
        assert (ran.state, failed.state) == ("done", "failed"), [ran, failed]
        see(page, failed.trouble[0])
        assert elements_from_names(page) == 0
        assert page.evaluate("window.pwned") is None
        assert page.blocked == []
        assert not sign.exists(), sign.read_text()
        assert_policy_stops_scripts(page)


def finished_jobs(page, studio, count: int) -> list[Job]:
    """The jobs, the newest first, when so many are over."""
    for _ in range(600):
        if len(studio.jobs.jobs) == count and all(job.is_over for job in studio.jobs.jobs):
            return studio.jobs.jobs
        page.wait_for_timeout(200)
    pytest.fail(f"{studio.jobs.jobs}")


def assert_policy_stops_scripts(page) -> None:
    """Even if a name became HTML, its script would not run."""
    page.evaluate("text => { document.body.append(document.createElement('div')); "
                  "document.body.lastChild.innerHTML = text; }", evil("link"))  # fmt: skip
    page.wait_for_timeout(500)
    assert elements_from_names(page) > 0
    assert page.blocked
    assert page.evaluate("window.pwned") is None


COMMANDS = {
    "run": ("run", "walk.toml", "--out", "second"),
    "run with a robot": ("run", "walk.toml", "--robot", "robot.urdf", "--out", "third"),
    "audit": ("audit", RUN, "--html", "audit.html"),
    "compare": ("compare", "second", "third", "--html", "compare.html"),
    "check": ("check", "robot.urdf", "--html", "check.html"),
    "export": ("export", RUN, "out.csv"),
    "export of a video": ("export", "second", "out.gif", "--size", "160x120"),
    "convert": (
        "convert",
        f"{RUN}/trajectory.npz",
        "out.npz",
        *["--robot", "robot.urdf", "--from", "pinocchio", "--to", "mujoco"],
    ),
    "new": ("new", "stand", "stand.toml"),
    "matrix": ("matrix", "walk", "--robots", "robot.urdf", "--scenarios", "walk.toml", "--seeds", "2", "--out", "all"),
    "hexapod": ("hexapod", "--duration", "0.5"),
    **{name: (name,) for name in ("robots", "list", "doctor", "cache")},
    "show": ("show", "stand"),
}
LONG = {
    **{name: (name,) for name in ("bench", "swing-up", "compare-walkers", "study-walk", "study-swingup")},
    **{name: (name, "push", "--robot", "robot.urdf") for name in ("compare-controllers",)},
    **{name: (name, "walk.toml") for name in ("study-nodes", "compare-formulations", "compare-methods")},
    **{name: (name, "robot.urdf") for name in ("regions", "compare-distribution")},
    "walk": ("walk", "--to", "0.3,0,0"),
    "speed": ("speed", "g1"),
    "push-map": ("push-map", "small-humanoid"),
    "studio": ("studio", ".", "--no-open", "--port", "0", "--robot", "robot.urdf"),
}
"""Of these the first seconds, in which they import and start what they need."""
PAGES = ("second/report.html", "audit.html", "compare.html", "check.html")


@pytest.mark.slow
@pytest.mark.browser
def test_commands_run_nothing_of_the_folder_that_they_work_in(folder, page):
    """Each command in the folder itself; then its pages, each with a hostile name that is seen as text."""
    sign = make_folder(folder)
    for name, words in COMMANDS.items():
        done = subprocess.run([COMMAND, *words], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), (name, done.stderr)  # 1: the audit has found something
        assert "Traceback" not in done.stderr
        assert not sign.exists(), (name, sign.read_text())
    for name in PAGES:
        page.goto((folder / name).as_uri())
        page.get_by_text("evil-").first.wait_for(state="attached")
        page.wait_for_timeout(500)
        assert (elements_from_names(page), page.evaluate("window.pwned"), page.blocked) == (0, None, []), name
    assert_policy_stops_scripts(page)


def test_every_command_is_tried() -> None:
    words = typer.main.get_command(app).commands
    assert {words[0] for words in (COMMANDS | LONG).values()} == set(words)


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_long_commands_start_nothing_of_the_folder_that_they_work_in(folder, name):
    sign = make_folder(folder)
    with subprocess.Popen(
        [COMMAND, *LONG[name]], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            _, errors = process.communicate(timeout=20.0)
            assert b"Traceback" not in errors
            assert process.returncode in (0, 1, 2), errors
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
    assert not sign.exists(), sign.read_text()


@pytest.mark.parametrize("path", ["", ".", ":."])
def test_a_worker_does_not_import_from_where_it_was_started(folder, tmp_path, monkeypatch, path):
    """Nor by an empty or relative entry of PYTHONPATH, which means the working folder."""
    sign = make_folder(folder)
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.chdir(folder)
    with isolated_python("-c", "import json, numpy, os; print(os.getcwd())") as process:
        done = subprocess.run(**process, capture_output=True, text=True, check=True)
    assert not sign.exists(), sign.read_text()
    assert not Path(done.stdout.strip()).exists()


def test_a_spawned_process_does_not_import_from_the_working_folder(folder, monkeypatch):
    sign = make_folder(folder)
    monkeypatch.chdir(folder)
    with isolated_spawn() as context:
        process = context.Process(target=print)
        process.start()
        process.join()
    assert (process.exitcode, sign.exists()) == (0, False)


def test_mujoco_is_imported_without_libraries_and_programs_of_the_working_folder(folder):
    """Its import of GLFW looks for `libglfw.so` there, and starts a Python process there to ask for its version."""
    sign, glfw = make_folder(folder), Path(importlib.util.find_spec("glfw").origin).resolve().parent / "x11/libglfw.so"
    shutil.copy(glfw, folder)
    look = "import surefoot, mujoco, glfw; print(open('/proc/self/maps').read())"
    done = subprocess.run([sys.executable, "-P", "-c", look], cwd=folder, capture_output=True, text=True, check=True)
    assert str(glfw) in done.stdout
    assert str(folder) not in done.stdout
    assert not sign.exists(), sign.read_text()


def test_python_processes_start_in_one_place():
    """Whoever starts Python without `surefoot.processes` starts it with the user's folder on its path."""
    package = Path(sf.__file__).parent
    starts = re.compile(r"sys\.executable|get_context|multiprocessing\.(Process|Pool)")
    found = {str(file.relative_to(package)) for file in package.rglob("*.py") if starts.search(file.read_text())}
    assert found == {"processes.py"}
