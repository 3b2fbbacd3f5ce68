"""TOML: lines of keys, errors that name them, and texts that read back the same."""

from __future__ import annotations

import time
import tomllib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import ScenarioError
from surefoot.tables import UNKNOWN_KEY, StrictModel, key_lines, line_of, parse_toml, read_toml, toml_text, walk_tables

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


DEEP = (
    '''# a comment with [brackets] and = signs
name = "x"
values = [
  [1, 2],   # looks like a table header
  [3, 4],
]
text = """
[not.a.table]
key = 1 ""\\" still inside
"""
[a]
b.c = 1
"quoted \\u0041" = { inner = 2, deep = [
  { x = 1 },
  { x = "]", y = '''
    + "'''}\n'''"
    + """ },
] }

[a.d]
e = 'literal [ string'

[[list]]
x = 1
[list.sub]
y = 2
[[list.inner]]
z = 3
[[list.inner]]
z = 4
[[list]]
x = 5
[[list.inner]]
z = 6
"""
)


def lines_of(text):
    return text.split("\n")


@pytest.mark.parametrize(
    ("path", "start"),
    [
        (("name",), "name ="), (("values",), "values ="), (("values", 1), "  [3, 4]"), (("values", 1, 0), "  [3, 4]"),
        (("text",), "text ="), (("a",), "[a]"), (("a", "b"), "b.c"), (("a", "b", "c"), "b.c"),
        (("a", "quoted A"), '"quoted'), (("a", "quoted A", "inner"), '"quoted'),
        (("a", "quoted A", "deep", 0, "x"), "  { x = 1"), (("a", "quoted A", "deep", 1, "y"), '  { x = "]"'),
        (("a", "d"), "[a.d]"), (("a", "d", "e"), "e ="), (("list",), "[[list]]"), (("list", 0), "[[list]]"),
        (("list", 0, "x"), "x = 1"), (("list", 0, "sub", "y"), "y = 2"), (("list", 0, "inner", 1, "z"), "z = 4"),
        (("list", 1, "x"), "x = 5"), (("list", 1, "inner", 0, "z"), "z = 6"),
    ],
)  # fmt: skip
def test_lines_inside_of_lists_and_inline_tables(path, start):
    tomllib.loads(DEEP)
    assert lines_of(DEEP)[key_lines(DEEP)[path] - 1].startswith(start)


def test_every_key_has_a_line_and_nothing_else_has():
    def paths(value, at=()):
        inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, below in inside:
            yield (*at, key)
            yield from paths(below, (*at, key))

    assert set(key_lines(DEEP)) == set(paths(tomllib.loads(DEEP)))


PLAIN = st.one_of(st.integers(-9, 9), st.text(alphabet="ab[]{}=#\"'\\\n,.", max_size=5), st.booleans())
ODD_KEYS = st.text(alphabet='ab.[= "', max_size=3)
ODD_TABLES = st.recursive(
    st.dictionaries(ODD_KEYS, st.one_of(PLAIN, st.lists(PLAIN, max_size=3)), max_size=3),
    lambda inner: st.dictionaries(
        ODD_KEYS, st.one_of(PLAIN, inner, st.lists(inner, min_size=1, max_size=2)), max_size=3
    ),
    max_leaves=6,
)


@given(ODD_TABLES)
def test_every_value_stands_on_its_line(tables):
    text = toml_text(tables)
    places = key_lines(text)
    for key, value in tables.items():
        if not isinstance(value, dict) and not (isinstance(value, list) and value and isinstance(value[0], dict)):
            row = lines_of(text)[places[(key,)] - 1]
            assert tomllib.loads(row) == {key: value}


SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=20),
)
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=3), st.lists(st.lists(st.floats(0, 1), max_size=2), max_size=2))
KEYS = st.text(alphabet=st.characters(exclude_categories=("Cs",)), min_size=0, max_size=8)
TABLES = st.recursive(
    st.dictionaries(KEYS, VALUES, max_size=3),
    lambda inner: st.dictionaries(KEYS, st.one_of(VALUES, inner, st.lists(inner, min_size=1, max_size=2)), max_size=3),
    max_leaves=8,
)


