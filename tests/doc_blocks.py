"""Code blocks of the documentation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text, page and first line."""

    language: str
    text: str
    page: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    """Fenced blocks, and indented ones as language `sh` (all of ours are commands)."""
    text = page.read_text(encoding="utf-8")
    found = [Block(m[1], m[2], page.name, text[: m.start()].count("\n") + 2) for m in _FENCE.finditer(text)]
    bare = _FENCE.sub(lambda m: "\n" * m[0].count("\n"), text)
    for m in re.finditer(r"(?:^    \S.*\n)+", bare, re.MULTILINE):
        found.append(
            Block("sh", re.sub(r"^    ", "", m[0], flags=re.MULTILINE), page.name, bare[: m.start()].count("\n") + 1)
        )
    return sorted(found, key=lambda block: block.line)
