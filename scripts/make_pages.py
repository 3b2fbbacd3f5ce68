"""Generate the parts of the documentation that come from the code: scenario files, commands, tolerances.

python scripts/make_pages.py            # write them
python scripts/make_pages.py --check    # status 1 if a page is not what the code says
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

from commands_page import commands_page
from golden_page import golden_page
from schema_page import schema_page

from surefoot.feasibility import ITEMS, Tolerances

DOCS = Path(__file__).parents[1] / "docs"


def tolerance_table() -> str:
    """All tolerances of the audit."""
    rows = [f"| `{name}` | {value:g} | {unit} | {_cell(about)} |" for name, value, unit, about in Tolerances().table()]
    return "\n".join(["| name | default | unit | meaning |", "|---|---|---|---|", *rows])


def item_table() -> str:
    """All items of the audit, in the order of the chain."""
    rows = [
        f"| {kind.stage} | `{name}` | {_cell(kind.about)}{' (a remark)' if kind.severity == 'remark' else ''} |"
        for name, kind in ITEMS.items()
    ]
    return "\n".join(["| stage | item | meaning |", "|---|---|---|", *rows])


def _cell(text: str) -> str:
    """Escape a text for a table cell."""
    return text.replace("|", "\\|")


def with_tables(text: str) -> str:
    """Replace the tables between the markers of a page."""
    for name, table in (("items", item_table()), ("tolerances", tolerance_table())):
        pattern = rf"(<!-- {name} -->\n).*?(\n<!-- end -->)"
        text = re.sub(pattern, lambda found, table=table: f"{found[1]}{table}{found[2]}", text, flags=re.DOTALL)
    return text


def audit_page() -> str:
    """The page of the audit with up-to-date tables."""
    return with_tables((DOCS / "audit.md").read_text(encoding="utf-8"))


PAGES: dict[Path, Callable[[], str]] = {
    DOCS / "scenarios.md": schema_page,
    DOCS / "commands.md": commands_page,
    DOCS / "golden-numbers.md": golden_page,
    DOCS / "audit.md": audit_page,
}


def main() -> int:
    """Write the pages, or check them."""
    texts = {path: make() for path, make in PAGES.items()}
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if "--check" in sys.argv:
            print(f"{path.name} is out of date; run python scripts/make_pages.py", file=sys.stderr)
        else:
            path.write_text(texts[path], encoding="utf-8")
            print(path)
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
