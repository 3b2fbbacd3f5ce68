"""Pages: self-contained, and in a real browser they draw, scrub and fit."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

from surefoot.report import Curve, robot_page, run_page
from surefoot.report.run_page import _ticks
from surefoot.report.stick_figure import figure_lines
from surefoot.robot import zoo
from surefoot.robot.check import inspect_robot
from tests.conftest import BROWSER

METRICS = {"scenario": "stand", "robot": "g1", "seed": 0, "duration_s": 2.0, "fallen": False, "fall_time_s": None,
           "verdict": "passed", "slip_m": 1e-5, "name <b>": "a & b", "versions": {"pin": "4"}}  # fmt: skip


def a_run_page() -> str:
    robot = zoo.load("g1")
    time = np.linspace(0.0, 2.0, 101)
    q = np.tile(robot.home, (len(time), 1))
    q[:, 0] += 0.2 * time
    legs = {
        f"{side}_{row}_leg_with_a_long_name": np.sin(time + i) for i, (side, row) in enumerate(product("lr", "fmb"))
    }
    curves = [Curve("height", "m", legs), Curve("flat", "N", {"c": np.zeros(101)})]
    return run_page(robot, time, q, curves, METRICS)


def test_pages_ask_for_nothing_from_outside():
    for page in (a_run_page(), robot_page(inspect_robot("anymal"))):
        assert not re.search(r'(?:src|href)\s*=\s*["\'](?!data:)', page)
        assert "http" not in page


def test_texts_are_escaped():
    assert "name &lt;b&gt;" in a_run_page()
    assert "<b>" not in a_run_page()


def test_ticks_are_round_and_inside(rng):
    for _ in range(200):
        low, high = np.sort(rng.normal(size=2) * 10.0 ** rng.integers(-6, 6))
        ticks = _ticks(low, high)
        assert 2 <= len(ticks) <= 8
        assert all(low - 1e-9 * (high - low) <= tick <= high + 1e-9 * (high - low) for tick in ticks)


def test_the_figure_joins_parents_and_children():
    robot = zoo.load("anymal")
    bones, edges = figure_lines(robot, robot.home)
    frames = robot.placements(robot.home)
    assert len(edges) == 4
    np.testing.assert_allclose(bones[0], [frames["base"][:3, 3], frames[robot.tree.body_names[1]][:3, 3]])
    np.testing.assert_allclose(edges[..., 2], 0.0, atol=1e-6)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
        browser = playwright.chromium.launch(executable_path=BROWSER, args=flags)
        yield browser
        browser.close()


def opened(browser, folder, html: str, width: int = 1100):
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.problems = []
    page.on("console", lambda message: page.problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("request", lambda request: page.problems.append(request.url) if request.url.startswith("http") else None)
    page.goto(path.as_uri())
    return page


@pytest.mark.browser
@pytest.mark.parametrize("width", [420, 1100])
def test_pages_fit_the_window_and_raise_no_errors(browser, tmp_path, width):
    for html in (a_run_page(), robot_page(inspect_robot("g1"))):
        page = opened(browser, tmp_path, html, width)
        page.wait_for_timeout(200)
        assert page.problems == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.close()


@pytest.mark.browser
def test_labels_of_a_plot_do_not_overlap(browser, tmp_path):
    page = opened(browser, tmp_path, a_run_page())
    boxes = page.evaluate(
        """[...document.querySelectorAll('svg')].map(svg => [...svg.querySelectorAll('text')].map(t => {
             const b = t.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; }))"""
    )
    assert len(boxes) == 2
    for labels in boxes:
        assert len(labels) >= 4
        for i, a in enumerate(labels):
            for b in labels[:i]:
                apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
                assert apart, (a, b)
    page.close()


@pytest.mark.browser
def test_the_player_draws_and_scrubs(browser, tmp_path):
    page = opened(browser, tmp_path, a_run_page())
    page.click("#play")
    drawn = (
        "(id) => document.getElementById(id).getContext('2d').getImageData(0, 0, 560, 560).data.filter(x => x).length"
    )
    assert page.evaluate(drawn, "side") > 1000
    assert page.evaluate(drawn, "front") > 1000
    picture = "document.getElementById('side').toDataURL()"
    page.evaluate("() => { const s = document.getElementById('seek'); s.value = 0; s.oninput(); }")
    first = page.evaluate(picture)
    page.evaluate("() => { const s = document.getElementById('seek'); s.value = s.max; s.oninput(); }")
    assert page.evaluate(picture) != first
    assert page.inner_text("#clock") == "2.00 s"
    page.close()


def test_ticks_that_are_near_each_other_have_different_labels():
    from surefoot.report.run_page import _labels

    assert _labels([0.5, 1.0]) == ["0.5", "1"]
    assert _labels([0.78165, 0.7817, 0.78175]) == ["0.78165", "0.7817", "0.78175"]
