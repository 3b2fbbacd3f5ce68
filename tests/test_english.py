"""Words that mark translated prose do not come back: in the documentation, and in what the package says to users."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.test_architecture import modules

ROOT = Path(__file__).parents[1]
TICS = {
    r"(?<![Tt]here )\b(is|are|was|were) no (?!\w+er\b|more|less|such|one|way|need|point)(?=[a-z`])": "is not a",
    r"\bstands? (in|beside) (it|them|this|that|the (file|table|page|log|report|list|evidence))\b": "is listed in",
    r"\b(is|are) told (?!apart)": "is given; is reported",
    r"\bleft out\b": "omitted",
    r"\bhardly\b": "barely; few",
    r"\b[Ww]ay that each\b": "distance per …",
    r"\bwhat (is|was|are) (said|told|meant)\b": "a noun",
    r"\bthat there is not\b": "unknown, missing",
    r"\bnumbers of (NumPy|numpy|Python)\b": "NumPy scalars",
}


def passages() -> list[tuple[str, str]]:
    """Texts with the place where they are: pages, and all strings of the package, docstrings included."""
    out = []
    for path in [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CHANGELOG.md"]:
        lines = path.read_text(encoding="utf-8").splitlines()
        out += [(f"{path.name}:{number}", line) for number, line in enumerate(lines, 1)]
    for module in modules().values():
        for node in module.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                out.append((f"{module.path.relative_to(ROOT)}:{node.lineno}", " ".join(node.value.split())))
    return out


def test_no_tics() -> None:
    found = [
        f"{place}: “{match[0]}” — rather: {instead}"
        for place, text in passages()
        for pattern, instead in TICS.items()
        if (match := re.search(pattern, text))
    ]
    assert not found, f"{len(found)} places\n" + "\n".join(found)
