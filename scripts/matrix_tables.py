"""Write the table of matrices into a page, between its markers `<!-- matrix -->` and `<!-- end -->`.

    python scripts/matrix_tables.py runs/matrix-a/matrix.json runs/matrix-b/matrix.json
    python scripts/matrix_tables.py --page docs/walking.md runs/matrix-a/matrix.json

Rows of several files are merged; of the same scenario, robot and seed, the last one counts.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from surefoot.errors import FileFormatError
from surefoot.files import read_json, write_text
from surefoot.scenario.sweeps import MatrixRow, matrix_table

PAGE = Path(__file__).parents[1] / "docs" / "walking.md"
_BETWEEN = re.compile(r"(<!-- matrix -->\n).*?(\n<!-- end -->)", re.DOTALL)


def merged_table(files: Sequence[Path]) -> str:
    """The table of all rows, with the seeds, the changes and the reasons of runs that did not pass.

    Args:
        files: `matrix.json` of matrices.
    """
    rows: dict[tuple[str, str, int], MatrixRow] = {}
    changes: set[str] = set()
    for file in files:
        found = read_json(file)
        try:
            new = [MatrixRow(**row) for row in found["rows"]]
            changes.add(" ".join(found["overrides"]))
        except (KeyError, TypeError) as error:
            raise FileFormatError("is not a matrix", file=file, next_step="give `matrix.json` of a matrix") from error
        rows |= {(row.scenario, row.robot, row.seed): row for row in new}
    seeds = sorted({row.seed for row in rows.values()})
    settings = "; ".join(sorted(f"`{text}`" for text in changes if text)) or "no changes"
    head = f"Passed of all runs, seeds {', '.join(map(str, seeds))}, with {settings}:"
    return f"{head}\n\n{matrix_table(list(rows.values()))}".rstrip()


def with_table(text: str, table: str) -> str:
    """A page with another table between its markers.

    Args:
        text: The page.
        table: Markdown.

    Raises:
        FileFormatError: The page has no markers, or several.
    """
    if len(_BETWEEN.findall(text)) != 1:
        raise FileFormatError("needs one pair of markers `<!-- matrix -->` and `<!-- end -->`")
    return _BETWEEN.sub(lambda found: f"{found[1]}{table}{found[2]}", text)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--page", type=Path, default=PAGE)
    given = parser.parse_args()
    write_text(given.page, with_table(given.page.read_text(encoding="utf-8"), merged_table(given.files)))


if __name__ == "__main__":
    main()
