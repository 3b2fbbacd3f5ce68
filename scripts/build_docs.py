"""Build the documentation as a static site that opens from disk: no network, no server.

    python scripts/build_docs.py [FOLDER]    # site/ if left out

Pages are the Markdown files of docs/ and the README. Every link between pages must lead somewhere, headings included.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import BashLexer, PythonLexer, TOMLLexer, XmlLexer

ROOT = Path(__file__).parents[1]
MARK = ".surefoot-docs"  # a folder with this file was made here, and may be replaced
CHAPTERS: Mapping[str, Sequence[str]] = {
    "Begin": ("index", "start", "examples", "overview", "conventions", "commands"),
    "Describe": ("robot", "side-file", "zoo", "motion", "scenarios"),
    "Compute": ("dynamics", "compiler", "ik", "collision", "contact", "explain"),
    "Move": ("control", "estimation", "simulation"),
    "Judge and show": ("audit", "report", "export", "studio", "benchmarks"),
    "Foundations": ("errors", "spatial", "geometry", "solvers"),
}
TITLES = {"overview": "Overview and figures"}  # of pages whose first heading would not do
LEXERS = {"python": PythonLexer, "py": PythonLexer, "sh": BashLexer, "toml": TOMLLexer, "xml": XmlLexer}
COPY = """
for (const block of document.querySelectorAll(".block:not(.text)")) {
  const button = document.createElement("button");
  button.textContent = "copy";
  button.onclick = async () => {
    await navigator.clipboard.writeText(block.querySelector("code").textContent);
    button.textContent = "copied";
    setTimeout(() => (button.textContent = "copy"), 1500);
  };
  block.append(button);
}
const menu = document.querySelector(".side details");
if (innerWidth < 800) menu.open = false;
else menu.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
"""


@dataclass
class Page:
    """A page: where it comes from, its name in the site, and what is found in it while it is rendered."""

    source: Path
    name: str
    title: str = ""
    body: str = ""
    headings: list[tuple[int, str, str]] = field(default_factory=list)  # level, anchor, text
    links: list[tuple[str, str]] = field(default_factory=list)  # page, anchor
    files: dict[str, Path] = field(default_factory=dict)  # name in the site → what is copied there


def build(folder: Path, root: Path = ROOT) -> list[Path]:
    """Build the site and return its pages; nothing is written if a link leads nowhere."""
    pages = read_pages(root)
    for page in pages.values():
        render(page, pages, root)
    if wrong := broken_links(pages):
        raise SystemExit("\n".join(wrong))
    files = {f"{page.name}.html": document(page, pages) for page in pages.values()}
    files["style.css"] = stylesheet()
    copies = {name: source for page in pages.values() for name, source in page.files.items()}
    replace_folder(folder, files, copies)
    return [folder / f"{name}.html" for name in pages]


def read_pages(root: Path) -> dict[str, Page]:
    """The pages in the order of the navigation; pages that no chapter names come last."""
    found = {path.stem: path for path in sorted((root / "docs").glob("*.md"))}
    if (root / "README.md").exists():
        found["overview"] = root / "README.md"
    order = [name for names in CHAPTERS.values() for name in names if name in found]
    return {name: Page(found[name], name) for name in [*order, *(name for name in found if name not in order)]}


def render(page: Page, pages: Mapping[str, Page], root: Path) -> None:
    """Fill in title, body, headings, links and files of a page."""
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = parser.parse(page.source.read_text(encoding="utf-8"))
    name_headings(page, tokens)
    turn_links(page, tokens, pages, root)
    rules: dict[str, Callable[..., str]] = {
        "fence": lambda all_, k, *_: code_block(all_[k].content, all_[k].info.strip()),
        "code_block": lambda all_, k, *_: code_block(all_[k].content, ""),
        "html_block": lambda all_, k, *_: without_comments(all_[k].content),
        "html_inline": lambda all_, k, *_: without_comments(all_[k].content),
        "table_open": lambda *_: '<div class="scroll"><table>\n',
        "table_close": lambda *_: "</table></div>\n",
        "heading_close": lambda all_, k, *_: heading_end(all_, k),
    }
    parser.renderer.rules.update(rules)  # type: ignore[attr-defined]
    page.body = parser.renderer.render(tokens, parser.options, {})


def name_headings(page: Page, tokens: Sequence[Any]) -> None:
    """Give headings the anchors that they have on GitHub, too."""
    used: dict[str, int] = {}
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            text = "".join(child.content for child in inside.children)
            slug = re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")
            count = used[slug] = used.get(slug, -1) + 1
            anchor = f"{slug}-{count}" if count else slug
            token.attrSet("id", anchor)
            page.headings.append((int(token.tag[1]), anchor, text))
    page.title = TITLES.get(page.name) or (page.headings[0][2] if page.headings else page.name)


def turn_links(page: Page, tokens: Sequence[Any], pages: Mapping[str, Page], root: Path) -> None:
    """Let links between Markdown files lead between pages; files that are linked or shown are copied."""
    by_source = {other.source.resolve(): name for name, other in pages.items()}
    for token in (child for block in tokens for child in block.children or ()):
        key = {"link_open": "href", "image": "src"}.get(token.type)
        if key is None or re.match(r"[a-z]+:", token.attrs[key]):
            continue
        path, _, anchor = unquote(token.attrs[key]).partition("#")
        target = (page.source.parent / path).resolve() if path else page.source.resolve()
        if target in by_source:
            page.links.append((by_source[target], anchor))
            token.attrs[key] = f"{by_source[target]}.html" + (f"#{anchor}" if anchor else "")
        elif target.is_file() and target.is_relative_to(root.resolve()):
            name = f"files/{target.relative_to(root.resolve()).as_posix()}"
            page.files[name] = target
            token.attrs[key] = name
        else:
            page.links.append((path, anchor))  # leads nowhere: `broken_links` says so


def broken_links(pages: Mapping[str, Page]) -> list[str]:
    """One line for each link that leads nowhere."""
    out = []
    for page in pages.values():
        for name, anchor in page.links:
            anchors = {known for _, known, _ in pages[name].headings} if name in pages else set()
            if name not in pages or (anchor and anchor not in anchors):
                out.append(f"{page.source.name}: there is no {name}{'#' + anchor if anchor else ''}")
    return out


def code_block(text: str, language: str) -> str:
    """A block of code, with colours where the language is known; what a command prints looks different."""
    kind = language if language in LEXERS else "text" if language else "sh"
    inner = highlight(text, LEXERS[language](), HtmlFormatter(nowrap=True)) if language in LEXERS else escape(text)
    return f'<div class="block {kind}"><pre><code class="highlight">{inner}</code></pre></div>\n'


def without_comments(text: str) -> str:
    """HTML as it is, less its comments."""
    return re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)


def heading_end(tokens: Sequence[Any], k: int) -> str:
    """The end of a heading, with a link to itself."""
    anchor = tokens[k - 2].attrGet("id")
    link = "" if tokens[k].tag == "h1" else f'<a class="anchor" href="#{anchor}" aria-label="link to this part">#</a>'
    return f"{link}</{tokens[k].tag}>\n"


def document(page: Page, pages: Mapping[str, Page]) -> str:
    """The whole page as HTML."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(page.title)} · surefoot</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="style.css">
