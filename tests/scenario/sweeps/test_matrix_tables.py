"""The script that writes matrices into a page: merging, counts, markers."""

from __future__ import annotations

import json

import pytest

from scripts.matrix_tables import PAGE, merged_table, with_table
from surefoot.errors import FileFormatError


def matrix(path, *rows, overrides=("audit.kind=none",)):
    names = ("scenario", "robot", "seed", "verdict", "reason")
    path.write_text(json.dumps({"overrides": overrides, "rows": [dict(zip(names, row, strict=True)) for row in rows]}))
    return path


def test_matrices_are_merged_and_the_last_one_counts(tmp_path):
    fell = ("walk", "talos", 0, "fell", "slip of foot; fell at 1.0 s")
    one = matrix(tmp_path / "a.json", ("walk", "g1", 0, "passed", None), fell)
    two = matrix(tmp_path / "b.json", ("walk", "g1", 0, "fell", "slip"), ("carry", "g1", 7, "passed", None))
    text = merged_table([one, two])
    assert "seeds 0, 7, with `audit.kind=none`" in text
    assert "| walk | 0/1 | 0/1 |" in text
    assert "| carry | 1/1 | – |" in text
    assert "walk, talos, seed 0: fell (slip of foot; fell at 1.0 s)" in text
    assert "| walk | 1/1 | 0/1 |" in merged_table([two, one])
    (tmp_path / "c.json").write_text("{}")
    with pytest.raises(FileFormatError, match="not a matrix"):
        merged_table([tmp_path / "c.json"])


def test_the_table_stands_between_the_markers_of_the_page():
    text = PAGE.read_text(encoding="utf-8")
    changed = with_table(text, "| a table |")
    assert "<!-- matrix -->\n| a table |\n<!-- end -->" in changed
    assert with_table(changed, "| another |").count("| a table |") == 0
    assert changed.split("<!-- matrix -->")[0] == text.split("<!-- matrix -->")[0]
    with pytest.raises(FileFormatError, match="markers"):
        with_table("# A page\n", "| a table |")
