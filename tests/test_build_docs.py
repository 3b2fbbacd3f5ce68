"""The documentation builds without warnings; every link leads somewhere, nothing comes from outside."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import surefoot
from tests.doc_blocks import PAGES, ROOT

pytestmark = pytest.mark.slow


class _Elements(HTMLParser):
    """All links, resources and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.resources: list[str] = []
        self.anchors: list[str] = []
        self.text: list[str] = []
        self._hidden = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in ("script", "style", "pre", "code"):
            self._hidden = tag
        if tag == "a":
            self.links.append(values.get("href", ""))
        elif "src" in values or tag == "link":
            self.resources.append(values.get("src", values.get("href", "")))
        if "id" in values:
            self.anchors.append(values["id"])

    def handle_endtag(self, tag: str) -> None:
        if tag == self._hidden:
            self._hidden = ""

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.text.append(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site; a warning is an error."""
    site = tmp_path_factory.mktemp("docs") / "site"
    options = ["-W", "--keep-going", "--quiet", "--doctree-dir", str(site.parent / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, "docs", str(site)]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return site


@pytest.fixture(scope="module")
def site(folder: Path) -> dict[Path, _Elements]:
    return {path: _Elements(path) for path in folder.rglob("*.html")}


def test_every_page_is_built_and_named_in_the_navigation(folder: Path, site: dict[Path, _Elements]) -> None:
    wanted = {f"{page.stem}.html" for page in PAGES if page.name != "README.md"}
    assert wanted <= {path.name for path in site}
    assert wanted - {"index.html"} <= set(site[folder / "index.html"].links)


def test_every_package_has_a_page(folder: Path, site: dict[Path, _Elements]) -> None:
    rooms = [path.parent.name for path in (ROOT / "surefoot").glob("*/__init__.py")]
    assert {f"surefoot.{room}.html" for room in rooms} <= {path.name for path in (folder / "api").iterdir()}
    anchors = {anchor for page in site.values() for anchor in page.anchors}
    assert {"surefoot.ik.solve", "surefoot.robot.Robot", "surefoot.spatial.se3.inverse"} <= anchors
    listed = set(site[folder / "api" / "surefoot.html"].text)
    assert set(surefoot.__all__) - {"zoo"} <= listed | {name.rpartition(".")[2] for name in anchors} | {"compile"}


def test_links_lead_somewhere(site: dict[Path, _Elements]) -> None:
    for path, page in site.items():
        for link in page.links:
            if not re.match(r"https?:", link):
                target, _, anchor = link.partition("#")
                file = (path.parent / target).resolve() if target else path
                assert file.exists(), f"{path.name}: {link}"
                assert not anchor or file not in site or anchor in site[file].anchors, f"{path.name}: {link}"


def test_nothing_comes_from_outside(folder: Path, site: dict[Path, _Elements]) -> None:
    for path, page in site.items():
        for source in page.resources:
            assert not re.match(r"(https?:)?//", source), f"{path.name}: {source}"
    for sheet in folder.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", sheet.read_text(encoding="utf-8")), sheet


def test_the_search_knows_pages_and_docstrings(folder: Path) -> None:
    index = (folder / "searchindex.js").read_text(encoding="utf-8")
    for word in ("api/surefoot.ik", "audit", "solve_batch"):
        assert word in index


def test_no_comment_shows_and_no_markup_is_left(site: dict[Path, _Elements]) -> None:
    for path, page in site.items():
        text = "".join(page.text)
        for mark in ("<!--", "|---|", "](", "``", ":py:obj:"):
            assert mark not in text, f"{path.name}: {mark}"


def test_anchors_of_a_page_are_different(site: dict[Path, _Elements]) -> None:
    for path, page in site.items():
        assert len(page.anchors) == len(set(page.anchors)), path.name
