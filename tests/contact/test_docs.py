"""The page of the room runs."""

import re
from pathlib import Path


def test_code_blocks_run(capsys):
    page = (Path(__file__).parents[2] / "docs" / "contact.md").read_text(encoding="utf-8")
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    for block in blocks:
        exec(compile(block, "docs/contact.md", "exec"), names)  # our own text
    assert len(blocks) == 4
    assert "torsional_friction" in capsys.readouterr().out
