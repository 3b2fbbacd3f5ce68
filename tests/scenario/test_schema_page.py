"""The page about scenario files says all that the schema knows."""

from __future__ import annotations

import re

import pytest
from pydantic import BaseModel

from scripts.schema_page import schema_page
from surefoot.scenario import KindTable, Scenario, names, scenario_text
from surefoot.scenario.schema import ControllerTable, EventTable, GroundTable, MotionTable, ObjectTable, ObstacleTable
from surefoot.scenario.schema_words import alternatives

PAGE = schema_page()


def tables(table=Scenario):
    yield table
    for field in table.model_fields.values():
        for kind in alternatives(field.annotation):
            inside = [kind, *getattr(kind, "__args__", ())]
            for item in inside:
                if isinstance(item, type) and issubclass(item, BaseModel):
                    yield from tables(item)


def test_every_key_of_every_table_has_a_row_with_a_meaning():
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \|$", PAGE, re.MULTILINE)
    told: dict[str, list[tuple[str, str]]] = {}
    for name, kind, _, meaning in rows:
        told.setdefault(name, []).append((kind, meaning))
    for table in tables():
        for key in table.model_fields:
            assert key in told, f"{table.__name__}.{key}"
            assert any(all(row) for row in told[key]), f"{table.__name__}.{key}: no kind of value or no meaning"


@pytest.mark.parametrize("table", [ControllerTable, EventTable, GroundTable, MotionTable, ObjectTable, ObstacleTable])
def test_every_kind_is_told_with_its_keys(table: type[KindTable]):
    kinds = alternatives(table.model_fields["kind"].annotation)[0].__args__
    assert set(kinds) == set(table.KEYS) == set(table.KINDS)
    for kind in kinds:
        row = next(row for row in PAGE.splitlines() if row.startswith(f"| `{kind}` | {table.KINDS[kind]} |"))
        assert all(f"`{key}`" in row for key in table.KEYS[kind])
    for key in {key for keys in table.KEYS.values() for key in keys}:
        assert key in table.model_fields


@pytest.mark.parametrize(
    "place",
    ["[robot]", "[[world.ground]]", "[motion.weights]", "[motion.step]", "[[controller.keyframes]]",
     "[controller.waves.NAME]", "[[controller.points]]", "[[events]]", "[[events.ground]]", "[audit]"],
)  # fmt: skip
def test_every_table_has_a_heading(place):
    assert f"\n## `{place}`\n" in PAGE


def test_scenarios_and_an_example():
    for name in names():
        assert f"| `{name}` | " in PAGE
    assert f"```toml\n{scenario_text('stand')}```" in PAGE


def test_pipes_do_not_break_tables():
    for row in PAGE.splitlines():
        if row.startswith("| `"):
            assert len(re.findall(r"(?<!\\)\|", row)) in (3, 5), row
