"""The documentation as a static site: it builds, every link leads somewhere, nothing comes from outside."""

from __future__ import annotations

import importlib.util
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest

from tests.doc_blocks import PAGES, ROOT


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_docs", ROOT / "scripts" / "build_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["build_docs"] = module
    spec.loader.exec_module(module)
    return module


build_docs = _script()


class _Elements(HTMLParser):
    """All links, resources and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.resources: list[str] = []
        self.anchors: list[str] = []
        self.text: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "a":
            self.links.append(found["href"])
        elif "src" in found or tag == "link":
            self.resources.append(found.get("src", found.get("href", "")))
        if "id" in found:
            self.anchors.append(found["id"])

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, _Elements]:
    pages = build_docs.build(tmp_path_factory.mktemp("docs") / "site")
    return {path.name: _Elements(path) for path in pages}


def _project(root: Path, **pages: str) -> Path:
    (root / "docs").mkdir()
    for name, text in pages.items():
        (root / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
    return root


def test_every_page_is_built_and_named_in_the_navigation(site: dict[str, _Elements]) -> None:
    wanted = {"overview.html" if page.name == "README.md" else f"{page.stem}.html" for page in PAGES}
    assert set(site) == wanted
    for page in site.values():
        assert wanted <= {link.partition("#")[0] for link in page.links}


def test_links_lead_somewhere(site: dict[str, _Elements]) -> None:
    for name, page in site.items():
        for link in page.links:
            if not re.match(r"https?:", link):
                target, _, anchor = link.partition("#")
                other = site.get(target or name)
                assert other is not None or target.startswith("files/"), f"{name}: {link}"
                assert not anchor or anchor in other.anchors, f"{name}: {link}"


def test_nothing_comes_from_outside(site: dict[str, _Elements]) -> None:
    for name, page in site.items():
        assert all(re.match(r"style\.css|data:|files/", source) for source in page.resources), (
            f"{name}: {page.resources}"
        )
    assert "url(" not in build_docs.stylesheet()
    assert "@import" not in build_docs.stylesheet()


def test_no_comment_shows_and_no_markup_is_left(site: dict[str, _Elements]) -> None:
    for name, page in site.items():
        text = "".join(page.text)
        assert "<!--" not in text, name
        assert "|---|" not in text, name


def test_anchors_of_a_page_are_different(site: dict[str, _Elements]) -> None:
    for name, page in site.items():
        assert len(page.anchors) == len(set(page.anchors)), name


def test_tables_links_code_and_comments(tmp_path: Path) -> None:
    root = _project(
        tmp_path,
        index="# Map\n\n<!-- secret -->\n\n## Part\n\n| a | b |\n|---|---|\n| 1 | x \\| y |\n\n[there](other.md#two)\n",
        other="# Other\n\n## Two\n\n```python\nx = '<b>'\n```\n\n    surefoot list\n",
    )
    build_docs.build(tmp_path / "site", root)
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    other = (tmp_path / "site" / "other.html").read_text(encoding="utf-8")
    assert "secret" not in index
    assert "<td>x | y</td>" in index
    assert 'href="other.html#two"' in index
    assert "&lt;b&gt;" in other
    assert '<div class="block sh"><pre><code class="highlight">surefoot list' in other


@pytest.mark.parametrize("link", ["gone.md", "index.md#gone", "#gone", "../outside.txt"])
def test_a_link_that_leads_nowhere_is_refused_and_nothing_is_written(tmp_path: Path, link: str) -> None:
    root = _project(tmp_path, index=f"# Map\n\n[x]({link})\n")
    with pytest.raises(SystemExit, match=r"index\.md: there is no"):
        build_docs.build(tmp_path / "site", root)
    assert not (tmp_path / "site").exists()


def test_images_and_files_are_copied(tmp_path: Path) -> None:
    root = _project(tmp_path, index="# Map\n\n![a](picture.png) [code](../run.py)\n")
    (root / "docs" / "picture.png").write_bytes(b"png")
    (root / "run.py").write_text("pass", encoding="utf-8")
    build_docs.build(tmp_path / "site", root)
    assert (tmp_path / "site" / "files" / "docs" / "picture.png").read_bytes() == b"png"
    assert 'href="files/run.py"' in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def test_a_second_build_replaces_the_first_and_foreign_folders_are_left_alone(tmp_path: Path) -> None:
    root = _project(tmp_path, index="# Map\n", old="# Old\n")
    build_docs.build(tmp_path / "site", root)
    (root / "docs" / "old.md").unlink()
    build_docs.build(tmp_path / "site", root)
    assert not (tmp_path / "site" / "old.html").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").touch()
    with pytest.raises(SystemExit, match="holds other things"):
        build_docs.build(tmp_path / "mine", root)
    assert (tmp_path / "mine" / "diary.txt").exists()
