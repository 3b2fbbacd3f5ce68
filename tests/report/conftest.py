"""A real browser for pages, with the graphics of a machine without a graphics card."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conftest import BROWSER, BROWSER_FLAGS

_WAIT = 120_000  # [ms]: software rendering on a busy machine


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=BROWSER, args=BROWSER_FLAGS)
        yield found
        found.close()


@pytest.fixture
def opened(browser: Any, tmp_path: Any) -> Iterator[Callable[..., Any]]:
    """opened(html, width, height, dark) → a page; `page.problems` has errors, warnings and requests to elsewhere."""
    contexts = []

    def open_page(html: str, width: int = 1280, height: int = 900, *, dark: bool = False, ready: bool = True) -> Any:
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(_WAIT)
        page.problems = []
        note = page.problems.append
        page.on("console", lambda message: note(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: note(str(error)))
        page.on("request", lambda request: None if request.url.startswith(("file:", "data:")) else note(request.url))
        page.goto(path.as_uri())
        if ready:
            page.locator("body[data-ready=true]").wait_for(state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