</head>
<body>
<div class="frame">
<nav class="side" aria-label="pages"><details open><summary>surefoot</summary>
{navigation(page, pages)}
</details></nav>
<main>
{page.body}
{turning(page, pages)}
</main>
</div>
<script>{COPY}</script>
</body>
</html>
"""


def navigation(page: Page, pages: Mapping[str, Page]) -> str:
    """Chapters and their pages; below this page its parts."""
    named = {name for names in CHAPTERS.values() for name in names}
    chapters = {**CHAPTERS, "More": [name for name in pages if name not in named]}
    out = []
    for chapter, names in chapters.items():
        entries = [_entry(pages[name], pages[name] is page) for name in names if name in pages]
        if entries:
            out.append(f"<h2>{escape(chapter)}</h2><ul>{''.join(entries)}</ul>")
    return "\n".join(out)


def _entry(page: Page, is_here: bool) -> str:
    here = ' aria-current="page"' if is_here else ""
    parts = [f'<li><a href="#{anchor}">{escape(text)}</a></li>' for level, anchor, text in page.headings if level == 2]
    below = f"<ul>{''.join(parts)}</ul>" if is_here and parts and len(parts) <= 12 else ""
    return f'<li><a href="{page.name}.html"{here}>{escape(page.title)}</a>{below}</li>'


def turning(page: Page, pages: Mapping[str, Page]) -> str:
    """Links to the pages before and after."""
    names = list(pages)
    k = names.index(page.name)
    before = f'<a href="{names[k - 1]}.html">← {escape(pages[names[k - 1]].title)}</a>' if k else "<span></span>"
    after = (
        f'<a href="{names[k + 1]}.html">{escape(pages[names[k + 1]].title)} →</a>' if k + 1 < len(names) else ""
    )  # fmt: skip
    return f'<nav class="turn" aria-label="before and after">{before}{after}</nav>'


def stylesheet() -> str:
    """Our style, and the colours of code for light and dark."""
    light = HtmlFormatter(style="friendly").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    own = (Path(__file__).parent / "docs.css").read_text(encoding="utf-8")
    rules = f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}"
    return f"{own}\n{rules}\n.block .highlight {{ background: none; }}\n"


def replace_folder(folder: Path, files: Mapping[str, str], copies: Mapping[str, Path]) -> None:
    """Write the site beside the old one, then put it in its place."""
    if folder.exists() and not (folder / MARK).exists() and any(folder.iterdir()):
        raise SystemExit(f"{folder} holds other things; give a folder that is empty or does not exist")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".docs-") as scratch:
        made = Path(scratch) / "site"
        made.mkdir()
        (made / MARK).touch()
        for name, text in files.items():
            (made / name).write_text(text, encoding="utf-8")
        for name, source in copies.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, made / name)
        if folder.exists():
            folder.rename(Path(scratch) / "old")
        made.rename(folder)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site"
    print(f"{len(build(target.absolute()))} pages: {target}/index.html")
