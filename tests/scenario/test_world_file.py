"""Worlds from files: a `[world]` table alone, or that of a scenario."""

from __future__ import annotations

import pytest

from surefoot.errors import FileFormatError, ScenarioError, SurefootError, UnknownNameError
from surefoot.robot.loading import load
from surefoot.scenario import read_world

BLOCK = load("block")


def write(tmp_path, text):
    path = tmp_path / "w.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        "[world]\nfriction = 0.3\n",
        "world = { friction = 0.3 }",
        "world.friction = 0.3",
        "\ufeff[world]\r\nfriction = 0.3\r\n",
        "name = 'x'\n[world]\nfriction = 0.3\n[robot]\nname = 'g1'\n",
        "name = 'x'\nrobot = { name = 'g1' }\nworld.friction = 0.3\n",
    ],
)
def test_a_table_or_a_scenario(tmp_path, text):
    assert read_world(write(tmp_path, text), BLOCK).friction == 0.3
    assert read_world(str(tmp_path / "w.toml"), BLOCK).friction == 0.3


def test_the_world_of_a_built_in_scenario():
    assert len(read_world("harvest", BLOCK).obstacles) == 3


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[world]\nfrction = 0.3\n", 2, "did you mean `friction`"),
        ("[wrold]\nfriction = 0.3\n", 1, "did you mean `world`"),
        ("[world]\nfriction = -1\n", 2, "expected a number ≥ 0"),
        ("[world]\n[[world.ground]]\nkind = 'plain'\n", 3, 'did you mean "plane"'),
        ("[world]\n[[world.ground]]\nkind = 'plane'\nnormal = [0, 0, 0]\n", 2, "point up"),
        ("name = 'x'\n[world]\nfrction = 0.3\n", 3, "did you mean `friction`"),
        ("", None, "`world` is missing"),
        ("[world]\n[robot]\n", 2, "unknown key `robot`"),
        (b"[world]\n\xff\xfe", 2, "UTF-8"),
    ],
)
def test_mistakes_have_a_place(tmp_path, text, line, message):
    with pytest.raises(SurefootError, match=message) as caught:
        read_world(write(tmp_path, text), BLOCK)
    assert caught.value.file == str(tmp_path / "w.toml")
    assert caught.value.line == line


def test_files_and_names_that_are_not_there(tmp_path):
    with pytest.raises(FileFormatError, match="no such file"):
        read_world(tmp_path / "none.toml", BLOCK)
    with pytest.raises(UnknownNameError, match="stand"):
        read_world("stnd", BLOCK)
    with pytest.raises(ScenarioError, match="not TOML"):
        read_world(write(tmp_path, "world: {}"), BLOCK)
