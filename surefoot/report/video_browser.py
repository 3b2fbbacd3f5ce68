"""A film of the report page: chromium draws it picture by picture, without a display."""

from __future__ import annotations

import base64
import json
import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from surefoot.errors import NotSupportedError
from surefoot.report.evidence import Evidence
from surefoot.report.report_page import report_page
from surefoot.report.video_camera import FilmSettings
from surefoot.report.video_protocol import Browser, find_browser, open_browser

__all__ = ["BrowserFilm", "browser_film"]

_SCRIPTS = ("smooth.js", "film.js")
_END_OF_SCRIPTS = "})();"
_QUALITY = 95


class BrowserFilm:
    """Pictures of a page that is open.

    Args:
        browser: Where it is open.
    """

    kind = "jpeg"

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    def picture(self, t: float) -> bytes:
        """The page at a time, as JPEG.

        Args:
            t: [s].
        """
        self._browser.run(f"window.film.picture({t!r})")
        shot = self._browser.call("Page.captureScreenshot", format="jpeg", quality=_QUALITY, optimizeForSpeed=True)
        return base64.b64decode(shot["data"])


@contextmanager
def browser_film(evidence: Evidence, settings: FilmSettings) -> Iterator[BrowserFilm]:
    """The page of a motion, open in chromium and ready to be filmed.

    Args:
        evidence: What to show.
        settings: Size and camera.

    Yields:
        What takes the pictures.

    Raises:
        NotSupportedError: There is no chromium, or it gives up.
    """
    executable = find_browser()
    if executable is None:
        raise NotSupportedError("there is no chromium on the PATH", next_step="run `make browser`")
    with tempfile.TemporaryDirectory(prefix="surefoot-film-") as folder, open_browser(executable) as browser:
        page = Path(folder) / "film.html"
        page.write_text(_with_film_script(report_page(evidence)), encoding="utf-8")
        _open(browser, page, settings)
        yield BrowserFilm(browser)


def _open(browser: Browser, page: Path, settings: FilmSettings) -> None:
    width, height = settings.size
    camera = settings.camera
    look = {
        "azimuth": math.radians(camera.azimuth),
        "elevation": math.radians(camera.elevation),
        "zoom": camera.zoom,
        "follow": camera.follow,
        "layers": settings.layers,
    }
    browser.call("Page.enable")
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    browser.call("Page.navigate", url=page.as_uri())
    browser.wait_for("document.body !== null && document.body.dataset.ready === 'true'")
    browser.run(f"window.film.prepare({json.dumps(look)})")


def _with_film_script(page: str) -> str:
    """The page with the scripts of the film after its own, where it sees what they made."""
    web = resources.files("surefoot.report").joinpath("web")
    script = "".join(web.joinpath(name).read_text(encoding="utf-8") for name in _SCRIPTS)
    before, end, after = page.rpartition(_END_OF_SCRIPTS)
    return before + script + end + after
