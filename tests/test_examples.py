"""Every example runs and prints something."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example_runs(path, capsys):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 100
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()
