"""Every code block of the documentation runs; commands exist with the options that are shown; pages are true."""

from __future__ import annotations

import importlib
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
import typer

from surefoot.cli.main import app, main
from tests.doc_blocks import PAGES, ROOT, Block, blocks_of

PROGRAMS = [page for page in PAGES if any(block.language in ("python", "sh") for block in blocks_of(page))]
LONG = (
    "constraints",
    "control",
    "features",
    "ompl",
    "redundant",
    "walking",
)  # the kernels of their programs take seconds to compile
COMMANDS = [block for page in PAGES for block in blocks_of(page) if block.language in ("sh", "shown")]
APP = typer.main.get_command(app)
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.slow] * (page.stem in LONG)) for page in PROGRAMS],
    ids=[page.stem for page in PROGRAMS],
)
def test_blocks_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The blocks of a page are one program, from top to bottom; commands print what the page shows below them."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "docs"}
    blocks = blocks_of(page)
    for block, following in pairwise([*blocks, Block("", "", page.name, 0)]):
        if block.language == "python":
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)
        elif block.language == "sh":
            capsys.readouterr()
            _run(block)
            if following.language == "text":
                _compare(following, capsys.readouterr().out)


def _run(block: Block) -> None:
    """Run the commands of a block; their status is 0, or what the comment says."""
    for line in block.text.splitlines():
        command, _, comment = line.partition("#")
        words = shlex.split(command)
        assert words[0] == "surefoot", f"{block.page}:{block.line}: fenced commands are run: {line}"
        status = re.search(r"status (\d)", comment)
        with pytest.raises(SystemExit) as leave:
            main(words[1:])
        assert leave.value.code == int(status[1] if status else 0), f"{block.page}:{block.line}: {line}"


def _compare(block: Block, output: str) -> None:
    """Every line, up to `…`, begins a line of the output, numbers and spaces aside, in the same order."""
    printed = iter([_shape(line) for line in output.splitlines()])
    for line in block.text.splitlines():
        if shown := _shape(line.removesuffix("…")):
            assert any(found.startswith(shown) for found in printed), f"{block.page}:{block.line}: {line}\n{output}"


def _shape(line: str) -> str:
    return " ".join(re.sub(r"-?\d[\d.]*(e[+-]\d+)?", "#", line).split())


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
        _parse(APP, "surefoot", words[1:])
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


def test_pages_made_from_the_code_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    pages = importlib.import_module("make_pages").PAGES.items()
    made = {path: make() for path, make in pages if path.name != "golden-numbers.md"}  # that has a test of its own
    stale = [path.name for path, text in made.items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run python scripts/make_pages.py"


def test_every_room_has_a_page() -> None:
    """The architecture page names each room of the package, and links to its page."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [path.name for path in (ROOT / "surefoot").iterdir() if (path / "__init__.py").exists()]
    assert [room for room in sorted(rooms) if not re.search(rf"`{room}`.*\]\(\S+\.md\)", text)] == []


def test_the_architecture_page_names_the_folders_that_exist() -> None:
    """Each folder inside a room is named in the room's row, and the row names no other."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    wrong = []
    for room in sorted(path for path in (ROOT / "surefoot").iterdir() if (path / "__init__.py").exists()):
        row = re.search(rf"^\| \d+ \| `{room.name}`.*$", text, re.MULTILINE)
        named = set(re.findall(r"`(\w+)/`", row[0])) if row else set()
        there = {path.name for path in room.iterdir() if path.is_dir() and path.name != "__pycache__"}
        wrong += [f"{room.name}: {name}" for name in sorted(named ^ there)]
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", _prose(page)):
        if not target.startswith(("http:", "https:")):
            file = (page.parent / target) if target else page
            assert file.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in _anchors(file), f"{page.name}: {target}#{anchor}"


def _prose(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def _anchors(page: Path) -> set[str]:
    """Anchors of the headings of a page, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.*)$", _prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
