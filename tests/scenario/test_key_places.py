"""Lines of TOML keys, wherever they stand."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.scenario.key_places import key_places
from surefoot.scenario.toml_text import toml_text

TEXT = (
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
def test_lines(path, start):
    tomllib.loads(TEXT)
    assert lines_of(TEXT)[key_places(TEXT)[path] - 1].startswith(start)


def test_every_key_has_a_line_and_nothing_else_has():
    def paths(value, at=()):
        inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, below in inside:
            yield (*at, key)
            yield from paths(below, (*at, key))

    assert set(key_places(TEXT)) == set(paths(tomllib.loads(TEXT)))


SCALARS = st.one_of(st.integers(-9, 9), st.text(alphabet="ab[]{}=#\"'\\\n,.", max_size=5), st.booleans())
KEYS = st.text(alphabet='ab.[= "', max_size=3)
TABLES = st.recursive(
    st.dictionaries(KEYS, st.one_of(SCALARS, st.lists(SCALARS, max_size=3)), max_size=3),
    lambda inner: st.dictionaries(KEYS, st.one_of(SCALARS, inner, st.lists(inner, min_size=1, max_size=2)), max_size=3),
    max_leaves=6,
)


@given(TABLES)
def test_every_value_stands_on_its_line(tables):
    text = toml_text(tables)
    places = key_places(text)
    for key, value in tables.items():
        if not isinstance(value, dict) and not (isinstance(value, list) and value and isinstance(value[0], dict)):
            row = lines_of(text)[places[(key,)] - 1]
            assert tomllib.loads(row) == {key: value}
