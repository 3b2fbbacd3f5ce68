"""The studio in a real browser: it draws, its tabs are independent, its jobs are shared, its errors are told."""

from __future__ import annotations

import asyncio
import io
import re
import time
from urllib.parse import urljoin

import numpy as np
import pytest

from surefoot.studio import Studio
from tests.conftest import BROWSER, BROWSER_FLAGS

pytestmark = pytest.mark.browser
PATIENCE = 60_000
# Without a graphics card every picture takes a core for a tenth of a second, and tabs draw all the time: a few will do.
FEW_PICTURES = """
const draw = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = picture => setTimeout(() => draw(picture), 250);
window.cancelAnimationFrame = window.clearTimeout.bind(window);
"""


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=BROWSER_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studio")
    (folder / "outside").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    with Studio(folder, port=0, robot="panda", plain=True) as studio:
        yield studio


@pytest.fixture
def open_tab(browser, studio):
    pages = []

    def opened(width: int = 680, height: int = 420):
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(PATIENCE)
        page.add_init_script(FEW_PICTURES)
        page.problems = []
        page.on("console", lambda text: page.problems.append(text.text) if text.type == "error" else None)
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("request", lambda request: page.problems.append(request.url) if is_foreign(request.url) else None)
        pages.append(page)
        page.goto(studio.url)
        page.get_by_text("fixed base").first.wait_for(state="attached")
        return page

    def is_foreign(url: str) -> bool:
        own = studio.url.partition(str(studio.port))[0]
        return not url.startswith((own, f"blob:{own}", "data:"))

    yield opened
    for page in pages:
        page.close()


