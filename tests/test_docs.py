"""Every code block of the documentation runs; commands exist with the options that are shown; pages are true."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from surefoot.cli.main import app
from tests.doc_blocks import PAGES, ROOT, Block, blocks_of

PYTHON = [page for page in PAGES if any(block.language == "python" for block in blocks_of(page))]
COMMANDS = [block for page in PAGES for block in blocks_of(page) if block.language == "sh"]
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("page", PYTHON, ids=lambda page: page.stem)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page are one program, from top to bottom."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "docs"}
    for block in blocks_of(page):
        if block.language == "python":
            code = "\n" * (block.line - 1) + block.text
            exec(compile(code, str(page), "exec"), names)


@pytest.mark.parametrize("block", COMMANDS, ids=lambda block: f"{block.page}:{block.line}")
def test_commands_exist(block: Block) -> None:
    for line in block.text.splitlines():
        for command in line.partition("#")[0].split("&&"):
            _require(shlex.split(command))


def _require(words: list[str]) -> None:
    """Refuse a command line that surefoot, make or the scripts do not understand."""
    if not words:
        return
    if words[0] == "surefoot" and len(words) > 1:
        _parse(typer.main.get_command(app), "surefoot", words[1:])
    elif words[0] == "make":
        assert set(words[1:]) <= TARGETS, f"no such target: {words}"
    elif words[0] == "python" and words[1].endswith(".py"):
        assert (ROOT / words[1]).exists() or not words[1].startswith(("bench/", "examples/", "scripts/")), words


def _parse(command, name: str, words: list[str]) -> None:
    inner = getattr(command, "commands", {})
    if words and words[0] in inner:
        return _parse(inner[words[0]], words[0], words[1:])
    assert not inner or not words or words[0].startswith("-"), f"no such command: {name} {words}"
    if words[:1] not in (["--version"], ["--help"]):
        command.make_context(name, [word for word in words if word != "…"])
    return None


def test_pages_made_from_the_code_are_up_to_date() -> None:
    found = subprocess.run(
        [sys.executable, "scripts/make_pages.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not target.startswith(("http:", "https:")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
