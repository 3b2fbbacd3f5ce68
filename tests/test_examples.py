"""Every example runs, is short, uses public doors only, and prints what the gallery shows."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PAGE = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
LONG = (
    "24_look_ahead", "29_terrain", "40_how_many_nodes", "42_receding_horizon", "43_follow_stances", "45_ankle_or_hip",
)  # what they show has tests of its own  # fmt: skip
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_gallery", ROOT / "scripts" / "make_gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_gallery"] = module
    spec.loader.exec_module(module)
    return module


make_gallery = _script()


def _shown(path: Path) -> str:
    """What the gallery says that an example prints."""
    part = PAGE.split(f"\n## {make_gallery.Example(path).heading}\n")[1].split("\n## ")[0]
    return part.split("```text\n")[1].split("\n```")[0]


def _unit(number: str) -> float:
    """One unit in the last place of a printed number."""
    return 10.0 ** -len(number.partition(".")[2])


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.slow) if path.stem in LONG else path for path in EXAMPLES],
    ids=[path.stem for path in EXAMPLES],
)
def test_example_prints_what_the_gallery_shows(path: Path) -> None:
    """Words are equal; numbers may differ by one unit in their last place, or by 1 %, between machines."""
    printed, shown = make_gallery.run_example(path).output, _shown(path)
    assert printed
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", shown)
    for now, then in zip(NUMBER.findall(printed), NUMBER.findall(shown), strict=True):
        assert abs(float(now) - float(then)) <= max(1.01 * _unit(then), 0.01 * abs(float(then))), (now, then)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_short_and_explains_itself(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    title, below = make_gallery.Example(path).docstring
    assert len(text.splitlines()) <= 60
    assert title
    assert 2 <= len(re.findall(r"[.?!](?:\s|$)", below)) <= 5


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_uses_public_doors_only(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("surefoot"):
            spec = importlib.util.find_spec(node.module or "")
            assert spec is not None, node.module
            assert spec.submodule_search_locations is not None, f"{node.module} is not a door"
        if isinstance(node, ast.Import):
            assert not any(name.name.startswith("surefoot.") for name in node.names)


def test_gallery_is_made_from_the_examples() -> None:
    """Titles, texts, code, cards and pictures are those of the files; each example is in one chapter."""
    examples = [make_gallery.Example(path, _shown(path)) for path in EXAMPLES]
    assert make_gallery.gallery_page(examples) == PAGE
    assert [example.number for example in examples] == list(range(1, len(examples) + 1))
    assert len(examples) >= 22


def test_pictures_are_small_and_used() -> None:
    pictures = list((ROOT / "docs" / "images" / "examples").iterdir())
    assert sorted(picture.stem for picture in pictures) == [path.stem for path in EXAMPLES]
    assert max(picture.stat().st_size for picture in pictures) <= 60_000
    assert sum(picture.stat().st_size for picture in pictures) <= 1_200_000
