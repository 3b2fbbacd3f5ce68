"""The page of a motion in a real browser: it draws, plays, scrubs, jumps, fits, and says nothing in the console."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from surefoot.report import Evidence, report_page
from surefoot.robot import zoo
from tests.report.pages import page_of_humanoid

pytestmark = pytest.mark.browser


def picture(page, selector: str = ".view") -> np.ndarray:
    page.wait_for_timeout(300)
    return np.asarray(Image.open(io.BytesIO(page.locator(selector).first.screenshot())).convert("RGB")).astype(int)


def seconds(page) -> float:
    return float(page.inner_text("#clock").split()[0])


def test_desktop_everything_works(opened) -> None:
    """One page for many looks: opening it takes seconds without a graphics card."""
    page = opened(page_of_humanoid())
    page.click("#tab-plots")
    first = picture(page)
    assert first.std() > 12.0  # not blank
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 500

    # play advances the clock; pause holds it
    page.click("#play")
    while seconds(page) <= 0.05:
        page.wait_for_timeout(50)
    page.click("#play")
    page.locator("#play[data-state=paused]").wait_for()
    held = seconds(page)
    page.wait_for_timeout(200)
    assert seconds(page) == held > 0.0

    # scrub: the robot moves, the cursors follow
    page.evaluate(
        "() => { const s = document.getElementById('seek'); s.value = 1.5; s.dispatchEvent(new Event('input')); }"
    )
    assert seconds(page) == 1.5
    assert np.abs(picture(page) - first).mean() > 0.5

    # a click on a plot sets the one clock
    box = page.locator(".plot:not(.plane) canvas").first.bounding_box()
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    assert 0.7 < seconds(page) < 1.3

    # keyboard
    page.locator("#scene").focus()
    page.keyboard.press("End")
    assert seconds(page) == 2.0
    page.keyboard.press("Home")
    assert seconds(page) == 0.0
    page.keyboard.press("ArrowRight")
    assert seconds(page) > 0.0
    page.keyboard.press("+")
    assert page.evaluate("window.surefoot.clock.speed") == 2
    for _ in range(3):
        page.keyboard.press("-")  # so slowly that it still plays when it is looked at
    page.keyboard.press("Space")
    assert page.evaluate("window.surefoot.clock.playing")
    page.keyboard.press("Space")

    # a finding: the robot jumps there, its plot stands below, the part is red
    page.click("#tab-audit")
    page.locator(".finding").first.click()
    assert seconds(page) == 1.0
    assert page.locator(".related .plot").count() >= 1
    red = picture(page)
    assert ((red[..., 0] > 150) & (red[..., 1] < 90) & (red[..., 2] < 90)).sum() > 50
    page.locator(".card details summary").first.click()
    page.locator(".card details .finding").first.click()
    assert seconds(page) == 0.65

    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.problems == []


@pytest.mark.slow
def test_plots_have_data_labels_and_legends(opened) -> None:
    page = opened(page_of_humanoid())
    page.click("#tab-plots")
    groups = page.locator(".pill[data-group]").all_inner_texts()
    assert {"Overview", "Balance", "Contacts", "Joint position", "Joint velocity", "Joint torque", "Momentum", "Energy",
            "Timing"} <= set(groups)  # fmt: skip
    for group in groups:
        page.click(f'.pill[data-group="{group}"]')
        page.wait_for_timeout(150)
        drawn = page.evaluate(
            """() => [...document.querySelectorAll('#panel-plots .plot canvas')].slice(0, 6).map(canvas => {
                 const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
                 const colours = new Set();
                 for (const pixel of new Uint32Array(data.buffer))
                   if (pixel >>> 24 > 200) colours.add(pixel);
                 return [colours.size, canvas.getAttribute('aria-label')]; })"""
        )
        assert drawn
        for colours, label in drawn:
            assert colours > 5, (group, label)
            assert label
    page.click('.pill[data-group="Joint torque"]')
    count = page.locator("#panel-plots .multiples .plot").count()
    page.click(".more")
    assert page.locator("#panel-plots .multiples .plot").count() > count == 6
    key = page.locator("#panel-plots .wide .key").first
    key.click()
    assert key.get_attribute("aria-pressed") == "false"
    assert page.problems == []


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_phones_scroll_nothing_sideways(opened, dark) -> None:
    page = opened(page_of_humanoid(), 390, 844, dark=dark)
    for tab in ("#tab-plots", "#tab-audit", "#tab-summary"):
        page.click(tab)
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, tab
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = sum(map(int, background.strip("rgb()").split(","))) / 3
    assert (light < 60) if dark else (light > 200)
    assert page.evaluate("document.getElementById('scene').style.touchAction") == "pan-y"
    assert picture(page).std() > 8.0
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") == ("light" if dark else "dark")
    assert page.problems == []


@pytest.mark.slow
def test_layers_are_drawn_on_demand(opened) -> None:
    page = opened(page_of_humanoid(audited=False))
    page.evaluate("window.surefoot.seek(1.0)")
    before = picture(page)
    page.click("text=Collision shapes")
    assert np.abs(picture(page) - before).mean() > 0.2
    page.click("text=Frames")
    page.click("text=Forces")
    page.click("#reset")
    assert page.problems == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arm4", "block"])
def test_plain_robots_have_a_page_without_errors(opened, name) -> None:
    robot = zoo.load(name)
    page = opened(report_page(Evidence(name, robot, np.linspace(0, 1, 20), np.tile(robot.home, (20, 1)))))
    assert picture(page).std() > 5.0
    assert page.problems == []
