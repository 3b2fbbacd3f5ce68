"""Lines of TOML keys, and errors that name them."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import ScenarioError
from surefoot.robot.toml_file import StrictModel, key_lines, read_toml

TEXT = '''# a comment with [brackets] and = signs
name = "x"
values = [
  [1, 2],   # looks like a table header
  [3, 4],
]
text = """
[not.a.table]
key = 1
"""
[a]
b.c = 1
"quoted key" = { inner = 2 }

[a.d]
e = 'literal [ string'

[[list]]
x = 1
[list.sub]
y = 2
[[list]]
x = 3
'''


def test_lines_of_all_keys():
    tomllib.loads(TEXT)
    lines = key_lines(TEXT)
    rows = TEXT.splitlines()
    expected = {
        ("name",): "name =", ("values",): "values =", ("text",): "text =", ("a",): "[a]", ("a", "b", "c"): "b.c",
        ("a", "quoted key"): '"quoted', ("a", "d"): "[a.d]", ("a", "d", "e"): "e =", ("list", 0): "[[list]]",
        ("list", 0, "x"): "x = 1", ("list", 0, "sub", "y"): "y = 2", ("list", 1, "x"): "x = 3",
    }  # fmt: skip
    for path, start in expected.items():
        assert rows[lines[path] - 1].startswith(start), path
    assert ("not", "a", "table") not in lines
    assert ("key",) not in lines


NESTED = """
[[hinges]]
name = "a"
[[hinges.links]]
x = 1
[[hinges.links.parts]]
y = 1
[[hinges.links]]
x = 2
[[hinges.links.parts]]
y = 2
[[hinges.links.parts]]
y = 3
[hinges.links.parts.deep]
z = 4
[[hinges]]
name = "b"
[hinges.frame]
w = 5
[[hinges.links]]
x = 3
[[hinges.links.parts]]
y = 6
"""


def _leaves(value: object, path: tuple[str | int, ...] = ()):
    """Every number of nested tables and lists, with its path."""
    if isinstance(value, dict | list):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(below, (*path, key))
    else:
        yield path, value


@pytest.mark.parametrize("text", [NESTED, NESTED.replace("hinges", 'outer."x.y"')])
def test_tables_of_arrays_in_arrays_are_counted_within_their_parent(text):
    """Every path that tomllib gives leads to the line that says its value."""
    lines, rows = key_lines(text), text.splitlines()
    leaves = list(_leaves(tomllib.loads(text)))
    assert len(leaves) == 11
    for path, value in leaves:
        said = f'"{value}"' if isinstance(value, str) else str(value)
        assert rows[lines[path] - 1] == f"{path[-1]} = {said}", path
    assert len([path for path in lines if isinstance(path[-1], int)]) == 2 + 3 + 4


def test_an_error_in_a_nested_table_has_its_line(tmp_path):
    class Link(StrictModel):
        """A nested table."""

        x: int

    class Hinge(StrictModel):
        """A table with tables."""

        links: list[Link]

    class File(StrictModel):
        """A whole file."""

        hinges: list[Hinge]

    path = tmp_path / "x.toml"
    path.write_text(
        "[[hinges]]\n[[hinges.links]]\nx = 1\n[[hinges]]\n[[hinges.links]]\nx = 2\n[[hinges.links]]\nx = 'no'\n"
    )
    with pytest.raises(ScenarioError, match=r"hinges\.1\.links\.1\.x") as caught:
        read_toml(path, File)
    assert caught.value.line == 8


class Inner(StrictModel):
    """An inner table."""

    speed: float = 0.0
    names: list[str] = []


class Outer(StrictModel):
    """A whole file."""

    title: str = ""
    inner: Inner = Inner()
    table: dict[str, Inner] = {}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('title = "a"\n[inner]\nspede = 1\n', 3, ["unknown key `inner.spede`", "did you mean `speed`"]),
        ("title = 1\n", 1, ["`title` = 1", "string"]),
        ("[inner]\n\nspeed = nan\n", 3, ["`inner.speed`", "finite"]),
        ("[table.x]\nspeed = 1\n[table.y]\nspeedy = 1\n", 4, ["table.y.speedy", "did you mean `speed`"]),
        ('[inner]\nnames = ["a", 2]\n', 2, ["inner.names.1"]),
        ("title = \n", 1, ["not TOML"]),
        ("[inner]\nspeed = 1\nspeed = 2\n", 3, ["not TOML"]),
    ],
)
def test_errors_name_line_key_and_the_nearest_key(tmp_path, text, line, words):
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(ScenarioError) as caught:
        read_toml(path, Outer)
    assert caught.value.line == line
    assert str(path) in str(caught.value)
    for word in words:
        assert word in str(caught.value)


@given(st.text(max_size=300))
def test_any_text_is_located_without_failing(text):
    key_lines(text)


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "x.toml"
    path.write_bytes(b"a = 1\nb = '\xff'\n")
    with pytest.raises(ScenarioError, match="UTF-8") as caught:
        read_toml(path, Outer)
    assert caught.value.line == 2