@given(TABLES)
def test_comes_back_the_same(tables):
    assert tomllib.loads(toml_text(tables)) == tables


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, object()])
def test_what_is_not_toml_is_refused(value):
    with pytest.raises(ScenarioError):
        toml_text({"x": value})


def test_tables_without_headers_are_inline():
    tables = {"a": {"b": [{"c": 1.5}], "d": {}}, "rows": [{"x": {"y z": "q"}}]}
    text = toml_text(tables, headers={"rows"})
    assert tomllib.loads(text) == tables
    assert [line for line in text.splitlines() if line.startswith("[")] == ["[[rows]]"]


@given(TABLES)
def test_inline_tables_come_back_the_same(tables):
    assert tomllib.loads(toml_text(tables, headers=())) == tables


def test_a_key_without_a_line_has_that_of_the_table_around_it():
    lines = key_lines("[a]\nb = 1\n")
    assert line_of(("a", "b", 3), lines) == 2
    assert line_of(("a", "c"), lines) == 1
    assert line_of(("c",), lines) is None


def test_all_keys_and_texts_are_walked():
    walked = dict(walk_tables({"a": {"b": "x", "c": [1, "y"]}}))
    assert walked == {("a",): "", ("a", "b"): "x", ("a", "c"): "", ("a", "c", 0): "", ("a", "c", 1): "y"}


def test_errors_of_a_schema_carry_kind_key_and_suggestions(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text("[inner]\nspede = 1\n")
    with pytest.raises(ScenarioError) as caught:
        read_toml(path, Outer)
    error = caught.value
    assert (error.kind, error.key, error.suggestions) == (UNKNOWN_KEY, ("inner", "spede"), ("speed",))


@pytest.mark.parametrize("text", ["x = [}", "x = ", "[", "[[a", "a = {b", "x = [[[", "x = {]", "x = '"])
def test_a_text_that_is_not_toml_ends_the_lines(text):
    assert key_lines("y = 1\n" + text)[("y",)] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = " + "1" * 5000, "thousands of digits"),
        ("x = " + "[" * 100_000, "nested too deeply"),
        ("x = " + "{a = " * 5000, "nested too deeply"),
        ("a" + ".a" * 20_000 + " = 1", "more than 32 parts"),
        ("[" + "a . " * 20_000 + "a]", "more than 32 parts"),
        ('"a"' + ".'b'" * 20_000 + " = 1", "more than 32 parts"),
        ("# it's\na" + ".a" * 20_000 + " = 'b'", "more than 32 parts"),
    ],
)
def test_texts_that_cost_much_are_refused_at_once(text, message):
    with pytest.raises(ScenarioError, match=message) as caught:
        parse_toml(text, "hostile.toml")
    assert caught.value.file == "hostile.toml"


def test_dots_in_values_and_comments_are_not_keys():
    dots = "a." * 100
    text = f"x = \"{dots}\"  # {dots}\ny = '''\n{dots}\n'''\nb.c.d = 1\n"
    assert parse_toml(text, "f.toml") == {"x": dots, "y": dots + "\n", "b": {"c": {"d": 1}}}


def test_open_quotes_take_no_time():
    with pytest.raises(ScenarioError, match="not TOML"):
        parse_toml('x = "' + '\\"' * 500_000, "f.toml")


@pytest.mark.parametrize("text", ["x=1e" + "9" * 300_000, "x=a" + " " * 300_000, " " * 300_000 + "x=1", "a-" * 150_000])
def test_long_words_and_gaps_take_linear_time(text):
    start = time.process_time()
    with suppress(ScenarioError):
        parse_toml(text, "file.toml")
    assert time.process_time() - start < 5.0  # a minute, if every letter of a word began a search
