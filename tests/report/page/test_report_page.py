"""The page of a motion as text: self-contained, escaped, small, whole."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from surefoot.collision.model import CollisionModel
from surefoot.errors import ShapeError, UnknownNameError
from surefoot.feasibility import audit
from surefoot.geometry import Box, Plane, Sphere
from surefoot.motion import GroundBox, GroundPlane, HeightField, MovableObject, Obstacle, Trajectory, World
from surefoot.motion.audit_result import AuditResult, Finding
from surefoot.report import Evidence, Ghost, Plot, Verdict, report_page, write_report
from surefoot.report.page.audit_page import audit_page
from surefoot.report.scene.data import frame_rows
from surefoot.robot import placement, zoo
from tests.report.pages import page_of_humanoid


def data_of(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def still(name: str, count: int = 11, **extras) -> Evidence:
    robot = zoo.load(name)
    return Evidence("t", robot, np.linspace(0.0, 1.0, count), np.tile(robot.home, (count, 1)), **extras)


def test_it_asks_for_nothing_from_outside() -> None:
    page = page_of_humanoid()
    assert not re.search(r'(?:src|href)\s*=\s*["\'](?!data:)', page)
    assert set(re.findall(r"https?://[\w.]+", page)) <= {"http://www.w3.org"}  # the name of a kind of element
    assert not re.search(r"\b(?:fetch|XMLHttpRequest|WebSocket|importScripts)\s*\(", page.split("THREE", 1)[0])
    assert "eval(" not in page
    assert "new Function" not in page


def test_texts_are_escaped_everywhere() -> None:
    hostile = '</script><b onclick="x">&'
    robot = zoo.load("arm4")
    page = report_page(
        Evidence(
            hostile, robot, np.array([0.0, 1.0]), np.tile(robot.home, (2, 1)), hostile, Verdict(hostile, False),
            plots=(Plot(hostile, hostile, {hostile: np.zeros(2)}, hostile),), metrics={hostile: hostile},
            incidents=({"kind": hostile},), scenario_text=hostile, versions={hostile: hostile}, notes=(hostile,),
        )
    )  # fmt: skip
    assert "<b onclick" not in page
    assert page.count("</script>") == 3
    assert data_of(page)["plots"]["plots"][0]["title"] == hostile


def test_a_run_that_passes_with_a_motion_that_does_not_shows_both() -> None:
    finding = Finding("zmp", "wrenches", "defect", "", 0.1, 0.2, 0.15, -1.0, 0.0, "m", 1.0, "too far")
    for findings, told in (((finding,), "audit: 1 defect"), ((), "audit: no defects")):
        audit = AuditResult("arm4", 1.0, 11, (), findings)
        head = report_page(still("arm4", verdict=Verdict("passed", True, "run"), audit=audit)).partition("<main>")[0]
        pills = re.findall(r'class="verdict (pass|fail)">([^<]*)<', head)
        assert pills == [("pass", "run: passed"), ("fail" if findings else "pass", told)]
    of_audit = report_page(still("arm4", verdict=Verdict("1 defect found", False), audit=audit)).partition("<main>")[0]
    assert of_audit.count('class="verdict') == 1


def test_a_ten_second_humanoid_run_stays_small() -> None:
    assert len(page_of_humanoid(duration=10.0).encode()) < 6e6


def test_worlds_of_all_kinds_are_drawn() -> None:
    field = HeightField(np.random.default_rng(0).uniform(size=(400, 5)), 0.1)
    world = World(
        ground=(GroundPlane(), GroundBox((1.0, 1.0, 0.2)), field),
        obstacles=(Obstacle("ball", Sphere(0.2), placement((1, 0, 1))), Obstacle("wall", Plane())),
        objects=(MovableObject("crate", Box((0.2, 0.2, 0.2)), 1.0),),
    )
    moves = np.tile(np.eye(4), (11, 1, 1))
    scene = data_of(report_page(still("hexapod", world=world, objects={"crate": moves})))["scene"]
    assert [piece["kind"] for piece in scene["ground"]] == ["plane", "box", "field"]
    assert [thing["kind"] for thing in scene["obstacles"]] == ["mesh", "plane"]
    assert "positions" in scene["objects"][0]


@pytest.mark.parametrize("name", ["arm4", "panda", "hexapod", "block"])
def test_robots_of_all_kinds_have_a_page(name) -> None:
    scene = data_of(report_page(still(name)))["scene"]
    assert scene["meshes"]
    assert len(scene["bodies"]) == zoo.load(name).tree.n


def test_ghosts_of_the_same_robot_share_its_meshes() -> None:
    evidence = still("arm4")
    other = zoo.load("hexapod")
    ghosts = (
        Ghost("plan", evidence.robot, evidence.time, np.array(evidence.q)),
        Ghost("other", other, evidence.time, np.tile(other.home, (11, 1))),
    )
    found = data_of(report_page(still("arm4", ghosts=()).__class__(**{**vars(evidence), "ghosts": ghosts})))["scene"]
    assert found["ghosts"][0]["meshes"] is None
    assert found["ghosts"][1]["meshes"]


def test_frames_are_fifty_a_second_at_most_and_keep_both_ends() -> None:
    for time in (np.linspace(0, 10, 10_001), np.linspace(5, 5.1, 3), np.linspace(0, 300, 30_001), np.array([2.0])):
        rows = frame_rows(time)
        assert (rows[0], rows[-1]) == (0, len(time) - 1)
        assert len(rows) <= max(2, min(3001, 50 * (time[-1] - time[0]) + 2))
        assert (np.diff(rows) > 0).all()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ShapeError, match="line `x`"):
        still("arm4", plots=(Plot("a", "m", {"x": np.zeros(3)}),))
    with pytest.raises(UnknownNameError):
        still("arm4", wrenches={"foot": np.zeros((11, 6))})
    with pytest.raises(ShapeError):
        still("arm4", com=np.zeros((11, 2)))


def test_a_page_is_written_whole(tmp_path) -> None:
    write_report(tmp_path / "r.html", still("arm4"))
    assert (tmp_path / "r.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_ten_minutes_are_audited_and_shown_with_bounded_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """300,001 samples with a garbage one every 7 s: distances at a few postures, findings by cause, a page of 3 MB."""
    robot, time = zoo.load("biped"), np.arange(300_001) / 500.0
    q = np.tile(robot.home, (len(time), 1))
    q[:, -1] += 0.1 * np.sin(2.0 * np.pi * time)
    q[3:-1:3500, -2] += 0.5
    looked, measured = [], CollisionModel.distances
    monkeypatch.setattr(
        CollisionModel, "distances", lambda self, q, *more: looked.append(len(q)) or measured(self, q, *more)
    )
    motion = Trajectory.of(robot, time, q)
    result = audit(motion, robot, replay=False)
    assert sum(looked) < 5000
    assert len(result.findings) > 80
    assert len(result.groups) < 6
    assert len(audit_page("ten minutes", motion, robot, World(), result)) < 5_000_000
