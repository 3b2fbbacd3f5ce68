"""A video of the report page, rendered frame by frame by headless chromium over `--remote-debugging-pipe`."""

from __future__ import annotations

import base64
import json
import math
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from surefoot.errors import NotSupportedError
from surefoot.report.evidence import Evidence
from surefoot.report.page import report_page
from surefoot.report.video.camera import FilmSettings

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--hide-scrollbars",
    "--mute-audio",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
    "--force-color-profile=srgb",
)
_PATIENCE = 60.0  # [s] for one answer
_PUT_PIPES = 'exec 3<&0 4>&1 </dev/null >&2 && exec "$@"'  # chromium reads requests from 3 and writes answers to 4


def find_browser() -> str | None:
    """The chromium on the PATH, or None."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


@contextmanager
def open_browser(executable: str) -> Iterator[Browser]:
    """A chromium with one empty page and a temporary profile.

    Args:
        executable: Path of chromium.

    Yields:
        The browser, attached to its page.

    Raises:
        NotSupportedError: It does not start, or gives up on the way.
    """
    with tempfile.TemporaryDirectory(prefix="surefoot-browser-", ignore_cleanup_errors=True) as profile:
        process = _started(executable, profile)
        if process.stdin is None or process.stdout is None:
            raise _gave_up("it has no pipes")
        try:
            yield Browser(process, process.stdin.fileno(), process.stdout.fileno())
        finally:
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):
                    stream.close()
            _stopped(process)


class Browser:
    """Requests to one page of a running chromium.

    Args:
        process: The browser.
        out: File descriptor to write requests to.
        back: File descriptor to read answers from.
    """

    def __init__(self, process: subprocess.Popen[bytes], out: int, back: int) -> None:
        self._process, self._out, self._back = process, out, back
        self._session: str | None = None
        self._count = 0
        self._unread = b""
        self.problems: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Runtime.enable")

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """The answer to a request.

        Args:
            method: Such as "Page.navigate".
            **arguments: Of the method.
        """
        self._count += 1
        request: dict[str, Any] = {"id": self._count, "method": method, "params": arguments}
        if self._session is not None:
            request["sessionId"] = self._session
        self._send(json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + _PATIENCE
        while (message := self._message(deadline)).get("id") != self._count:
            self._note(message)
        if "error" in message:
            raise _gave_up(f"{method}: {message['error'].get('message', '')}")
        return dict(message["result"])

    def run(self, script: str) -> Any:
        """The value of an expression in the page, waited for if it is a promise.

        Args:
            script: JavaScript.
        """
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise _gave_up(_trouble(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Wait until an expression in the page is true.

        Args:
            condition: JavaScript.
        """
        deadline = time.monotonic() + _PATIENCE
        while not self.run(condition):
            if self.problems:
                raise _gave_up(self.problems[0])
            if time.monotonic() > deadline:
                raise _gave_up(f"the page was not ready after {_PATIENCE:.0f} s")
            time.sleep(0.05)

    def _note(self, message: dict[str, Any]) -> None:
        """Keep what the page throws."""
        if message.get("method") == "Runtime.exceptionThrown":
            self.problems.append(_trouble(message["params"]["exceptionDetails"]))

    def _send(self, content: bytes) -> None:
        try:
            while content:
                content = content[os.write(self._out, content) :]
        except OSError as error:
            raise _gave_up(self._end()) from error

    def _message(self, deadline: float) -> dict[str, Any]:
        """The next message; messages end with a zero byte."""
        pieces = [self._unread]
        while b"\0" not in pieces[-1]:
            ready, _, _ = select.select([self._back], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise _gave_up(f"no answer for {_PATIENCE:.0f} s")
            piece = os.read(self._back, 1 << 20)
            if not piece:
                raise _gave_up(self._end())
            pieces.append(piece)
        first, _, self._unread = b"".join(pieces).partition(b"\0")
        return dict(json.loads(first))

    def _end(self) -> str:
        try:
            return f"it ended with status {self._process.wait(timeout=5.0)}"
        except subprocess.TimeoutExpired:
            return "it closed its pipe"


def _started(executable: str, profile: str) -> subprocess.Popen[bytes]:
    """The process, its end of the pipes where the protocol wants them: a shell puts them there and becomes chromium."""
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    words = [executable, *_FLAGS, *root, f"--user-data-dir={profile}", "about:blank"]
    try:
        with (Path(profile) / "browser.log").open("wb") as log:
            return subprocess.Popen(
                ["/bin/sh", "-c", _PUT_PIPES, "sh", *words],
                cwd=profile,  # chromium reads `SwiftShader.ini` where it works
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
                start_new_session=True,
            )
    except OSError as error:
        raise _gave_up(str(error)) from error


def _stopped(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end of the process, which its closed pipe asks for; help along where it does not come."""
    for push in (lambda: None, process.terminate, process.kill):
        push()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5.0)
            return


def _trouble(details: dict[str, Any]) -> str:
    said = details.get("exception", {}).get("description") or details.get("text", "")
    return str(said).splitlines()[0] if said else "an error in the page"


def _gave_up(reason: str) -> NotSupportedError:
    return NotSupportedError(
        "chromium could not render the page",
        evidence={"reason": reason},
        next_step="run `make browser` again, or use `--renderer mujoco`",
    )


_SCRIPTS = ("smooth.js", "film.js")
_QUALITY = 95


class BrowserFilm:
    """Frames of an open page."""

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
    """The page of a motion, open in chromium and ready to record.

    Yields:
        What takes the pictures.

    Raises:
        NotSupportedError: There is no chromium, or it gives up.
    """
    executable = find_browser()
    if executable is None:
        raise NotSupportedError("chromium is not on the PATH", next_step="run `make browser`")
    with tempfile.TemporaryDirectory(prefix="surefoot-film-") as folder, open_browser(executable) as browser:
        page = Path(folder) / "film.html"
        page.write_text(report_page(evidence, _SCRIPTS), encoding="utf-8")
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
