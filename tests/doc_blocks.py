"""Code blocks of the documentation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
_FENCE = re.compile(r"^```([\w{}]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of code: its language, text, page and first line.

    Languages: `python` and `sh` run in the tests, `text` after `sh` is what it prints; `shown`, an indented block, is
    commands that are only looked at, because they take long, open a browser or install something.
    """

    language: str
    text: str
    page: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    """All blocks of a page, from top to bottom."""
    text = page.read_text(encoding="utf-8")
    found = [Block(m[1], m[2], page.name, text[: m.start()].count("\n") + 2) for m in _FENCE.finditer(text)]
    bare = _FENCE.sub(lambda m: "\n" * m[0].count("\n"), text)
    for m in re.finditer(r"(?:^    \S.*\n)+", bare, re.MULTILINE):
        shown = re.sub(r"^    ", "", m[0], flags=re.MULTILINE)
        found.append(Block("shown", shown, page.name, bare[: m.start()].count("\n") + 1))
    return sorted(found, key=lambda block: block.line)
