"""Take the pictures of the README: a report, an audit with a planted defect, the studio; with headless chromium.

python scripts/make_screenshots.py [FOLDER]        # default docs/images
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

import surefoot as sf
from surefoot.report import audit_page
from surefoot.scenario import run_scenario
from surefoot.studio import Studio

GRAPHICS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def report(page: Page, folder: Path) -> None:
    """The run `swing-over`, in the middle of its swing."""
    run = run_scenario("swing-over", out=folder / "run")
    page.goto(f"file://{run.path / 'report.html'}")
    page.locator("body[data-ready]").wait_for(state="attached", timeout=120_000)
    page.evaluate("window.surefoot.seek(1.9)")


def audit(page: Page, folder: Path) -> None:
    """The motion of the run `reach` with a torque spike in it."""
    run = run_scenario("reach", out=folder / "reach", overrides=["audit.kind=none"])
    motion, robot = sf.Trajectory.load(run.path / "trajectory.npz"), sf.load("g1")
    tau = np.array(motion.tau)
    tau[1500:1510, 3] += 250.0
    spoilt = replace(motion, tau=tau)
    file = folder / "audit.html"
    result = sf.audit(spoilt, robot, replay=False)
    file.write_text(audit_page("reach, with a torque spike", spoilt, robot, sf.World(), result), encoding="utf-8")
    page.goto(f"file://{file}")
    page.locator("body[data-ready]").wait_for(state="attached", timeout=120_000)
    page.evaluate(f"window.surefoot.seek({motion.time[1505]})")


def studio(page: Page, folder: Path) -> None:
    """The studio with the humanoid g1."""
    (folder / "studio").mkdir()
    with Studio(folder / "studio", "127.0.0.1", 0, "g1") as server:
        page.goto(server.url)
        time.sleep(25.0)
        notice = page.locator("button.mantine-Notification-closeButton")
        if notice.count():
            notice.first.click()
        picture(page, "studio")


def picture(page: Page, name: str) -> None:
    """Save what the page shows."""
    time.sleep(3.0)
    path = TARGET / f"{name}.jpg"
    page.screenshot(path=path, type="jpeg", quality=88)
    print(path)


TARGET = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "images"


def main() -> None:
    """Take all pictures."""
    TARGET.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=GRAPHICS)
        page = browser.new_page(viewport={"width": 1280, "height": 820})
        report(page, Path(folder))
        picture(page, "report")
        audit(page, Path(folder))
        picture(page, "audit")
        studio(page, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