def pixels(page) -> np.ndarray:
    """The left part of what is seen, (rows, columns, 3): robot and ground, not the panel."""
    from PIL import Image

    image = np.asarray(Image.open(io.BytesIO(page.screenshot(timeout=PATIENCE))).convert("RGB"), dtype=float)
    return image[:, : image.shape[1] * 2 // 5]


def settled(page, condition, seconds: float = 90.0) -> bool:
    """Whether a condition holds within some time; the browser goes on meanwhile."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        page.wait_for_timeout(200)
    return True


def field(page, label: str):
    """What belongs to a label: a text, or the number beside a slider."""
    row = page.locator(f'label:text-is("{label}")').first
    inputs = "//*[self::input[not(@type='hidden')] or self::textarea]"
    return row.locator(f"xpath=ancestor::div[contains(@class,'Flex-root')][1]{inputs}").first


def put(page, label: str, text: str) -> None:
    field(page, label).fill(text)
    field(page, label).press("Enter")


def pick(page, label: str, choice: str) -> None:
    field(page, label).fill(choice)
    page.get_by_role("option", name=choice, exact=True).click()


def pull_gizmo(studio, tab, gizmo, target: np.ndarray) -> None:
    """As when the client sends a drag."""
    scene, client = tab.stage.scene, tab._client.client_id

    async def pull() -> None:
        gizmo._impl.position = target
        await scene._fire_transform_controls_callbacks(client, gizmo, "update")
        await scene._fire_transform_controls_callbacks(client, gizmo, "end")

    asyncio.run_coroutine_threadsafe(pull(), studio.server.get_event_loop()).result(30.0)


def tab_of(studio, index: int):
    return list(studio._tabs.values())[index]


@pytest.mark.slow
def test_the_page_loads_draws_and_asks_for_nothing_outside(open_tab, studio):
    page = open_tab()
    assert page.title() == "surefoot studio"
    assert settled(page, lambda: np.ptp(pixels(page)) > 100.0), "the canvas is blank"
    image = pixels(page)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 200
    assert page.problems == []


@pytest.mark.slow
def test_a_slider_moves_the_robot_of_its_own_tab_alone(open_tab, studio):
    first, _ = open_tab(), open_tab()
    mine, other = tab_of(studio, -2), tab_of(studio, -1)
    assert settled(first, lambda: mine.stage.robot is not None and other.stage.robot is not None)
    first.wait_for_timeout(1500)
    before = pixels(first)
    put(first, "joint2", "1.2")
    assert settled(first, lambda: abs(mine.stage.q[1] - 1.2) < 1e-6)
    assert settled(first, lambda: np.mean(np.abs(pixels(first) - before).max(axis=2) > 30.0) > 0.005), "nothing moves"
    np.testing.assert_allclose(other.stage.q, other.stage.robot.home)
    first.get_by_role("button", name="Reset to home").click()
    assert settled(first, lambda: np.allclose(mine.stage.q, mine.stage.robot.home))


@pytest.mark.slow
def test_each_tab_has_its_own_robot(open_tab, studio):
    first, _ = open_tab(), open_tab()
    mine, other = tab_of(studio, -2), tab_of(studio, -1)
    put(first, "Search", "hexapod")
    assert settled(first, lambda: mine.stage.robot is not None and mine.stage.robot.name == "hexapod")
    assert settled(first, lambda: other.stage.robot is not None)
    assert other.stage.robot.name == "panda"
    first.get_by_text("floating base").first.wait_for(state="attached")


@pytest.mark.slow
def test_a_run_is_listed_in_both_tabs_live_and_can_be_replayed(open_tab, studio, browser):
    first, second = open_tab(), open_tab()
    mine = tab_of(studio, -2)
    first.get_by_role("tab", name="Scenario").click()
    put(first, "duration", "0.3")
    first.get_by_text("simulation.duration=0.3").first.wait_for()
    first.get_by_role("button", name="Run", exact=True).click()
    for page in (first, second):
        page.get_by_text("stand · g1").first.wait_for()
    job = studio.jobs.jobs[0]
    assert settled(first, lambda: job.is_over, 240.0)
    assert job.state == "done", job
    assert settled(first, lambda: mine._replay_panel.motion is not None)
    assert mine.stage.robot.name == "g1"
    second.get_by_role("button", name="Show result").first.wait_for()
    first.get_by_role("tab", name="Runs").click()
    first.get_by_role("button", name="Play", exact=True).click()
    assert settled(first, lambda: mine._replay_panel.time > 0.05)
    first.get_by_role("button", name="Pause", exact=True).click()
    assert settled(first, lambda: not mine._replay_panel._is_playing)
    assert settled(first, lambda: float(field(first, "Time [s]").input_value()) == mine._replay_panel._slider.value)
    put(first, "Time [s]", "0.2")
    assert settled(first, lambda: abs(mine._replay_panel.time - 0.2) < 1e-9)
    sample = mine._replay_panel.motion.trajectory.sample(0.2).q
    assert settled(first, lambda: np.allclose(mine.stage.q, sample, atol=1e-9))
    link = first.get_by_text("Open report").first.get_attribute("href")
    assert problems_of_report(browser, urljoin(studio.url, link)) == []
    assert first.problems == second.problems == []


@pytest.mark.slow
def test_the_goal_of_a_planner_is_pulled_and_its_footfalls_appear_while_it_plans(open_tab, studio):
    page = open_tab()
    tab = tab_of(studio, -1)
    page.get_by_role("tab", name="Scenario").click()
    pick(page, "Scenario", "hexapod-flat")
    panel = tab._scenario_panel
    assert settled(page, lambda: panel._goal._gizmo is not None)
    np.testing.assert_allclose(panel._goal._gizmo.position, [0.0, 1.0, 0.0])
    pull_gizmo(studio, tab, panel._goal._gizmo, np.array([0.05, 0.3, 0.0]))
    page.get_by_text("planner.goal=[0.050, 0.300, 0.0]").first.wait_for()
    page.get_by_role("button", name="Run", exact=True).click()
    counts = set()
    assert settled(page, lambda: counts.add(tab._plan.count) or len(counts) > 3, 240.0), counts
    job = studio.jobs.jobs[0]
    assert sum(len(way) for way in job.ways.values()) > 6
    page.get_by_text("Stop").first.click()
    assert settled(page, lambda: job.is_over, 120.0)
    pick(page, "Scenario", "stand")
    assert settled(page, lambda: panel._goal._gizmo is None)
    assert page.problems == []


def problems_of_report(browser, url: str) -> list[str]:
    """What the page of the run complains about as the studio serves it, in its sandbox."""
    page, problems = browser.new_page(viewport={"width": 680, "height": 420}), []
    page.on("console", lambda text: problems.append(text.text) if text.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(url)
    page.locator("canvas").first.wait_for(timeout=PATIENCE)
    page.wait_for_timeout(1000)
    page.close()
    return problems


def test_paths_that_lead_out_are_refused_with_a_message(open_tab):
    page = open_tab()
    page.get_by_role("tab", name="Runs").click()
    for path in ("../..", "outside", "/etc"):
        put(page, "Path", path)
        page.get_by_text(re.compile(rf"{re.escape(path)}\W*is outside the studio folder")).first.wait_for()
    assert page.problems == []


@pytest.mark.slow
def test_an_error_is_told_in_the_tab_and_the_studio_lives_on(open_tab, studio):
    page = open_tab()
    page.get_by_role("tab", name="Scenario").click()
    field(page, "More overrides").fill("simulation.duraton=3")
    page.get_by_text("duraton").first.wait_for()
    assert settled(page, lambda: "duraton" in tab_of(studio, -1)._scenario_panel._more.value)
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("Error").first.wait_for()
    page.get_by_text(re.compile("duration")).first.wait_for()
    page.get_by_role("tab", name="Robot").click()
    put(page, "joint2", "0.5")
    assert settled(page, lambda: abs(tab_of(studio, -1).stage.q[1] - 0.5) < 1e-6)


@pytest.mark.slow
def test_a_gizmo_that_is_dragged_moves_the_robot(open_tab, studio):
    page = open_tab()
    tab = tab_of(studio, -1)
    drag = tab._robot_panel.drag
    assert settled(page, lambda: drag._gizmo is not None and drag._dragging is not None)
    target = np.array(drag._gizmo.position) + np.array([0.0, 0.0, 0.1])
    pull_gizmo(studio, tab, drag._gizmo, target)
    hand = "panda_hand_tcp"
    assert settled(
        page, lambda: np.allclose(tab.stage.robot.placements(tab.stage.q)[hand][:3, 3], target, atol=1e-3), 30.0
    )
    assert settled(page, lambda: _sliders_follow(tab), 30.0)


def _sliders_follow(tab) -> bool:
    return all(
        abs(slider.value - tab.stage.q[axis.joint]) < 1e-3 for axis, slider in tab._robot_panel._sliders._sliders
    )


@pytest.mark.slow
def test_the_phone_has_the_robot_first(open_tab):
    """The panel is a sheet that starts closed; open, it takes room from the scene instead of covering it."""
    page = open_tab(390, 844)
    assert settled(page, lambda: np.ptp(pixels(page)) > 100.0)
    controls = page.get_by_role("button", name="controls")
    assert settled(page, lambda: controls.get_attribute("aria-expanded") == "false")
    assert settled(page, lambda: height_of(page, "canvas") > 0.9 * 844)
    controls.focus()
    page.keyboard.press("Enter")
    assert settled(page, lambda: controls.get_attribute("aria-expanded") == "true")
    assert settled(page, lambda: 0.35 * 844 < height_of(page, "canvas") < 0.6 * 844)
    sheet = page.get_by_role("tab", name="Runs").bounding_box()
    assert sheet["y"] > height_of(page, "canvas"), "the sheet covers the scene"
    page.get_by_role("button", name="Reset to home").scroll_into_view_if_needed()
    assert controls.bounding_box()["y"] > 0.3 * 844, "the handle scrolls away"
    page.get_by_role("tab", name="Runs").click()
    page.get_by_role("button", name="Refresh list").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.problems == []


def height_of(page, name: str) -> float:
    return page.locator(name).first.bounding_box()["height"]
