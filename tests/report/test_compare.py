"""Runs over each other: one clock, shared quantities, true differences."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.errors import FileFormatError, ScenarioError, ShapeError, UnknownNameError
from surefoot.report.compare.page import (
    common_clock,
    compare_evidence,
    compare_page,
    compare_plots,
    comparison_html,
    held,
    joint_quantities,
    log_quantities,
    number_text,
    on_clock,
)
from surefoot.report.compare.tables import Comparison, compare_runs, difference_rows, flattened, run_names
from surefoot.report.evidence import Ghost
from surefoot.report.run_folder import is_run_folder, read_run, robot_of_run
from surefoot.report.scene.data import scene_data
from surefoot.robot import zoo
from tests.conftest import BROWSER
from tests.report.motions import swaying, write_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    first = write_run(
        folder / "first", end=1.0, count=101, slip_m=0.02, forces={"left": 10.0, "right": 0.0}, note="a<b"
    )
    second = write_run(
        folder / "second", end=1.6, count=401, slip_m=0.03, forces={"left": 12.0, "right": 3.0}, fallen=True
    )
    return [read_run(first), read_run(second)]


# ── folders ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_is_read_back(tmp_path):
    path = write_run(tmp_path / "run")
    run = read_run(path)
    assert is_run_folder(path)
    assert run.robot is robot_of_run(path)  # one object for one robot: the page draws it once
    assert run.robot.name == "hexapod"
    assert run.metrics["scenario"] == run.scenario["name"] == "stand"
    np.testing.assert_array_equal(run.log.time, run.trajectory.time)


def test_gravity_is_that_of_the_world(tmp_path):
    path = write_run(tmp_path / "run")
    with (path / "scenario.toml").open("a") as stream:
        stream.write("gravity = [0.0, 0.0, -1.62]\n")
    np.testing.assert_array_equal(robot_of_run(path).tree.gravity, [0.0, 0.0, -1.62])


def test_what_is_no_run_is_told(tmp_path):
    with pytest.raises(FileFormatError, match="no such folder"):
        read_run(tmp_path / "nothing")
    path = write_run(tmp_path / "run")
    (path / "metrics.json").write_text("[1]")
    with pytest.raises(FileFormatError, match="not a JSON object"):
        read_run(path)
    (path / "metrics.json").unlink()
    with pytest.raises(FileFormatError, match="finished run") as caught:
        read_run(path)
    assert caught.value.evidence["missing"] == "metrics.json"
    (path / "scenario.toml").write_text("[robot]\nname = 'hexapot'")
    with pytest.raises(UnknownNameError, match="hexapod"):
        robot_of_run(path)
    (path / "scenario.toml").write_text("name = 'x'")
    with pytest.raises(FileFormatError, match="does not name a robot"):
        robot_of_run(path)
    (path / "scenario.toml").write_text("name = ")
    with pytest.raises(ScenarioError, match="TOML"):
        robot_of_run(path)


def test_a_robot_that_does_not_fit_is_refused(tmp_path):
    with pytest.raises(ShapeError, match="does not fit"):
        read_run(write_run(tmp_path / "run"), zoo.load("arm4"))


# ── tables ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_differences_are_to_the_first_run(runs):
    rows = {row.key: row for row in compare_runs(runs).metrics}
    assert rows["slip_m"].absolute == pytest.approx((0.01,))
    assert rows["slip_m"].relative == pytest.approx((0.5,))
    assert rows["forces.left"].relative == pytest.approx((0.2,))
    assert (rows["forces.right"].absolute, rows["forces.right"].relative) == ((3.0,), (None,))
    assert rows["fallen"].absolute == (None,)
    assert rows["fallen"].differs
    assert rows["note"].values == ("a<b", None)
    assert not rows["robot"].differs
    assert "versions.pin" not in rows


def test_only_what_differs_is_listed_of_scenario_and_versions(runs, tmp_path):
    found = compare_runs(runs)
    assert [row.key for row in found.scenario] == ["world.friction"]
    assert found.scenario[0].values == (0.5, 0.56)
    assert found.versions == ()
    other = read_run(write_run(tmp_path / "other", versions={"python": "3.11", "pin": "4.2"}))
    (row,) = compare_runs([runs[0], other]).versions
    assert (row.key, row.values) == ("pin", ("4.1", "4.2"))


def test_a_flag_is_not_a_number():
    (row,) = difference_rows([{"a": 1}, {"a": True}])
    assert row.differs
    assert row.absolute == (None,)


NUMBERS = st.dictionaries(st.sampled_from("abc"), st.floats(-1e6, 1e6), max_size=3)


@given(NUMBERS, NUMBERS)
@settings(max_examples=50, deadline=None)
def test_absolute_and_relative_differences_agree(first, second):
    for row in difference_rows([first, second]):
        a, b = (table.get(row.key) for table in (first, second))
        if a is None or b is None:
            assert row.absolute == (None,)
            continue
        assert a + row.absolute[0] == pytest.approx(b, abs=1e-9, rel=1e-9)
        if abs(a) >= 1e-12:
            assert row.relative[0] * abs(a) == pytest.approx(row.absolute[0], rel=1e-9)
        assert row.differs == (a != b)


def test_tables_in_tables_become_dotted_keys():
    found = flattened({"a": {"b": {"c": 1}}, "events": [{"t": 1.0}, {"t": 2.0}], "xs": [1, 2]})
    assert found == {"a.b.c": 1, "events (count)": 2, "events[0].t": 1.0, "events[1].t": 2.0, "xs": [1, 2]}


def test_runs_with_one_name_are_told_apart(tmp_path):
    paths = [write_run(tmp_path / part / "run") for part in "ab"]
    runs = [read_run(path) for path in paths]
    assert run_names(runs) == ["a/run", "b/run"]
    assert run_names([runs[0], runs[0]]) == ["run (1)", "run (2)"]


def test_json_has_all_tables(runs):
    found = compare_runs(runs).to_dict()
    assert found["runs"] == ["first", "second"]
    assert found["metrics"]["slip_m"]["values"] == [0.02, 0.03]
    assert set(found) == {"runs", "metrics", "scenario", "versions"}


# ── one clock ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_clock_covers_all_runs_as_finely_as_the_finest():
    clock = common_clock([np.linspace(0.5, 2.0, 16), np.linspace(0.0, 1.0, 101)])
    assert (clock[0], clock[-1]) == (0.0, 2.0)
    np.testing.assert_allclose(np.diff(clock), 0.01)
    assert len(common_clock([np.linspace(0.0, 100.0, 100_001)], most=500)) == 500
    assert len(common_clock([np.array([1.0])])) == 1


def test_a_series_is_exact_at_its_samples_and_nothing_outside():
    time = np.linspace(0.5, 1.0, 6)
    found = on_clock(time, time**2, np.linspace(0.0, 1.5, 16))
    np.testing.assert_allclose(found[5:11], np.linspace(0.5, 1.0, 6) ** 2, atol=1e-12)
    assert np.isnan(found[:5]).all()
    assert np.isnan(found[11:]).all()


def test_a_motion_stands_still_outside_its_times():
    motion = swaying(zoo.load("hexapod"))
    found = held(motion, np.linspace(-0.5, 1.5, 41))
    np.testing.assert_array_equal(found.q[:11], np.tile(motion.q[0], (11, 1)))
    np.testing.assert_array_equal(found.q[30:], np.tile(motion.q[-1], (11, 1)))
    np.testing.assert_allclose(found.q[10:31:2], motion.q[::10], atol=1e-9)
    assert not found.v[:10].any()
    assert all(not wrench[31:].any() for wrench in found.wrenches.values())


# ── plots and page ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_plots_have_a_line_of_each_run_at_its_own_values(runs):
    clock = common_clock([run.trajectory.time for run in runs])
    plots = {(plot.group, plot.title): plot for plot in compare_plots(dict(zip("ab", runs, strict=True)), clock)}
    plot = plots["Base", "base height"]
    assert list(plot.lines) == ["a", "b"]
    for name, run in zip("ab", runs, strict=True):
        inside = clock <= run.trajectory.end + 1e-9
        wanted = np.interp(clock[inside], run.log.time, run.log["base.height"])
        np.testing.assert_allclose(plot.lines[name][inside], wanted, atol=1e-12)
        assert np.isnan(plot.lines[name][~inside]).all()
    assert ("Energy", "energy residual") not in plots  # nothing was measured
    joint = runs[0].robot.joint_names[1]
    assert plots["Joint position", joint].small
    assert plots["Joint torque", joint].unit == "N m"


def test_only_shared_quantities_are_plotted(runs, tmp_path):
    other = read_run(write_run(tmp_path / "arm", "arm4"))
    titles = {plot.title for plot in compare_plots({"a": runs[0], "arm": other}, np.linspace(0.0, 1.0, 11))}
    assert titles == {"base height"}
    three = compare_plots({"a": runs[0], "b": runs[1], "arm": other}, np.linspace(0.0, 1.0, 11))
    assert {len(plot.lines) for plot in three} == {2, 3}


def test_limits_are_drawn_where_all_runs_have_the_same(runs):
    plots = compare_plots(dict(zip("ab", runs, strict=True)), np.linspace(0.0, 1.0, 11))
    quantities = {item.title: item for item in joint_quantities(runs[0]) if item.group == "Joint position"}
    for plot in plots:
        if plot.group == "Joint position":
            assert plot.lower == {"": quantities[plot.title].lower}


def test_wrenches_are_named_with_their_units(runs):
    found = {item.title: item.unit for item in log_quantities(runs[0]) if item.group == "Contacts"}
    name = next(iter(runs[0].robot.contacts)).replace("_", " ")
    assert found[f"{name}: force z"] == "N"
    assert found[f"{name}: moment x"] == "N m"


def test_the_evidence_covers_the_longest_run(runs):
    found = compare_evidence(dict(zip("ab", runs, strict=True)))
    assert found.time[-1] == pytest.approx(1.6)
    assert [ghost.name for ghost in found.ghosts] == ["b"]
    assert found.ghosts[0].robot is found.robot
    assert "a lasts from 0 to 1 s" in found.notes[0]
    assert found.planes[0].tracks["a"].shape == (len(found.time), 2)
    assert np.isnan(found.planes[0].tracks["a"][-1]).all()


def test_another_robot_is_in_the_plots_only(runs, tmp_path):
    other = read_run(write_run(tmp_path / "arm", "arm4"))
    found = compare_evidence({"a": runs[0], "arm": other})
    assert found.ghosts == ()
    assert "arm uses another robot (arm4)" in found.notes[-1]


def test_ghosts_have_bodies_of_their_own(runs, tmp_path):
    """A robot with as many bodies is another robot all the same; one that is drawn has its own bodies."""
    arm = read_run(write_run(tmp_path / "arm", "arm4"))
    tree = replace(arm.robot.tree, body_names=tuple(f"other_{name}" for name in arm.robot.tree.body_names))
    other = replace(arm, robot=copy(arm.robot))
    object.__setattr__(other.robot, "tree", tree)
    assert compare_evidence({"a": arm, "b": other}).ghosts == ()
    evidence = replace(
        compare_evidence(dict(zip("ab", runs, strict=True))),
        ghosts=(Ghost("arm", arm.robot, arm.trajectory.time, arm.trajectory.q),),
    )
    (ghost,) = scene_data(evidence, np.arange(5), {})["ghosts"]
    assert ghost["bodies"] == list(arm.robot.tree.body_names)
    assert max(mesh["body"] for mesh in ghost["meshes"]) < len(ghost["bodies"])


def test_metrics_that_are_the_same_stand_apart(runs):
    html = comparison_html(compare_runs(runs))
    shown, _, same = html.partition("metrics are the same")
    assert "slip [m]" in shown
    assert "<td>robot</td>" in same
    assert "<td>robot</td>" not in shown


def test_the_page_has_the_tables_and_texts_are_escaped(runs):
    page = compare_page(runs)
    assert "Metrics side by side" in page
    assert "a&lt;b" in page
    assert "+0.01 (+50\u00a0%)" in page
    assert page.index("Metrics side by side") > page.index('id="panel-summary"')
    assert "Nothing." in comparison_html(Comparison(("a", "b"), (), (), ()))


def test_values_are_short_texts():
    assert [number_text(x) for x in (None, True, 1, 0.000012345, [1.0, 2.0], [], "x")] == [
        "–", "yes", "1", "1.234e-05", "1, 2", "–", "x",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.browser
def test_the_page_works_in_a_browser(runs, tmp_path):
    from surefoot.report.video.browser import open_browser

    (tmp_path / "page.html").write_text(compare_page(runs), encoding="utf-8")
    with open_browser(BROWSER) as browser:
        browser.call("Page.enable")
        browser.call("Page.navigate", url=(tmp_path / "page.html").as_uri())
        browser.wait_for("document.body !== null && document.body.dataset.ready === 'true'")
        browser.run("document.getElementById('tab-summary').click()")
        assert browser.run("document.querySelector('.comparison').offsetHeight") > 100
        assert browser.run("window.surefoot.duration[1]") == pytest.approx(1.6)
        assert "second" in browser.run("document.getElementById('layers').textContent")
        assert browser.problems == []
