import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import ScenarioError
from surefoot.scenario.toml_text import toml_text

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
